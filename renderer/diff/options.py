"""The command line of an engine, option by option."""

from __future__ import annotations

import re
from collections.abc import Sequence

from renderer.records import NamedTuple

_OPTION = re.compile(r"--?[A-Za-z]")


class Flag(NamedTuple):
    """An option that differs: its values on each side, None where it is not given. The name is empty for what stands
    before all options, or by itself.
    """

    name: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        name = self.name or "argument"
        if self.before is None:
            return f"+ {name} {self.after}".rstrip()
        if self.after is None:
            return f"- {name} {self.before}".rstrip()
        return f"{name} {self.before or '(no value)'} → {self.after or '(no value)'}"


def flags(before: Sequence[str], after: Sequence[str]) -> list[Flag]:
    """The options that were added, removed or changed, by name. Where an option stands among others means nothing; what
    is given several times keeps its order, since the last one counts.
    """
    old, new = _read(before), _read(after)
    names = [*old, *(name for name in new if name not in old)]
    return [Flag(name, _said(old, name), _said(new, name)) for name in names if old.get(name) != new.get(name)]


def _said(options: dict[str, list[str]], name: str) -> str | None:
    return ", ".join(filter(None, options[name])) if name in options else None


def _read(args: Sequence[str]) -> dict[str, list[str]]:
    """By option, its values: of `--a b`, `--a=b` and `--a b c`, in order. A number below zero is a value."""
    found: dict[str, list[list[str]]] = {}
    at_hand: list[str] | None = None
    for arg in args:
        if _OPTION.match(arg) and "\n" not in arg:
            name, equals, value = arg.partition("=")
            at_hand = [value] if equals else []
            found.setdefault(name, []).append(at_hand)
        elif at_hand is None:
            found.setdefault("", []).append([arg])
        else:
            at_hand.append(arg)
    return {name: [" ".join(values) for values in given] for name, given in found.items()}
