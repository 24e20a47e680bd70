"""Routes with several priorities: something must send a failed request to the next one."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.finding import Body
from renderer.check.graph.policies import parent_gateways, policies_by_gateway, targets
from renderer.check.graph.rules import reference_rules
from renderer.check.graph.view import ObjectView, Place
from renderer.diagnostics import Finding, Path
from renderer.kubernetes.json_values import map_at, maps_at, number_at


@reference_rules.about("AIGatewayRoute")
def validate_fallbacks(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding where a route has several priorities, and nothing sends a failed request again: it is answered with
    the failure, whatever stands in the next priority.
    """
    for r, rule in enumerate(maps_at(body, "spec", "rules")):
        references = [reference for reference in maps_at(rule, "backendRefs") if reference.get("weight", 1)]
        priorities = {number_at(reference, "priority") for reference in references}
        if len(priorities) < 2 or _is_retried(view, body, namespace, name):
            continue
        path: Path = ("spec", "rules", r, "backendRefs")
        unknown_gateways = [place for place, _ in parent_gateways(body, namespace) if not view.find("Gateway", *place)]
        if unknown_gateways:
            key = ("Gateway", *unknown_gateways[0])
            yield from view.note_once("N590", key, path, gateway="/".join(unknown_gateways[0]))
        else:
            yield Finding("W590", path, {"name": name})
        return


def _is_retried(view: ObjectView, route: Body, namespace: str, name: str) -> bool:
    """Whether a BackendTrafficPolicy makes failed requests of an AIGatewayRoute go to another backend: by retries, or
    by health checks that take a backend out.
    """
    own_policies = view.once("traffic policies", _traffic_policies_by_route).get((namespace, name), [])
    policies = list(own_policies)
    if not own_policies or any("mergeType" in map_at(policy, "spec") for policy in own_policies):
        for place, _ in parent_gateways(route, namespace):
            policies += [policy for _, policy in policies_by_gateway(view, "BackendTrafficPolicy").get(place, ())]
    return any({"retry", "healthCheck"} & set(map_at(policy, "spec")) for policy in policies)


def _traffic_policies_by_route(view: ObjectView) -> dict[Place, list[Body]]:
    """By HTTPRoute, the BackendTrafficPolicies that target it."""
    policies: dict[Place, list[Body]] = {}
    for namespace, _, body in view.all("BackendTrafficPolicy"):
        for target in targets(view, body, namespace):
            if target.kind == "HTTPRoute":
                policies.setdefault((target.namespace, target.name), []).append(body)
    return policies
