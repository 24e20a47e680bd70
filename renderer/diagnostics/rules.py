"""Rules about finished records. Each declares where it stands which record it is about and when it is asked; a gate is
one after whose errors nothing more is decided. A rule decides nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib import import_module
from operator import itemgetter
from typing import Any, TypeAlias, TypeVar

from renderer.diagnostics.diagnostic import Collector, Diagnostic, Stop, has_errors

Record = TypeVar("Record")
Rule: TypeAlias = Callable[[Record], Iterator[Diagnostic]]
_Stage: TypeAlias = tuple[int, bool]
"""When rules are asked: how many gates are asked before, and whether they are the next gates, which are asked last."""
_Section: TypeAlias = tuple[_Stage, Callable[[Any], object] | None, list[Rule[Any]]]
"""Rules that are asked at the same stage and under the same condition."""
_SECTIONS: dict[type, list[_Section]] = {}  # by type of record, in the order in which they are asked
_GATES_BEFORE: dict[Rule[Any], int] = {}


def rule(
    *,
    of: type[Record],
    when: Callable[[Record], object] | None = None,
    gate: bool = False,
    after: Rule[Record] | None = None,
) -> Callable[[Rule[Record]], Rule[Record]]:
    """Declares a function as a rule about a type of records. `when`: whether a record is one to ask about, a function
    that several rules may share; `after`: a gate without whose errors it is asked.
    """

    def declare(function: Rule[Record]) -> Rule[Record]:
        gates_before = _GATES_BEFORE[function] = _GATES_BEFORE[after] + 1 if after else 0
        stage, sections = (gates_before, gate), _SECTIONS.setdefault(of, [])
        same = (rules for other, applies, rules in sections if (other, applies) == (stage, when))
        if (rules := next(same, None)) is not None:
            rules.append(function)
            return function
        sections.append((stage, when, [function]))
        sections.sort(key=itemgetter(0))
        return function

    return declare


def import_rules(package: str, folder: str) -> None:
    """Imports all modules of a package of rules, by their names, so that they declare them."""
    for file in sorted(os.listdir(folder)):
        name, extension = os.path.splitext(file)
        if extension == ".py" and name != "__init__":
            import_module(f"{package}.{name}")


def rules_about(record: type[Record]) -> list[Rule[Record]]:
    """The rules that are declared about a type of records, in their order."""
    return [function for _, _, rules in _SECTIONS.get(record, ()) for function in rules]


def run_rules_or_stop(record: Record, diagnostics: Collector) -> Record:
    """The record, after its rules have said what is wrong with it. Raises Stop after errors of a gate, or
    TemplateError.
    """
    for stage, applies, rules in _SECTIONS[type(record)]:
        if applies is None or applies(record):
            for function in rules:
                if problems := [*function(record)]:
                    diagnostics.problems += problems
                    if stage[1] and has_errors(problems):
                        raise Stop
    return record
