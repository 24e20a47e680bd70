"""Gateways whose connections hold too little of a request for the AI gateway to read the model in it."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.finding import Body
from renderer.check.graph.gateways import model_gateways
from renderer.check.graph.policies import targets
from renderer.check.graph.rules import reference_rules
from renderer.check.graph.view import ObjectView, Place
from renderer.diagnostics import Finding


@reference_rules.about("Gateway")
def validate_buffer_limit(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A warning for a Gateway with routes to models and no ClientTrafficPolicy of the set: Envoy Gateway's buffer of
    32 KiB then ends longer requests with 413 (envoyproxy/ai-gateway, issues 827 and 828).
    """
    place = namespace, name
    if place in model_gateways(view) and place not in view.once("gateways with a client policy", _targeted):
        yield Finding("W684", ("spec",), {"name": name})


def _targeted(view: ObjectView) -> set[Place]:
    """The Gateways that ClientTrafficPolicies target."""
    return {
        (target.namespace, target.name)
        for namespace, _, policy in view.all("ClientTrafficPolicy")
        for target in targets(view, policy, namespace)
        if target.kind == "Gateway"
    }
