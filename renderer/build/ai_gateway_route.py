"""AIGatewayRoute: from a public name to the workloads behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial

from msgspec.structs import replace

from renderer.build.route_parts import TOKEN_COST_KEYS, RoutePart, route_parts
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
    TrafficPlan,
)
from renderer.yamlio import SharedMap


def ai_gateway_route(plan: Plan | TrafficPlan) -> list[Manifest]:
    """One for a public name whose route is not packed."""
    route = plan.route
    if not route or route.packed_route:
        return []
    kinds = dict.fromkeys([limit.kind for limit in route.limits])
    costs: list[Body] = [{"metadataKey": TOKEN_COST_KEYS[kind], "type": kind} for kind in kinds]
    if not route.others:
        return [Manifest(_route(route, costs, [_rule(route)]), route.origins)]
    return [
        Manifest(
            _route(route, costs, [_adapter_rule(route, names) for names in part.rules], part.name),
            partial(_part_origins, route, part),
        )
        for part in route_parts(route)
    ]


def _adapter_rule(route: RoutePlan, names: Sequence[RouteName]) -> Body:
    """The rule of public names that lead to the same targets."""
    first = names[0]
    rule = _rule(replace(route, targets=first.targets, owned_by=first.owned_by or route.owned_by))
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


def _part_origins(route: RoutePlan, part: RoutePart) -> dict[Path, Origin]:
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
