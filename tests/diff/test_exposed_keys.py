"""Gateways outside of the cluster that lead anyone to a provider with a key."""

from __future__ import annotations

from typing import Any

from renderer.diff.comparison import compare
from tests.diff.objects import risks, texts

GATEWAY = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "edge"}
MESSAGE = "anyone who reaches the address spends the key of the provider behind llm/r"


def thing(version: str, kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "llm"}, "spec": spec}


def proxy(service: str) -> dict[str, Any]:
    kubernetes = {"envoyService": {"type": service}}
    return thing(
        "gateway.envoyproxy.io/v1alpha1",
        "EnvoyProxy",
        "edge",
        {"provider": {"type": "Kubernetes", "kubernetes": kubernetes}},
    )


EDGE = thing("gateway.networking.k8s.io/v1", "Gateway", "edge", {"infrastructure": {"parametersRef": {"name": "edge"}}})
ROUTE = thing(
    "aigateway.envoyproxy.io/v1beta1",
    "AIGatewayRoute",
    "r",
    {"parentRefs": [GATEWAY], "rules": [{"backendRefs": [{"name": "outer"}]}]},
)
KEY = thing(
    "aigateway.envoyproxy.io/v1beta1",
    "BackendSecurityPolicy",
    "outer",
    {"targetRefs": [{"kind": "AIServiceBackend", "name": "outer"}], "type": "APIKey"},
)


def auth(**target: str) -> dict[str, Any]:
    spec = {"targetRefs": [target], "apiKeyAuth": {"credentialRefs": [{"name": "k"}]}}
    return thing("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "auth", spec)


def exposures(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[str]:
    """The objects at which the risk is told."""
    sides = [
        [file for body in side for file in texts(body, path=f"llm/{body['kind']}.yaml")] for side in (before, after)
    ]
    return [message for kind, message in risks(compare(*sides)) if message == MESSAGE]


def test_a_gateway_that_is_new() -> None:
    assert exposures([], [EDGE, proxy("LoadBalancer"), ROUTE, KEY]) == [MESSAGE]
    assert exposures([], [EDGE, proxy("ClusterIP"), ROUTE, KEY]) == []
    assert exposures([], [EDGE, proxy("LoadBalancer"), ROUTE]) == []


def test_a_provider_that_is_new_behind_a_gateway_that_stays() -> None:
    before = [EDGE, proxy("NodePort")]
    assert exposures(before, [*before, ROUTE, KEY]) == [MESSAGE]
    assert exposures([*before, ROUTE, KEY], [*before, ROUTE, KEY, auth(kind="Gateway", name="other")]) == []


def test_authentication_of_the_gateway_or_the_route() -> None:
    for target in ({"kind": "Gateway", "name": "edge"}, {"kind": "HTTPRoute", "name": "r"}):
        assert exposures([], [EDGE, proxy("LoadBalancer"), ROUTE, KEY, auth(**target)]) == []
