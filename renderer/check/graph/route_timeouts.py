"""Routes to models that say no timeout, so that the gateway ends long answers by its own."""

from __future__ import annotations

from collections.abc import Iterator, Set

from renderer.check.finding import Body
from renderer.check.graph.gateways import envoy_gateways
from renderer.check.graph.policies import targets
from renderer.check.graph.rules import check_rules
from renderer.check.graph.view import ObjectView, Place, named_place
from renderer.diagnostics import Finding
from renderer.kubernetes.json_values import maps_at, text_at, value_at
from renderer.kubernetes.wellknown import MODEL_HEADER

_POOL = "InferencePool"
_AI_GATEWAY_SECONDS, _ENVOY_SECONDS = 60, 15  # of the AI gateway for rules of its own, and of Envoy


@check_rules.about("AIGatewayRoute", "HTTPRoute")
def validate_route_timeout(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding for the first rule to a model without a timeout, where no policy gives the route or its Gateway one."""
    parents = {named_place(parent, namespace) for parent in maps_at(body, "spec", "parentRefs")}
    if parents.isdisjoint(view.once("Envoy's Gateways", envoy_gateways)) or _has_policy(view, parents, namespace, name):
        return
    seconds = _AI_GATEWAY_SECONDS if text_at(body, "kind") == "AIGatewayRoute" else _ENVOY_SECONDS
    for i, rule in enumerate(maps_at(body, "spec", "rules")):
        if value_at(rule, "timeouts", "request") is None and (models := _models(body, rule)):
            yield Finding(
                "W509",
                ("spec", "rules", i),
                {"models": ", ".join(f"'{model}'" for model in models), "seconds": seconds},
            )
            return


def _models(route: Body, rule: Body) -> list[str]:
    """The models, or pools of models, that a rule leads to."""
    if text_at(route, "kind") == "AIGatewayRoute":
        headers = [header for match in maps_at(rule, "matches") for header in maps_at(match, "headers")]
        return [text_at(header, "value") for header in headers if header.get("name") == MODEL_HEADER]
    return [text_at(backend, "name") for backend in maps_at(rule, "backendRefs") if backend.get("kind") == _POOL]


def _has_policy(view: ObjectView, gateways: Set[Place], namespace: str, name: str) -> bool:
    """Whether a policy of the set gives the route, or one of its Gateways, a timeout."""
    timed = view.once("policies with a timeout", _timed_targets)
    return ("HTTPRoute", namespace, name) in timed or any(("Gateway", *gateway) in timed for gateway in gateways)


def _timed_targets(view: ObjectView) -> set[tuple[str, str, str]]:
    """Kind, namespace and name of what BackendTrafficPolicies give a timeout of requests."""
    return {
        (target.kind, target.namespace, target.name)
        for namespace, _, policy in view.all("BackendTrafficPolicy")
        if value_at(policy, "spec", "timeout", "http", "requestTimeout") is not None
        for target in targets(view, policy, namespace)
    }
