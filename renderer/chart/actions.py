"""Helm's actions in YAML: they stand in the values as marks until the text is written, and all else is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable

from renderer import yamlio


class Actions:
    """Marks for template actions. A mark makes a string of one line quoted, and leaves one of several lines alone. No
    brace may stand before one: it would become part of the action.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        sign, kept = "llmaz", list(texts)
        while any(f"{sign}:" in text for text in kept):
            sign += "z"
        self._lead = f" #{sign}:"
        self._marks: dict[str, str] = {}
        self._actions: list[str] = []
        self._whole = re.compile(rf'"{self._lead}(\d+)!#"')
        self._inside = re.compile(rf"{self._lead}(\d+)#")

    def text(self, action: str) -> str:
        """A mark that becomes this piece of a template, inside a string."""
        return self._mark(action, "#")

    def number(self, action: str) -> str:
        """A mark that becomes it as all of a value, without quotes."""
        return self._mark(action, "!#")

    def _mark(self, action: str, end: str) -> str:
        mark = self._marks.get(action + end)
        if mark is None:
            mark = self._marks[action + end] = f"{self._lead}{len(self._actions)}{end}"
            self._actions.append(action)
        return mark

    def dump(self, body: object) -> str:
        """The document as a part of a template."""
        text = self._whole.sub(self._action, escaped(yamlio.dump(body)))
        text = self._inside.sub(self._action, text)
        # Helm cuts the blank at the end of a document, and with it the end of a text that stands last.
        return f"{text}# end\n" if "\n" in _last(body) else text

    def _action(self, found: re.Match[str]) -> str:
        return self._actions[int(found[1])]


def _last(value: object) -> str:
    """The string at the end of a document, '' for something else."""
    while isinstance(value, (dict, list)) and value:
        value = list(value.values())[-1] if isinstance(value, dict) else value[-1]
    return value if isinstance(value, str) else ""


def escaped(text: str) -> str:
    """Text that is none of Helm's business."""
    return text.replace("{{", "{{`{{`}}")


def plain(text: str) -> str:
    """What `escaped` was given."""
    return text.replace("{{`{{`}}", "{{")


def below(path: str, key: str) -> str:
    """The action that reads a key of a map of the values."""
    return f"{path}.{key}" if re.fullmatch("[A-Za-z][A-Za-z0-9_]*", key) else f'index {path} "{key}"'
