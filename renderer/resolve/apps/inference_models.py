"""The TrafficPlan of an InferenceModel: a public name over one pool, with criticality and weights.

Its rules: docs/design/operator.md#inferencemodel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

from msgspec import Struct
from msgspec.structs import replace

from renderer import patterns, wellknown
from renderer.api import App, TrafficInput
from renderer.diagnostics import Collector, Origin, Path, Stop, suggestion
from renderer.json_values import text_at
from renderer.plan import Plan, Rewrite, RouteTarget, Steering, TrafficPlan
from renderer.resolve import names
from renderer.resolve.apps import adapters
from renderer.resolve.apps.model_routes import reachable_workloads, referenced_objects
from renderer.resolve.apps.workloads import apps_by_public_name, is_broken
from renderer.resolve.context import RunContext
from renderer.resolve.gateway import pickers, public_names, route_backends, routing
from renderer.resolve.gateway.name_characters import can_be_sent
from renderer.resolve.gateway.route_backends import BackendShare
from renderer.resolve.gateway.routing import RouteRequest
from renderer.resolve.gateway.settings import gateway_settings

_GROUPS = (wellknown.POOL_GROUP, "inference.networking.x-k8s.io", "")
_OLD_GROUP = "inference.networking.x-k8s.io"
_PRIORITIES = {"Critical": 10, "Standard": 0, "Sheddable": -10}


class _Target(Struct, frozen=True):
    """A target: its name, its weight if it has one, its origin, and whether `targetModels` lists it (else it is the
    public name itself).
    """

    name: str
    weight: int | None
    origin: Origin
    listed: bool = True


def plan_inference_model(context: RunContext, item: TrafficInput, diagnostics: Collector) -> TrafficPlan:
    """The plan of an InferenceModel. Raises Stop when there is no pool to plan for."""
    names.validate_route_name(item, diagnostics)
    name = item.spec["modelName"]
    _validate_name(name, item.origin("spec", "modelName"), diagnostics)
    target_models = _targets(item, diagnostics)
    app = _find_app(context, item, diagnostics)
    settings = gateway_settings(context, item.namespace)
    if settings.mode == "off" and (app is None or routing.mode(app, settings) == "off"):
        return TrafficPlan(app=f"{item.name}.route", namespace=item.namespace, file=item.file)
    plan = TrafficPlan(app=f"{item.name}.route", namespace=item.namespace, file=item.file)
    if target_models and not any(target.weight is None or target.weight for target in target_models):
        # All weights 0: the name is kept, and nothing is behind it.
        return replace(plan, shared=(public_names.name_claim(item, settings, name),))
    own_target = [_Target(name, None, item.origin("spec", "modelName"), listed=False)]
    pool = app is None or routing.mode(app, settings) == "pool"
    plans = reachable_workloads(context, app, item.origin("spec", "poolRef", "name"), diagnostics) if app else []
    apps = [app] if app else []
    entries: tuple[int, ...] = ()
    if pool:
        if plans:
            _validate_served_names(plans[0], target_models or own_target, diagnostics)
        targets: Sequence[RouteTarget] = (RouteTarget(item.spec["poolRef"]["name"], 1, name, pool=True),)
    else:
        if item.spec.get("criticality"):
            diagnostics.add("W244", item.origin("spec", "criticality"))
        parts = (
            [_backend_share(context, item, app, plans, target, diagnostics) for target in target_models or own_target]
            if app
            else []
        )
        targets = route_backends.split_weights([part for part, _ in parts])
        entries = tuple(i for i, (part, _) in enumerate(parts) for _ in part.targets) if target_models else ()
        apps = [owner for _, owner in parts]
    model = context.inputs.models[plans[0].model] if plans else None
    request = RouteRequest(
        name,
        item.origin("spec", "modelName"),
        tuple(targets),
        model,
        entries=entries,
        wake_seconds=route_backends.wake_seconds(plans),
    )
    if app:
        request = _with_rights(item, request.with_settings_of(app), apps, diagnostics)
    route = routing.route(item, settings, request, diagnostics)
    steering = _steering(context, item, target_models or own_target, plans, diagnostics) if pool else None
    plan = replace(
        plan,
        references=referenced_objects(item.namespace, route.targets, []) if app else (),
        steering=steering,
    )
    if pool and _has_model_route(context, item):
        return replace(plan, shared=public_names.rewrite_claims(item, steering))
    return replace(
        plan,
        shared=(
            *routing.shared_needs(settings, route),
            public_names.name_claim(item, settings, name, (), route.name),
            *public_names.rewrite_claims(item, steering),
        ),
        route=route,
    )


def _has_model_route(context: RunContext, item: TrafficInput) -> bool:
    """Whether a ModelRoute over the same pool has this public name, and so makes the route; this plan then only steers
    the picker.
    """
    others = context.traffic.get((item.namespace, item.spec["poolRef"]["name"]), ())
    return any(other.kind == "ModelRoute" and other.spec["modelName"] == item.spec["modelName"] for other in others)


def _validate_name(name: str, origin: Origin, diagnostics: Collector) -> None:
    if not can_be_sent(name):
        diagnostics.add("E654", origin, name=name)


def _targets(item: TrafficInput, diagnostics: Collector) -> list[_Target]:
    """The items of `targetModels`, checked by the rules of the API version."""
    targets: list[_Target] = []
    for i, entry in enumerate(item.spec.get("targetModels") or ()):
        origin = item.origin("spec", "targetModels", i)
        _validate_name(entry["name"], origin.at("name"), diagnostics)
        if entry["name"] in [target.name for target in targets]:
            diagnostics.add("E657", origin.at("name"), name=entry["name"])
        if item.version == "v1alpha2" and entry.get("weight") == 0:
            diagnostics.add("E656", origin.at("weight"))
        targets.append(_Target(entry["name"], entry.get("weight"), origin.at("name")))
    if len({target.weight is None for target in targets}) > 1:
        missing = next(i for i, target in enumerate(targets) if target.weight is None)
        diagnostics.add("E655", item.origin("spec", "targetModels", missing))
    return targets


def _find_app(context: RunContext, item: TrafficInput, diagnostics: Collector) -> App | None:
    """The app that `poolRef` names, None where the pool is not one of ours. Raises Stop when no such pool is known."""
    name, origin = item.spec["poolRef"]["name"], item.origin("spec", "poolRef")
    reference: Mapping[str, object] = item.spec["poolRef"]
    for key, allowed in (("kind", ("InferencePool",)), ("group", _GROUPS)):
        if reference.get(key, allowed[0]) not in allowed:
            diagnostics.stop(
                "E659", origin.at(key), key=key, value=reference[key], allowed=" or ".join(filter(None, allowed))
            )
    if app := context.apps.get((item.namespace, name)):
        return app
    if is_broken(context, item.namespace, name):
        raise Stop
    namespaces = []
    for body in context.inputs.foreign_objects:
        metadata = body.get("metadata")
        if body.get("kind") == "InferencePool" and isinstance(metadata, dict) and metadata.get("name") == name:
            namespace = text_at(metadata, "namespace") or "default"
            if namespace == item.namespace:
                if str(body.get("apiVersion")).partition("/")[0] == _OLD_GROUP:
                    diagnostics.stop("E661", origin.at("name"), name=name)
                return None
            namespaces.append(namespace)
    namespaces += [namespace for namespace, app_name in context.apps if app_name == name]
    if not _is_external(context.inputs.config.get("external") or (), item.namespace, name):
        near = [app_name for namespace, app_name in context.apps if namespace == item.namespace]
        _stop_unknown_pool(item, name, namespaces, near, origin.at("name"), diagnostics)
    return None


def _stop_unknown_pool(
    item: TrafficInput,
    name: str,
    namespaces: Sequence[str],
    app_names: Sequence[str],
    origin: Origin,
    diagnostics: Collector,
) -> NoReturn:
    reference = f"InferencePool/{item.namespace}/{name}"
    hint = (
        f"there is one in namespace '{min(namespaces)}', and a pool serves its own namespace only; "
        if namespaces
        else ""
    )
    hint += "" if namespaces or not app_names else f"{suggestion(name, app_names)}; "
    hint += f"if it exists elsewhere, write it into RenderConfig's external: {reference}"
    diagnostics.stop("E658", origin, name=name, namespace=item.namespace, hint=hint)


def _is_external(external: Sequence[str], namespace: str, name: str) -> bool:
    return any(patterns.fits(f"InferencePool/{namespace}/{name}", pattern) for pattern in external)


def _validate_served_names(plan: Plan, targets: Sequence[_Target], diagnostics: Collector) -> None:
    """Errors for targets that are neither the served name of the pool's engine nor one of its adapters."""
    served_names = list(adapters.served_names(plan))
    for target in targets:
        if target.name not in served_names:
            words = {"name": target.name, "where": f"in the pool '{plan.shared_name}'"}
            diagnostics.add(
                "E660", target.origin, **words, hint=_name_hint(target.name, served_names, listed=target.listed)
            )


def _name_hint(name: str, served_names: Sequence[str], *, listed: bool) -> str:
    """The hint about a name that nothing serves. `listed`: it is in `targetModels`."""
    near = suggestion(name, served_names)
    advice = (
        "adapters are claimed with role lora, or loaded by the engine's options"
        if listed
        else "write targetModels to lead the name to others"
    )
    return f"{near}{' ' if near.endswith('?') else '; '}{advice}"


def _with_rights(
    item: TrafficInput, request: RouteRequest, apps: Sequence[App], diagnostics: Collector
) -> RouteRequest:
    """The request with the tenants that its apps allow, since an InferenceModel has no field for them; an error where
    the apps differ.
    """
    requests = [request.with_settings_of(app) for app in apps]
    for app, app_request in zip(apps, requests, strict=True):
        if set(app_request.allow) != set(requests[0].allow):
            hint = "let all of its apps allow the same, or write a ModelRoute with spec.gateway.allow"
            guarded = app if app_request.allow else apps[0]
            diagnostics.add("E664", item.origin("spec", "targetModels"), name=guarded.name, hint=hint)
            break
    return replace(request, allow=requests[0].allow, allow_origin=requests[0].allow_origin)


def _backend_share(
    context: RunContext,
    item: TrafficInput,
    pool_app: App,
    plans: Sequence[Plan],
    target: _Target,
    diagnostics: Collector,
) -> tuple[BackendShare, App]:
    """The route backends of a target and their app: the app that serves this name, else an adapter of the app of
    `poolRef`. Raises Stop.
    """
    weight = 1 if target.weight is None else target.weight
    if plans[0].public_name == target.name:
        return BackendShare(route_backends.workload_targets(plans), weight), pool_app
    apps_by_name = apps_by_public_name(context, item.namespace)
    apps = apps_by_name.get(target.name, [])
    served_names = adapters.served_names(plans[0])
    is_adapter = target.name in served_names
    if len(apps) + is_adapter > 1:
        owners = [f"'{app.name}'" for app in apps] + ([f"an adapter of '{pool_app.name}'"] if is_adapter else [])
        diagnostics.stop("E667", target.origin, name=target.name, these=" or ".join(owners[:3]))
    if apps:
        app = apps[0]
        if routing.mode(app, gateway_settings(context, app.namespace)) == "pool":
            diagnostics.stop("E644", target.origin, name=app.name)
        app_plans = reachable_workloads(context, app, target.origin, diagnostics)
        return BackendShare(route_backends.workload_targets(app_plans), weight), app
    if not is_adapter:
        hint = _name_hint(target.name, [*{**apps_by_name, **served_names}], listed=target.listed)
        diagnostics.stop("E660", target.origin, name=target.name, where="in this namespace", hint=hint)
    asked = served_names[target.name]
    targets = [replace(route_target, model=asked) for route_target in route_backends.workload_targets(plans)]
    return BackendShare(targets, weight), pool_app


def _steering(
    context: RunContext,
    item: TrafficInput,
    targets: Sequence[_Target],
    plans: Sequence[Plan],
    diagnostics: Collector,
) -> Steering:
    name = pickers.picker_name(context.inputs, gateway_settings(context, item.namespace), diagnostics)
    # A weight of 0 beside others: nobody goes there, and the rewrite takes none.
    asked = adapters.served_names(plans[0]) if plans else {}
    rewrites = [
        target
        for target in targets
        if target.weight != 0 and (target.listed or asked.get(target.name, target.name) != target.name)
    ]
    shares = tuple([(asked.get(target.name, target.name), target.weight) for target in rewrites])
    origins: Mapping[Path, Origin] = {
        (): item.origin(),
        ("name",): item.origin("metadata", "name"),
        ("namespace",): item.origin("metadata", "namespace"),
        ("priority",): item.origin("spec", "criticality"),
        ("targets",): item.origin("spec", "targetModels"),
        **{("targets", 0, i): target.origin for i, target in enumerate(rewrites)},
        ("model", 0): item.origin("spec", "modelName"),
        ("pool",): item.origin("spec", "poolRef", "name"),
    }
    return Steering(
        name=item.name,
        namespace=item.namespace,
        labels=routing.labels(item.name),
        group=pickers.find_picker(context, name).group,
        pool=item.spec["poolRef"]["name"],
        priority=_PRIORITIES[item.spec.get("criticality", "Standard")],
        rewrites=(Rewrite(item.spec["modelName"], shares),) if shares else (),
        origins=lambda: origins,
    )
