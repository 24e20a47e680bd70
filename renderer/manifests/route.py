"""AIGatewayRoute and the policies of a route: from a public name to the workloads behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from renderer.plan import Body, Joint, Manifest, Plan, Route, Target
from renderer.problems import Origin, Path

_PACKED = {
    "app.kubernetes.io/name": "",
    "app.kubernetes.io/component": "route",
    "app.kubernetes.io/part-of": "llmaz",
    "app.kubernetes.io/managed-by": "llmaz-renderer",
}
_MODEL = "x-ai-eg-model"  # what the AI gateway calls the model of a request


def ai_gateway_route(plan: Plan) -> Iterator[Manifest]:
    """One where a public name leads to the app by a route of its own."""
    route = plan.route
    if route and not route.packed:
        made = rule(route.model, route.targets, route.request, route.owned_by, route.created_at)
        yield Manifest(
            routed(route.name, route.namespace, route.labels, route.gateway, route.hostnames, [made]),
            lambda: _origins(route),
        )


def packed_routes(joint: Joint) -> Iterator[Manifest]:
    """One for up to fifteen public names of a namespace, where RenderConfig packs them."""
    if made := joint.routes:
        labels = {**_PACKED, "app.kubernetes.io/name": made.name}
        yield Manifest(
            routed(
                made.name, made.namespace, labels, made.gateway, made.hostnames, [rule(*each) for each in made.rules]
            ),
            made.origins,
        )


def routed(
    name: str, namespace: str, labels: Body, gateway: tuple[str, str], hostnames: Sequence[str], rules: list[Body]
) -> dict[str, Any]:
    """An AIGatewayRoute; the defaults of what stands in lists are written out (drift.md)."""
    parent = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": gateway[1], "namespace": gateway[0]}
    spec: dict[str, Any] = {"parentRefs": [parent]}
    if hostnames:
        spec["hostnames"] = list(hostnames)
    spec["rules"] = rules
    return {
        "apiVersion": "aigateway.envoyproxy.io/v1beta1",
        "kind": "AIGatewayRoute",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": spec,
    }


def rule(model: str, targets: Sequence[Target], request: str, owned_by: str, created_at: str) -> Body:
    """The rule of a public name. Each backend gets the name that its engine knows, whatever the client wrote."""
    made: dict[str, Any] = {
        "matches": [{"headers": [{"type": "Exact", "name": _MODEL, "value": model}]}],
        "backendRefs": [
            {"name": each.name, "weight": each.weight, "priority": 0, "modelNameOverride": each.model}
            for each in targets
        ],
        "timeouts": {"request": request},
        "modelsOwnedBy": owned_by,
    }
    if created_at:
        made["modelsCreatedAt"] = created_at
    return made


def traffic_policy(plan: Plan) -> Iterator[Manifest]:
    """BackendTrafficPolicy: one where somebody asks for more than the route itself can say."""
    route = plan.route
    if not route or not route.stream_idle:
        return
    spec = {"timeout": {"http": {"streamIdleTimeout": route.stream_idle}}}
    yield _policy("BackendTrafficPolicy", route, spec)


def rights(plan: Plan) -> Iterator[Manifest]:
    """SecurityPolicy: one where not everybody may call the model.

    It hides the Gateway's policy, so it repeats its authentication (gateway-proof.md, surprise 1).
    """
    route = plan.route
    if not route or not route.allowed:
        return
    principal = {"headers": [{"name": route.tenant, "values": list(route.allowed)}]}
    spec = {
        **route.authentication,
        "authorization": {"defaultAction": "Deny", "rules": [{"action": "Allow", "principal": principal}]},
    }
    yield _policy("SecurityPolicy", route, spec)


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
        ("spec", "parentRefs", 0, "namespace"): made["gateway",],
        ("spec", "apiKeyAuth"): made["auth",],
        ("spec", "jwt"): made["auth",],
        (*rule, "timeouts", "request"): made["request",],
        ("spec", "timeout"): made["request",],
        ("spec", "authorization"): made["allowed",],
    }
