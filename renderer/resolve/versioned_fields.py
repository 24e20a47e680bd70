"""The form of manifests where it depends on the versions that RenderConfig targets."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from renderer.api import RenderConfig
from renderer.kubernetes import component_versions
from renderer.plan import Body, Rollout

_GROUPED = "0.6"  # the first LeaderWorkerSet with types of subgroups; before, all are LeaderWorker
_PARTITION = "0.7"  # the first LeaderWorkerSet with a partition
_RANK_PORTS = "1.1"  # the first Inference Extension whose InferencePools have several target ports
_ROLE_SCALERS = "0.10"  # the first LeaderWorkerSet whose DisaggregatedSets have roles that are scaled from outside
_EVICTION_POLICY = "1.31"  # the first Kubernetes in which the policy about pods that are not ready is stable
_GRANT = "1.5"  # the first Gateway API with ReferenceGrant v1, which equals v1beta1


def rollout(config: RenderConfig, max_unavailable: int | str = 1, max_surge: int | str = 0) -> Rollout:
    """A rollout over all groups. Its partition is 0 where the version has one, as the API server's default."""
    return _cached_rollout(config.get("targets", "leaderWorkerSet"), max_unavailable, max_surge)


@lru_cache(maxsize=256, typed=True)
def _cached_rollout(version: str | None, max_unavailable: int | str, max_surge: int | str) -> Rollout:
    return Rollout(max_unavailable, max_surge, 0 if _is_at_least(version, _PARTITION) else None)


def disruption_budget(config: RenderConfig) -> Body:
    """The spec of PodDisruptionBudgets, less their selectors: one pod at a time. A pod that is not ready may be evicted
    at any time where the version knows how to say it, or it would block the drain of its node.
    """
    known = _targets_at_least(config, "kubernetes", _EVICTION_POLICY)
    return {"maxUnavailable": 1, **({"unhealthyPodEvictionPolicy": "AlwaysAllow"} if known else {})}


def sub_group_policy(config: RenderConfig, groups: Body) -> Body:
    """The subgroup policy, with the API server's default type."""
    known = _targets_at_least(config, "leaderWorkerSet", _GROUPED)
    return {"subGroupPolicyType": "LeaderWorker", **groups} if groups and known else groups


def reference_grant_version(config: RenderConfig) -> str:
    """The API version of ReferenceGrant."""
    return "v1" if _targets_at_least(config, "gatewayAPI", _GRANT) else "v1beta1"


def pools_have_several_ports(config: RenderConfig) -> bool:
    """Whether an InferencePool may have more than one target port."""
    return _targets_at_least(config, "inferenceExtension", _RANK_PORTS)


def sets_have_role_scalers(config: RenderConfig) -> bool:
    """Whether an autoscaler has a target in each role of a DisaggregatedSet."""
    return _targets_at_least(config, "leaderWorkerSet", _ROLE_SCALERS)


def too_new_fields(config: RenderConfig, name: str, *path: str) -> Mapping[str, Any]:
    """The fields of a schema's kind, at a path, that are too new for the targets."""
    too_new = component_versions.target_versions(config.get("targets") or {}).too_new_schema(name)
    node: Mapping[str, Any] = too_new.node if too_new else {}
    for part in path:
        node = node.get(part, {})
    return node


def target(config: RenderConfig, component: str) -> str:
    """The target version of a component: what RenderConfig says, else the default."""
    return config.get("targets", component) or component_versions.components()[component].default


def _targets_at_least(config: RenderConfig, component: str, version: str) -> bool:
    """Whether the target is at least this version."""
    return _is_at_least(target(config, component), version)


def _is_at_least(have: str | None, version: str) -> bool:
    """Whether a version is at least another one. None is: a target that is left out has its default, which tells none
    of the callers apart (tests/test_targets.py).
    """
    return not have or component_versions.version_numbers(have) >= component_versions.version_numbers(version)
