"""What gives the pods of a workload their accelerators, where no limit of theirs does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from renderer.adopt.serving_workload import ServingWorkload
from renderer.kubernetes import component_versions
from renderer.kubernetes.json_values import map_at, text_at
from renderer.schema_validation import name_of

Body = Mapping[str, Any]
_FIELDS: Final = ("resourceClaims", "runtimeClassName")
_CLASS: Final = {"exactly": {"deviceClassName": "a", "count": 1, "selectors": [{"cel": {"expression": "true"}}]}}
_CLAIM: Final = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaimTemplate",
    "spec": {"spec": {"devices": {"requests": [_CLASS]}}},
}


def device_giver(template: Body, container: Body) -> str:
    """What of a pod may give its engine an accelerator that no limit names; '' for nothing."""
    amounts = {**map_at(container, "resources", "requests"), **map_at(container, "resources", "limits")}
    givers = [field for field in _FIELDS if map_at(template, "spec").get(field)]
    return next(iter([*givers, *(name for name in amounts if "/" in name)]), "")


def needed_versions(workloads: Iterable[ServingWorkload]) -> dict[str, str]:
    """The versions that what runs needs of the cluster's components beyond those that are targeted by default, as
    `targets` of RenderConfig has them.
    """
    needed: dict[str, str] = {}
    targets = component_versions.target_versions({})
    for body in (body for workload in workloads for body in _bodies(workload)):
        schema = targets.too_new_schema(name_of(text_at(body, "apiVersion"), text_at(body, "kind")))
        for too_new in component_versions.too_new(schema.node, body) if schema else ():
            for name, version in too_new.needs.items():
                if name != component_versions.GATE:
                    needed[name] = max(needed.get(name, "0"), version, key=component_versions.version_numbers)
    return needed


def _bodies(workload: ServingWorkload) -> Iterator[Body]:
    """Objects of Kubernetes that have what a workload has."""
    for template in filter(None, (workload.template, workload.leader_template)):
        yield {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": template}}
    if workload.device_claim:
        yield _CLAIM
