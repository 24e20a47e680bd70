"""Policies of a route: time limits, retries and token limits (BackendTrafficPolicy), who may call (SecurityPolicy)."""

from __future__ import annotations

from functools import lru_cache

from renderer.build.route_parts import TOKEN_COST_KEYS, route_parts
from renderer.plan import Body, Manifest, Plan, RoutePlan, TokenLimit, TrafficPlan
from renderer.yamlio import SharedMap

_RETRY_TRIGGERS = ("connect-failure", "retriable-status-codes")
_RETRY_STATUSES = (500, 502, 503)


def traffic_policy(plan: Plan | TrafficPlan) -> list[Manifest]:
    """BackendTrafficPolicy: one for settings that an AIGatewayRoute has no fields for."""
    route = plan.route
    if not route:
        return []
    spec: dict[str, object] = {}
    if route.stream_idle_timeout:
        spec["timeout"] = {"http": {"streamIdleTimeout": route.stream_idle_timeout}}
    if route.retries:
        spec["retry"] = _retry(route.retries)
    if route.limits:
        spec["rateLimit"] = {"type": "Global", "global": {"rules": [_rate_limit_rule(limit) for limit in route.limits]}}
    return _policies("BackendTrafficPolicy", route, spec) if spec else []


@lru_cache(maxsize=256)
def _retry(count: int) -> SharedMap:
    conditions = {"triggers": list(_RETRY_TRIGGERS), "httpStatusCodes": list(_RETRY_STATUSES)}
    return SharedMap({"numRetries": count, "numAttemptsPerPriority": 1, "retryOn": conditions})


def _rate_limit_rule(limit: TokenLimit) -> Body:
    """A rule of a global rate limit: a request costs 0 when it arrives; its tokens are counted with the response."""
    metadata = {"namespace": "io.envoy.ai_gateway", "key": TOKEN_COST_KEYS[limit.kind]}
    return {
        "clientSelectors": [{"headers": [{"name": limit.header, "type": "Distinct", "invert": False}]}],
        "limit": {"requests": limit.tokens, "unit": limit.unit},
        "cost": {
            "request": {"from": "Number", "number": 0},
            "response": {"from": "Metadata", "metadata": metadata},
        },
    }


def security_policy(plan: Plan | TrafficPlan) -> list[Manifest]:
    """SecurityPolicy: one where only some tenants may call the model.

    It overrides the Gateway's policy, so it repeats its authentication (docs/design/gateway.md#order-of-the-filters).
    """
    route = plan.route
    if not route or not route.allowed_tenants:
        return []
    principal = {"headers": [{"name": route.tenant_header, "values": list(route.allowed_tenants)}]}
    spec = {
        **route.authentication,
        "authorization": {"defaultAction": "Deny", "rules": [{"action": "Allow", "principal": principal}]},
    }
    return _policies("SecurityPolicy", route, spec)


def _policies(kind: str, route: RoutePlan, spec: Body) -> list[Manifest]:
    """A policy for the HTTPRoute that the AI gateway makes of each AIGatewayRoute, under the same name."""
    names = [part.name for part in route_parts(route)] if route.others else [route.name]
    return [_policy(kind, route, name, spec) for name in names]


def _policy(kind: str, route: RoutePlan, name: str, spec: Body) -> Manifest:
    target = {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": name}
    return Manifest(
        {
            "apiVersion": "gateway.envoyproxy.io/v1alpha1",
            "kind": kind,
            "metadata": {"name": name, "namespace": route.namespace, "labels": route.labels},
            "spec": {"targetRefs": [target], **spec},
        },
        route.origins,
    )
