"""The devices that an engine gets by claims of dynamic resource allocation in the set of manifests."""

from __future__ import annotations

from collections.abc import Mapping

from renderer.check.engines.containers import EngineContainer
from renderer.check.engines.neighbours import Neighbours
from renderer.check.finding import Body
from renderer.kubernetes.json_values import map_at, maps_at, text_at

_CLAIM, _TEMPLATE = "ResourceClaim", "ResourceClaimTemplate"


def claimed_devices(container: EngineContainer, neighbours: Neighbours) -> Mapping[str, int]:
    """The number of devices by DeviceClass that the container gets; {} where one of its claims is not in the set, or
    leaves the number open.
    """
    counts: dict[str, int] = {}
    by_name = {text_at(claim, "name"): claim for claim in maps_at(container.pod, "resourceClaims")}
    for use in maps_at(container.body, "resources", "claims"):
        requests = _requests(by_name.get(text_at(use, "name"), {}), container.namespace, neighbours)
        request_name = text_at(use, "request")
        chosen = [request for request in requests if not request_name or text_at(request, "name") == request_name]
        if not chosen:
            return {}
        for request in chosen:
            exact = map_at(request, "exactly") or request  # v1beta1 has its fields there
            count = exact.get("count", 1)
            name = text_at(exact, "deviceClassName")
            if not name or exact.get("allocationMode", "ExactCount") != "ExactCount" or not isinstance(count, int):
                return {}
            counts[name] = counts.get(name, 0) + count
    return counts


def _requests(claim: Body, namespace: str, neighbours: Neighbours) -> list[Body]:
    """The requests of a claim that a pod names, by its name or by that of its template."""
    if name := text_at(claim, "resourceClaimName"):
        return list(maps_at(neighbours.find(_CLAIM, namespace, name), "spec", "devices", "requests"))
    template = neighbours.find(_TEMPLATE, namespace, text_at(claim, "resourceClaimTemplateName"))
    return list(maps_at(template, "spec", "spec", "devices", "requests"))
