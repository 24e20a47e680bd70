"""Expressions of Go's templates in texts, as far as they are simple references to fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

_OPEN, _CLOSE = "{{", "}}"
_REFERENCE = re.compile(r"(?:\.[A-Za-z]\w{0,60}){1,12}")
_CHILD_NAME = re.compile(r"ChildName[ ]+((?:\.[A-Za-z]\w{0,60}){1,12})[ ]+`([a-z0-9.-]{0,63})`")
_LONGEST_NAME = 63  # longer names get a hash
_LONGEST_SHOWN = 60


def fill_expressions(text: str, body: Mapping[str, Any], tell: Callable[[str], object] = str) -> str:
    """The text with references to fields of the body filled in, by the names that Go has for them. What is no such
    reference, or leads to nothing, stays as it is, and `tell` gets it.
    """
    parts: list[str] = []
    position = 0
    trims = False
    while (start := text.find(_OPEN, position)) >= 0 and (end := text.find(_CLOSE, start)) >= 0:
        before, inner = text[position:start], text[start + len(_OPEN) : end]
        value = _value(inner.removeprefix("- ").removesuffix(" -").strip(), body)
        before = before.lstrip() if trims else before
        if value is None:
            tell(_shown(text[start : end + len(_CLOSE)]))
            parts += [before, text[start : end + len(_CLOSE)]]
            trims = False
        else:
            parts += [before.rstrip() if inner.startswith("- ") else before, value]
            trims = inner.endswith(" -")
        position = end + len(_CLOSE)
    if _OPEN in text[position:]:
        tell(_shown(text[text.find(_OPEN, position) :]))
    rest = text[position:]
    return "".join([*parts, rest.lstrip() if trims else rest])


def _shown(expression: str) -> str:
    return expression if len(expression) <= _LONGEST_SHOWN else f"{expression[:_LONGEST_SHOWN]}…"


def _value(expression: str, body: Mapping[str, Any]) -> str | None:
    if _REFERENCE.fullmatch(expression):
        return _field(expression, body)
    if match := _CHILD_NAME.fullmatch(expression):
        parent = _field(match[1], body)
        name = f"{parent}{match[2]}"
        return name if parent is not None and len(name) <= _LONGEST_NAME else None
    return None


def _field(reference: str, body: Mapping[str, Any]) -> str | None:
    """The scalar that a reference such as .Spec.Model.Name leads to."""
    value: Any = body
    names = reference.lower().split(".")[1:]
    names = ["metadata" if i == 0 and name == "objectmeta" else name for i, name in enumerate(names)]
    if names[0] not in ("metadata", "spec"):
        names = ["metadata", *names]  # Go finds the fields of the metadata without its name, too
    for name in names:
        if not isinstance(value, dict):
            return None
        value = next((item for key, item in value.items() if str(key).lower() == name), None)
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, (str, int)) and value != "" else None
