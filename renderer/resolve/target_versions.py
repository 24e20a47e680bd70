"""Which of two forms a manifest gets, by the versions that RenderConfig targets."""

from __future__ import annotations

from functools import lru_cache

from renderer import component_versions
from renderer.api import RenderConfig
from renderer.plan import Body, Rollout

_GROUPED = "0.6"  # the first LeaderWorkerSet with several types of subgroups; before, LeaderWorker is the only one
_PARTITION = "0.7"  # the first LeaderWorkerSet with a partition
_GRANT = "1.5"  # the first Gateway API with ReferenceGrant v1; v1beta1 says the same


def rollout(config: RenderConfig, max_unavailable: int | str = 1, max_surge: int | str = 0) -> Rollout:
    """A rollout over all groups. Without a partition nothing else is meant than with 0, but the API server adds it."""
    return _rollout(config.get("targets", "leaderWorkerSet"), max_unavailable, max_surge)


@lru_cache(maxsize=256, typed=True)
def _rollout(version: str | None, max_unavailable: int | str, max_surge: int | str) -> Rollout:
    return Rollout(max_unavailable, max_surge, 0 if _new(version, _PARTITION) else None)


def sub_groups(config: RenderConfig, groups: Body) -> Body:
    """The subgroups of a group, with the type that the API server would add."""
    known = _reaches(config, "leaderWorkerSet", _GROUPED)
    return {"subGroupPolicyType": "LeaderWorker", **groups} if groups and known else groups


def grants(config: RenderConfig) -> str:
    """The version of ReferenceGrant."""
    return "v1" if _reaches(config, "gatewayAPI", _GRANT) else "v1beta1"


def too_new_fields(config: RenderConfig, name: str, *path: str) -> component_versions.Node:
    """What of the kind of a schema, at a path, is too new."""
    schema = component_versions.target_versions(config.get("targets") or {}).late(name)
    node: component_versions.Node = schema.node if schema else {}
    for part in path:
        node = node.get(part, {})
    return node


def _reaches(config: RenderConfig, component: str, version: str) -> bool:
    """Whether the clusters have at least this version; the defaults do (tests/test_targets.py)."""
    return _new(config.get("targets", component), version)


def _new(target: str | None, version: str) -> bool:
    return not target or component_versions.numbers(target) >= component_versions.numbers(version)
