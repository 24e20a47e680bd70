"""AIGatewayRoute and the policies of a route: from a public name to the workloads behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial

from msgspec.structs import replace

from renderer.build.route_objects import RouteObject, route_objects
from renderer.diagnostics import Origin, Path
from renderer.kubernetes import wellknown
from renderer.kubernetes.wellknown import MODEL_HEADER
from renderer.plan import (
    Body,
    Manifest,
    PackedRoute,
    PackedRule,
    Plan,
    RouteName,
    RoutePlan,
    RouteTarget,
    SharedPlan,
    TokenLimit,
    TrafficPlan,
)
from renderer.yamlio import SharedMap

# The metadata keys under which the AI gateway counts the tokens of a request, by their kind.
_COST_KEYS = {
    "TotalToken": "llm_total_token",
    "InputToken": "llm_input_token",
    "OutputToken": "llm_output_token",
    "CachedInputToken": "llm_cached_input_token",
    "ReasoningToken": "llm_reasoning_token",
}
_RETRY_TRIGGERS = ("connect-failure", "retriable-status-codes")
_RETRY_STATUSES = (500, 502, 503)


def ai_gateway_route(plan: Plan | TrafficPlan) -> list[Manifest]:
    """One for a public name whose route is not packed."""
    route = plan.route
    if not route or route.packed_route:
        return []
    kinds = dict.fromkeys([limit.kind for limit in route.limits])
    costs: list[Body] = [{"metadataKey": _COST_KEYS[kind], "type": kind} for kind in kinds]
    if not route.others:
        return [Manifest(_route(route, costs, [_rule(route)]), route.origins)]
    return [
        Manifest(
            _route(route, costs, [_adapter_rule(route, names) for names in part.rules], part.name),
            partial(_part_origins, route, part),
        )
        for part in route_objects(route)
    ]


def _adapter_rule(route: RoutePlan, names: Sequence[RouteName]) -> Body:
    """The rule of public names that lead to the same targets."""
    rule = _rule(replace(route, targets=names[0].targets))
    return {**rule, "matches": [_match(name.model) for name in names]}


def packed_routes(shared_plan: SharedPlan) -> Iterator[Manifest]:
    """One for up to fifteen public names of a namespace, where RenderConfig packs them."""
    if route := shared_plan.packed_route:
        yield Manifest(_route(route, [], [_rule(rule) for rule in route.rules]), lambda: {(): route.origin})


def _route(route: RoutePlan | PackedRoute, costs: list[Body], rules: list[Body], name: str = "") -> dict[str, object]:
    """An AIGatewayRoute. Defaults inside of lists are written out (docs/design/drift.md#rules)."""
    spec: dict[str, object] = {"parentRefs": _parent_references(*route.gateway)}
    if route.hostnames:
        spec["hostnames"] = list(route.hostnames)
    if costs:
        spec["llmRequestCosts"] = costs
    spec["rules"] = rules
    return {
        "apiVersion": "aigateway.envoyproxy.io/v1beta1",
        "kind": "AIGatewayRoute",
        "metadata": {"name": name or route.name, "namespace": route.namespace, "labels": route.labels},
        "spec": spec,
    }


@lru_cache(maxsize=256)
def _parent_references(namespace: str, name: str) -> list[Body]:
    return [SharedMap({"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": name, "namespace": namespace})]


@lru_cache(maxsize=256)
def _timeouts(request: str) -> SharedMap:
    return SharedMap({"request": request})


def _rule(route: RoutePlan | PackedRule) -> Body:
    """The rule of a public name. Each backend gets the model name that its engine knows; a pool the public name."""
    rule: dict[str, object] = {
        "matches": [_match(route.model)],
        "backendRefs": [_backend_reference(target) for target in route.targets],
        "timeouts": _timeouts(route.request_timeout),
        "modelsOwnedBy": route.owned_by,
    }
    if route.created_at:
        rule["modelsCreatedAt"] = route.created_at
    return rule


def _match(model: str) -> Body:
    return {"headers": [{"type": "Exact", "name": MODEL_HEADER, "value": model}]}


def _backend_reference(target: RouteTarget) -> Body:
    if target.pool:
        return {
            "group": wellknown.POOL_GROUP,
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
    metadata = {"namespace": "io.envoy.ai_gateway", "key": _COST_KEYS[limit.kind]}
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
    names = [part.name for part in route_objects(route)] if route.others else [route.name]
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


def _part_origins(route: RoutePlan, part: RouteObject) -> dict[Path, Origin]:
    """The origins of one of the objects of a route with several names."""
    origins = route.origins()
    field_origins = {path: origin for path, origin in origins.items() if path[:2] != ("spec", "rules")}
    for r, names in enumerate(part.rules):
        rule: Path = ("spec", "rules", r)
        field_origins[*rule, "timeouts", "request"] = origins["spec", "rules", 0, "timeouts", "request"]
        field_origins[*rule, "matches"] = field_origins[*rule, "backendRefs"] = names[0].origin
        for i, name in enumerate(names):
            field_origins[*rule, "matches", i, "headers", 0, "value"] = name.origin
    return field_origins
