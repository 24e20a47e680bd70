"""Whether limits that an engine is given go together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.engines.given_options import GivenNumber, last_given_number, last_number
from renderer.engines.handwritten_command import table_entry
from renderer.engines.running_engine import EngineLine
from renderer.kubernetes.json_values import maps_at, texts_at


@rule(of=EngineLine, when=lambda line: line.args and "limits" in table_entry(line.backend))
def contradictory_limits(line: EngineLine) -> Iterator[Diagnostic]:
    """An error for a limit above another one that the engine wants to be the higher one."""
    for row in maps_at(table_entry(line.backend), "limits"):
        if line.options.isdisjoint(_names(line, row, "low")) or line.options.isdisjoint(_names(line, row, "high")):
            continue
        low, high = _numbers(line, row)
        if low is None or high is None or low < high or (low == high and row.get("equal")):
            continue
        number = _given(line, row, "low") or _given(line, row, "high")
        if number and line.is_own_image():
            words = {
                "low": _spelled(line, row, "low"),
                "value": low,
                "high": _spelled(line, row, "high"),
                "bound": high,
                "relation": "above" if row.get("equal") else "not below",
                "engine": line.backend,
                "least": high if row.get("equal") else high - 1,
            }
            yield make_diagnostic("E485", number.origin, **words)


def _numbers(line: EngineLine, row: Mapping[str, object]) -> tuple[int | None, int | None]:
    """The numbers of both options on the whole line; None for one that it does not have, or that is not known."""
    style = line.engine.style
    low, high = (last_number(style, line.args, _names(line, row, side)) for side in ("low", "high"))
    return low, high


def _given(line: EngineLine, row: Mapping[str, object], side: str) -> GivenNumber | None:
    return last_given_number(line.engine.style, line.written, _names(line, row, side))


def _names(line: EngineLine, row: Mapping[str, object], side: str) -> frozenset[str]:
    return frozenset(map(line.engine.style.name, texts_at(row, side)))


def _spelled(line: EngineLine, row: Mapping[str, object], side: str) -> str:
    """The option as the line has it."""
    names = _names(line, row, side)
    spelled = (arg.partition("=")[0] for arg in line.args if arg[:1] == "-" and line.engine.style.name(arg) in names)
    return next(spelled, texts_at(row, side)[0])
