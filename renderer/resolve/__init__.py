"""Inputs → Plans: decides every default and override (docs/design/contract.md#precedence).

`plan` takes one app through the rooms of this package, in the order of `apps/playground.py` and `apps/service.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from renderer.api import App, BackendRuntime, OpenModel, TrafficInput
from renderer.diagnostics import Collector, Diagnostic, Origin, Path, Stop, has_errors
from renderer.kubernetes import disaggregated_sets
from renderer.plan import Plan, SharedNeed, TrafficPlan
from renderer.resolve import app_annotations, claims, flavors, names
from renderer.resolve.apps import inference_models, model_routes
from renderer.resolve.apps.app_routes import with_route
from renderer.resolve.apps.conflicts import name_conflicts, route_conflicts
from renderer.resolve.apps.judged_context import run_context
from renderer.resolve.apps.placement import AppPlacement, app_placements, flavor_origin
from renderer.resolve.apps.shared_objects import shared_plans
from renderer.resolve.apps.workloads import plan_workloads
from renderer.resolve.autoscaling import triggers
from renderer.resolve.autoscaling.triggers import queue_metric
from renderer.resolve.context import RunContext
from renderer.resolve.engine import backend_runtime, preset_args, versions
from renderer.resolve.flavors import accelerates, device_resource
from renderer.resolve.gateway.public_names import claimed_names
from renderer.resolve.kube import resources
from renderer.resolve.layers import ValueLayer
from renderer.resolve.monitoring import adapter_metric_name
from renderer.resolve.workload.run_context import compile_engine, find_weights


def plan(context: RunContext, item: App | TrafficInput) -> tuple[tuple[Plan | TrafficPlan, ...], list[Diagnostic]]:
    """The plans of a Playground or Service, one a workload, or of a ModelRoute or InferenceModel, and the diagnostics;
    no plans when there is an error.
    """
    diagnostics = Collector()
    plans: Sequence[Plan | TrafficPlan]
    try:
        if isinstance(item, TrafficInput):
            make_plan = (
                model_routes.plan_model_route if item.kind == "ModelRoute" else inference_models.plan_inference_model
            )
            plans = [make_plan(context, item, diagnostics)]
        else:
            plans = with_route(context, item, plan_workloads(context, item, diagnostics), diagnostics)
            if plans[0].kind == disaggregated_sets.KIND:
                plans = [replace(plans[0], partner=plans[-1]), *plans[1:]]
    except Stop:
        return (), diagnostics.problems
    return () if diagnostics.problems and has_errors(diagnostics.problems) else tuple(plans), diagnostics.problems


def shared_needs(plans: Sequence[Plan | TrafficPlan]) -> tuple[SharedNeed, ...]:
    """The shared objects that the workloads of an app need."""
    return plans[0].shared if len(plans) == 1 else tuple(need for plan in plans for need in plan.shared)


def referenced_objects(plans: Sequence[Plan | TrafficPlan]) -> frozenset[tuple[str, str, str]]:
    """The objects that these plans refer to: kind, namespace and name."""
    return frozenset(key for plan in plans if isinstance(plan, TrafficPlan) for key in plan.references)


def validate_item(context: RunContext, item: OpenModel | BackendRuntime) -> list[Diagnostic]:
    """The diagnostics of a user's OpenModel or BackendRuntime, whether an app uses it or not."""
    diagnostics = Collector()
    if isinstance(item, BackendRuntime):
        origin = Origin(item.document, ("spec",))
        diagnostics.problems += names.invalid_runtime_name(item.name, Origin(item.document, ("metadata", "name")))
        for i, config in enumerate(item.spec.get("recommendedConfigs") or ()):
            preset = ValueLayer(config.get("resources") or {}, origin.at("recommendedConfigs", i, "resources"))
            resources.merge_resources([preset, ValueLayer({}, origin)], {}, diagnostics)
        diagnostics.problems += triggers.unknown_metric(item.spec.get("engine") or {}, origin.at("engine"))
        compiled, problems = compile_engine(context, item)
        if compiled:
            diagnostics.problems += preset_args.refused_runtime_args(context.inputs.option_files, compiled, diagnostics)
        for version in versions.version_samples(item):
            problems = [*problems, *compile_engine(context, item, version=version)[1]]
        return diagnostics.problems + problems
    diagnostics.problems += names.invalid_model_name(item)
    seen: dict[str, int] = {}
    for i, flavor in enumerate((item.spec.get("inferenceConfig") or {}).get("flavors") or ()):
        if not (i or context.catalog or "params" in flavor):  # as with most
            seen[flavor["name"]] = i
            continue
        flavor_origin = Origin(item.document, ("spec", "inferenceConfig", "flavors", i))
        if seen.setdefault(flavor["name"], i) != i:
            diagnostics.add("W207", flavor_origin.at("name"), name=flavor["name"])
        diagnostics.problems += flavors.unknown_flavor(context.catalog, flavor, flavor_origin)
        if params := flavor.get("params"):
            diagnostics.problems += flavors.misspelt_params(params, flavor_origin.at("params"))
    diagnostics.problems += app_annotations.inert_model_annotations(item)
    diagnostics.problems += names.invalid_family_name(item)
    for name in item.spec.get("engines") or ():
        with suppress(Stop):
            origin = Origin(item.document, ("spec", "engines", name), key=True)
            backend_runtime.find_runtime(context.inputs, name, origin, diagnostics)
    return diagnostics.problems + find_weights(context, item)[1]


def validate_references(context: RunContext) -> list[Diagnostic]:
    """The errors about unknown models and backends in apps that their schema refused, and that are not planned."""
    inputs, diagnostics = context.inputs, Collector()
    for (kind, _), document in inputs.broken.items():
        spec = document.value.get("spec") if kind in ("Playground", "Service") else None
        if not isinstance(spec, dict):
            continue
        for path, name in _referenced_names(spec):
            origin = document.origin("spec", *path)
            with suppress(Stop):
                (backend_runtime.find_runtime if path[0] == "backendRuntimeConfig" else claims.find_model)(
                    inputs, name, origin, diagnostics
                )
    return diagnostics.problems


def _referenced_names(spec: Any) -> Iterator[tuple[Path, str]]:
    """Path and value of each field that names a model or backend, in a spec of any shape."""
    places: list[Path] = [("modelClaim", "modelName"), ("backendRuntimeConfig", "backendName")]
    claims = spec.get("modelClaims")
    models = claims.get("models") if isinstance(claims, dict) else None
    places += [("modelClaims", "models", i, "name") for i in range(len(models) if isinstance(models, list) else 0)]
    for path in places:
        value: Any = spec
        for part in path:
            exists = (isinstance(value, dict) and part in value) or (isinstance(value, list) and isinstance(part, int))
            value = value[part] if exists else None
        if isinstance(value, str) and value:
            yield path, value


__all__ = [
    "AppPlacement",
    "RunContext",
    "accelerates",
    "adapter_metric_name",
    "app_placements",
    "claimed_names",
    "device_resource",
    "flavor_origin",
    "name_conflicts",
    "plan",
    "queue_metric",
    "referenced_objects",
    "route_conflicts",
    "run_context",
    "shared_needs",
    "shared_plans",
    "validate_item",
    "validate_references",
]
