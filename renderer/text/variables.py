"""Variables in a text that Flux fills in after it has built a kustomization: `${NAME}`, `${NAME:=default}`.

Its form is that of envsubst with braces (kustomize/kustomize_varsub.go of fluxcd/pkg; spec v1 of Kustomizations,
fluxcd/kustomize-controller at 00852088): `$NAME` is left alone, `$${NAME}` is no variable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

_START = re.compile(r"\$\$|\$\{(#?[A-Za-z_][A-Za-z0-9_]*)")
_DEFAULT = re.compile(":?[-=]")
_BRACE = re.compile("[{}]")
_DEEPEST: Final = 16  # variables in the default of others


class _Variable(Struct, frozen=True):
    """A variable in a text."""

    name: str
    start: int
    end: int
    default: str | None = ""  # '' for none; None where its value is worked on, as in `${NAME/a/b}`


def has_unknown(text: str, values: Mapping[str, str]) -> bool:
    """Whether the text has a variable without a value, or one whose value is worked on."""
    return any(variable.default is None or variable.name not in values for variable in _variables(text))


def fill_in(text: str, values: Mapping[str, str], depth: int = _DEEPEST) -> str:
    """The text with the values of its variables in their places, and with the default of each that has none. A variable
    with neither stays, and so does one behind so many defaults that are variables.
    """
    parts, end = [], 0
    for variable in _variables(text):
        value = text[variable.start : variable.end]
        if variable.default is not None:
            default = fill_in(variable.default, values, depth - 1) if depth else ""
            value = values.get(variable.name) or default or value
        parts += [text[end : variable.start], value]
        end = variable.end
    return "".join([*parts, text[end:]])


def _variables(text: str) -> Iterator[_Variable]:
    """The variables of a text, but for those in the default of another one."""
    position = 0
    while match := _START.search(text, position):
        position = match.end()
        if not (name := match[1]):
            continue
        if (end := _closing_brace(text, position)) < 0:
            return
        rest = text[position:end]
        operator = _DEFAULT.match(rest)
        default = rest[operator.end() :] if operator else "" if not rest and name[0] != "#" else None
        yield _Variable(name, match.start(), end + 1, default)
        position = end + 1


def _closing_brace(text: str, start: int) -> int:
    """Where the brace ends that is open at `start`; -1 for nowhere."""
    depth = 1
    for brace in _BRACE.finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return brace.start()
    return -1
