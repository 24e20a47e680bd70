"""The startup probe: how long the engine may take to load its weights."""

from __future__ import annotations

import math

from renderer.plan import Body
from renderer.resolve.engine.backend_runtime import Engine

_MOST_FAILURES = 2**31 - 1


def startup_seconds(probe: Body) -> int:
    """The seconds that an engine may take to start, by its startup probe; 0 without one."""
    if not probe:
        return 0
    delay, period, failures = (
        value if isinstance(value := probe.get(key), int) and value > 0 else default
        for key, default in (("initialDelaySeconds", 0), ("periodSeconds", 10), ("failureThreshold", 3))
    )
    return delay + period * failures


def startup_probe(engine: Engine, probe: Body, weights_gib: float) -> Body:
    """The startup probe with a failureThreshold that grows with the weights: ceil(max(seconds, perGiB × GiB) / period),
    at most the largest int32.
    """
    budget = engine.spec.get("startup")
    if not budget or not probe or not weights_gib:
        return probe
    period = probe.get("periodSeconds") or 10  # Kubernetes takes 0 for its default
    if not isinstance(period, int) or period < 0:
        return probe  # the schema reports it
    seconds = load_seconds(engine, weights_gib)
    return {**probe, "failureThreshold": math.ceil(min(seconds / period, _MOST_FAILURES))}


def load_seconds(engine: Engine, weights_gib: float) -> float:
    """The seconds that the engine may take until it has loaded so many weights; 0 where its preset does not say it."""
    budget = engine.spec.get("startup") or {}
    return max(budget.get("seconds", 0), budget.get("perGiB", 0) * weights_gib)
