"""Merges of layers (docs/design/contract.md#precedence), one for each form of value. A later layer wins.

A merge records positions, not origins: positions are equal for apps with equal settings, so they are cached with the
value; origins are made on demand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from renderer.diagnostics import Located, Origin, Path
from renderer.plan import Body


class ValueLayer(Struct, frozen=True):
    """A value of one author, and its origin."""

    value: Any
    origin: Origin


class Position(Struct, frozen=True):
    """An item of a layer: the number of the layer, and the path to the item in it."""

    layer: int
    item: Path


History = Mapping[Path, Sequence[Position]]  # by the path of a leaf, the positions that set it, the winner last


class MergedEntries(Struct, frozen=True):
    """A merged list of named entries, and the history of each name."""

    entries: tuple[Body, ...]
    history: History


def merge_entries(lists: Iterable[Sequence[Body]]) -> MergedEntries:
    """Merges lists by name: a later entry replaces an earlier one in place, new names are appended
    (docs/design/contract.md#environment).
    """
    merged: dict[str, Body] = {}
    history: dict[Path, list[Position]] = {}
    for number, entries in enumerate(lists):
        for i, entry in enumerate(entries):
            name = str(entry["name"])
            merged[name] = entry
            history.setdefault((name,), []).append(Position(number, (i,)))
    return MergedEntries(tuple(merged.values()), history)


class MergedItems(Struct, frozen=True):
    """A merged list without duplicates, and the position of each item."""

    items: tuple[Any, ...]
    positions: tuple[Position, ...]


def merge_items(lists: Iterable[Iterable[object]]) -> MergedItems:
    """The distinct items of all lists in their order, each with its first position."""
    items: list[object] = []
    positions = []
    for number, values in enumerate(lists):
        for i, item in enumerate(values):
            if item not in items:
                items.append(item)
                positions.append(Position(number, (i,)))
    return MergedItems(tuple(items), tuple(positions))


def replacements(key: str, authors: Iterable[tuple[Mapping[str, object], Origin]]) -> list[ValueLayer]:
    """The layers of a field that a later layer replaces as a whole, the winner last; falsy values are left out."""
    return [ValueLayer(spec[key], origin.at(key)) for spec, origin in authors if spec.get(key)]


def origins(history: History, layers: Sequence[Located]) -> Iterator[tuple[Path, list[Origin]]]:
    """The path of each leaf, and its origins, the winner last."""
    for path, positions in history.items():
        yield path, [layers[position.layer].at(*position.item) for position in positions]
