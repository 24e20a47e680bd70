"""Template actions of Helm in YAML: placeholders in values until the text is written; all other text is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable

from renderer import yamlio


class Actions:
    """Placeholders ("marks") for template actions. A mark forces quotes around a string of one line, and changes
    nothing in one of several lines. No brace may precede a mark: it would become part of the action.
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
        """A mark that is replaced by the action inside a string."""
        return self._mark(action, "#")

    def number(self, action: str) -> str:
        """A mark that is a whole value and is replaced by the action without quotes."""
        return self._mark(action, "!#")

    def _mark(self, action: str, end: str) -> str:
        mark = self._marks.get(action + end)
        if mark is None:
            mark = self._marks[action + end] = f"{self._lead}{len(self._actions)}{end}"
            self._actions.append(action)
        return mark

    def dump(self, body: object) -> str:
        """The YAML of a document as template text, with marks replaced by their actions."""
        text = self._whole.sub(self._action, escape(yamlio.dump(body)))
        text = self._inside.sub(self._action, text)
        # Helm strips white space at the end of a document, which may belong to a block text there.
        return f"{text}# end\n" if "\n" in _last_string(body) else text

    def _action(self, match: re.Match[str]) -> str:
        return self._actions[int(match[1])]


def _last_string(value: object) -> str:
    """The last scalar of a document if it is a string, else ''."""
    while isinstance(value, (dict, list)) and value:
        value = list(value.values())[-1] if isinstance(value, dict) else value[-1]
    return value if isinstance(value, str) else ""


def escape(text: str) -> str:
    """The text, so that Helm prints its braces unchanged."""
    return text.replace("{{", "{{`{{`}}")


def unescape(text: str) -> str:
    """The text that `escape` was called with."""
    return text.replace("{{`{{`}}", "{{")


def key_action(path: str, key: str) -> str:
    """The template expression for a key of the map at `path`."""
    return f"{path}.{key}" if re.fullmatch("[A-Za-z][A-Za-z0-9_]*", key) else f'index {path} "{key}"'
