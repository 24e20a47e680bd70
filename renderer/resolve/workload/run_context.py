"""The context of a run, and what is worked out once for all its apps: weights, compiled engines, loaders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from msgspec.structs import replace

from renderer.api import BackendRuntime, Inputs, OpenModel, TrafficInput
from renderer.diagnostics import Collector, Diagnostic, Stop, has_errors
from renderer.engines.catalog import EngineCatalog
from renderer.resolve import disruptions, flavors, model_cache, monitoring, pod_defaults, weight_sources
from renderer.resolve.autoscaling import foreign_scalers
from renderer.resolve.context import RunContext
from renderer.resolve.engine import backend_runtime, compilation, template_words
from renderer.resolve.engine.template_words import ConstantWords
from renderer.resolve.pod import loaders

_USUAL = ConstantWords()


def new_context(inputs: Inputs) -> RunContext:
    """The context of a run over these inputs, with empty caches."""
    diagnostics = Collector()
    pod_default_settings = pod_defaults.pod_defaults(inputs.config, diagnostics)
    catalog = flavors.flavor_catalog(inputs, diagnostics)
    diagnostics.problems += loaders.invalid_settings(inputs)
    apps = {(app.namespace, app.name): app for app in (*inputs.outside_apps, *inputs.apps)}
    return RunContext(
        inputs=inputs,
        pod_defaults=pod_default_settings,
        catalog=catalog,
        known_engines=EngineCatalog(
            runtimes=inputs.preset_runtimes,
            option_files=inputs.option_files,
            accelerators=inputs.accelerators,
            accelerator_types=inputs.accelerator_types,
            own_accelerators=inputs.own_accelerators,
            model_facts=inputs.preset_facts,
        ),
        metrics_collected=monitoring.metrics_collected(inputs.config),
        rollout=disruptions.rollout(inputs.config),
        disruption_budget=disruptions.disruption_budget(inputs.config),
        hardening=inputs.config.get("hardening") or "default",
        flavor_policy=flavors.default_flavor_policy(inputs),
        scheduler=inputs.config.get("schedulerName") or "",
        listen_address=inputs.config.get(*template_words.LISTEN_ADDRESS) or template_words.ALL_ADDRESSES,
        problems=tuple(diagnostics.problems),
        apps=apps,
        claimed_models=frozenset(_claimed_models(inputs)),
        traffic=_traffic_by_app(inputs.traffic),
        strict=False,
        tells_all=False,
        foreign_scalers=foreign_scalers.foreign_scalers(inputs) if inputs.foreign_objects else {},
        engines={},
        gateways={},
        weights={},
        loaders={},
        pickers={},
        picker_configs={},
        apps_by_public_name={},
        plans={},
        placements={},
        envs={},
        scaling={},
    )


def _claimed_models(inputs: Inputs) -> Iterator[str]:
    """The names of the single models that apps in PATHS claim, but for claims of flavors that the catalog may lend."""
    has_catalog = bool(inputs.config.get("flavors"))
    for app in inputs.apps:
        claim = app.spec.get("modelClaim") or {}
        if not (has_catalog and ("inferenceFlavors" in claim or "disaggregation" in app.spec)):
            yield claim.get("modelName", "")


def _traffic_by_app(traffic: Iterable[TrafficInput]) -> dict[tuple[str, str], tuple[TrafficInput, ...]]:
    """By namespace and name of an app, the ModelRoutes and InferenceModels that name it."""
    by_app: dict[tuple[str, str], tuple[TrafficInput, ...]] = {}
    for traffic_input in traffic:
        for name in dict.fromkeys(traffic_input.apps):
            by_app[traffic_input.namespace, name] = (*by_app.get((traffic_input.namespace, name), ()), traffic_input)
    return by_app


def find_weights(context: RunContext, model: OpenModel) -> tuple[weight_sources.Weights | None, list[Diagnostic]]:
    """The weights of a model, None where its source has errors; and its problems. Cached by the model's name."""
    cached = context.weights.get(model.name)
    if cached is None:
        diagnostics, weights = Collector(), None
        with suppress(Stop):
            weights = weight_sources.read_weights(context.inputs, model, diagnostics)
            if "modelCache" in model.spec or context.inputs.config.get("modelCache"):
                cache = model_cache.read_cache(context.inputs, model, weights, diagnostics)
                weights = replace(weights, cache=cache)
        problems = diagnostics.problems
        cached = context.weights[model.name] = None if has_errors(problems) else weights, problems
    return cached


def find_engine(
    context: RunContext, runtime: BackendRuntime, constants: ConstantWords = _USUAL, version: str = ""
) -> tuple[backend_runtime.Engine | None, list[Diagnostic]]:
    """The compiled runtime, None when a template of it is broken; and its problems. `version`: of the engine, where it
    is not the runtime's own. Cached.
    """
    if context.listen_address != constants.host:
        constants = replace(constants, host=context.listen_address)
    cached = context.engines.get((runtime.name, version, constants))
    if cached is None:
        diagnostics, compiled = Collector(), None
        with suppress(Stop):
            files = context.inputs.option_files
            compiled = compilation.compile_engine(files, runtime, diagnostics, constants, version)
        cached = context.engines[runtime.name, version, constants] = compiled, diagnostics.problems
    return cached


def find_loader(context: RunContext, name: str) -> loaders.Loader:
    """The loader preset of that name; cached."""
    loader = context.loaders.get(name)
    if loader is None:
        loader = context.loaders[name] = loaders.read_loader(context.inputs, name)
    return loader
