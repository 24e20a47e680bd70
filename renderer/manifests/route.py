"""AIGatewayRoute and the policies of a route: from a public name to the workloads behind it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from renderer.plan import Body, Joint, Limit, Manifest, Plan, Route, Target, Way
from renderer.problems import Origin, Path
from renderer.yamlio import Shared, form

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
_AGAIN = ("connect-failure", "retriable-status-codes")
_FAILED = (500, 502, 503)


def ai_gateway_route(plan: Plan | Way) -> list[Manifest]:
    """One where a public name leads to the app, or apps, by a route of its own."""
    route = plan.route
    if not route or route.packed:
        return []
    kinds = dict.fromkeys([each.kind for each in route.limits])
    body, filled = _routed(
        route.name,
        route.namespace,
        route.labels,
        _parents(*route.gateway),
        route.model,
        [_reference(each) for each in route.targets],
        _timeouts(route.request),
        route.owned_by,
        route.created_at or None,
        list(route.hostnames) or None,
        [{"metadataKey": _COUNTS[each], "type": each} for each in kinds] or None,
    )
    return [Manifest(body, lambda: _origins(route), filled)]


@form
def _routed(
    name: str,
    namespace: str,
    labels: Body,
    parents: list[Body],
    model: str,
    references: list[Body],
    timeouts: Body,
    owned_by: str,
    created_at: str | None = None,
    hostnames: list[str] | None = None,
    costs: list[Body] | None = None,
) -> dict[str, Any]:
    rules = [_rule(model, references, timeouts, owned_by, created_at)]
    return _route(name, namespace, labels, parents, hostnames, costs, rules)


def packed_routes(joint: Joint) -> Iterator[Manifest]:
    """One for up to fifteen public names of a namespace, where RenderConfig packs them."""
    if made := joint.routes:
        labels = {**_PACKED, "app.kubernetes.io/name": made.name}
        rules = [
            _rule(model, [_reference(each) for each in targets], _timeouts(request), owned_by, created_at or None)
            for model, targets, request, owned_by, created_at in made.rules
        ]
        hostnames = list(made.hostnames) or None
        body = _route(made.name, made.namespace, labels, _parents(*made.gateway), hostnames, None, rules)
        yield Manifest(body, made.origins)


def _route(
    name: str,
    namespace: str,
    labels: Body,
    parents: list[Body],
    hostnames: list[str] | None,
    costs: list[Body] | None,
    rules: list[Body],
) -> dict[str, Any]:
    """An AIGatewayRoute; the defaults of what stands in lists are written out (drift.md)."""
    spec: dict[str, Any] = {"parentRefs": parents}
    if hostnames is not None:
        spec["hostnames"] = hostnames
    if costs is not None:
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
    return [Shared({"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": name, "namespace": namespace})]


@lru_cache(maxsize=256)
def _timeouts(request: str) -> Shared:
    return Shared({"request": request})


def _rule(model: str, references: list[Body], timeouts: Body, owned_by: str, created_at: str | None) -> Body:
    """The rule of a public name. Each backend gets the name that its engine knows, whatever the client wrote; a pool
    gets the public one.
    """
    made: dict[str, Any] = {
        "matches": [{"headers": [{"type": "Exact", "name": _MODEL, "value": model}]}],
        "backendRefs": references,
        "timeouts": timeouts,
        "modelsOwnedBy": owned_by,
    }
    if created_at is not None:
        made["modelsCreatedAt"] = created_at
    return made


def _reference(target: Target) -> Body:
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


def traffic_policy(plan: Plan | Way) -> list[Manifest]:
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
        spec["rateLimit"] = {"type": "Global", "global": {"rules": [_limit(each) for each in route.limits]}}
    return [_policy("BackendTrafficPolicy", route, spec)] if spec else []


@lru_cache(maxsize=256)
def _retry(count: int) -> Shared:
    conditions = {"triggers": list(_AGAIN), "httpStatusCodes": list(_FAILED)}
    return Shared({"numRetries": count, "numAttemptsPerPriority": 1, "retryOn": conditions})


def _limit(limit: Limit) -> Body:
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


def rights(plan: Plan | Way) -> list[Manifest]:
    """SecurityPolicy: one where not everybody may call the model.

    It hides the Gateway's policy, so it repeats its authentication (gateway-proof.md, surprise 1).
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


def _policy(kind: str, route: Route, spec: Body) -> Manifest:
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


def _origins(route: Route) -> dict[Path, Origin]:
    made = route.origins()
    rule: Path = ("spec", "rules", 0)
    return {
        (): made[()],
        ("metadata", "name"): made["name",],
        ("metadata", "namespace"): made["namespace",],
        (*rule, "matches"): made["model",],
        ("spec", "hostnames"): made["hostnames",],
        ("spec", "parentRefs"): made["gateway",],
        ("spec", "parentRefs", 0, "name"): made["gateway",],
        ("spec", "parentRefs", 0, "namespace"): made.get(("gateway namespace",), made["gateway",]),
        ("spec", "apiKeyAuth"): made["auth",],
        ("spec", "jwt"): made["auth",],
        (*rule, "timeouts", "request"): made["request",],
        ("spec", "timeout"): made["request",],
        **{key: origin for key, origin in made.items() if key[:1] == ("said",)},
        ("spec", "authorization"): made["allowed",],
        (*rule, "backendRefs"): made["backends",],
        ("spec", "retry"): made["retries",],
        ("spec", "rateLimit"): made["limits",],
        ("spec", "llmRequestCosts"): made["limits",],
    }
