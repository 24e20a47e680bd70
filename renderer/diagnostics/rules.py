"""Rules about finished records. Each declares where it stands which record it is about and when it is asked; a gate is
one after whose errors nothing more is decided. A rule decides nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct

from renderer.diagnostics.diagnostic import Collector, Diagnostic, Stop, has_errors

Record = TypeVar("Record")
Rule: TypeAlias = Callable[[Record], Iterator[Diagnostic]]


class _Section(Struct):
    """The rules about a type of records that are asked at the same time and under the same condition."""

    stage: int  # how many gates are asked before
    gates: bool  # they are gates, which are asked last in their stage
    applies: Callable[[Any], object]
    rules: list[Rule[Any]]


_SECTIONS: dict[type, list[_Section]] = {}  # by type of record, in the order in which they are asked
_STAGES: dict[Rule[Any], int] = {}


def _always(record: object) -> bool:
    return True


def rule(
    *,
    of: type[Record],
    when: Callable[[Record], object] = _always,
    gate: bool = False,
    after: Rule[Record] | None = None,
) -> Callable[[Rule[Record]], Rule[Record]]:
    """Declares a function as a rule about a type of records, and about those derived from it. `when`: whether a record
    is one to ask about, a function that several rules may share; `after`: a gate without whose errors it is asked.
    """

    def declare(function: Rule[Record]) -> Rule[Record]:
        stage = _STAGES[function] = _STAGES[after] + 1 if after else 0
        sections = _SECTIONS.setdefault(of, [])
        for section in sections:
            if (section.stage, section.gates, section.applies) == (stage, gate, when):
                section.rules.append(function)
                break
        else:
            sections.append(_Section(stage, gate, when, [function]))
            sections.sort(key=lambda section: (section.stage, section.gates))
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
    return [function for section in _SECTIONS.get(record, ()) for function in section.rules]


def run_rules_or_stop(record: Record, diagnostics: Collector) -> Record:
    """The record, after its rules have said what is wrong with it. Raises Stop after errors of a gate, or
    TemplateError.
    """
    for base in type(record).__mro__:
        for section in _SECTIONS.get(base, ()):
            for function in section.rules if section.applies(record) else ():
                if problems := list(function(record)):
                    diagnostics.problems += problems
                    if section.gates and has_errors(problems):
                        raise Stop
    return record
