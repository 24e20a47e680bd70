"""The TrafficPlan of a ModelRoute: one public name over several apps and providers
(docs/design/routing.md#public-names).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from msgspec.structs import replace

from renderer.api import App, TrafficInput
from renderer.diagnostics import Collector, Origin, Stop, suggestion
from renderer.kubernetes import wellknown
from renderer.plan import Plan, ProviderPlan, Rewrite, RouteTarget, Steering, TokenLimit, TrafficPlan
from renderer.resolve import claims
from renderer.resolve.apps.workloads import is_broken, plan_workloads
from renderer.resolve.context import RunContext
from renderer.resolve.gateway import pickers, pools, public_names, route_backends, routing, task_routes
from renderer.resolve.gateway.named_models import find_named
from renderer.resolve.gateway.route_backends import BackendShare
from renderer.resolve.gateway.routing import RouteRequest
from renderer.resolve.gateway.settings import gateway_settings
from renderer.resolve.rules import run_rules_or_stop
from renderer.resolve.traffic.model_route_records import (
    AppBackend,
    BackendWorkloads,
    ModelRoute,
    PlannedBackend,
    PoolShare,
    RouteBackend,
    RouteShares,
    read_model_route,
)

_KINDS = {"playground": "Playground", "service": "Service"}
_TOKEN_KINDS = {
    "total": "TotalToken",
    "input": "InputToken",
    "output": "OutputToken",
    "cachedInput": "CachedInputToken",
    "reasoning": "ReasoningToken",
}
_RETRIES = 2  # the default where several priorities need some (docs/design/routing.md#retries)


def plan_model_route(context: RunContext, item: TrafficInput, diagnostics: Collector) -> TrafficPlan:
    """The plan of a ModelRoute. Raises Stop when a backend is not known."""
    run_rules_or_stop(item, diagnostics)
    shares = run_rules_or_stop(_share_backends(read_model_route(context, item), diagnostics), diagnostics)
    plan = TrafficPlan(app=f"{item.name}.route", namespace=item.namespace, file=item.file)
    if shares.route.off:  # its settings are judged all the same
        return plan
    request = run_rules_or_stop(_request(shares), diagnostics)
    route, steering = routing.route(request), _steering(shares)
    return replace(
        plan,
        references=referenced_objects(item.namespace, route.targets, [provider.name for provider in shares.providers]),
        shared=(
            *routing.route_needs(request.settings, route),
            public_names.name_claim(item, request.settings, route.model, request.hostnames, route.name),
            *public_names.rewrite_claims(item, steering),
        ),
        providers=tuple(shares.providers),
        route=route,
        steering=steering,
    )


def _share_backends(route: ModelRoute, diagnostics: Collector) -> RouteShares:
    """What each backend gets. Raises Stop where one leads to an app that is not known, or that turns routes off."""
    backends = []
    for i in range(len(route.item.spec["backends"])):
        backend = run_rules_or_stop(RouteBackend(route, i), diagnostics)
        backends.append(_share_provider(backend) if backend.field == "provider" else _share_app(backend, diagnostics))
    return RouteShares(
        route=route,
        shares=[backend.share for backend in backends],
        plans=[plan for backend in backends for plan in backend.plans],
        providers=[backend.provider for backend in backends if backend.provider],
        pool_shares=[backend.pool_share for backend in backends if backend.pool_share],
    )


def _share_app(backend: RouteBackend, diagnostics: Collector) -> PlannedBackend:
    """A backend with the workloads of its app. Raises Stop where that is not known, or turns routes off."""
    route, spec, origin = backend.route, backend.spec, backend.origin
    weight, priority = spec.get("weight", 1), spec.get("priority", 0)
    app = _find_app(backend, diagnostics)
    of_app = run_rules_or_stop(AppBackend(backend, app), diagnostics)
    if route.off:  # weights are judged all the same
        return PlannedBackend(BackendShare((RouteTarget(app.name, 1, ""),), weight, priority))
    plans = reachable_workloads(route.context, app, origin, diagnostics)
    run_rules_or_stop(BackendWorkloads(of_app, plans), diagnostics)
    in_pool = task_routes.app_mode(route.context.inputs, app, route.settings) == "pool"
    targets = [pools.pool_target(plans[-1])] if in_pool else route_backends.workload_targets(plans)
    if name := claims.other_model(app, spec):
        named, origin = find_named(plans[0], name), backend.model_origin
        targets = [replace(target, model=named.name_in_engine if named else name) for target in targets]
        if named and named.task:
            plans = [replace(plan, model=named.model, task=named.task, context_length=0) for plan in plans]
    pool_share = PoolShare(plans[0], targets[0].model, weight, origin) if in_pool else None
    return PlannedBackend(BackendShare(targets, weight, priority), plans, pool_share=pool_share)


def _find_app(backend: RouteBackend, diagnostics: Collector) -> App:
    """The app that a backend names. Raises Stop when there is none of its kind."""
    route, name, kind = backend.route, backend.app_name, _KINDS[backend.field]
    app = route.context.apps.get((route.item.namespace, name))
    if app is None and is_broken(route.context, route.item.namespace, name):
        raise Stop
    if app is None or app.kind != kind:
        _stop_unknown_app(backend, kind, diagnostics)
    return app


def _stop_unknown_app(backend: RouteBackend, kind: str, diagnostics: Collector) -> NoReturn:
    apps, namespace, name = backend.route.context.apps, backend.route.item.namespace, backend.app_name
    app = apps.get((namespace, name))
    hint = f"there is a {app.kind} of that name; write {app.kind.lower()}: {name}" if app else ""
    if not hint and (namespaces := sorted(app_namespace for app_namespace, app_name in apps if app_name == name)):
        hint = f"there is one in namespace '{namespaces[0]}', and a route leads to its own namespace only"
    app_names = [
        app_name for (app_namespace, app_name), app in apps.items() if app_namespace == namespace and app.kind == kind
    ]
    params = {"kind": kind, "name": name, "namespace": namespace, "hint": hint or suggestion(name, app_names)}
    diagnostics.stop("E640", backend.origin, **params)


def reachable_workloads(context: RunContext, app: App, origin: Origin, diagnostics: Collector) -> list[Plan]:
    """The plans of an app to which a ModelRoute or InferenceModel leads. Raises Stop where the app turns routes off."""
    if routing.mode(app, gateway_settings(context, app.namespace)) == "off":
        diagnostics.stop("E643", origin, name=app.name)
    plans = plan_workloads(context, app, diagnostics)
    if not plans[-1].schema:
        service = f"{plans[-1].shared_name}{wellknown.LB_SERVICE}"
        diagnostics.stop("E678", origin, name=app.name, task=plans[-1].task, service=service)
    return plans


def _share_provider(backend: RouteBackend) -> PlannedBackend:
    """A backend with its provider."""
    item, spec, origin = backend.route.item, backend.spec["provider"], backend.origin
    auth, schema = spec["auth"], {"name": str(spec["schema"])}
    schema |= {key: str(spec[key]) for key in ("prefix", "version") if key in spec}
    provider = ProviderPlan(
        name=backend.route.provider_names[backend.index],
        namespace=item.namespace,
        labels=routing.labels(item.name),
        schema=schema,
        hostname=spec["hostname"],
        port=spec.get("port", 443),
        auth=(auth["type"], auth["secretName"], auth.get("region", "")),
        item=item.origin(),
        origin=origin,
    )
    share = BackendShare(
        (RouteTarget(provider.name, 1, spec["modelName"]),),
        backend.spec.get("weight", 1),
        backend.spec.get("priority", 0),
    )
    return PlannedBackend(share, provider=provider)


def _request(shares: RouteShares) -> RouteRequest:
    """The settings of the route."""
    item, plans = shares.route.item, shares.plans
    model = shares.route.context.inputs.models[plans[0].model] if plans else None
    targets = route_backends.split_weights(shares.shares)
    entries = [i for i, share in enumerate(shares.shares) for _ in share.targets]
    if shares.pool_shares:  # one of its pool, whose picker shares the requests out
        targets, entries = [replace(targets[0], model=item.spec["modelName"], weight=1)], entries[:1]
    return RouteRequest(
        item=item,
        settings=shares.route.settings,
        model=item.spec["modelName"],
        model_origin=item.origin("spec", "modelName"),
        targets=tuple(targets),
        entries=tuple(entries),
        open_model=model,
        owner="" if plans else shares.providers[0].hostname,
        hostnames=tuple(dict.fromkeys(item.spec.get("hostnames") or ())),
        retries=_retries(shares),
        limits=_token_limits(shares.route),
        wake_seconds=route_backends.wake_seconds(plans),
        load_seconds=route_backends.load_seconds(plans),
    ).with_settings_of(item)


def _retries(shares: RouteShares) -> int:
    attempts = (shares.route.item.spec.get("retries") or {}).get("attempts")
    if attempts is not None:
        return int(attempts)
    priorities = len(shares.priorities)
    return max(_RETRIES, priorities - 1) if priorities > 1 else 0


def _token_limits(route: ModelRoute) -> tuple[TokenLimit, ...]:
    """The budgets of tokens, one for each header, unit and kind; E652 has reported the others."""
    limits: dict[tuple[str, str, str], TokenLimit] = {}
    for entry in route.item.spec.get("tokenLimits") or ():
        header = route.settings.tenant if entry["per"] == "tenant" else entry["per"]["header"]
        limit = TokenLimit(header, entry["tokens"], entry["interval"], _TOKEN_KINDS[entry.get("count", "total")])
        limits.setdefault((header.lower(), limit.unit, limit.kind), limit)
    return tuple(limits.values())


def _steering(shares: RouteShares) -> Steering | None:
    """What a pool's picker replaces the public name by, where its engine is to be asked for others."""
    if not shares.rewritten:
        return None
    item, context = shares.route.item, shares.route.context
    weighted = [share for share in shares.pool_shares if share.weight]  # an InferenceModelRewrite takes no weight of 0
    targets = tuple([(share.name_in_engine, share.weight if len(weighted) > 1 else None) for share in weighted])
    picker = pickers.find_picker(context, pickers.picker_name(context.inputs, shares.route.settings, Collector()))
    rewrite = Rewrite(
        item.spec["modelName"],
        targets,
        origin=item.origin("spec", "modelName"),
        target_origins=tuple([share.origin for share in weighted]),
    )
    return Steering(
        name=item.name,
        namespace=item.namespace,
        labels=routing.labels(item.name),
        group=picker.group,
        pool=shares.pool_shares[0].plan.shared_name,
        priority=None,
        rewrites=(rewrite,),
        item=item.origin(),
        pool_origin=shares.pool_shares[0].origin,
        rewrites_origin=item.origin("spec", "backends"),
    )


def referenced_objects(
    namespace: str, targets: Sequence[RouteTarget], excluded: Sequence[str]
) -> tuple[tuple[str, str, str], ...]:
    """The objects of apps that a route refers to, by kind, namespace and name; `excluded`: names of providers."""
    return tuple(
        (kind, namespace, target.name)
        for target in targets
        if target.name not in excluded
        for kind in (("InferencePool",) if target.pool else ("AIServiceBackend", "Backend"))
    )
