"""Whether limits that an engine is given go together."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from msgspec import Struct

from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.engines.dialect import Dialect
from renderer.engines.given_options import last_given_number, last_number
from renderer.engines.handwritten_command import table_entry
from renderer.engines.running_engine import EngineLine, RunningEngine
from renderer.engines.version_order import in_range
from renderer.kubernetes.json_values import maps_at, number_at, text_at, texts_at


class _Option(Struct, frozen=True):
    """An option under all of its names."""

    spelled: str
    names: frozenset[str]

    def on(self, line: EngineLine) -> str:
        """The option as the line has it."""
        names = (arg.partition("=")[0] for arg in line.args if line.engine.style.name(arg) in self.names)
        return next(names, self.spelled)


class _Limits(Struct, frozen=True):
    """Two limits of one engine."""

    low: _Option
    high: _Option
    may_be_equal: bool
    beside: frozenset[str]  # options of which one makes the engine look at them; empty where it always does
    default: int | None  # what the higher one is where nobody says it; None where nobody knows
    architectures: frozenset[str]  # of models with which they have to; empty for all
    is_context: bool  # the lower one is the longest context of the model where nobody says it
    may_leave: bool  # the option beside them may as well be left out


@cache
def _limits(backend: str, style: Dialect, version: str) -> list[_Limits]:
    """The limits that go together in a version of the engine of a preset."""
    limits = []
    for row in maps_at(table_entry(backend), "limits"):
        if in_range(row, version) if version else row.keys().isdisjoint(("since", "until")):
            low, high = (
                _Option(names[0], frozenset(map(style.name, names)))
                for names in (texts_at(row, "low"), texts_at(row, "high"))
            )
            beside = frozenset(map(style.name, texts_at(row, "beside")))
            default = int(number_at(row, "default")) if "default" in row else None
            entry = _Limits(
                low=low,
                high=high,
                may_be_equal=bool(row.get("equal")),
                beside=beside,
                default=default,
                architectures=frozenset(texts_at(row, "architectures")),
                is_context=bool(row.get("context")),
                may_leave=bool(row.get("leave")),
            )
            limits.append(entry)
    return limits


@rule(of=EngineLine, when=lambda line: line.args and "limits" in table_entry(line.backend))
def contradictory_limits(line: EngineLine) -> Iterator[Diagnostic]:
    """An error for a limit above another one that the engine wants to be the higher one."""
    style = line.engine.style
    for limits in _limits(line.backend, style, line.version):
        if line.options.isdisjoint(limits.low.names) or limits.architectures:
            continue
        is_said = not line.options.isdisjoint(limits.high.names)
        if not is_said and limits.default is None:
            continue
        if limits.beside and line.options.isdisjoint(limits.beside):
            continue
        low, high = (last_number(style, line.args, option.names) for option in (limits.low, limits.high))
        high = high if is_said else limits.default
        if low is None or high is None or low < high or (low == high and limits.may_be_equal):
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
    style = line.engine.style
    for limits in _limits_of_models(line.backend, style, line.version):
        if limits.architectures and text_at(facts, "architecture") not in limits.architectures:
            continue
        length, high = (last_number(style, line.args, option.names) for option in (limits.low, limits.high))
        if limits.beside and (length is not None or line.options.isdisjoint(limits.beside)):
            continue
        if length is None and not line.options.isdisjoint(limits.low.names):
            continue  # the engine chooses it
        low = int(number_at(facts, "contextLength")) if length is None else length
        if low and high is not None and high < low:
            yield from _contradiction(line, limits, low, high)


def _contradiction(line: EngineLine, limits: _Limits, low: int, high: int) -> Iterator[Diagnostic]:
    """An error at the option that the reader wrote, for an engine whose project publishes the image."""
    style = line.engine.style
    numbers = (last_given_number(style, line.written, option.names) for option in (limits.low, limits.high))
    number = next(filter(None, numbers), None)
    if number and line.is_own_image():
        words = {
            "low": limits.low.on(line),
            "value": low,
            "high": limits.high.on(line),
            "bound": high,
            "relation": "above" if limits.may_be_equal else "not below",
            "engine": line.backend,
            "hint": _hint(line, limits, low, high),
        }
        yield make_diagnostic("E485", number.origin, **words)


def _hint(line: EngineLine, limits: _Limits, low: int, high: int) -> str:
    """Which of the two to change, and how."""
    if limits.may_leave:
        beside = _Option("", limits.beside).on(line)
        return f"leave {beside} out, or write {limits.high.on(line)} {low} or more"
    least = high if limits.may_be_equal else high - 1
    return f"write {limits.low.on(line)} {least} or less, or raise {limits.high.on(line)}"
