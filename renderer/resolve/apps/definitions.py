"""Validates OpenModels and BackendRuntimes, whether an app uses them or not, and references of apps that are broken."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from renderer.api import BackendRuntime, OpenModel
from renderer.diagnostics import Collector, Diagnostic, Origin, Path, Stop
from renderer.resolve import app_annotations, claims, flavors, names
from renderer.resolve.apps import learnt_lists
from renderer.resolve.autoscaling import triggers
from renderer.resolve.context import RunContext
from renderer.resolve.engine import backend_runtime, preset_args, versions
from renderer.resolve.kube import resources
from renderer.resolve.layers import ValueLayer
from renderer.resolve.rules import facts, tasks
from renderer.resolve.workload.run_context import find_engine, find_weights


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
        compiled, problems = find_engine(context, item)
        in_spec = preset_args.unlisted_options if "engine" in item.spec else preset_args.unfilled_words
        diagnostics.problems += [*in_spec(item), *preset_args.other_addresses(item, context.listen_address)]
        if compiled:
            diagnostics.problems += preset_args.refused_runtime_args(context.inputs.option_files, compiled, diagnostics)
        for version in versions.version_samples(item):
            problems = [*problems, *find_engine(context, item, version=version)[1]]
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
    if len(seen) > 1 or item.name not in context.claimed_models:  # else its only flavor is checked with the app
        diagnostics.problems += _invalid_flavors(context, item)
    diagnostics.problems += app_annotations.inert_model_annotations(item)
    diagnostics.problems += names.invalid_family_name(item)
    diagnostics.problems += tasks.misspelt_task(item)
    for name in item.spec.get("engines") or ():
        with suppress(Stop):
            origin = Origin(item.document, ("spec", "engines", name), key=True)
            backend_runtime.find_runtime(context.inputs, name, origin, diagnostics)
    return diagnostics.problems + find_weights(context, item)[1]


def _invalid_flavors(context: RunContext, model: OpenModel) -> list[Diagnostic]:
    """The diagnostics of a model's facts and of its flavors over those of the catalog."""
    diagnostics = Collector()
    own_flavors = list(flavors.validate_flavors(context.inputs, context.catalog, model, diagnostics))
    return [*diagnostics.problems, *facts.validate_model(context, model, own_flavors)]


def validate_references(context: RunContext) -> list[Diagnostic]:
    """The errors about unknown models and backends in apps that their schema refused, and that are not planned; and
    what is told once about all models.
    """
    inputs, diagnostics = context.inputs, Collector()
    diagnostics.problems += learnt_lists.unneeded_lists(inputs)
    diagnostics.problems += tasks.unknown_tasks([item for item in inputs.definitions if isinstance(item, OpenModel)])
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
