"""AIGatewayRoute and the policies of a route: from a public name to the workloads behind it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from renderer.diagnostics import Origin, Path
from renderer.plan import Body, Manifest, Plan, RoutePlan, RouteTarget, SharedPlan, TokenLimit, TrafficPlan
from renderer.yamlio import SharedMap

_PACKED = {
    "app.kubernetes.io/name": "",
    "app.kubernetes.io/component": "route",
    "app.kubernetes.io/part-of": "llmaz",
    "app.kubernetes.io/managed-by": "llmaz-renderer",
}
_MODEL = "x-ai-eg-model"  # what the AI gateway calls the model of a request
# Where the AI gateway writes how many tokens a request took, by their kind.
_COUNTS = {
    "TotalToken": "llm_total_token",
    "InputToken": "llm_input_token",
    "OutputToken": "llm_output_token",
    "CachedInputToken": "llm_cached_input_token",
    "ReasoningToken": "llm_reasoning_token",
}
_RETRY_TRIGGERS = ("connect-failure", "retriable-status-codes")
_RETRY_STATUSES = (500, 502, 503)


def ai_gateway_route(plan: Plan | TrafficPlan) -> list[Manifest]:
    """One where a public name leads to the app, or apps, by a route of its own."""
    route = plan.route
    if not route or route.packed:
        return []
    kinds = dict.fromkeys([limit.kind for limit in route.limits])
    references = [_reference(target) for target in route.targets]
    body = _route(
        route.name,
        route.namespace,
        route.labels,
        _parents(*route.gateway),
        list(route.hostnames),
        [{"metadataKey": _COUNTS[kind], "type": kind} for kind in kinds],
        [_rule(route.model, references, _timeouts(route.request), route.owned_by, route.created_at)],
    )
    return [Manifest(body, lambda: _origins(route))]


def packed_routes(shared_plan: SharedPlan) -> Iterator[Manifest]:
    """One for up to fifteen public names of a namespace, where RenderConfig packs them."""
    if plan := shared_plan.routes:
        labels = {**_PACKED, "app.kubernetes.io/name": plan.name}
        rules = [
            _rule(
                rule.model,
                [_reference(target) for target in rule.targets],
                _timeouts(rule.request),
                rule.owned_by,
                rule.created_at,
            )
            for rule in plan.rules
        ]
        hostnames = list(plan.hostnames)
        body = _route(plan.name, plan.namespace, labels, _parents(*plan.gateway), hostnames, [], rules)
        yield Manifest(body, plan.origins)


def _route(
    name: str,
    namespace: str,
    labels: Body,
    parents: list[Body],
    hostnames: list[str],
    costs: list[Body],
    rules: list[Body],
) -> dict[str, Any]:
    """An AIGatewayRoute; the defaults of what stands in lists are written out (docs/design/drift.md#rules)."""
    spec: dict[str, Any] = {"parentRefs": parents}
    if hostnames:
        spec["hostnames"] = hostnames
    if costs:
        spec["llmRequestCosts"] = costs
    spec["rules"] = rules
    return {
        "apiVersion": "aigateway.envoyproxy.io/v1beta1",
        "kind": "AIGatewayRoute",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": spec,
    }


@lru_cache(maxsize=256)
def _parents(namespace: str, name: str) -> list[Body]:
    return [SharedMap({"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": name, "namespace": namespace})]


@lru_cache(maxsize=256)
def _timeouts(request: str) -> SharedMap:
    return SharedMap({"request": request})


def _rule(model: str, references: list[Body], timeouts: Body, owned_by: str, created_at: str) -> Body:
    """The rule of a public name. Each backend gets the name that its engine knows, whatever the client wrote; a pool
    gets the public one.
    """
    rule: dict[str, Any] = {
        "matches": [{"headers": [{"type": "Exact", "name": _MODEL, "value": model}]}],
        "backendRefs": references,
        "timeouts": timeouts,
        "modelsOwnedBy": owned_by,
    }
    if created_at:
        rule["modelsCreatedAt"] = created_at
    return rule


def _reference(target: RouteTarget) -> Body:
    if target.pool:
        return {
            "group": "inference.networking.k8s.io",
            "kind": "InferencePool",
            "name": target.name,
            "weight": 1,
            "priority": 0,
        }
    return {
        "name": target.name,
        "weight": target.weight,
        "priority": target.priority,
        "modelNameOverride": target.model,
    }


def traffic_policy(plan: Plan | TrafficPlan) -> list[Manifest]:
    """BackendTrafficPolicy: one where somebody asks for more than the route itself can say, with all of it, since a
    route has only one.
    """
    route = plan.route
    if not route:
        return []
    spec: dict[str, Any] = {}
    if route.stream_idle:
        spec["timeout"] = {"http": {"streamIdleTimeout": route.stream_idle}}
    if route.retries:
        spec["retry"] = _retry(route.retries)
    if route.limits:
        spec["rateLimit"] = {"type": "Global", "global": {"rules": [_limit(limit) for limit in route.limits]}}
    return [_policy("BackendTrafficPolicy", route, spec)] if spec else []


@lru_cache(maxsize=256)
def _retry(count: int) -> SharedMap:
    conditions = {"triggers": list(_RETRY_TRIGGERS), "httpStatusCodes": list(_RETRY_STATUSES)}
    return SharedMap({"numRetries": count, "numAttemptsPerPriority": 1, "retryOn": conditions})


def _limit(limit: TokenLimit) -> Body:
    """A request costs nothing when it comes; what it took is counted when it has been answered."""
    metadata = {"namespace": "io.envoy.ai_gateway", "key": _COUNTS[limit.kind]}
    return {
        "clientSelectors": [{"headers": [{"name": limit.header, "type": "Distinct", "invert": False}]}],
        "limit": {"requests": limit.tokens, "unit": limit.unit},
        "cost": {
            "request": {"from": "Number", "number": 0},
            "response": {"from": "Metadata", "metadata": metadata},
        },
    }


def rights(plan: Plan | TrafficPlan) -> list[Manifest]:
    """SecurityPolicy: one where not everybody may call the model.

    It hides the Gateway's policy, so it repeats its authentication (docs/design/gateway.md#order-of-the-filters).
    """
    route = plan.route
    if not route or not route.allowed:
        return []
    principal = {"headers": [{"name": route.tenant, "values": list(route.allowed)}]}
    spec = {
        **route.authentication,
        "authorization": {"defaultAction": "Deny", "rules": [{"action": "Allow", "principal": principal}]},
    }
    return [_policy("SecurityPolicy", route, spec)]


def _policy(kind: str, route: RoutePlan, spec: Body) -> Manifest:
    """A policy of the route: the HTTPRoute that the AI gateway makes of an AIGatewayRoute has its name."""
    target = {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": route.name}
    return Manifest(
        {
            "apiVersion": "gateway.envoyproxy.io/v1alpha1",
            "kind": kind,
            "metadata": {"name": route.name, "namespace": route.namespace, "labels": route.labels},
            "spec": {"targetRefs": [target], **spec},
        },
        lambda: _origins(route),
    )


def _origins(route: RoutePlan) -> dict[Path, Origin]:
    origins = route.origins()
    rule: Path = ("spec", "rules", 0)
    return {
        (): origins[()],
        ("metadata", "name"): origins["name",],
        ("metadata", "namespace"): origins["namespace",],
        (*rule, "matches"): origins["model",],
        (*rule, "matches", 0, "headers", 0, "value"): origins["model",],
        ("spec", "hostnames"): origins["hostnames",],
        ("spec", "parentRefs"): origins["gateway",],
        ("spec", "parentRefs", 0, "name"): origins["gateway",],
        ("spec", "parentRefs", 0, "namespace"): origins.get(("gateway namespace",), origins["gateway",]),
        ("spec", "apiKeyAuth"): origins["auth",],
        ("spec", "jwt"): origins["auth",],
        (*rule, "timeouts", "request"): origins["request",],
        ("spec", "timeout"): origins["request",],
        **{key: origin for key, origin in origins.items() if key[:1] == ("said",)},
        ("spec", "authorization"): origins["allowed",],
        (*rule, "backendRefs"): origins["backends",],
        ("spec", "retry"): origins["retries",],
        ("spec", "rateLimit"): origins["limits",],
        ("spec", "llmRequestCosts"): origins["limits",],
    }
