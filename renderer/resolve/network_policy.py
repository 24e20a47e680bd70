"""The NetworkPolicy of a namespace: who may connect to the pods of its models (docs/pods.md#network-policy)."""

from __future__ import annotations

from renderer.api import RenderConfig
from renderer.diagnostics import Origin
from renderer.kubernetes import wellknown
from renderer.plan import Body, NetworkPolicyNeed, NetworkPolicyPlan
from renderer.resolve.gateway.settings import read_gateway_settings
from renderer.yamlio import SharedMap

NAME = "llmaz-engines"
SETTING = ("pods", "networkPolicy")
_INTERCEPTOR = ("autoscaling", "keda", "interceptor", "namespace")
_NAMESPACE = "kubernetes.io/metadata.name"  # a label that every namespace has
_CONTROLLER_NAMESPACE = "envoy-gateway-system"  # where Envoy Gateway runs its proxies, unless that is the Gateway's own
_PROXY = SharedMap({wellknown.COMPONENT: "proxy", wellknown.MANAGED_BY: "envoy-gateway"})


def network_policy_needs(config: RenderConfig, namespace: str) -> tuple[NetworkPolicyNeed, ...]:
    """The NetworkPolicy of the namespace of a model, where RenderConfig asks for one."""
    return (NetworkPolicyNeed(namespace),) if config.get(*SETTING) else ()


def further_peers(config: RenderConfig) -> tuple[Body, ...]:
    """Who else may connect, as RenderConfig says it."""
    setting = config.get(*SETTING)
    return tuple(setting["from"]) if isinstance(setting, dict) else ()


def network_policy_plan(config: RenderConfig, namespace: str) -> NetworkPolicyPlan:
    """The NetworkPolicy of a namespace. It does not depend on which models there are."""
    gateway_namespace, _ = read_gateway_settings(config, namespace).gateway
    proxies = {
        "namespaceSelector": _namespaces(sorted({gateway_namespace, _CONTROLLER_NAMESPACE})),
        "podSelector": {"matchLabels": _PROXY},
    }
    interceptor = config.get(*_INTERCEPTOR)
    peers: list[tuple[Body, Origin]] = [(proxies, config.origin("gateway", "namespace"))]
    if interceptor:
        peers.append(({"namespaceSelector": _namespaces([interceptor])}, config.origin(*_INTERCEPTOR)))
    peers += [(peer, config.origin(*SETTING, "from", i)) for i, peer in enumerate(further_peers(config))]
    labels = wellknown.own_labels(NAME, "network-policy")
    return NetworkPolicyPlan(NAME, labels, tuple(peers), config.origin(*SETTING))


def _namespaces(names: list[str]) -> Body:
    return {"matchExpressions": [{"key": _NAMESPACE, "operator": "In", "values": names}]}
