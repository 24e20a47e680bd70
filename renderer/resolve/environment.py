"""Environments: who wins of several, and never a name twice (contract, section 2)."""

from __future__ import annotations

from collections.abc import Iterable

from renderer.plan import Body


def merge_env(*layers: Iterable[Body]) -> tuple[Body, ...]:
    """A later entry replaces by name in place, new names are appended in their order; never a name twice."""
    merged: dict[str, Body] = {}
    for layer in layers:
        for entry in layer:
            merged[entry["name"]] = entry
    return tuple(merged.values())
