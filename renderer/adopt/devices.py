"""What gives the pods of a workload their accelerators, where no limit of theirs does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from renderer.adopt.serving_workload import ServingWorkload
from renderer.kubernetes import component_versions
from renderer.kubernetes.json_values import list_at, map_at, maps_at, text_at
from renderer.kubernetes.wellknown import RUNNER
from renderer.kubernetes.workloads import is_rendered
from renderer.schema_validation import name_of

Body = Mapping[str, Any]
ClaimsByTemplate: TypeAlias = Mapping[tuple[str, str], Body]
"""`claims` of flavors, by the namespace and name of the ResourceClaimTemplate that each was rendered to."""
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


def rendered_claims(bodies: Iterable[Body]) -> ClaimsByTemplate:
    """What flavors say of the devices in the ResourceClaimTemplates that llmaz has rendered."""
    claims: dict[tuple[str, str], Body] = {}
    for body in bodies:
        if text_at(body, "kind") == "ResourceClaimTemplate" and is_rendered(body):
            key = text_at(body, "metadata", "namespace"), text_at(body, "metadata", "name")
            requests = maps_at(body, "spec", "spec", "devices", "requests")
            exact = map_at(requests[0], "exactly") if len(requests) == 1 else {}
            if exact.keys() - {"allocationMode"} <= {"deviceClassName", "count", "selectors"} and exact:
                claims[key] = _claim(exact)
    return claims


def _claim(exact: Body) -> Body:
    selectors = [text_at(selector, "cel", "expression") for selector in maps_at(exact, "selectors")]
    claim = {"deviceClassName": text_at(exact, "deviceClassName"), "count": exact.get("count", 1)}
    return {**claim, "selectors": selectors} if selectors else claim


def take_devices(pods: Sequence[dict[str, Any]], namespace: str, claims: ClaimsByTemplate) -> Body:
    """Takes the devices of such a template out of the specs of pods, whose flavor says them. {} where they have none,
    or one of them has others.
    """
    named = [[item for item in maps_at(pod, "resourceClaims") if _template(namespace, item) in claims] for pod in pods]
    if {len(items) for items in named} != {1} or len({_template(namespace, items[0]) for items in named}) > 1:
        return {}
    for pod, [item] in zip(pods, named, strict=True):
        _remove(pod, "resourceClaims", item)
        for container in maps_at(pod, "containers"):
            if container.get("name") == RUNNER:
                resources = dict(map_at(container, "resources"))
                _remove(resources, "claims", {"name": item.get("name")})
                container["resources"] = resources
    return claims[_template(namespace, named[0][0])]


def _template(namespace: str, claim: Body) -> tuple[str, str]:
    return namespace, text_at(claim, "resourceClaimTemplateName")


def _remove(body: dict[str, Any], field: str, item: Body) -> None:
    if rest := [other for other in list_at(body, field) if other != item]:
        body[field] = rest
    else:
        body.pop(field, None)


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
