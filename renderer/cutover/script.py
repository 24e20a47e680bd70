"""What a cutover prints: steps of commands, with remarks about them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from msgspec import Struct

from renderer.text import escapes


class Line(Struct, frozen=True):
    """A command for a shell, or a remark."""

    text: str
    is_command: bool


class Step(Struct, frozen=True):
    """One step of a cutover."""

    title: str
    reason: str  # why it is there, in a sentence
    lines: Sequence[Line]


def command(*words: str) -> Line:
    """A command of these words, quoted for a shell."""
    return Line(shlex.join(words), is_command=True)


def shell(text: str) -> Line:
    """A command that is text for a shell already."""
    return Line(text, is_command=True)


def remark(text: str) -> Line:
    """A remark; nothing in it ends its line."""
    return Line(escapes.line(text), is_command=False)
