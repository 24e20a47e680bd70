"""What manifests may have in the versions that RenderConfig targets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from renderer.api import RenderConfig
from renderer.kubernetes import component_versions
from renderer.plan import Body

_GROUPED = "0.6"  # the first LeaderWorkerSet with types of subgroups; before, all are LeaderWorker
_RANK_PORTS = "1.1"  # the first Inference Extension whose InferencePools have several target ports
_ROLE_SCALERS = "0.10"  # the first LeaderWorkerSet whose DisaggregatedSets have roles that are scaled from outside
_GRANT = "1.5"  # the first Gateway API with ReferenceGrant v1, which equals v1beta1


def sub_group_policy(config: RenderConfig, groups: Body) -> Body:
    """The subgroup policy, with the API server's default type."""
    known = targets_at_least(config, "leaderWorkerSet", _GROUPED)
    return {"subGroupPolicyType": "LeaderWorker", **groups} if groups and known else groups


def reference_grant_version(config: RenderConfig) -> str:
    """The API version of ReferenceGrant."""
    return "v1" if targets_at_least(config, "gatewayAPI", _GRANT) else "v1beta1"


def pools_have_several_ports(config: RenderConfig) -> bool:
    """Whether an InferencePool may have more than one target port."""
    return targets_at_least(config, "inferenceExtension", _RANK_PORTS)


def sets_have_role_scalers(config: RenderConfig) -> bool:
    """Whether an autoscaler has a target in each role of a DisaggregatedSet."""
    return targets_at_least(config, "leaderWorkerSet", _ROLE_SCALERS)


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


def targets_at_least(config: RenderConfig, component: str, version: str) -> bool:
    """Whether the target is at least this version."""
    return is_at_least(target(config, component), version)


def is_at_least(have: str | None, version: str) -> bool:
    """Whether a version is at least another one. None is: a target that is left out has its default, which tells none
    of the callers apart (tests/test_targets.py).
    """
    return not have or component_versions.version_numbers(have) >= component_versions.version_numbers(version)
