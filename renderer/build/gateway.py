"""GatewayClass, Gateway, and the EnvoyProxy, policies and ReferenceGrant of a Gateway that we create."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from renderer.kubernetes import wellknown
from renderer.plan import Body, GatewayPlan, Manifest, SharedPlan

_NAMESPACE = "kubernetes.io/metadata.name"  # a label that every namespace has
_ENVOY = "gateway.envoyproxy.io/v1alpha1"


def gateway_class(shared_plan: SharedPlan) -> Iterator[Manifest]:
    """One for each class of our Gateways."""
    for gateway_plan in shared_plan.gateway_classes:
        body = {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "GatewayClass",
            "metadata": {"name": gateway_plan.class_name, "labels": _labels(gateway_plan.class_name)},
            "spec": {"controllerName": wellknown.ENVOY_CONTROLLER},
        }
        yield Manifest(body, gateway_plan.origins)


def gateway(shared_plan: SharedPlan) -> Iterator[Manifest]:
    """EnvoyProxy, Gateway, ClientTrafficPolicy, SecurityPolicy and ReferenceGrant of each Gateway that we create."""
    for gateway_plan in shared_plan.gateways:
        for body in (
            _proxy(gateway_plan),
            _gateway(gateway_plan),
            _client_traffic_policy(gateway_plan),
            *_security_policy(gateway_plan),
            *_grant(gateway_plan),
        ):
            yield Manifest(body, gateway_plan.origins)


def _proxy(gateway_plan: GatewayPlan) -> dict[str, object]:
    kubernetes = {
        "envoyDeployment": {"replicas": gateway_plan.replicas},
        # Envoy Gateway's own name for it contains a hash.
        "envoyService": {"type": gateway_plan.service_type, "name": f"{gateway_plan.namespace}-{gateway_plan.name}"},
    }
    return _body(gateway_plan, _ENVOY, "EnvoyProxy", {"provider": {"type": "Kubernetes", "kubernetes": kubernetes}})


def _gateway(gateway_plan: GatewayPlan) -> dict[str, object]:
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
    listener: dict[str, object] = {"name": f"{name}-{index}" if index else name, "protocol": protocol, "port": port}
    if hostname:
        listener["hostname"] = hostname
    if gateway_plan.tls:
        secret = gateway_plan.tls.get("secretName") or f"{gateway_plan.name}-tls"
        listener["tls"] = {"mode": "Terminate", "certificateRefs": [{"group": "", "kind": "Secret", "name": secret}]}
    listener["allowedRoutes"] = {"namespaces": _allowed_namespaces(gateway_plan)}
    return listener


def _allowed_namespaces(gateway_plan: GatewayPlan) -> Body:
    """The namespaces whose routes a listener admits: its own where no route is known."""
    if not gateway_plan.route_namespaces:
        return {"from": "Same"}
    expression = {"key": _NAMESPACE, "operator": "In", "values": list(gateway_plan.route_namespaces)}
    return {"from": "Selector", "selector": {"matchExpressions": [expression]}}


def _client_traffic_policy(gateway_plan: GatewayPlan) -> dict[str, object]:
    """A buffer for prompts above 32 KiB, and the removal of headers that clients must not set (model, tenant)."""
    spec = {
        "targetRefs": [_target_reference(gateway_plan)],
        "connection": {"bufferLimit": "50Mi"},
        "headers": {"earlyRequestHeaders": {"remove": list(gateway_plan.removed_headers)}},
    }
    return _body(gateway_plan, _ENVOY, "ClientTrafficPolicy", spec)


def _security_policy(gateway_plan: GatewayPlan) -> Iterator[dict[str, object]]:
    if gateway_plan.authentication:
        spec = {"targetRefs": [_target_reference(gateway_plan)], **gateway_plan.authentication}
        yield _body(gateway_plan, _ENVOY, "SecurityPolicy", spec)


def _grant(gateway_plan: GatewayPlan) -> Iterator[dict[str, object]]:
    """A ReferenceGrant for the namespaces whose SecurityPolicies repeat the Gateway's authentication."""
    if gateway_plan.granted_namespaces and gateway_plan.secret:
        spec = {
            "from": [
                {"group": "gateway.envoyproxy.io", "kind": "SecurityPolicy", "namespace": namespace}
                for namespace in gateway_plan.granted_namespaces
            ],
            "to": [{"group": "", "kind": "Secret", "name": gateway_plan.secret}],
        }
        yield _body(gateway_plan, f"gateway.networking.k8s.io/{gateway_plan.grant_version}", "ReferenceGrant", spec)


def _target_reference(gateway_plan: GatewayPlan) -> Body:
    return {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": gateway_plan.name}


def _body(gateway_plan: GatewayPlan, version: str, kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": gateway_plan.name, "namespace": gateway_plan.namespace, "labels": _labels(gateway_plan.name)}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def _labels(name: str) -> dict[str, str]:
    return wellknown.own_labels(name, "gateway")
