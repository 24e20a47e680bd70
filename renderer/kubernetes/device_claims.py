"""How many devices of each DeviceClass a claim of dynamic resource allocation asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from renderer.kubernetes.json_values import map_at, maps_at, text_at

ALL_DEVICES = 32
"""What a quota counts for a request of all devices: the most that a claim gets (AllocationResultsMaxSize)."""


def device_counts(spec: Mapping[str, Any], *, of_all: int = ALL_DEVICES) -> dict[str, int]:
    """The devices of a ResourceClaim's spec by DeviceClass, of alternatives the most of each. `of_all`: what counts
    for a request of all devices of a node.
    """
    counts: dict[str, int] = {}
    for request in maps_at(spec, "devices", "requests"):
        most: dict[str, int] = {}
        exact = map_at(request, "exactly") or request  # v1beta1 has no `exactly`
        for choice in (*maps_at(request, "firstAvailable"),) or (exact,):
            count = choice.get("count", 1)
            count = of_all if choice.get("allocationMode") == "All" else count if isinstance(count, int) else 1
            name = text_at(choice, "deviceClassName")
            most[name] = max(most.get(name, 0), count)
        for name, count in most.items():
            counts[name] = counts.get(name, 0) + count
    return counts
