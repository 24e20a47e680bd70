"""How many replicas a rollout takes away, or adds, at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from renderer.kubernetes.json_values import map_at, text_at
from renderer.kubernetes.server_defaults import DEPLOYMENT_ROLLOUT
from renderer.kubernetes.workloads import DEPLOYMENT, WORKLOADS, Kind, kind_of


def bound_count(bound: object, replicas: float, *, up: bool) -> int:
    """The replicas that a bound of a rollout comes to: its number, or its percentage of the replicas, rounded up (as
    maxSurge is) or down (as maxUnavailable is); 0 for anything else.
    """
    if isinstance(bound, (int, float)):
        return int(bound)  # 1.0 is a whole number too
    percent = bound.removesuffix("%") if isinstance(bound, str) else ""
    if not (percent.isascii() and percent.isdigit()):
        return 0
    return int(-(-int(percent) * replicas // 100) if up else int(percent) * replicas // 100)


def surge_bound(kind: Kind, spec: Mapping[str, Any]) -> object:
    """How many replicas a rollout adds at once: a number or a percentage; 0 where it adds none. `spec`: the map that
    says the replicas.
    """
    workload = WORKLOADS.get(kind)
    strategy = map_at(spec, *workload.rollout[:1]) if workload and workload.rollout else None
    if strategy is None or text_at(strategy, "type", default="RollingUpdate") != "RollingUpdate":
        return 0
    usual = DEPLOYMENT_ROLLOUT["maxSurge"] if kind == DEPLOYMENT else 0
    return map_at(strategy, *workload.rollout[1:]).get("maxSurge", usual) if workload else 0


def unavailable_count(body: Mapping[str, Any], replicas: int) -> int:
    """How many of so many replicas of a workload may be gone at once while a rollout replaces them."""
    if text_at(body, "spec", "strategy", "type") == "Recreate":
        return replicas
    kind = WORKLOADS.get(kind_of(body))
    bounds = map_at(body, "spec", *kind.rollout) if kind and kind.rollout else {}
    usual = DEPLOYMENT_ROLLOUT["maxUnavailable"] if kind_of(body) == DEPLOYMENT else 1
    return bound_count(bounds.get("maxUnavailable", usual), replicas, up=False)
