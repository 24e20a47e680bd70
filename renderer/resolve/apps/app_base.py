"""What Playgrounds and Services have in common: the run context, and the models that an app claims."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from renderer import wellknown
from renderer.api import App, BackendRuntime, Inputs, OpenModel, TrafficInput
from renderer.diagnostics import Collector, Diagnostic, Origin, Stop, has_errors
from renderer.plan import Body, CacheNeed, SharedNeed
from renderer.resolve import (
    app_annotations,
    claims,
    flavors,
    model_cache,
    monitoring,
    pod_defaults,
    versioned_fields,
    weight_sources,
)
from renderer.resolve.apps import open_models
from renderer.resolve.autoscaling import foreign_scalers
from renderer.resolve.context import RunContext, cache_key, cached
from renderer.resolve.engine import backend_runtime, compilation
from renderer.resolve.pod import loaders, pods
from renderer.resolve.pod.loaders import SHELL
from renderer.schema_validation import spec_default
from renderer.yamlio import SharedMap


def run_context(inputs: Inputs) -> RunContext:
    """The context of a run over these inputs, with empty caches."""
    diagnostics = Collector()
    pod_default_settings = pod_defaults.pod_defaults(inputs.config, diagnostics)
    catalog = flavors.flavor_catalog(inputs, diagnostics)
    loaders.validate_settings(inputs.config, diagnostics)
    apps = {(app.namespace, app.name): app for app in (*inputs.outside_apps, *inputs.apps)}
    return RunContext(
        inputs=inputs,
        pod_defaults=pod_default_settings,
        catalog=catalog,
        metrics_collected=monitoring.metrics_collected(inputs.config),
        rollout=versioned_fields.rollout(inputs.config),
        hardening=inputs.config.get("hardening") or "default",
        flavor_policy=flavors.default_flavor_policy(inputs),
        scheduler=inputs.config.get("schedulerName") or "",
        problems=tuple(diagnostics.problems),
        apps=apps,
        traffic=_traffic_by_app(inputs.traffic),
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


def _traffic_by_app(traffic: Iterable[TrafficInput]) -> dict[tuple[str, str], tuple[TrafficInput, ...]]:
    """By namespace and name of an app, the ModelRoutes and InferenceModels that name it."""
    by_app: dict[tuple[str, str], tuple[TrafficInput, ...]] = {}
    for traffic_input in traffic:
        for name in dict.fromkeys(traffic_input.apps):
            by_app[traffic_input.namespace, name] = (*by_app.get((traffic_input.namespace, name), ()), traffic_input)
    return by_app


def default_backend(context: RunContext) -> str:
    """The backend of Playgrounds that name none: RenderConfig's, else the CRD's default."""
    return str(
        context.inputs.config.get("backend") or spec_default("Playground", "backendRuntimeConfig", "backendName")
    )


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


def compile_engine(
    context: RunContext, runtime: BackendRuntime, drain: int = 10, version: str = ""
) -> tuple[backend_runtime.Engine | None, list[Diagnostic]]:
    """The compiled runtime, None when a template of it is broken; and its problems. `version`: of the engine, where it
    is not the runtime's own. Cached.
    """
    cached = context.engines.get((runtime.name, drain, version))
    if cached is None:
        diagnostics, compiled = Collector(), None
        with suppress(Stop):
            compiled = compilation.compile_engine(context.inputs.option_files, runtime, diagnostics, drain, version)
        cached = context.engines[runtime.name, drain, version] = compiled, diagnostics.problems
    return cached


def _place_claim(context: RunContext, app: App, claim: claims.Claim, diagnostics: Collector) -> flavors.Placement:
    """The placement by the flavors of a claim; cached for equal flavors."""
    flavor_specs = (claim.main.spec.get("inferenceConfig") or {}).get("flavors")
    key = cache_key(flavor_specs, claim.flavors, app.spec.get("flavorPolicy") or context.flavor_policy)
    choose = partial(flavors.choose_placement, context.inputs, context.catalog, app, claim)
    return cached(context.placements, key, choose, diagnostics)


def find_loader(context: RunContext, name: str) -> loaders.Loader:
    """The loader preset of that name; cached."""
    loader = context.loaders.get(name)
    if loader is None:
        loader = context.loaders[name] = loaders.read_loader(context.inputs, name)
    return loader


def hardening_origin(context: RunContext, app: App) -> Origin:
    """The origin of the app's hardening: the app's own setting, else RenderConfig's."""
    return app.origin("spec", "hardening") if "hardening" in app.spec else context.inputs.config.origin("hardening")


class AppBase(Struct, frozen=True):
    """What is resolved alike for both kinds of apps: the claimed models, their weights, and what the pods need.

    `sources`: the weights as their models say them; `weights`: as the pods find them, where Jobs fill claims;
    `skip_loaders`: the app has the annotation skip-model-loader, or its engine loads from a hub's cache on a claim.
    """

    context: RunContext
    app: App
    claim: claims.Claim
    sources: tuple[weight_sources.Weights, ...]
    weights: tuple[weight_sources.Weights, ...]
    skip_loaders: bool
    placement: flavors.Placement
    pod_needs: pods.PodNeeds
    labels: Body
    hardening: str
    shared: tuple[SharedNeed, ...] = ()


def resolve_base(context: RunContext, app: App, diagnostics: Collector) -> AppBase:
    """The models of an app, and what its pods need for them. Raises Stop where a model or its weights are not known."""
    claim = claims.read_claim(context.inputs, app, diagnostics)
    if app.flavor:
        claim = replace(claim, flavors=(app.flavor,))
    sources = _read_sources(context, claim, diagnostics)
    placement = _place_claim(context, app, claim, diagnostics)
    if len(sources) < len(claim.models):
        raise Stop
    skip_loaders = skips_loaders(app) or any(source.cache_env for source in sources)
    fills_caches = not skip_loaders and any(source.cache for source in sources)
    weights = tuple(map(_on_filled_claim, sources)) if fills_caches else sources
    labels = SharedMap({**wellknown.own_labels(app.label, "inference-server")})
    by_inftyai = (app.spec.get("flavorPolicy") or context.flavor_policy) == flavors.INFTYAI
    flavor_names = claim.flavors or (flavors.flavor_names(claim.main) if by_inftyai else ())
    loader_names = [source.engine_access if skip_loaders else source.loader for source in weights]
    hardening = app.spec.get("hardening") or context.hardening
    needs = pods.pod_needs(
        config=context.inputs.config,
        app=app.name,
        defaults=context.pod_defaults,
        labels=labels | _model_labels(claim.main),
        annotations={wellknown.FLAVORS: ",".join(flavor_names)} if flavor_names else {},
        weights=weights,
        model_loaders=[find_loader(context, name) if name else None for name in loader_names],
        skip_loaders=skip_loaders,
        placement=placement,
        scheduler=context.scheduler or ("inftyai-scheduler" if by_inftyai else "default-scheduler"),
        hardening=hardening,
        shell=find_loader(context, SHELL) if fills_caches else None,
    )
    shared: tuple[SharedNeed, ...] = open_models.open_model_needs(claim) if by_inftyai else ()
    shared = (*shared, *_cache_needs(app, claim, weights)) if fills_caches else shared
    return AppBase(
        context=context,
        app=app,
        claim=claim,
        sources=sources,
        weights=weights,
        skip_loaders=skip_loaders,
        placement=placement,
        pod_needs=needs,
        labels=labels,
        hardening=hardening,
        shared=shared,
    )


def skips_loaders(app: App) -> bool:
    """Whether the app has the annotation skip-model-loader."""
    return app.annotations.get(app_annotations.SKIP) == "true"


def _read_sources(
    context: RunContext, claim: claims.Claim, diagnostics: Collector
) -> tuple[weight_sources.Weights, ...]:
    """The weights of the claimed models, without those whose source has errors."""
    sources = []
    for claimed in claim.models:
        source, problems = find_weights(context, claimed.model)
        diagnostics.problems += problems
        sources += [source] if source else []
    return tuple(sources)


def _on_filled_claim(weights: weight_sources.Weights) -> weight_sources.Weights:
    """The weights, on a claim where a Job loads them: no loader of the pod then brings them."""
    cache = weights.cache
    if cache is None or cache.kind != model_cache.SHARED:
        return weights
    name = weights.path.removeprefix(weight_sources.MODELS_FOLDER)
    return replace(weights, claim=cache.claim, sub_path=f"{cache.folder}/{name}", host_path=weights.path, loader=None)


def _model_labels(model: OpenModel) -> dict[str, object]:
    return {wellknown.MODEL_NAME: model.name, wellknown.MODEL_FAMILY: model.spec["familyName"]}


def _cache_needs(app: App, claim: claims.Claim, weights: Iterable[weight_sources.Weights]) -> Iterator[CacheNeed]:
    """The claims that Jobs fill, one for each model that lies on one."""
    for claimed, source in zip(claim.models, weights, strict=True):
        if source.cache and source.claim:
            yield CacheNeed(app.namespace, claimed.model.name)
