"""Compares the command lines of an engine option by option."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

_OPTION = re.compile(r"--?[A-Za-z]")


class OptionChange(Struct, frozen=True):
    """An option that differs between the sides."""

    name: str  # '' for positional arguments before the first option
    before: str | None  # its value, None where it is not given
    after: str | None  # its value, None where it is not given
    of_workers: bool = False  # not of the leaders, whose options differ in another way or not at all

    def __str__(self) -> str:
        name = self.name or "argument"
        if self.before is None:
            return f"+ {name} {self.after}".rstrip()
        if self.after is None:
            return f"- {name} {self.before}".rstrip()
        return f"{name} {self.before or '(no value)'} → {self.after or '(no value)'}"


def compare_options(before: Sequence[str], after: Sequence[str]) -> list[OptionChange]:
    """The options that were added, removed or changed. The order of different options does not count; the order of
    several values of one option does, since the last one wins.
    """
    old, new = _values_by_option(before), _values_by_option(after)
    names = [*old, *(name for name in new if name not in old)]
    return [
        OptionChange(name, _joined_values(old, name), _joined_values(new, name))
        for name in names
        if old.get(name) != new.get(name)
    ]


def _joined_values(options: dict[str, list[str]], name: str) -> str | None:
    return ", ".join(filter(None, options[name])) if name in options else None


def _values_by_option(args: Sequence[str]) -> dict[str, list[str]]:
    """By option, its values in order, of `--a b`, `--a=b` and `--a b c`. A negative number is a value."""
    options: dict[str, list[list[str]]] = {}
    current: list[str] | None = None
    for arg in args:
        if _OPTION.match(arg) and "\n" not in arg:
            name, equals, value = arg.partition("=")
            current = [value] if equals else []
            options.setdefault(name, []).append(current)
        elif current is None:
            options.setdefault("", []).append([arg])
        else:
            current.append(arg)
    return {name: [" ".join(values) for values in occurrences] for name, occurrences in options.items()}
