"""How much of each resource a pod requests, or may have at the most."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from renderer.kubernetes import quantity
from renderer.kubernetes.json_values import as_map, map_at
from renderer.kubernetes.workloads import containers, stays

BILLION = 10**9
"""In which amounts are counted."""


def container_amounts(container: Mapping[str, Any], side: str = "requests") -> Mapping[str, Any]:
    """What a container requests, or with `limits` is limited to, as it is written. A missing request is the limit."""
    sides = as_map(container.get("resources"))
    return {**map_at(sides, "limits"), **map_at(sides, side)}


def pod_amounts(spec: Mapping[str, Any], side: str = "requests") -> dict[str, int]:
    """What a pod requests in all, or is limited to, in billionths: its containers and sidecars together, or another
    init container; what the pod says as a whole counts in place of these. Raises ValueError for what is not a quantity.
    """
    total: dict[str, int] = {}
    before: dict[str, int] = {}
    for path, container in containers(spec):
        target = total if stays(path, container) else before
        for name, amount in container_amounts(container, side).items():
            value = quantity.nanos(amount)
            target[name] = target.get(name, 0) + value if target is total else max(target.get(name, 0), value)
    of_pod = {name: quantity.nanos(amount) for name, amount in container_amounts(spec, side).items()}
    return {name: max(total.get(name, 0), before.get(name, 0)) for name in (*total, *before)} | of_pod


def format_amount(name: str, amount: int) -> str:
    """An amount of a resource as manifests have it."""
    if name in quantity.BYTES and amount % quantity.MEBI == 0:
        return quantity.canonical(f"{amount // quantity.MEBI}Mi")
    return quantity.canonical(f"{amount}n")
