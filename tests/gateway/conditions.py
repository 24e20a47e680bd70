"""What controllers say of gateways and all that belongs to them, read off the conditions of their status."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tests.apiserver.server import Body
from tests.cluster.control import Cluster

GATEWAY_API = "/apis/gateway.networking.k8s.io/v1"
ENVOY_GATEWAY = "/apis/gateway.envoyproxy.io/v1alpha1"
AI_GATEWAY = "/apis/aigateway.envoyproxy.io/v1beta1"
EXTENSION = "/apis/inference.networking.k8s.io/v1"
REFUSED = "NotAccepted"  # the AI gateway's, in the place of Accepted, whatever its status
# Conditions that are good when they are False, or that say what somebody wants to know and nothing bad.
BAD = {"Conflicted", "PartiallyInvalid"}
NEUTRAL = {"RouteRulesOverlap", "Overridden", "Merged", "Deprecated", "Warning", "OverlappingTLSConfig"}


class Judged(NamedTuple):
    """A kind whose status is judged. `path`: where its objects are; `within`: the list of the status that holds the
    conditions, '' for the status itself; `needed`: the conditions that have to be there.
    """

    kind: str
    path: str
    within: str
    needed: tuple[str, ...]


KINDS = (
    Judged("GatewayClass", f"{GATEWAY_API}/gatewayclasses", "", ("Accepted",)),
    Judged("Gateway", f"{GATEWAY_API}/gateways", "", ("Accepted", "Programmed")),
    Judged("Gateway", f"{GATEWAY_API}/gateways", "listeners", ("Accepted", "ResolvedRefs", "Programmed")),
    Judged("HTTPRoute", f"{GATEWAY_API}/httproutes", "parents", ("Accepted", "ResolvedRefs")),
    Judged("AIGatewayRoute", f"{AI_GATEWAY}/aigatewayroutes", "", ("Accepted",)),
    Judged("AIServiceBackend", f"{AI_GATEWAY}/aiservicebackends", "", ("Accepted",)),
    Judged("BackendSecurityPolicy", f"{AI_GATEWAY}/backendsecuritypolicies", "", ("Accepted",)),
    Judged("Backend", f"{ENVOY_GATEWAY}/backends", "", ("Accepted",)),
    Judged("SecurityPolicy", f"{ENVOY_GATEWAY}/securitypolicies", "ancestors", ("Accepted",)),
    Judged("BackendTrafficPolicy", f"{ENVOY_GATEWAY}/backendtrafficpolicies", "ancestors", ("Accepted",)),
    Judged("ClientTrafficPolicy", f"{ENVOY_GATEWAY}/clienttrafficpolicies", "ancestors", ("Accepted",)),
    Judged("InferencePool", f"{EXTENSION}/inferencepools", "parents", ("Accepted",)),
)


def faults(judged: Judged, body: Body) -> Iterator[str]:
    """What the status of an object says is wrong with it, or does not say yet."""
    status = body.get("status") or {}
    name = f"{judged.kind} {body['metadata'].get('namespace', '')}/{body['metadata']['name']}".replace(" /", " ")
    parts: Sequence[Body] = status.get(judged.within, ()) if judged.within else [status]
    if not parts:
        yield f"{name}: nothing in status.{judged.within}"
    for part in parts:
        conditions = {condition["type"]: condition for condition in part.get("conditions", ())}
        where = f"{name}[{part['name']}]" if judged.within == "listeners" else name
        missing = [
            condition_type
            for condition_type in judged.needed
            if condition_type not in conditions and REFUSED not in conditions
        ]
        yield from (f"{where}: no condition {condition_type}" for condition_type in missing)
        for condition in conditions.values():
            good = "False" if condition["type"] in BAD else "True"
            if condition["type"] not in NEUTRAL and (condition["type"] == REFUSED or condition["status"] != good):
                seen = f"{condition['type']}={condition['status']} {condition['reason']}"
                yield f"{where}: {seen}: {condition['message'][:200]}"


def complaints(cluster: Cluster, kind: str = "") -> list[str]:
    """What controllers say is wrong with any object of KINDS, or of one kind."""
    messages: list[str] = []
    for judged in (judged for judged in KINDS if kind in ("", judged.kind)):
        for body in cluster.listed(judged.path):
            messages += faults(judged, body)
    return messages
