"""Who wins where several authors say the same (docs/design/contract.md#precedence): one merge for each form of value.

A layer is what one author says, and where it stands; a later layer wins. A merge keeps numbers, never origins: numbers
are the same for all apps that say the same, so they are cached with the value, and origins are made when asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from renderer.diagnostics import Origin, Path
from renderer.plan import Body


class ValueLayer(Struct, frozen=True):
    """What one author says of a field, and where it stands."""

    value: Any
    origin: Origin


class Position(Struct, frozen=True):
    """An item of a layer: the number of the layer, and the path to the item in it."""

    layer: int
    item: Path


History = Mapping[Path, Sequence[Position]]  # by the path of a leaf, where it is said: what wins stands last


class MergedEntries(Struct, frozen=True):
    """One list of several, and where each of its names is said."""

    entries: tuple[Body, ...]
    history: History


def merge_entries(lists: Iterable[Sequence[Body]]) -> MergedEntries:
    """A later entry replaces by name in place, new names are appended in their order; never a name twice
    (docs/design/contract.md#environment).
    """
    merged: dict[str, Body] = {}
    history: dict[Path, list[Position]] = {}
    for number, entries in enumerate(lists):
        for i, entry in enumerate(entries):
            merged[entry["name"]] = entry
            history.setdefault((entry["name"],), []).append(Position(number, (i,)))
    return MergedEntries(tuple(merged.values()), history)


class MergedItems(Struct, frozen=True):
    """One list of several, and where each of its items is said."""

    items: tuple[Any, ...]
    positions: tuple[Position, ...]


def merge_items(lists: Iterable[Iterable[Any]]) -> MergedItems:
    """The items of all lists in their order, none twice: the first that says an item has it."""
    items: list[Any] = []
    positions = []
    for number, values in enumerate(lists):
        for i, item in enumerate(values):
            if item not in items:
                items.append(item)
                positions.append(Position(number, (i,)))
    return MergedItems(tuple(items), tuple(positions))


def replacements(key: str, authors: Iterable[tuple[Mapping[str, object], Origin]]) -> list[ValueLayer]:
    """Who says a field that a later author replaces as a whole: what wins stands last."""
    return [ValueLayer(spec[key], origin.at(key)) for spec, origin in authors if spec.get(key)]


class Located(Protocol):
    """What knows where its items stand."""

    def at(self, *path: str | int) -> Origin:
        """Where the item at a path stands."""


def origins(history: History, layers: Sequence[Located]) -> Iterator[tuple[Path, list[Origin]]]:
    """By the path of a leaf, where it is said; `layers`: where each layer stands."""
    for path, positions in history.items():
        yield path, [layers[position.layer].at(*position.item) for position in positions]
