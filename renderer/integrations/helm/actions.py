"""Template actions of Helm as values of objects: they are written as actions, and all other text is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from renderer import yamlio
from renderer.text import escapes
from renderer.yamlio import Markup


class Action(Struct, frozen=True):
    """An action of a template, such as `{{ .Values.x }}`. What it prints means the same inside and outside of YAML's
    quotes.
    """

    text: str


class ActionText(Markup):
    """A string of text and actions. One of a single line is always quoted."""

    __slots__ = ("parts",)

    def __init__(self, *parts: str | Action) -> None:
        self.parts = parts

    @property
    def sample(self) -> str:
        """The text with a letter for each action."""
        return "".join(part if isinstance(part, str) else "x" for part in self.parts)

    def yaml_text(self, pad: str) -> str:
        """A literal block, or the text in quotes."""
        if yamlio.is_block(self.sample):
            return yamlio.block_text(_template_text(self.parts), pad)
        quoted = [yamlio.quoted_part(part) if isinstance(part, str) else part for part in self.parts]
        return f'"{_template_text(quoted)}"'


class ActionNumber(Markup):
    """A number that an action prints."""

    __slots__ = ("action",)

    def __init__(self, action: str) -> None:
        self.action = action

    def yaml_text(self, pad: str) -> str:
        """The action alone."""
        return self.action


def _template_text(parts: Iterable[str | Action]) -> str:
    return "".join(
        escapes.go_template_text(part, before_action=True) if isinstance(part, str) else part.text for part in parts
    )


def dump(body: object) -> str:
    """The YAML of a document as template text."""
    text = yamlio.dump_template(body, escapes.go_template_text)
    # Helm strips white space at the end of a document, which may belong to a block text there.
    return f"{text}# end\n" if "\n" in _last_string(body) else text


def _last_string(value: object) -> str:
    """The last scalar of a document if it is a string, else ''."""
    while isinstance(value, (dict, list)) and value:
        value = list(value.values())[-1] if isinstance(value, dict) else value[-1]
    if isinstance(value, ActionText):
        return value.sample
    return value if isinstance(value, str) else ""


def value_expression(path: str, key: str) -> str:
    """The template expression for a key of the map at `path`."""
    if re.fullmatch("[A-Za-z][A-Za-z0-9_]*", key):
        return f"{path}.{key}"
    return f"index {path} {escapes.go_string(key)}"
