"""The fields that a hint says to write, put into an object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WRITTEN = "…"  # in a hint, for what stands there


def merge(target: dict[str, Any], fields: Mapping[str, Any]) -> None:
    """Adds fields to an object, maps to maps; others replace what is there."""
    for key, item in fields.items():
        if isinstance(item, dict) and isinstance(target.get(key), dict):
            merge(target[key], item)
        else:
            target[key] = item


def filled(fields: Any, written: object) -> Any:
    """The fields of a hint, with what was written where they say so."""
    if isinstance(fields, dict):
        return {key: filled(item, written) for key, item in fields.items()}
    if isinstance(fields, list):
        return [filled(item, written) for item in fields]
    return written if fields == WRITTEN else fields
