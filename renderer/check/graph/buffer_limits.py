"""Gateways whose connections hold too little of a request for the AI gateway to read the model in it."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.finding import Body
from renderer.check.graph.gateways import model_gateways
from renderer.check.graph.policies import targets
from renderer.check.graph.rules import reference_rules
from renderer.check.graph.view import ObjectView, Place
from renderer.diagnostics import Finding
from renderer.kubernetes.json_values import value_at

_BUFFER = "connection: {bufferLimit: 50Mi}"


@reference_rules.about("Gateway")
def validate_buffer_limit(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A warning for a Gateway with routes to models and a small buffer."""
    if (namespace, name) in model_gateways(view):
        yield from small_buffer(view, namespace, name)


def small_buffer(view: ObjectView, namespace: str, name: str) -> Iterator[Finding]:
    """A warning for a Gateway and no ClientTrafficPolicy of the set that says its buffer: Envoy Gateway's own of 32 KiB
    then ends longer requests to models with 413 (envoyproxy/ai-gateway, issues 827 and 828).
    """
    policies = view.once("client policies of gateways", _client_policies).get((namespace, name), {})
    if not any(policies.values()):
        hint = f"add a ClientTrafficPolicy with this Gateway among its targetRefs and {_BUFFER}"
        if policies:
            hint = f"write {_BUFFER} in ClientTrafficPolicy '{next(iter(policies))}'"
        yield Finding("W684", ("spec",), {"name": name, "hint": hint})


def _client_policies(view: ObjectView) -> dict[Place, dict[str, bool]]:
    """By Gateway the ClientTrafficPolicies that target it, and whether each says the buffer."""
    policies: dict[Place, dict[str, bool]] = {}
    for namespace, name, policy in view.all("ClientTrafficPolicy"):
        says_buffer = value_at(policy, "spec", "connection", "bufferLimit") is not None
        for target in targets(view, policy, namespace):
            if target.kind == "Gateway":
                policies.setdefault((target.namespace, target.name), {})[name] = says_buffer
    return policies
