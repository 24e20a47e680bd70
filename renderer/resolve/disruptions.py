"""How many pods of an app may be away at once: while a new version rolls out, and while nodes are drained."""

from __future__ import annotations

from renderer.api import RenderConfig
from renderer.plan import Body, Rollout, Scaler
from renderer.resolve import target_versions

_PARTITION = "0.7"  # the first LeaderWorkerSet with a partition
_EVICTION_POLICY = "1.31"  # the first Kubernetes in which the policy about pods that are not ready is stable


def rollout(config: RenderConfig) -> Rollout:
    """A rollout over all groups. Its partition is 0 where the version has one, as the API server's default."""
    has_partition = target_versions.is_at_least(config.get("targets", "leaderWorkerSet"), _PARTITION)
    return Rollout(partition=0 if has_partition else None)


def disruption_budget(config: RenderConfig) -> Body:
    """The spec of PodDisruptionBudgets, less their selectors: one pod at a time. A pod that is not ready may be evicted
    at any time where the version knows how to say it, or it would block the drain of its node.
    """
    known = target_versions.targets_at_least(config, "kubernetes", _EVICTION_POLICY)
    return {"maxUnavailable": 1, **({"unhealthyPodEvictionPolicy": "AlwaysAllow"} if known else {})}


def needs_disruption_budget(size: int, scaler: Scaler | None, replicas: int) -> bool:
    """Whether at least two replicas always run, or may run where an eviction ends a group of several pods (`size`)."""
    if scaler is None:
        return replicas >= 2
    return (scaler.min_replicas if size == 1 else scaler.max_replicas) >= 2
