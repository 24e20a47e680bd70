"""Undoes the actions of a chart's templates with its values, without Helm: the manifests that the chart stands for.

Only what references.py, replicas.py and actions.py write is understood, each action in the one form that it has there.
Anything else was not written by us, and is not guessed at.
"""

from __future__ import annotations

import re

from renderer.kubernetes.json_values import as_map, map_at
from renderer.text import escapes

_MAX_TEXT = 16 * 1024 * 1024  # characters of an undone template
_STRING = r'"(?:[^"\\\n]|\\.)*"'
_NUMBER = rf"(?:\$app(?:\.\w+)?|\(index \.Values\.apps {_STRING}\))\.\w+"  # of the values of an app
_ACTION = re.compile(
    "|".join(
        (
            r"\{\{`(?P<literal>\{\{?)`\}\}",
            rf"\{{\{{ (?P<namespace>\.Values\.namespaces\.\w+|index \.Values\.namespaces {_STRING}) \}}\}}",
            rf"\{{\{{ \.Values\.imageRegistry \| default (?P<registry>{_STRING}) \}}\}}",
            r"\{\{ with \.Values\.imageRegistry \}\}\{\{ \. \}\}(?P<suffix>[a-z/]*)"
            r"(?:\{\{ else \}\}(?P<without>[a-z./]*))?\{\{ end \}\}",
            rf"\{{\{{ int (?P<number>{_NUMBER}) \}}\}}",
            rf"\{{\{{ max 1 \(int (?P<at_least_one>{_NUMBER})\) \}}\}}",
            rf"\{{\{{ or \(int (?P<or_one>{_NUMBER})\) 1 \}}\}}",
            rf"\{{\{{- \$app := index \.Values\.apps (?P<app>{_STRING}) \}}\}}",
            rf"\{{\{{- if lt \(int (?P<most>{_NUMBER})\) \(int (?P<least>{_NUMBER})\) \}}\}}"
            rf"\{{\{{ fail (?P<failure>{_STRING}) \}}\}}\{{\{{ end \}}\}}",
            rf"\{{\{{- if ge \(int (?P<counted>{_NUMBER})\) 2 \}}\}}",
            r"(?P<end>\{\{- end \}\})",
            r"(?P<other>\{\{)",
        )
    ),
    re.ASCII,
)


class NotComparable(ValueError):
    """Why a template cannot be undone, and the line."""

    def __init__(self, what: str, line: int = 0) -> None:
        super().__init__(what)
        self.line = line


def undo(template: str, values: object) -> str:
    """The text that Helm makes of a template of ours. Raises NotComparable."""
    undoing = _Undoing(values)
    end = 0
    for match in _ACTION.finditer(template):
        text = template[end : match.start()]
        end = match.end()
        try:
            undoing.add(text.rstrip() if match[0].startswith("{{-") else text)
            undoing.run(match)
        except (ValueError, OverflowError) as error:
            raise NotComparable(str(error), template.count("\n", 0, match.start()) + 1) from None
    if undoing.block is not None:
        raise NotComparable("a block that is never closed", template.count("\n") + 1)
    undoing.add(template[end:])
    return "".join(undoing.parts)


class _Undoing:
    """What a template has printed so far."""

    def __init__(self, values: object) -> None:
        self.parts: list[str] = []
        self.block: bool | None = None  # whether the open `if` prints; None outside of one
        self._values, self._app = as_map(values), ""
        self._room = _MAX_TEXT

    def add(self, text: str) -> None:
        """Prints a text where the block prints. Raises ValueError."""
        if self.block is False:
            return
        self._room -= len(text)
        if self._room < 0:
            raise ValueError(f"it makes more than {_MAX_TEXT:,} characters")
        self.parts.append(text)

    def run(self, match: re.Match[str]) -> None:
        """Runs an action. Raises ValueError."""
        if match["end"]:
            if self.block is None:
                raise ValueError("'end' without a block")
            self.block = None
        elif match["other"]:
            raise ValueError("an action that llmaz does not write")
        elif match["counted"]:
            if self.block is not None:
                raise ValueError("a block in a block")
            self.block = self._number(match["counted"]) >= 2
        elif match["app"]:
            self._app = match["app"]
        elif match["failure"]:
            if self._number(match["most"]) < self._number(match["least"]):
                raise ValueError(f"it fails: {escapes.from_go_string(match['failure'])}")
        elif self.block is not False:
            self.add(self._printed(match))

    def _printed(self, match: re.Match[str]) -> str:
        """What an action prints. Raises ValueError."""
        if match["literal"]:
            return match["literal"]
        if match["namespace"]:
            key = match["namespace"].removeprefix(".Values.namespaces.").removeprefix("index .Values.namespaces ")
            return _text(map_at(self._values, "namespaces").get(_name(key)))
        if match["registry"]:
            return _text(self._values.get("imageRegistry") or escapes.from_go_string(match["registry"]))
        if match["suffix"] is not None:
            registry = self._values.get("imageRegistry")
            return f"{_text(registry)}{match['suffix']}" if registry else match["without"] or ""
        if match["at_least_one"]:
            return str(max(1, self._number(match["at_least_one"])))
        return str(self._number(match["or_one"]) or 1 if match["or_one"] else self._number(match["number"]))

    def _number(self, expression: str) -> int:
        """A number of the values. Raises ValueError."""
        owner, _, path = expression.removeprefix("(index .Values.apps ").rpartition(")")
        *role, field = path.removeprefix("$app").split(".")[1:]
        value = map_at(self._values, "apps", _name(owner or self._app), *role).get(field)
        if isinstance(value, (int, float, str)) and not isinstance(value, bool):
            return int(value)
        raise ValueError("a value that is missing, or is not an integer")


def _name(written: str) -> str:
    """A key of the values, which is a string in quotes or a word."""
    return escapes.from_go_string(written) if written.startswith('"') else written


def _text(value: object) -> str:
    """What Helm prints of a text or a whole number. Raises ValueError."""
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return str(value)
    raise ValueError("a value that is missing, or is neither a string nor an integer")
