"""The models of a Playground beside its first one, LoRA adapters (docs/adapters.md) and further main models
(docs/sources.md#several-models-in-one-server): the public names that they get.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from renderer.api import App
from renderer.diagnostics import Collector
from renderer.plan import Plan, Rewrite, RouteName, RouteTarget, Steering
from renderer.resolve import claims
from renderer.resolve.context import RunContext
from renderer.resolve.gateway import pickers, routing
from renderer.resolve.gateway.routing import RouteRequest
from renderer.resolve.gateway.settings import gateway_settings

_SUFFIX = "-adapters"  # of the object that tells a picker their names


def route_names(context: RunContext, app: App, plan: Plan, targets: Sequence[RouteTarget]) -> tuple[RouteName, ...]:
    """The public names of an app's adapters and further main models that no ModelRoute or InferenceModel has, and where
    they lead. `targets`: the route backends of the app.
    """
    taken_names, taken_models = _taken(context, app)
    names = []
    for adapter in plan.named_models:
        if adapter.model and adapter.name not in taken_names and adapter.model not in taken_models:
            own_targets = [
                replace(target, model=adapter.name if target.pool else adapter.name_in_engine) for target in targets
            ]
            model = context.inputs.models[adapter.model]
            owner = routing.owner_of(model) if adapter.task else ""
            names.append(RouteName(adapter.name, tuple(own_targets), claims.public_name_origin(model), owner))
    return tuple(names)


def _taken(context: RunContext, app: App) -> tuple[set[str], set[str]]:
    """The public names that ModelRoutes and InferenceModels over an app have, and the OpenModels of its adapters and
    further main models that ModelRoutes lead to.
    """
    items = context.traffic.get((app.namespace, app.name), ()) if context.traffic else ()
    backends = [backend for item in items if item.kind == "ModelRoute" for backend in item.spec["backends"]]
    models = {claims.other_model(app, backend) for backend in backends if backend.get("playground") == app.name}
    return {item.spec["modelName"] for item in items}, models


def with_names(request: RouteRequest, names: tuple[RouteName, ...], *, only_adapters: bool) -> RouteRequest:
    """The request for the route of an app with the names of its adapters: beside that of the first model, or alone."""
    if only_adapters and names:
        first, *rest = names
        request = replace(request, model=first.model, model_origin=first.origin, targets=first.targets)
        return replace(request, owner=first.owned_by or request.owner, others=tuple(rest))
    return replace(request, others=names)


def steering(context: RunContext, app: App, plan: Plan, names: Sequence[RouteName]) -> Steering | None:
    """What the picker of an app's pool replaces the public names of adapters by; None where the engine knows them."""
    engine_names = {
        adapter.name: adapter.name_in_engine for adapter in plan.named_models if adapter.name_in_engine != adapter.name
    }
    rewritten = [name.model for name in names if name.model in engine_names]
    if not rewritten:
        return None
    claimed = claims.named_entries(context.inputs, app)
    places = {adapter.name: app.origin(*claimed[adapter.model].path) for adapter in plan.named_models if adapter.model}
    rewrites = [
        Rewrite(name, ((engine_names[name], None),), origin=places[name], target_origins=(places[name],))
        for name in rewritten
    ]
    settings = gateway_settings(context, app.namespace)
    picker = pickers.find_picker(context, pickers.picker_name(context.inputs, settings, Collector()))
    return Steering(
        name=app.name + _SUFFIX,
        namespace=app.namespace,
        labels=routing.labels(app.name),
        group=picker.group,
        pool=plan.shared_name,
        priority=None,
        rewrites=tuple(rewrites),
        item=app.origin(),
        pool_origin=app.origin("metadata", "name"),
        rewrites_origin=app.origin("spec", "modelClaims"),
    )
