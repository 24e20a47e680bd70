"""2: Inputs → Plans: every default and override decided, once. Who wins: docs/design/contract.md#precedence.

`plan` walks one app through the rooms of this package: `playground` and `service` say in which order; claims (which
models), sources (where weights are), flavors (what a pod gets), engines, fitting and running (how it runs), options,
lines, environment and resources (who wins), loading, pods and security (what the pod holds), scaling (how many), names
(what Kubernetes takes).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from renderer.api import App, BackendRuntime, OpenModel, TrafficInput
from renderer.diagnostics import Collector, Diagnostic, Origin, Path, Stop, has_errors
from renderer.plan import Plan, SharedNeed, TrafficPlan
from renderer.resolve import app_annotations, claims, flavors, names
from renderer.resolve.apps import inference_models, model_routes
from renderer.resolve.apps.app_base import compile_engine, find_weights, run_context
from renderer.resolve.apps.conflicts import name_conflicts
from renderer.resolve.apps.placement import AppPlacement, app_placements, flavor_origin
from renderer.resolve.apps.shared_objects import shared_plans
from renderer.resolve.apps.workloads import plan_workloads
from renderer.resolve.autoscaling import triggers
from renderer.resolve.autoscaling.triggers import queue_metric
from renderer.resolve.context import RunContext
from renderer.resolve.engine import backend_runtime, versions
from renderer.resolve.flavors import accelerates
from renderer.resolve.gateway import pools, routing
from renderer.resolve.gateway.routing import route_conflicts
from renderer.resolve.gateway.settings import gateway_settings
from renderer.resolve.kube import resources
from renderer.resolve.layers import ValueLayer
from renderer.resolve.monitoring import adapted


def plan(context: RunContext, item: App | TrafficInput) -> tuple[tuple[Plan | TrafficPlan, ...], list[Diagnostic]]:
    """Everything decided for one Playground or Service, one Plan a workload, or for one ModelRoute or InferenceModel;
    and what is wrong with it; none when something stands in the way.
    """
    diagnostics = Collector()
    plans: Sequence[Plan | TrafficPlan]
    try:
        if isinstance(item, TrafficInput):
            lead = model_routes.plan_model_route if item.kind == "ModelRoute" else inference_models.plan_inference_model
            plans = [lead(context, item, diagnostics)]
        else:
            plans = _routed(context, item, plan_workloads(context, item, diagnostics), diagnostics)
    except Stop:
        return (), diagnostics.problems
    return () if diagnostics.problems and has_errors(diagnostics.problems) else tuple(plans), diagnostics.problems


def _routed(context: RunContext, app: App, plans: list[Plan], diagnostics: Collector) -> list[Plan]:
    """The workloads with what leads to them."""
    settings, last = gateway_settings(context, app.namespace), plans[-1]
    mode = routing.mode(app, settings)
    if mode == "off":
        return plans
    if mode == "pool":
        routed_plans = pools.add_pool(context, app, settings, plans, diagnostics)
        targets = [pools.pool_target(last)]
    else:
        routed_plans, targets = plans, routing.workload_targets(plans)
    if context.traffic and _led(context, app, last.public_name):
        return routed_plans
    model = context.inputs.models[last.model]
    request = routing.RouteRequest(last.public_name, routing.name_origin(app, model), tuple(targets), model)
    own = app.spec.get("gateway")
    if own and ("allow" in own or "timeouts" in own):
        request = request.with_settings_of(app)
    route = routing.route(app, settings, request, diagnostics)
    shared = (
        *routing.shared_needs(settings, route),
        routing.name_claim(app, settings, route.model, (), "" if route.packed_route else route.name),
    )
    return [*routed_plans[:-1], replace(routed_plans[-1], route=route, shared=(*last.shared, *shared))]


def _led(context: RunContext, app: App, served: str) -> bool:
    """Whether somebody else's route leads here instead of an own one: a ModelRoute's, or that of an InferenceModel with
    the same public name.
    """
    return any(
        traffic_input.kind == "ModelRoute" or traffic_input.spec["modelName"] == served
        for traffic_input in context.traffic.get((app.namespace, app.name), ())
    )


def needs(plans: Sequence[Plan | TrafficPlan]) -> tuple[SharedNeed, ...]:
    """What the workloads of an app need together with others, and what all must know of it."""
    return plans[0].shared if len(plans) == 1 else tuple(need for plan in plans for need in plan.shared)


def references(plans: Sequence[Plan | TrafficPlan]) -> frozenset[tuple[str, str, str]]:
    """The objects of others that these name, by kind, namespace and name."""
    return frozenset(key for plan in plans if isinstance(plan, TrafficPlan) for key in plan.references)


def checked(context: RunContext, item: OpenModel | BackendRuntime) -> list[Diagnostic]:
    """What is wrong with a model or runtime of the user's, used or not."""
    diagnostics = Collector()
    if isinstance(item, BackendRuntime):
        at = Origin(item.document, ("spec",))
        names.dotted_name(item.name, Origin(item.document, ("metadata", "name")), diagnostics)
        for i, config in enumerate(item.spec.get("recommendedConfigs") or ()):
            preset = ValueLayer(config.get("resources") or {}, at.at("recommendedConfigs", i, "resources"))
            resources.merge_resources([preset, ValueLayer({}, at)], {}, diagnostics)
        triggers.validate_metric(item.spec.get("engine") or {}, at.at("engine"), diagnostics)
        compiled, problems = compile_engine(context, item)
        if compiled:
            backend_runtime.judge_own(context.inputs.option_files, compiled, diagnostics)
        for version in versions.version_samples(item):
            problems = [*problems, *compile_engine(context, item, version=version)[1]]
        return diagnostics.problems + problems
    names.object_name(item, diagnostics)
    seen: dict[str, int] = {}
    for i, flavor in enumerate((item.spec.get("inferenceConfig") or {}).get("flavors") or ()):
        if not (i or context.catalog or "params" in flavor):  # as with most
            seen[flavor["name"]] = i
            continue
        flavor_origin = Origin(item.document, ("spec", "inferenceConfig", "flavors", i))
        if seen.setdefault(flavor["name"], i) != i:
            diagnostics.add("W207", flavor_origin.at("name"), name=flavor["name"])
        flavors.unknown(context.catalog, flavor, flavor_origin, diagnostics)
        if params := flavor.get("params"):
            flavors.misspelt(params, flavor_origin.at("params"), diagnostics)
    app_annotations.validate_model_annotations(item, diagnostics)
    names.family(item, diagnostics)
    for name in item.spec.get("engines") or ():
        with suppress(Stop):
            origin = Origin(item.document, ("spec", "engines", name), key=True)
            backend_runtime.runtime(context.inputs, name, origin, diagnostics)
    return diagnostics.problems + find_weights(context, item)[1]


def dangling(context: RunContext) -> list[Diagnostic]:
    """Names that lead nowhere in documents which their schema refused: said in the same run, without planning them."""
    inputs, diagnostics = context.inputs, Collector()
    for (kind, _), document in inputs.broken.items():
        spec = document.value.get("spec") if kind in ("Playground", "Service") else None
        if not isinstance(spec, dict):
            continue
        for path, name in _names(spec):
            origin = document.origin("spec", *path)
            with suppress(Stop):
                (backend_runtime.runtime if path[0] == "backendRuntimeConfig" else claims.model)(
                    inputs, name, origin, diagnostics
                )
    return diagnostics.problems


def _names(spec: Any) -> Iterator[tuple[Path, str]]:
    """Where a Playground or Service of any shape names models and a backend."""
    places: list[Path] = [("modelClaim", "modelName"), ("backendRuntimeConfig", "backendName")]
    several = spec.get("modelClaims")
    listed = several.get("models") if isinstance(several, dict) else None
    places += [("modelClaims", "models", i, "name") for i in range(len(listed) if isinstance(listed, list) else 0)]
    for path in places:
        value: Any = spec
        for part in path:
            inside = (isinstance(value, dict) and part in value) or (isinstance(value, list) and isinstance(part, int))
            value = value[part] if inside else None
        if isinstance(value, str) and value:
            yield path, value


__all__ = [
    "AppPlacement",
    "RunContext",
    "accelerates",
    "adapted",
    "app_placements",
    "checked",
    "dangling",
    "flavor_origin",
    "name_conflicts",
    "needs",
    "plan",
    "queue_metric",
    "references",
    "route_conflicts",
    "run_context",
    "shared_plans",
]
