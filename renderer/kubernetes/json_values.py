"""Values out of JSON bodies, by path; whatever is missing or of another type reads as empty.

`as_map` and its like take the value itself: several times as fast, for rules that run for each object.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

Path: TypeAlias = tuple[str | int, ...]
Pattern: TypeAlias = tuple[str, ...]
"""A path in which `*` stands for each item of a list or value of a map, and `**` for any number of levels."""


def as_map(value: object) -> Mapping[str, object]:
    """The value where it is a map, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_maps(value: object) -> Sequence[Mapping[str, object]]:
    """The value where it is a list, whose items a schema has proven to be maps; else an empty one."""
    return value if isinstance(value, list) else ()


def as_text(value: object) -> str:
    """The value where it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def as_texts(value: object) -> Sequence[str]:
    """The value where it is a list, whose items a schema has proven to be strings; else an empty one."""
    return value if isinstance(value, list) else ()


def as_number(value: object) -> float:
    """The value where it is a number, else 0."""
    return value if isinstance(value, (int, float)) else 0


def without_nulls(value: Any) -> Any:
    """A copy of the value without the keys of maps whose value is null."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def value_at(value: object, *path: str | int) -> object:
    """The value at a path of a body; None where it is missing or a part of the path has another type."""
    for part in path:
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
        else:
            return None
    return value


def map_at(value: object, *path: str | int) -> Mapping[str, object]:
    """The map at a path; an empty one if it is missing or no map."""
    for part in path:  # most parts are keys of maps
        value = value.get(part) if isinstance(value, dict) else value_at(value, part)
    return value if isinstance(value, dict) else {}


def list_at(value: object, *path: str | int) -> list[object]:
    """The list at a path; an empty one if it is missing or no list."""
    for part in path:
        value = value.get(part) if isinstance(value, dict) else value_at(value, part)
    return value if isinstance(value, list) else []


def maps_at(value: object, *path: str | int) -> list[dict[str, object]]:
    """The maps of the list at a path."""
    return [item for item in list_at(value, *path) if isinstance(item, dict)]


def text_at(value: object, *path: str | int, default: str = "") -> str:
    """The string at a path; the default if it is missing or no string."""
    for part in path:
        value = value.get(part) if isinstance(value, dict) else value_at(value, part)
    return value if isinstance(value, str) else default


def texts_at(value: object, *path: str | int) -> list[str]:
    """The strings of the list at a path."""
    return [item for item in list_at(value, *path) if isinstance(item, str)]


def number_at(value: object, *path: str | int, default: float = 0) -> float:
    """The number at a path; the default if it is missing or no number."""
    number = value_at(value, *path)
    return number if isinstance(number, (int, float)) else default


def find(value: object, pattern: Pattern, path: Path = ()) -> Iterator[tuple[Path, object]]:
    """What stands at a pattern in a value, with its path."""
    for i, part in enumerate(pattern):
        if part in ("*", "**"):
            yield from _find_any(value, pattern[i:], (*path, *pattern[:i]))
            return
        if not isinstance(value, dict) or part not in value:
            return
        value = value[part]
    yield (*path, *pattern), value


def _find_any(value: object, pattern: Pattern, path: Path) -> Iterator[tuple[Path, object]]:
    """What stands at a pattern that begins with a wildcard."""
    rest = pattern[1:]
    if pattern[0] == "**":
        yield from find(value, rest, path)
        rest = pattern
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from find(item, rest, (*path, key))
