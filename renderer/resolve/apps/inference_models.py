"""The TrafficPlan of an InferenceModel: a public name over one pool, with criticality and weights.

Its rules: docs/design/operator.md#inferencemodel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn

from msgspec.structs import replace

from renderer.api import App, TrafficInput
from renderer.diagnostics import Collector, Stop, suggestion
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import text_at
from renderer.plan import Rewrite, RouteTarget, Steering, TrafficPlan
from renderer.resolve.apps.model_routes import reachable_workloads, referenced_objects
from renderer.resolve.apps.workloads import apps_by_public_name, is_broken
from renderer.resolve.context import RunContext
from renderer.resolve.gateway import pickers, public_names, route_backends, routing, task_routes
from renderer.resolve.gateway.named_models import served_names
from renderer.resolve.gateway.route_backends import BackendShare
from renderer.resolve.gateway.routing import RouteRequest
from renderer.resolve.gateway.settings import GatewaySettings, gateway_settings
from renderer.resolve.rules import run_rules_or_stop
from renderer.resolve.traffic.inference_model import (
    ServedPool,
    TargetModel,
    TargetModels,
    TargetShares,
    name_hint,
    read_targets,
)
from renderer.text import patterns

_GROUPS = (wellknown.POOL_GROUP, "inference.networking.x-k8s.io", "")
_OLD_GROUP = "inference.networking.x-k8s.io"
_PRIORITIES = {"Critical": 10, "Standard": 0, "Sheddable": -10}


def plan_inference_model(context: RunContext, item: TrafficInput, diagnostics: Collector) -> TrafficPlan:
    """The plan of an InferenceModel. Raises Stop when there is no pool to plan for."""
    run_rules_or_stop(item, diagnostics)
    models = run_rules_or_stop(read_targets(context, item), diagnostics)
    app = _find_app(context, item, diagnostics)
    settings = gateway_settings(context, item.namespace)
    plan = TrafficPlan(app=f"{item.name}.route", namespace=item.namespace, file=item.file)
    if settings.mode == "off" and (app is None or routing.mode(app, settings) == "off"):
        return plan
    if models.listed and all(target.weight == 0 for target in models.targets):  # a name with nothing behind it
        return replace(plan, shared=(public_names.name_claim(item, settings, models.public_name),))
    pool = run_rules_or_stop(_find_pool(models, app, diagnostics), diagnostics)
    shares = run_rules_or_stop(_share_targets(pool, diagnostics), diagnostics)
    request = run_rules_or_stop(_request(shares, settings), diagnostics)
    route = routing.route(request)
    steering = _steering(shares.pool, settings, diagnostics) if shares.pool.in_pool else None
    rewrites = public_names.rewrite_claims(item, steering)
    plan = replace(
        plan,
        references=referenced_objects(item.namespace, route.targets, []) if app else (),
        steering=steering,
    )
    if shares.pool.in_pool and _has_model_route(context, item):
        return replace(plan, shared=rewrites)
    claim = public_names.name_claim(item, settings, models.public_name, (), route.name)
    return replace(plan, shared=(*routing.route_needs(settings, route), claim, *rewrites), route=route)


def _has_model_route(context: RunContext, item: TrafficInput) -> bool:
    """Whether a ModelRoute over the same pool has this public name, and so makes the route; this plan then only steers
    the picker.
    """
    others = context.traffic.get((item.namespace, item.spec["poolRef"]["name"]), ())
    return any(other.kind == "ModelRoute" and other.spec["modelName"] == item.spec["modelName"] for other in others)


def _find_app(context: RunContext, item: TrafficInput, diagnostics: Collector) -> App | None:
    """The app that `poolRef` names, None where the pool is not one of ours. Raises Stop when no such pool is known."""
    name, origin = item.spec["poolRef"]["name"], item.origin("spec", "poolRef")
    reference: Mapping[str, object] = item.spec["poolRef"]
    for key, allowed in (("kind", ("InferencePool",)), ("group", _GROUPS)):
        if reference.get(key, allowed[0]) not in allowed:
            params = {"key": key, "value": reference[key], "allowed": " or ".join(filter(None, allowed))}
            diagnostics.stop("E659", origin.at(key), **params)
    if app := context.apps.get((item.namespace, name)):
        return app
    if is_broken(context, item.namespace, name):
        raise Stop
    pools = list(_foreign_pools(context, name))
    group = next((group for namespace, group in pools if namespace == item.namespace), None)
    if group == _OLD_GROUP:
        diagnostics.stop("E661", origin.at("name"), name=name)
    if group is None and not _is_external(context.inputs.config.get("external") or (), item.namespace, name):
        _stop_unknown_pool(context, item, [namespace for namespace, _ in pools], diagnostics)
    return None


def _foreign_pools(context: RunContext, name: str) -> Iterator[tuple[str, str]]:
    """The namespace and the API group of each InferencePool of this name in the tree that is not one of ours."""
    for body in context.inputs.foreign_objects:
        metadata = body.get("metadata")
        if body.get("kind") == "InferencePool" and isinstance(metadata, dict) and metadata.get("name") == name:
            yield text_at(metadata, "namespace") or "default", str(body.get("apiVersion")).partition("/")[0]


def _stop_unknown_pool(
    context: RunContext, item: TrafficInput, pool_namespaces: Sequence[str], diagnostics: Collector
) -> NoReturn:
    """`pool_namespaces`: with an InferencePool of this name."""
    name, reference = item.spec["poolRef"]["name"], f"InferencePool/{item.namespace}/{item.spec['poolRef']['name']}"
    namespaces = [*pool_namespaces, *(namespace for namespace, app_name in context.apps if app_name == name)]
    app_names = [app_name for namespace, app_name in context.apps if namespace == item.namespace]
    hint = ""
    if namespaces:
        hint = f"there is one in namespace '{min(namespaces)}', and a pool serves its own namespace only; "
    elif app_names:
        hint = f"{suggestion(name, app_names)}; "
    hint += f"if it exists elsewhere, write it into RenderConfig's external: {reference}"
    diagnostics.stop("E658", item.origin("spec", "poolRef", "name"), name=name, namespace=item.namespace, hint=hint)


def _is_external(external: Sequence[str], namespace: str, name: str) -> bool:
    return any(patterns.fits(f"InferencePool/{namespace}/{name}", pattern) for pattern in external)


def _find_pool(models: TargetModels, app: App | None, diagnostics: Collector) -> ServedPool:
    """The workloads of the pool. Raises Stop where its app turns routes off."""
    context, item = models.context, models.item
    if app is None:
        return ServedPool(models, None, (), in_pool=True)
    plans = reachable_workloads(context, app, item.origin("spec", "poolRef", "name"), diagnostics)
    in_pool = task_routes.app_mode(context.inputs, app, gateway_settings(context, item.namespace)) == "pool"
    return ServedPool(models, app, plans, in_pool)


def _share_targets(pool: ServedPool, diagnostics: Collector) -> TargetShares:
    """What each target gets. Raises Stop where nothing, or several apps, serve one of them."""
    if pool.app is None or pool.in_pool:
        return TargetShares(pool, (), [pool.app] if pool.app else ())
    pairs = [_share_target(pool, pool.app, target, diagnostics) for target in pool.models.targets]
    return TargetShares(pool, [share for share, _ in pairs], [app for _, app in pairs])


def _share_target(
    pool: ServedPool, pool_app: App, target: TargetModel, diagnostics: Collector
) -> tuple[BackendShare, App]:
    """The route backends of a target and their app: the app that serves this name, else an adapter of the app of
    `poolRef`. Raises Stop.
    """
    context, weight = pool.models.context, 1 if target.weight is None else target.weight
    if pool.plans[0].public_name == target.name:
        return BackendShare(route_backends.workload_targets(pool.plans), weight), pool_app
    apps_by_name, names = apps_by_public_name(context, pool.models.item.namespace), served_names(pool.plans[0])
    apps, is_adapter = apps_by_name.get(target.name, []), target.name in names
    if len(apps) + is_adapter > 1:
        owners = [f"'{app.name}'" for app in apps] + ([f"an adapter of '{pool_app.name}'"] if is_adapter else [])
        diagnostics.stop("E667", target.origin, name=target.name, these=" or ".join(owners[:3]))
    if apps:
        app = apps[0]
        if task_routes.app_mode(context.inputs, app, gateway_settings(context, app.namespace)) == "pool":
            diagnostics.stop("E644", target.origin, name=app.name)
        plans = reachable_workloads(context, app, target.origin, diagnostics)
        return BackendShare(route_backends.workload_targets(plans), weight), app
    if not is_adapter:
        hint = name_hint(target, [*{**apps_by_name, **names}])
        diagnostics.stop("E660", target.origin, name=target.name, where="in this namespace", hint=hint)
    targets = route_backends.workload_targets(pool.plans)
    return BackendShare([replace(route_target, model=names[target.name]) for route_target in targets], weight), pool_app


def _request(shares: TargetShares, settings: GatewaySettings) -> RouteRequest:
    """The settings of the route, with the tenants that its apps allow, since an InferenceModel has no field for
    them.
    """
    pool, item, name = shares.pool, shares.pool.models.item, shares.pool.models.public_name
    targets = route_backends.split_weights(shares.shares)
    entries = tuple([i for i, share in enumerate(shares.shares) for _ in share.targets])
    if pool.in_pool:
        targets = [RouteTarget(item.spec["poolRef"]["name"], 1, name, pool=True)]
    request = RouteRequest(
        item=item,
        settings=settings,
        model=name,
        model_origin=item.origin("spec", "modelName"),
        targets=tuple(targets),
        open_model=pool.models.context.inputs.models[pool.plans[0].model] if pool.plans else None,
        entries=entries if pool.models.listed else (),
        wake_seconds=route_backends.wake_seconds(pool.plans),
        load_seconds=route_backends.load_seconds(pool.plans),
    )
    if pool.app is None:
        return request
    first = request.with_settings_of(shares.apps[0])
    return replace(request.with_settings_of(pool.app), allow=first.allow, allow_origin=first.allow_origin)


def _steering(pool: ServedPool, settings: GatewaySettings, diagnostics: Collector) -> Steering:
    """What the pool's picker is told of the public name. Raises Stop where the picker is not known."""
    models, item = pool.models, pool.models.item
    name = pickers.picker_name(models.context.inputs, settings, diagnostics)
    # A weight of 0 beside others: nobody goes there, and the rewrite takes none.
    engine_names = served_names(pool.plans[0]) if pool.plans else {}
    rewritten = [
        target
        for target in models.targets
        if target.weight != 0 and (target.listed or engine_names.get(target.name, target.name) != target.name)
    ]
    shares = tuple([(engine_names.get(target.name, target.name), target.weight) for target in rewritten])
    rewrite = Rewrite(
        item.spec["modelName"],
        shares,
        origin=item.origin("spec", "modelName"),
        target_origins=tuple([target.origin for target in rewritten]),
    )
    return Steering(
        name=item.name,
        namespace=item.namespace,
        labels=routing.labels(item.name),
        group=pickers.find_picker(models.context, name).group,
        pool=item.spec["poolRef"]["name"],
        priority=_PRIORITIES[item.spec.get("criticality", "Standard")],
        rewrites=(rewrite,) if shares else (),
        item=item.origin(),
        pool_origin=item.origin("spec", "poolRef", "name"),
        rewrites_origin=item.origin("spec", "targetModels"),
    )
