"""How much an expression may have to do, worked out of its checked syntax tree before it runs: the package counts the
steps of macros, but neither what functions do in one step nor how large the values are that macros make.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from renderer.cel.checked_tree import (
    CALL,
    COMPREHENSION,
    CONSTANT,
    IDENTIFIER,
    LIST,
    SELECT,
    fields_by_number,
    first,
    identifier,
    inner_expressions,
    is_constant,
    kind_of,
)

MAX_STEPS: Final = 10_000  # of macros, about what the package takes
_MAX_GROWTH: Final = 1 << 40
_RANGE: Final = 1_000  # items of a list that lists.range makes
_VALUE: Final = 4  # bytes of a value, what a text has aside
_TEXT_UNIT: Final = 64  # characters that cost as much as an item
_CHEAP: Final = frozenset(
    {
        "_[_]", "_[?_]", "_?._", "_?_:_", "_&&_", "_||_", "!_", "@not_strictly_false", "-_", "_-_", "_*_", "_/_", "_%_",
        "_<_", "_<=_", "_>_", "_>=_", "dyn", "hasValue", "orValue", "or", "value", "optional.of", "optional.none",
    }
)  # fmt: skip
_CHEAP_BESIDE_CONSTANTS: Final = ("_==_", "_!=_", "_+_")
_ITEMS_OF_TEXTS: Final = ("split", "findAll")


class Extent(Struct, frozen=True):
    """How large values are."""

    size: int = 0  # bytes, about
    units: int = 0  # all that has to be looked at: values, and parts of long texts
    longest: int = 1  # items of the longest list or map
    characters: int = 0  # of the longest text

    def with_other(self, other: Extent) -> Extent:
        """That of these values and others."""
        longest, characters = max(self.longest, other.longest), max(self.characters, other.characters)
        return Extent(self.size + other.size, self.units + other.units, longest, characters)


def extent_of(value: object) -> Extent:
    """How large a value is."""
    values, texts, units, longest, characters = 0, 0, 0, 1, 0
    rest: list[object] = [value]
    while rest:
        item = rest.pop()
        values += 1
        if isinstance(item, (str, bytes, bytearray)):
            if (length := len(item)) > characters:
                characters = length
            texts += length
            units += length // _TEXT_UNIT
        elif isinstance(item, dict):
            if (count := len(item)) > longest:
                longest = count
            rest += item  # its keys
            rest += item.values()
        elif isinstance(item, list):
            if (count := len(item)) > longest:
                longest = count
            rest += item
    return Extent(texts + values * _VALUE, values + units, longest, characters)


class Work(Struct, frozen=True):
    """What an expression may have to do."""

    operations: Mapping[int, int] = {}  # how many, by how many lists each is repeated for
    constants: int = 0  # how many literals the expression has
    functions: frozenset[str] = frozenset()
    sums: int = 1  # how often a value may be put into another one
    macros: int = 0  # that give a name to a value that is made

    @property
    def growth(self) -> int:
        """How many times as large as what it reads its values may be, each item of a list for itself."""
        growth: int = self.sums ** min(self.macros + 1, 64)
        return min(growth, _MAX_GROWTH)

    def cost(self, extent: Extent) -> int:
        """The most units that have to be looked at for values of that extent."""
        longest, units = max(extent.longest, self.constants), extent.units + self.constants
        if self.functions.intersection(_ITEMS_OF_TEXTS):
            longest, units = max(longest, extent.characters), units + extent.characters
        if "lists.range" in self.functions:
            longest, units = max(longest, _RANGE), units + _RANGE
        times: int = sum(count * min(longest**power, MAX_STEPS) for power, count in self.operations.items())
        return times * units * self.growth


def work_of(data: bytes) -> Work:
    """What a tree may have to do."""
    counter = _Counter()
    _, power = counter.visit(data, {}, 0)
    counter.count(power)  # its value is handed over
    return Work(counter.operations, counter.constants, frozenset(counter.functions), counter.sums, counter.macros)


_NOWHERE: Final = 1 << 30  # where the names of a constant are bound


class _Counter:
    """Walks over a tree. Of each value it knows in which macro the outermost name was bound that it is made of (0: in
    none), and for how many lists it was repeated.
    """

    def __init__(self) -> None:
        self.operations: dict[int, int] = {}
        self.functions: set[str] = set()
        self.constants, self.sums, self.macros = 0, 1, 0

    def count(self, power: int) -> None:
        """Counts an operation."""
        self.operations[power] = self.operations.get(power, 0) + 1

    def visit(self, data: bytes, bound: Mapping[str, int], depth: int) -> tuple[int, int]:
        """What is known of the value of an expression. `bound`: the macros of names; `depth`: of the expression."""
        kind, content = kind_of(data)
        if kind == CONSTANT:
            self.constants += 1
            return _NOWHERE, 0
        if kind == IDENTIFIER:
            return bound.get(identifier(data), 0), 0
        if kind == COMPREHENSION:
            return self._folded(fields_by_number(content), bound, depth)
        inner = [*inner_expressions(kind, content)]
        known = [self.visit(item, bound, depth) for item in inner]
        outermost, power = _merged(known)
        if kind == CALL:
            name = first(fields_by_number(content), 2).decode()
            if name == "_?_:_":
                return _merged(known[1:])
            self._called(name, inner, depth - min(depth, outermost) + power)
        elif kind != SELECT:
            self.constants += 1
            self.sums += max(0, sum(not is_constant(item) for item in inner) - 1)
        return outermost, power

    def _called(self, name: str, arguments: list[bytes], power: int) -> None:
        self.functions.add(name)
        if name == "_+_" and identifier(arguments[0]).startswith("@"):
            if not is_constant(arguments[1]):
                self.count(power + 1)  # the package copies the list of what a macro has gathered so far
        elif name not in _CHEAP and not (name in _CHEAP_BESIDE_CONSTANTS and any(map(is_constant, arguments))):
            self.count(power)
            self.sums += name == "_+_"

    def _folded(self, parts: Mapping[int, list[bytes]], bound: Mapping[str, int], depth: int) -> tuple[int, int]:
        """A macro: one that gives a name to a value, one that makes a list, or one that asks."""
        variable, gathered = first(parts, 1).decode(), first(parts, 3).decode()
        scope, start = self.visit(first(parts, 2), bound, depth), self.visit(first(parts, 4), bound, depth)
        if kind_of(first(parts, 2)) == (LIST, b""):
            self.macros += 1
            outermost, power = self.visit(first(parts, 7), {**bound, gathered: start[0]}, depth)
            return outermost, start[1] + power
        inner = {**bound, variable: depth + 1, gathered: _NOWHERE}
        outermost, power = _merged([self.visit(first(parts, part), inner, depth + 1) for part in (5, 6, 7)])
        if kind_of(first(parts, 4))[0] != LIST:
            return _NOWHERE, 0
        self.macros += 1
        is_repeated = outermost != depth + 1  # it puts more into its list than the item that it is at
        return min(scope[0], outermost, depth), scope[1] + power + is_repeated


def _merged(known: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """What is known of a value that is made of others."""
    items = [*known]
    return min((item[0] for item in items), default=_NOWHERE), max((item[1] for item in items), default=0)
