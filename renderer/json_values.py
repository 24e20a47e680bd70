"""Values out of JSON bodies, by path; whatever is missing or of another type reads as empty."""

from __future__ import annotations

from collections.abc import Mapping


def value_at(value: object, *path: str | int) -> object:
    """The value at a path of a body; None where it is missing or a part of the path has another type."""
    for part in path:
        if isinstance(part, int):
            value = value[part] if isinstance(value, list) and part < len(value) else None
        else:
            value = value.get(part) if isinstance(value, dict) else None
        if value is None:
            return None
    return value


def map_at(value: object, *path: str | int) -> Mapping[str, object]:
    """The map at a path; an empty one if it is missing or no map."""
    mapping = value_at(value, *path)
    return mapping if isinstance(mapping, dict) else {}


def list_at(value: object, *path: str | int) -> list[object]:
    """The list at a path; an empty one if it is missing or no list."""
    items = value_at(value, *path)
    return items if isinstance(items, list) else []


def maps_at(value: object, *path: str | int) -> list[dict[str, object]]:
    """The maps of the list at a path."""
    return [item for item in list_at(value, *path) if isinstance(item, dict)]


def text_at(value: object, *path: str | int) -> str:
    """The string at a path; an empty one if it is missing or no string."""
    text = value_at(value, *path)
    return text if isinstance(text, str) else ""
