"""What a cutover prints: steps of commands, with remarks about them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence

from msgspec import Struct

from renderer.text import escapes


class ScriptLine(Struct, frozen=True):
    """A command for a shell, or a remark."""

    text: str
    is_command: bool


class Step(Struct, frozen=True):
    """One step of a cutover."""

    title: str
    reason: str  # why it is there, in a sentence
    lines: Sequence[ScriptLine]


def command(*words: str) -> ScriptLine:
    """A command of these words, quoted for a shell."""
    return ScriptLine(shlex.join(words), is_command=True)


def kubectl(action: str, resource: str, name: tuple[str, str], *options: str) -> ScriptLine:
    """A command of kubectl about one object. `name`: its namespace, empty where it lies in none, and its name."""
    namespace = ("-n", name[0]) if name[0] else ()
    return command("kubectl", action, resource, name[1], *namespace, *options)


def patch(resource: str, name: tuple[str, str], operations: Sequence[Mapping[str, object]]) -> ScriptLine:
    """The command that applies a JSON patch."""
    return kubectl("patch", resource, name, "--type=json", "-p", json.dumps(operations, separators=(",", ":")))


def shell(text: str) -> ScriptLine:
    """A command that is text for a shell already."""
    return ScriptLine(text, is_command=True)


def remark(text: str) -> ScriptLine:
    """A remark; nothing in it ends its line."""
    return ScriptLine(escapes.line(text), is_command=False)
