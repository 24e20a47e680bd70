"""GatewayClass, Gateway and what belongs to a Gateway that we make: its proxies, its policies, its grants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from renderer.plan import Body, Gate, Joint, Manifest

_LABELS = {"app.kubernetes.io/component": "gateway", "app.kubernetes.io/part-of": "llmaz"}
_MANAGED = {"app.kubernetes.io/managed-by": "llmaz-renderer"}
_NAMESPACE = "kubernetes.io/metadata.name"  # a label that every namespace has
_CONTROLLER = "gateway.envoyproxy.io/gatewayclass-controller"
_ENVOY = "gateway.envoyproxy.io/v1alpha1"


def gateway_class(joint: Joint) -> Iterator[Manifest]:
    """One for each class that our Gateways name."""
    for gate in joint.classes:
        body = {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "GatewayClass",
            "metadata": {"name": gate.class_name, "labels": _labelled(gate.class_name)},
            "spec": {"controllerName": _CONTROLLER},
        }
        yield Manifest(body, gate.origins)


def gateway(joint: Joint) -> Iterator[Manifest]:
    """EnvoyProxy, Gateway, ClientTrafficPolicy, SecurityPolicy and ReferenceGrant of each Gateway that we make."""
    for gate in joint.gates:
        for body in (_proxy(gate), _gateway(gate), _door(gate), *_authentication(gate), *_grant(gate)):
            yield Manifest(body, gate.origins)


def _proxy(gate: Gate) -> dict[str, Any]:
    kubernetes = {
        "envoyDeployment": {"replicas": gate.replicas},
        # The name that Envoy Gateway would make holds a hash.
        "envoyService": {"type": gate.service_type, "name": f"{gate.namespace}-{gate.name}"},
    }
    return _body(gate, _ENVOY, "EnvoyProxy", {"provider": {"type": "Kubernetes", "kubernetes": kubernetes}})


def _gateway(gate: Gate) -> dict[str, Any]:
    proxy = {"group": "gateway.envoyproxy.io", "kind": "EnvoyProxy", "name": gate.name}
    spec = {
        "gatewayClassName": gate.class_name,
        "infrastructure": {"parametersRef": proxy},
        "listeners": [_listener(gate, i, host) for i, host in enumerate(gate.hostnames if gate.tls else ())]
        or [_listener(gate, 0, "")],
    }
    made = _body(gate, "gateway.networking.k8s.io/v1", "Gateway", spec)
    if issuer := gate.tls.get("issuer"):
        made["metadata"]["annotations"] = {"cert-manager.io/cluster-issuer": issuer}
    return made


def _listener(gate: Gate, index: int, hostname: str) -> Body:
    name, protocol, port = ("https", "HTTPS", 443) if gate.tls else ("http", "HTTP", 80)
    made: dict[str, Any] = {"name": f"{name}-{index}" if index else name, "protocol": protocol, "port": port}
    if hostname:
        made["hostname"] = hostname
    if gate.tls:
        secret = gate.tls.get("secretName") or f"{gate.name}-tls"
        made["tls"] = {"mode": "Terminate", "certificateRefs": [{"group": "", "kind": "Secret", "name": secret}]}
    made["allowedRoutes"] = {"namespaces": _namespaces(gate)}
    return made


def _namespaces(gate: Gate) -> Body:
    """Whose routes it takes; nobody's but its own where there is none yet."""
    if not gate.routes_from:
        return {"from": "Same"}
    expression = {"key": _NAMESPACE, "operator": "In", "values": list(gate.routes_from)}
    return {"from": "Selector", "selector": {"matchExpressions": [expression]}}


def _door(gate: Gate) -> dict[str, Any]:
    """Prompts are longer than 32 KiB; and nobody says for himself which model he means, or who he is."""
    spec = {
        "targetRefs": [_target(gate)],
        "connection": {"bufferLimit": "50Mi"},
        "headers": {"earlyRequestHeaders": {"remove": list(gate.removed_headers)}},
    }
    return _body(gate, _ENVOY, "ClientTrafficPolicy", spec)


def _authentication(gate: Gate) -> Iterator[dict[str, Any]]:
    if gate.authentication:
        spec = {"targetRefs": [_target(gate)], **gate.authentication}
        yield _body(gate, _ENVOY, "SecurityPolicy", spec)


def _grant(gate: Gate) -> Iterator[dict[str, Any]]:
    """Namespaces whose routes repeat the Gateway's authentication may name its Secret."""
    if gate.granted and gate.secret:
        spec = {
            "from": [
                {"group": "gateway.envoyproxy.io", "kind": "SecurityPolicy", "namespace": each} for each in gate.granted
            ],
            "to": [{"group": "", "kind": "Secret", "name": gate.secret}],
        }
        yield _body(gate, f"gateway.networking.k8s.io/{gate.grants}", "ReferenceGrant", spec)


def _target(gate: Gate) -> Body:
    return {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": gate.name}


def _body(gate: Gate, version: str, kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": gate.name, "namespace": gate.namespace, "labels": _labelled(gate.name)}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def _labelled(name: str) -> dict[str, str]:
    return {"app.kubernetes.io/name": name, **_LABELS, **_MANAGED}
