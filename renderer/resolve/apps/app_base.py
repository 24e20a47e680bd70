"""What Playgrounds and Services have in common: the run context, and the models that an app claims."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from renderer import wellknown
from renderer.api import App, BackendRuntime, Inputs, OpenModel, TrafficInput
from renderer.diagnostics import Collector, Diagnostic, Origin, Stop, has_errors
from renderer.plan import Body, SharedNeed
from renderer.resolve import (
    app_annotations,
    claims,
    flavors,
    model_cache,
    monitoring,
    names,
    pod_defaults,
    versioned_fields,
    weight_sources,
)
from renderer.resolve.apps import open_models
from renderer.resolve.autoscaling import foreign_scalers
from renderer.resolve.context import RunContext, cache_key
from renderer.resolve.engine import backend_runtime, compilation
from renderer.resolve.gateway import settings
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
    settings.collect_gateways(inputs.config, diagnostics)
    apps = {(app.namespace, app.name): app for app in (*inputs.outside_apps, *inputs.apps)}
    return RunContext(
        inputs=inputs,
        pod_defaults=pod_default_settings,
        catalog=catalog,
        metrics_collected=monitoring.metrics_collected(inputs),
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


def _place_claim(
    context: RunContext, app: App, claim: claims.Claim, policy: str, diagnostics: Collector
) -> flavors.Placement:
    """The placement by the flavors of a claim; cached for equal flavors, unless there are diagnostics, since these
    point at the app.
    """
    flavor_specs = (claim.main.spec.get("inferenceConfig") or {}).get("flavors")
    key = cache_key(flavor_specs, claim.flavors, policy)
    placement = context.placements.get(key)
    if placement is None:
        problem_count = len(diagnostics.problems)
        placement = flavors.choose_placement(context.inputs, context.catalog, app, claim, diagnostics)
        if len(diagnostics.problems) == problem_count:
            context.placements[key] = placement
    return placement


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

    `skip_loaders`: the app has the annotation skip-model-loader.
    """

    claim: claims.Claim
    weights: tuple[weight_sources.Weights, ...]
    skip_loaders: bool
    pod_needs: pods.PodNeeds
    labels: Body
    hardening: str
    shared: tuple[SharedNeed, ...] = ()


def _warn_ignored_patterns(claim: claims.Claim, weights: list[weight_sources.Weights], diagnostics: Collector) -> None:
    """Warns of patterns, which only loaders apply: without one the engine gets the whole repository."""
    for claimed, model_weights in zip(claim.models, weights, strict=True):
        for field, word in (("allowPatterns", "AllowPatterns"), ("ignorePatterns", "IgnorePatterns")):
            if model_weights.words.get(word):
                diagnostics.add("W210", model_weights.origin.at(field), field=field, model=claimed.model.name)


def _opens_cache(claim: claims.Claim, weights: list[weight_sources.Weights], diagnostics: Collector) -> bool:
    """Whether the engine loads from a hub's cache on a claim; then an error for each model that lies elsewhere."""
    cached = next((model_weights for model_weights in weights if model_weights.cache_env), None)
    if cached is None:
        return False
    place = cached.claim, cached.sub_path
    for claimed, other in zip(claim.models, weights, strict=True):
        if (other.claim, other.sub_path) != place or not other.cache_env:
            diagnostics.add("E316", other.origin, name=claimed.model.name, claim=cached.claim)
    return True


def _on_filled_claim(weights: weight_sources.Weights) -> weight_sources.Weights:
    """The weights, on a claim where a Job loads them: no loader of the pod then brings them."""
    cache = weights.cache
    if cache is None or cache.kind != model_cache.SHARED:
        return weights
    name = weights.path.removeprefix(weight_sources.MODELS_FOLDER)
    return replace(weights, claim=cache.claim, sub_path=f"{cache.folder}/{name}", host_path=weights.path, loader=None)


def _warn_unused_caches(claim: claims.Claim, diagnostics: Collector) -> None:
    """Warns of a model's own cache where the engine loads by itself."""
    for claimed in claim.models:
        if "modelCache" in claimed.model.spec:
            origin = Origin(claimed.model.document, ("spec", "modelCache"), key=True)
            diagnostics.add("W310", origin, name=claimed.model.name)


def resolve_base(context: RunContext, app: App, diagnostics: Collector) -> AppBase:
    """The models of an app, and what its pods need for them. Raises Stop where a model or its weights are not known."""
    inputs = context.inputs
    claim = claims.read_claim(inputs, app, diagnostics)
    if app.flavor:
        claim = replace(claim, flavors=(app.flavor,))
    weights = []
    for model in claim.models:
        model_weights, problems = find_weights(context, model.model)
        diagnostics.problems += problems
        weights += [model_weights] if model_weights else []
    policy = app.spec.get("flavorPolicy") or context.flavor_policy
    placement = _place_claim(context, app, claim, policy, diagnostics)
    if len(weights) < len(claim.models):
        raise Stop
    if app.annotations:
        app_annotations.validate_app_annotations(app, diagnostics)
    skipped = app.annotations.get(app_annotations.SKIP) == "true"
    skip_loaders = _opens_cache(claim, weights, diagnostics) or skipped
    names.validate_family_name(claim.main, diagnostics)
    labels = SharedMap({**wellknown.own_labels(app.label, "inference-server")})
    pod_labels = {
        **labels,
        wellknown.MODEL_NAME: claim.main.name,
        wellknown.MODEL_FAMILY: claim.main.spec["familyName"],
    }
    inftyai_scheduler = policy == flavors.INFTYAI
    flavor_names = claim.flavors or (flavors.flavor_names(claim.main) if inftyai_scheduler else ())
    annotations = {wellknown.FLAVORS: ",".join(flavor_names)} if flavor_names else {}
    hardening = app.spec.get("hardening") or context.hardening
    if hardening == "restricted" and not skip_loaders:
        for name in dict.fromkeys(model_weights.loader for model_weights in weights if model_weights.loader):
            if not find_loader(context, name).knows_user:
                diagnostics.add("W206", hardening_origin(context, app), name=name)
    caches = [model_weights for model_weights in weights if model_weights.cache]
    shell = None
    if caches and skip_loaders:
        _warn_unused_caches(claim, diagnostics)
    elif caches:
        weights = [_on_filled_claim(model_weights) for model_weights in weights]
        shell = find_loader(context, SHELL)
        kinds = {model_weights.cache.kind for model_weights in caches if model_weights.cache}
        if hardening == "restricted" and model_cache.HOST_PATH in kinds:
            diagnostics.add("E319", hardening_origin(context, app))
    access = placement.access
    if hardening == "restricted" and (access.capabilities or access.host_network) and placement.flavors[0].catalog:
        diagnostics.add("E448", hardening_origin(context, app), flavor=placement.flavors[0].name)
    if skipped:
        _warn_ignored_patterns(claim, weights, diagnostics)
    paths = [
        model_weights.path
        for model_weights in weights
        if (model_weights.loader and not skip_loaders) or (model_weights.claim and not model_weights.cache_env)
    ]
    for model_weights in weights[1:]:
        if paths.count(model_weights.path) > 1:
            diagnostics.add("E289", model_weights.origin, path=model_weights.path, model=claim.main.name)
    loader_names = [source.engine_access if skip_loaders else source.loader for source in weights]
    loaders = [find_loader(context, name) if name else None for name in loader_names]
    scheduler = context.scheduler or ("inftyai-scheduler" if inftyai_scheduler else "default-scheduler")
    pod_needs = pods.pod_needs(
        config=inputs.config,
        app=app.name,
        defaults=context.pod_defaults,
        labels=pod_labels,
        annotations=annotations,
        weights=weights,
        model_loaders=loaders,
        skip_loaders=skip_loaders,
        placement=placement,
        scheduler=scheduler,
        hardening=hardening,
        shell=shell,
    )
    filled = [
        SharedNeed(model_cache.KIND, app.namespace, claimed.model.name)
        for claimed, model_weights in (zip(claim.models, weights, strict=True) if shell else ())
        if model_weights.cache and model_weights.claim
    ]
    return AppBase(
        claim,
        tuple(weights),
        skip_loaders,
        pod_needs,
        labels,
        hardening,
        (*(open_models.open_model_needs(claim) if inftyai_scheduler else ()), *filled),
    )
