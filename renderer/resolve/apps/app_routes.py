"""The route and the pool of a Playground or Service."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from renderer.api import App
from renderer.diagnostics import Collector
from renderer.kubernetes import wellknown
from renderer.plan import Plan, RouteTarget, SharedNeed, UnroutedModel
from renderer.resolve import claims
from renderer.resolve.apps import adapters
from renderer.resolve.context import RunContext
from renderer.resolve.gateway import pickers, pools, public_names, route_backends, routing, task_routes
from renderer.resolve.gateway.pools import PickedApp, SteeredPool
from renderer.resolve.gateway.routing import RouteRequest
from renderer.resolve.gateway.settings import gateway_settings
from renderer.resolve.rules import run_rules_or_stop
from renderer.resolve.traffic import model_route_records


def with_route(context: RunContext, app: App, plans: list[Plan], diagnostics: Collector) -> list[Plan]:
    """The plans with their route and pool. Raises Stop where no picker can choose among the pods."""
    settings = gateway_settings(context, app.namespace)
    mode = routing.mode(app, settings)
    if mode == "off":
        return plans
    if not plans[-1].schema:
        return _without_route(app, plans)
    if mode == "pool" and plans[-1].schema != task_routes.OPENAI:
        origin = app.origin("spec", "gateway", "mode")
        if "mode" not in (app.spec.get("gateway") or {}):
            origin = claims.claim_origin(app)
        diagnostics.stop("E681", origin, model=plans[-1].model, task=plans[-1].task)
    targets = [pools.pool_target(plans[-1])] if mode == "pool" else route_backends.workload_targets(plans)
    if mode == "pool":
        plans = _add_pool(context, app, plans, diagnostics)
    names = adapters.route_names(context, app, plans[-1], targets) if plans[-1].named_models else ()
    if plans[-1].named_models and mode == "pool":
        steering = adapters.steering(context, app, plans[-1], names)
        run_rules_or_stop(SteeredPool(context, settings, steering), diagnostics)
        last = _with_needs(plans[-1], public_names.rewrite_claims(app, steering))
        plans = [*plans[:-1], replace(last, steering=steering)]
    has_foreign_route = bool(context.traffic) and _has_foreign_route(context, app, plans[-1].public_name)
    if has_foreign_route and not names:
        return plans
    request = _request(context, app, plans, targets)
    if plans[-1].named_models:
        request = adapters.with_names(request, names, only_adapters=has_foreign_route)
    route = routing.route(run_rules_or_stop(request, diagnostics))
    needs = (*routing.route_needs(settings, route), *public_names.route_claims(app, settings, route))
    return [*plans[:-1], replace(_with_needs(plans[-1], needs), route=route)]


def _without_route(app: App, plans: list[Plan]) -> list[Plan]:
    """The plans of an app for whose model the AI gateway has no path."""
    services = tuple(dict.fromkeys(f"{plan.shared_name}{wellknown.LB_SERVICE}" for plan in plans))
    need = UnroutedModel(app.namespace, app.label, plans[-1].task, services)
    return [*plans[:-1], _with_needs(plans[-1], [need])]


def _add_pool(context: RunContext, app: App, plans: Sequence[Plan], diagnostics: Collector) -> list[Plan]:
    """The workload of an app, or those of its roles, with its pool and picker. Raises Stop where it has several
    workloads of one role, or where a picker cannot choose among its pods.
    """
    settings = gateway_settings(context, app.namespace)
    picker = pickers.find_picker(context, pickers.picker_name(context.inputs, settings, diagnostics))
    choice = run_rules_or_stop(PickedApp(context, app, settings, picker, plans), diagnostics)
    return pools.with_pool(run_rules_or_stop(pools.label_pods(choice), diagnostics))


def _with_needs(plan: Plan, needs: Sequence[SharedNeed]) -> Plan:
    return replace(plan, shared=(*plan.shared, *needs)) if needs else plan


def _request(context: RunContext, app: App, plans: Sequence[Plan], targets: Sequence[RouteTarget]) -> RouteRequest:
    """The settings of the app's route, for its main model alone."""
    model = context.inputs.models[plans[-1].model]
    request = RouteRequest(
        item=app,
        settings=gateway_settings(context, app.namespace),
        model=plans[-1].public_name,
        model_origin=claims.public_name_origin(model, app),
        targets=tuple(targets),
        open_model=model,
        wake_seconds=route_backends.wake_seconds(plans),
        load_seconds=route_backends.load_seconds(plans),
    )
    gateway = app.spec.get("gateway")
    return request.with_settings_of(app) if gateway and ("allow" in gateway or "timeouts" in gateway) else request


def _has_foreign_route(context: RunContext, app: App, public_name: str) -> bool:
    """Whether a ModelRoute, or an InferenceModel of the same public name, replaces the app's own route."""
    return any(
        model_route_records.leads_to_main(traffic_input, app) or traffic_input.spec["modelName"] == public_name
        for traffic_input in context.traffic.get((app.namespace, app.name), ())
    )
