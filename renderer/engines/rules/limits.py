"""Whether limits that an engine is given go together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache

from msgspec import Struct

from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.engines.dialect import Dialect
from renderer.engines.given_options import (
    GivenNumber,
    last_given_number,
    last_number,
    option_values,
    value_or_key,
    whole_number,
    with_whole,
    written_options,
)
from renderer.engines.handwritten_command import table_entry
from renderer.engines.running_engine import EngineLine, RunningEngine
from renderer.engines.version_order import in_range
from renderer.kubernetes.json_values import maps_at, number_at, text_at, texts_at

_DIVIDES, _ALIKE = "divides", "alike"


class _Option(Struct, frozen=True):
    """An option under all of its names, or several; or a key in the JSON of one."""

    spelled: str
    names: frozenset[str]

    def on(self, line: EngineLine) -> str:
        """The option as the line has it."""
        names = (arg.partition("=")[0] for arg in line.args if line.engine.style.name(arg) in self.names)
        return self.spelled if self._is_key() else next(names, self.spelled)

    def is_on(self, line: EngineLine) -> bool:
        """Whether the line has it."""
        return not line.options.isdisjoint(self.names) and (not self._is_key() or bool(self._value(line)))

    def number(self, line: EngineLine) -> int | None:
        """What the line has last; None where that is no whole number."""
        if not self._is_key():
            return last_number(line.engine.style, line.args, self.names)
        return whole_number(self._value(line))

    def written(self, line: EngineLine) -> GivenNumber | None:
        """What the reader wrote last; None where that is nothing."""
        style = line.engine.style
        if not self._is_key():
            return last_given_number(style, line.written, self.names)
        number, options = self.number(line), [*written_options(style, line.written, self.names)]
        return GivenNumber(number, self.spelled, options[-1].origin) if options and number is not None else None

    def _is_key(self) -> bool:
        return "." in self.spelled

    def _value(self, line: EngineLine) -> str:
        """What a key is set to; '' without it."""
        return value_or_key(option_values(line.engine.style, line.args, self.names), self.spelled)


def _option(style: Dialect, names: Sequence[str]) -> _Option:
    """The option of these names, of which the first is its own."""
    every = [part for name in names for part in with_whole(name)]
    return _Option(names[0] if names else "", frozenset(map(style.name, every)))


class _Limits(Struct, frozen=True):
    """Two limits of one engine."""

    low: _Option
    high: _Option
    relation: str  # of the lower one to the higher; '' where it is to be below
    may_be_equal: bool
    beside: _Option  # one of these makes the engine look at them; without names it always does
    default: int | None  # what the higher one is where nobody says it; None where nobody knows
    architectures: frozenset[str]  # of models with which they have to; empty for all
    is_context: bool  # the lower one is the longest context of the model where nobody says it
    may_leave: bool  # the option beside them may as well be left out
    apart: _Option  # beside one of these nobody knows what the engine makes of the two
    changes_low: bool  # it is the lower one that follows the other

    def holds(self, low: int, high: int) -> bool:
        """Whether the engine takes the two."""
        if self.relation == _DIVIDES:
            return low < 1 or high % low == 0
        if self.relation == _ALIKE:
            return low in (1, high)
        return low < high or (low == high and self.may_be_equal)

    def words(self) -> str:
        """What the lower one is to the other where the engine does not take the two."""
        known = {_DIVIDES: "no divisor of", _ALIKE: "neither 1 nor"}
        return known.get(self.relation) or ("above" if self.may_be_equal else "not below")


@cache
def _limits(backend: str, style: Dialect, version: str) -> list[_Limits]:
    """The limits that go together in a version of the engine of a preset."""
    limits = []
    for row in maps_at(table_entry(backend), "limits"):
        if in_range(row, version) if version else row.keys().isdisjoint(("since", "until")):
            default = int(number_at(row, "default")) if "default" in row else None
            entry = _Limits(
                low=_option(style, texts_at(row, "low")),
                high=_option(style, texts_at(row, "high")),
                relation=text_at(row, "relation"),
                may_be_equal=bool(row.get("equal")),
                beside=_option(style, texts_at(row, "beside")),
                default=default,
                architectures=frozenset(texts_at(row, "architectures")),
                is_context=bool(row.get("context")),
                may_leave=bool(row.get("leave")),
                apart=_option(style, texts_at(row, "apart")),
                changes_low=row.get("change") == "low",
            )
            limits.append(entry)
    return limits


@rule(of=EngineLine, when=lambda line: line.args and "limits" in table_entry(line.backend))
def contradictory_limits(line: EngineLine) -> Iterator[Diagnostic]:
    """An error for a limit above another one that the engine wants to be the higher one."""
    for limits in _limits(line.backend, line.engine.style, line.version):
        if line.options.isdisjoint(limits.low.names) or limits.architectures:
            continue
        is_said = not line.options.isdisjoint(limits.high.names)
        if not is_said and limits.default is None:
            continue
        if (limits.beside.names and not limits.beside.is_on(line)) or limits.apart.is_on(line):
            continue
        low, high = limits.low.number(line), limits.high.number(line) if is_said else limits.default
        if low is None or high is None or limits.holds(low, high):
            continue
        yield from _contradiction(line, limits, low, high)


@cache
def _limits_of_models(backend: str, style: Dialect, version: str) -> list[_Limits]:
    return [limits for limits in _limits(backend, style, version) if limits.is_context]


def _bounds_models(running: RunningEngine) -> object:
    line = running.line
    limits = _limits_of_models(line.backend, line.engine.style, line.version)
    return limits and not line.options.isdisjoint(limits[0].high.names)


@rule(of=RunningEngine, when=_bounds_models)
def split_prompts(running: RunningEngine) -> Iterator[Diagnostic]:
    """The same of limits whose lower one is the longest context of the model where the line does not say it, and of
    those that only some models have.
    """
    line, facts = running.line, running.facts()
    for limits in _limits_of_models(line.backend, line.engine.style, line.version):
        if limits.architectures and text_at(facts, "architecture") not in limits.architectures:
            continue
        length, high = limits.low.number(line), limits.high.number(line)
        if limits.beside.names and (length is not None or not limits.beside.is_on(line)):
            continue
        if length is None and not line.options.isdisjoint(limits.low.names):
            continue  # the engine chooses it
        low = int(number_at(facts, "contextLength")) if length is None else length
        if low and high is not None and high < low:
            yield from _contradiction(line, limits, low, high)


def _contradiction(line: EngineLine, limits: _Limits, low: int, high: int) -> Iterator[Diagnostic]:
    """An error at the option that the reader wrote, for an engine whose project publishes the image."""
    number = limits.low.written(line) or limits.high.written(line)
    if number and line.is_own_image():
        words = {
            "low": limits.low.on(line),
            "value": low,
            "high": limits.high.on(line),
            "bound": high,
            "relation": limits.words(),
            "engine": line.backend,
            "hint": _hint(line, limits, low, high),
        }
        yield make_diagnostic("E485", number.origin, **words)


def _hint(line: EngineLine, limits: _Limits, low: int, high: int) -> str:
    """Which of the two to change, and how."""
    if limits.may_leave:
        beside = limits.beside.on(line)
        return f"leave {beside} out, or write {limits.high.on(line)} {low} or more"
    if limits.relation == _ALIKE:
        return f"write {limits.low.on(line)} {high}, or leave it out"
    if limits.relation == _DIVIDES and limits.changes_low:
        return f"write {limits.low.on(line)} {math.gcd(low, high)}"
    if limits.relation == _DIVIDES:
        return f"write {limits.high.on(line)} {max(low, high - high % low)}"
    least = high if limits.may_be_equal else high - 1
    return f"write {limits.low.on(line)} {least} or less, or raise {limits.high.on(line)}"
