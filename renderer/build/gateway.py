"""GatewayClass, Gateway and what belongs to a Gateway that we make: its proxies, its policies, its grants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from renderer.plan import Body, GatewayPlan, Manifest, SharedPlan

_LABELS = {"app.kubernetes.io/component": "gateway", "app.kubernetes.io/part-of": "llmaz"}
_MANAGED = {"app.kubernetes.io/managed-by": "llmaz-renderer"}
_NAMESPACE = "kubernetes.io/metadata.name"  # a label that every namespace has
_CONTROLLER = "gateway.envoyproxy.io/gatewayclass-controller"
_ENVOY = "gateway.envoyproxy.io/v1alpha1"


def gateway_class(shared_plan: SharedPlan) -> Iterator[Manifest]:
    """One for each class that our Gateways name."""
    for gateway_plan in shared_plan.classes:
        body = {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "GatewayClass",
            "metadata": {"name": gateway_plan.class_name, "labels": _labels(gateway_plan.class_name)},
            "spec": {"controllerName": _CONTROLLER},
        }
        yield Manifest(body, gateway_plan.origins)


def gateway(shared_plan: SharedPlan) -> Iterator[Manifest]:
    """EnvoyProxy, Gateway, ClientTrafficPolicy, SecurityPolicy and ReferenceGrant of each Gateway that we make."""
    for gateway_plan in shared_plan.gates:
        for body in (
            _proxy(gateway_plan),
            _gateway(gateway_plan),
            _client_traffic_policy(gateway_plan),
            *_security_policy(gateway_plan),
            *_grant(gateway_plan),
        ):
            yield Manifest(body, gateway_plan.origins)


def _proxy(gateway_plan: GatewayPlan) -> dict[str, Any]:
    kubernetes = {
        "envoyDeployment": {"replicas": gateway_plan.replicas},
        # The name that Envoy Gateway would make holds a hash.
        "envoyService": {"type": gateway_plan.service_type, "name": f"{gateway_plan.namespace}-{gateway_plan.name}"},
    }
    return _body(gateway_plan, _ENVOY, "EnvoyProxy", {"provider": {"type": "Kubernetes", "kubernetes": kubernetes}})


def _gateway(gateway_plan: GatewayPlan) -> dict[str, Any]:
    proxy = {"group": "gateway.envoyproxy.io", "kind": "EnvoyProxy", "name": gateway_plan.name}
    spec = {
        "gatewayClassName": gateway_plan.class_name,
        "infrastructure": {"parametersRef": proxy},
        "listeners": [
            _listener(gateway_plan, i, host)
            for i, host in enumerate(gateway_plan.hostnames if gateway_plan.tls else ())
        ]
        or [_listener(gateway_plan, 0, "")],
    }
    body = _body(gateway_plan, "gateway.networking.k8s.io/v1", "Gateway", spec)
    if issuer := gateway_plan.tls.get("issuer"):
        body["metadata"]["annotations"] = {"cert-manager.io/cluster-issuer": issuer}
    return body


def _listener(gateway_plan: GatewayPlan, index: int, hostname: str) -> Body:
    name, protocol, port = ("https", "HTTPS", 443) if gateway_plan.tls else ("http", "HTTP", 80)
    listener: dict[str, Any] = {"name": f"{name}-{index}" if index else name, "protocol": protocol, "port": port}
    if hostname:
        listener["hostname"] = hostname
    if gateway_plan.tls:
        secret = gateway_plan.tls.get("secretName") or f"{gateway_plan.name}-tls"
        listener["tls"] = {"mode": "Terminate", "certificateRefs": [{"group": "", "kind": "Secret", "name": secret}]}
    listener["allowedRoutes"] = {"namespaces": _namespaces(gateway_plan)}
    return listener


def _namespaces(gateway_plan: GatewayPlan) -> Body:
    """The namespaces whose routes a listener admits; only its own where no route is known."""
    if not gateway_plan.routes_from:
        return {"from": "Same"}
    expression = {"key": _NAMESPACE, "operator": "In", "values": list(gateway_plan.routes_from)}
    return {"from": "Selector", "selector": {"matchExpressions": [expression]}}


def _client_traffic_policy(gateway_plan: GatewayPlan) -> dict[str, Any]:
    """Room for prompts above 32 KiB; and headers that clients must not set themselves (model, tenant) are removed."""
    spec = {
        "targetRefs": [_target(gateway_plan)],
        "connection": {"bufferLimit": "50Mi"},
        "headers": {"earlyRequestHeaders": {"remove": list(gateway_plan.removed_headers)}},
    }
    return _body(gateway_plan, _ENVOY, "ClientTrafficPolicy", spec)


def _security_policy(gateway_plan: GatewayPlan) -> Iterator[dict[str, Any]]:
    if gateway_plan.authentication:
        spec = {"targetRefs": [_target(gateway_plan)], **gateway_plan.authentication}
        yield _body(gateway_plan, _ENVOY, "SecurityPolicy", spec)


def _grant(gateway_plan: GatewayPlan) -> Iterator[dict[str, Any]]:
    """Namespaces whose routes repeat the Gateway's authentication may name its Secret."""
    if gateway_plan.granted and gateway_plan.secret:
        spec = {
            "from": [
                {"group": "gateway.envoyproxy.io", "kind": "SecurityPolicy", "namespace": namespace}
                for namespace in gateway_plan.granted
            ],
            "to": [{"group": "", "kind": "Secret", "name": gateway_plan.secret}],
        }
        yield _body(gateway_plan, f"gateway.networking.k8s.io/{gateway_plan.grants}", "ReferenceGrant", spec)


def _target(gateway_plan: GatewayPlan) -> Body:
    return {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": gateway_plan.name}


def _body(gateway_plan: GatewayPlan, version: str, kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": gateway_plan.name, "namespace": gateway_plan.namespace, "labels": _labels(gateway_plan.name)}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def _labels(name: str) -> dict[str, str]:
    return {"app.kubernetes.io/name": name, **_LABELS, **_MANAGED}
