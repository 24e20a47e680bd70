"""What Playgrounds and Services have in common: the context of the run, and the models that an app claims."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from renderer.api import App, BackendRuntime, Inputs, OpenModel, TrafficInput
from renderer.diagnostics import Collector, Diagnostic, Origin, Stop
from renderer.plan import Body, SharedNeed
from renderer.resolve import (
    app_annotations,
    claims,
    flavors,
    monitoring,
    names,
    pod_defaults,
    target_versions,
    weight_sources,
)
from renderer.resolve.apps import open_models
from renderer.resolve.context import RunContext, cache_key
from renderer.resolve.engine import backend_runtime, compilation
from renderer.resolve.gateway import settings
from renderer.resolve.pod import loader_presets, pods
from renderer.schema import spec_default
from renderer.yamlio import SharedMap


def run_context(inputs: Inputs) -> RunContext:
    """An empty memory for these inputs."""
    diagnostics = Collector()
    every, catalog = (
        pod_defaults.pod_defaults(inputs.config, diagnostics),
        flavors.flavor_catalog(inputs.config, diagnostics),
    )
    loader_presets.settings(inputs.config, diagnostics)
    settings.collect_gateways(inputs.config, diagnostics)
    apps = {(app.namespace, app.name): app for app in (*inputs.outside_apps, *inputs.apps)}
    return RunContext(
        inputs=inputs,
        pod_defaults=every,
        catalog=catalog,
        metrics_collected=monitoring.metrics_collected(inputs),
        rollout=target_versions.rollout(inputs.config),
        hardening=inputs.config.get("hardening") or "default",
        flavor_policy=flavors.default_flavor_policy(inputs),
        scheduler=inputs.config.get("schedulerName") or "",
        problems=tuple(diagnostics.problems),
        apps=apps,
        traffic=_leading(inputs.traffic),
        engines={},
        gateway_settings={},
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


def _leading(traffic: Iterable[TrafficInput]) -> dict[tuple[str, str], tuple[TrafficInput, ...]]:
    """What leads to each app, as far as it names the app itself."""
    by_app: dict[tuple[str, str], tuple[TrafficInput, ...]] = {}
    for traffic_input in traffic:
        for name in dict.fromkeys(traffic_input.apps):
            by_app[traffic_input.namespace, name] = (*by_app.get((traffic_input.namespace, name), ()), traffic_input)
    return by_app


def backend(context: RunContext) -> str:
    """The backend of a Playground that names none: RenderConfig's, else the CRD's default."""
    return str(
        context.inputs.config.get("backend") or spec_default("Playground", "backendRuntimeConfig", "backendName")
    )


def weights(context: RunContext, model: OpenModel) -> tuple[weight_sources.Weights | None, list[Diagnostic]]:
    """Where the model's weights are, None when its source says nothing that works; and what is wrong with it."""
    known = context.weights.get(model.name)
    if known is None:
        diagnostics = Collector()
        try:
            found_weights: weight_sources.Weights | None = weight_sources.read_weights(
                context.inputs, model, diagnostics
            )
        except Stop:
            found_weights = None
        known = context.weights[model.name] = found_weights if not diagnostics.problems else None, diagnostics.problems
    return known


def engine(
    context: RunContext, runtime: BackendRuntime, drain: int = 10, version: str = ""
) -> tuple[backend_runtime.Engine | None, list[Diagnostic]]:
    """The runtime compiled, None when a template of it is broken; and what is wrong with it. `version`: of the engine,
    where that is not the runtime's own.
    """
    known = context.engines.get((runtime.name, drain, version))
    if known is None:
        diagnostics = Collector()
        try:
            compiled: backend_runtime.Engine | None = compilation.compile_engine(
                context.inputs.option_files, runtime, diagnostics, drain, version
            )
        except Stop:
            compiled = None
        known = context.engines[runtime.name, drain, version] = compiled, diagnostics.problems
    return known


def _placement(
    context: RunContext, app: App, claim: claims.Claim, policy: str, diagnostics: Collector
) -> flavors.Placement:
    """The flavors that count, worked out once for claims and models that say the same of them."""
    offered = (claim.main.spec.get("inferenceConfig") or {}).get("flavors")
    key = cache_key(offered, claim.flavors, policy)
    known = context.placements.get(key)
    if known is None:
        before = len(diagnostics.problems)
        known = flavors.choose_placement(context.inputs, context.catalog, app, claim, diagnostics)
        if len(diagnostics.problems) == before:  # what is wrong stands somewhere else for everybody
            context.placements[key] = known
    return known


def loader(context: RunContext, name: str) -> loader_presets.Loader:
    """The loader preset, made ready."""
    known = context.loaders.get(name)
    if known is None:
        known = context.loaders[name] = loader_presets.read_loader(context.inputs, name)
    return known


def hardening_origin(context: RunContext, app: App) -> Origin:
    """Who says how hard the pods are."""
    return app.origin("spec", "hardening") if "hardening" in app.spec else context.inputs.config.origin("hardening")


class AppBase(Struct, frozen=True):
    """What both kinds have in common: the models, where their weights are, and what pods need for them."""

    claim: claims.Claim
    weights: tuple[weight_sources.Weights, ...]
    skip: bool
    kit: pods.PodNeeds
    labels: Body
    hardening: str
    shared: tuple[SharedNeed, ...] = ()


def _unheeded(claim: claims.Claim, ready: list[weight_sources.Weights], diagnostics: Collector) -> None:
    """Patterns are the loader's; without it the engine gets the whole repository."""
    for claimed, model_weights in zip(claim.models, ready, strict=True):
        for field, word in (("allowPatterns", "AllowPatterns"), ("ignorePatterns", "IgnorePatterns")):
            if model_weights.words.get(word):
                diagnostics.add("W210", model_weights.origin.at(field), field=field, model=claimed.model.name)


def app_base(context: RunContext, app: App, diagnostics: Collector) -> AppBase:
    """The claim worked out. Raises Stop when there is no model to go on with."""
    inputs = context.inputs
    claim = claims.read_claim(inputs, app, diagnostics)
    if app.flavor:
        claim = replace(claim, flavors=(app.flavor,))
    ready = []
    for model in claim.models:
        model_weights, problems = weights(context, model.model)
        diagnostics.problems += problems
        ready += [model_weights] if model_weights else []
    policy = app.spec.get("flavorPolicy") or context.flavor_policy
    place = _placement(context, app, claim, policy, diagnostics)
    if len(ready) < len(claim.models):
        raise Stop
    if app.annotations:
        app_annotations.validate_app_annotations(app, diagnostics)
    skip = app.annotations.get(app_annotations.SKIP) == "true"
    names.validate_family_name(claim.main, diagnostics)
    labels = SharedMap(
        {
            "app.kubernetes.io/name": app.label,
            "app.kubernetes.io/component": "inference-server",
            "app.kubernetes.io/part-of": "llmaz",
            "app.kubernetes.io/managed-by": "llmaz-renderer",
        }
    )
    marks = {
        **labels,
        "llmaz.io/model-name": claim.main.name,
        "llmaz.io/model-family-name": claim.main.spec["familyName"],
    }
    handed = policy == flavors.INFTYAI
    chosen = claim.flavors or (flavors.flavor_names(claim.main) if handed else ())
    annotations = {"llmaz.io/inference-service-flavors": ",".join(chosen)} if chosen else {}
    hardening = app.spec.get("hardening") or context.hardening
    if hardening == "restricted" and not skip:
        for name in dict.fromkeys(source.loader for source in ready if source.loader):
            if not loader(context, name).knows_user:
                diagnostics.add("W206", hardening_origin(context, app), name=name)
    if skip:
        _unheeded(claim, ready, diagnostics)
    paths = [source.path for source in ready if source.loader and not skip]
    for later in ready[1:]:
        if paths.count(later.path) > 1:
            diagnostics.add("E289", later.origin, path=later.path, model=claim.main.name)
    loaders = tuple([loader(context, source.loader) if source.loader else None for source in ready])
    scheduler = context.scheduler or ("inftyai-scheduler" if handed else "default-scheduler")
    kit = pods.pod_needs(
        config=inputs.config,
        app=app.name,
        every=context.pod_defaults,
        labels=marks,
        annotations=annotations,
        weights=ready,
        loaders=loaders,
        skip=skip,
        place=place,
        scheduler=scheduler,
        hardening=hardening,
    )
    return AppBase(
        claim, tuple(ready), skip, kit, labels, hardening, open_models.open_model_needs(claim) if handed else ()
    )
