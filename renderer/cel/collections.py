"""Kubernetes' functions about lists, and lists as sets."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Sequence
from functools import cmp_to_key
from operator import itemgetter
from typing import Any, Final

from renderer.cel.carriers import NO_OVERLOAD
from renderer.cel.compiler import TOO_LARGE, Function

_SUMMED: Final = ("int", "uint", "double", "duration")
_COMPARED: Final = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_MOST: Final = 1_000  # items of lists.range


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _order(one: Any, other: Any) -> int:
    """Which of two values comes first. Raises ValueError where they cannot be compared."""
    if not (_is_number(one) and _is_number(other)) and one.__class__ is not other.__class__:
        raise ValueError(NO_OVERLOAD)
    if isinstance(one, (dict, list)) or one is None:
        raise ValueError(NO_OVERLOAD)
    return int(one > other) - int(one < other)


def _identity(value: object) -> object:
    """What two values have in common where CEL takes them for equal: numbers of any type, but no number and a boolean.
    It can be looked up in sets.
    """
    return ("items", repr(_shape(value))) if isinstance(value, (list, dict)) else _shape(value)


def _shape(value: object) -> object:
    if isinstance(value, list):
        return "list", [*map(_shape, value)]
    if isinstance(value, dict):
        return "map", sorted(((repr(_shape(key)), _shape(item)) for key, item in value.items()), key=itemgetter(0))
    if isinstance(value, bool):
        return "bool", value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return ("bytes", bytes(value)) if isinstance(value, bytearray) else value


def _is_sorted(items: Sequence[object]) -> bool:
    return all(_order(items[i], items[i + 1]) <= 0 for i in range(len(items) - 1))


def _sum(items: Sequence[Any]) -> object:
    if not items:
        return 0
    if not all(map(_is_number, items)) and not all(isinstance(item, datetime.timedelta) for item in items):
        raise ValueError(NO_OVERLOAD)
    return sum(items[1:], items[0])


def _extreme(name: str, sign: int) -> Callable[[Sequence[object]], object]:
    def run(items: Sequence[object]) -> object:
        if not items:
            raise ValueError(f"{name} called on empty list")
        best = items[0]
        for item in items[1:]:
            if _order(item, best) * sign > 0:
                best = item
        return best

    return run


def _index_of(items: Sequence[object], element: object) -> int:
    identity = _identity(element)
    return next((i for i, item in enumerate(items) if _identity(item) == identity), -1)


def _last_index_of(items: Sequence[object], element: object) -> int:
    index = _index_of(items[::-1], element)
    return len(items) - 1 - index if index >= 0 else -1


def _contains(items: Sequence[object], elements: Sequence[object]) -> bool:
    return {*map(_identity, elements)} <= {*map(_identity, items)}


def _equivalent(items: Sequence[object], others: Sequence[object]) -> bool:
    return {*map(_identity, items)} == {*map(_identity, others)}


def _intersects(items: Sequence[object], others: Sequence[object]) -> bool:
    return not {*map(_identity, items)}.isdisjoint(map(_identity, others))


def _distinct(items: Sequence[object]) -> list[object]:
    distinct: dict[object, object] = {}
    for item in items:
        distinct.setdefault(_identity(item), item)
    return [*distinct.values()]


def _flat(items: Sequence[object], depth: int) -> Iterator[object]:
    for item in items:
        if isinstance(item, list) and depth > 0:
            yield from _flat(item, depth - 1)
        else:
            yield item


def _flatten(items: Sequence[object], depth: int = 1) -> list[object]:
    if depth < 0:
        raise ValueError("level must be non-negative")
    return list(_flat(items, depth))


def _slice(items: Sequence[object], start: int, end: int) -> list[object]:
    if start < 0 or end < 0:
        raise ValueError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise ValueError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if end > len(items):
        raise ValueError(f"cannot slice({start}, {end}), list is length {len(items)}")
    return [*items[start:end]]


def _sorted(items: Sequence[object]) -> list[object]:
    return sorted(items, key=cmp_to_key(_order))


def _range(count: int) -> list[int]:
    if count > _MOST:
        raise ValueError(TOO_LARGE)
    return list(range(count))


_LISTS: Final = ("list", "list", "bool")
FUNCTIONS: Final = (
    Function("isSorted", True, tuple((f"list<{kind}>", "bool") for kind in _COMPARED), _is_sorted),
    Function("sum", True, tuple((f"list<{kind}>", kind) for kind in _SUMMED), _sum),
    Function("min", True, tuple((f"list<{kind}>", kind) for kind in _COMPARED), _extreme("min", -1)),
    Function("max", True, tuple((f"list<{kind}>", kind) for kind in _COMPARED), _extreme("max", 1)),
    Function("indexOf", True, (("list", "dyn", "int"),), _index_of),
    Function("lastIndexOf", True, (("list", "dyn", "int"),), _last_index_of),
    Function("sets.contains", False, (_LISTS,), _contains),
    Function("sets.equivalent", False, (_LISTS,), _equivalent),
    Function("sets.intersects", False, (_LISTS,), _intersects),
    Function("distinct", True, (("list", "list"),), _distinct),
    Function("flatten", True, (("list", "list"), ("list", "int", "list")), _flatten),
    Function("slice", True, (("list", "int", "int", "list"),), _slice),
    Function("sort", True, (("list", "list"),), _sorted),
    Function("reverse", True, (("list", "list"),), lambda items: [*reversed(items)]),
    Function("lists.range", False, (("int", "list<int>"),), _range),
)
