"""What engines refuse at their start on cards of some compute capability, by engine and version."""

from __future__ import annotations

from functools import cache

from msgspec import Struct

from renderer.engines.handwritten_command import table_entry
from renderer.engines.version_order import in_range
from renderer.kubernetes.json_values import maps_at, number_at, text_at, texts_at

_HIGHEST = 99.0


class CardNeed(Struct, frozen=True):
    """Something that takes a compute capability: an option, weights in a format, or without both the engine itself."""

    least: float  # compute capability
    most: float  # likewise
    option: str = ""
    values: frozenset[str] = frozenset()  # of the option, any of which takes it
    other: str = ""  # an option beside which alone it takes that
    other_values: frozenset[str] = frozenset()  # of that option
    weights: str = ""  # the format
    hint: str = ""  # what to do, '' where nothing but another card helps


@cache
def card_needs(backend: str, version: str) -> tuple[CardNeed, ...]:
    """What a version of the engine of a preset needs, as presets/engine_commands.yaml says; () for unknown ones."""
    needs = []
    for row in maps_at(table_entry(backend), "cardNeeds") if version else ():
        if in_range(row, version):
            need = CardNeed(
                least=number_at(row, "least"),
                most=number_at(row, "most", default=_HIGHEST),
                option=text_at(row, "option"),
                values=frozenset(texts_at(row, "values")),
                other=text_at(row, "with"),
                other_values=frozenset(texts_at(row, "withValues")),
                weights=text_at(row, "weights"),
                hint=text_at(row, "hint"),
            )
            needs.append(need)
    return tuple(needs)


@cache
def options_with_needs(backend: str, version: str) -> frozenset[str]:
    """The options of that version that need a card; '' among them where the engine itself, or its weights, may."""
    return frozenset(need.option for need in card_needs(backend, version))
