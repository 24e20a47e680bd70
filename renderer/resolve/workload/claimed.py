"""What Playgrounds and Services have in common: the models that an app claims, and what its pods need for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from renderer.api import App, OpenModel
from renderer.diagnostics import Collector, Origin, Stop
from renderer.fit.weights import read_weights
from renderer.kubernetes import wellknown
from renderer.plan import Body, CacheNeed, ModelNeed, SharedNeed
from renderer.resolve import (
    app_annotations,
    claims,
    flavors,
    model_cache,
    pod_defaults,
    weight_sources,
)
from renderer.resolve.context import RunContext, cache_key, cached
from renderer.resolve.network_policy import network_policy_needs
from renderer.resolve.pod import needs
from renderer.resolve.pod.hardening import hardening_level
from renderer.resolve.pod.loaders import SHELL
from renderer.resolve.pod.needs import PodNeeds, PodSettings, WeightAccess
from renderer.resolve.workload.run_context import find_loader, find_weights
from renderer.yamlio import SharedMap


def _place_claim(context: RunContext, app: App, claim: claims.Claim, diagnostics: Collector) -> flavors.Placement:
    """The placement by the flavors of a claim; cached for equal flavors."""
    flavor_specs = (claim.main.spec.get("inferenceConfig") or {}).get("flavors")
    key = cache_key(flavor_specs, claim.flavors, app.spec.get("flavorPolicy") or context.flavor_policy)
    choose = partial(flavors.choose_placement, context.inputs, context.catalog, app, claim)
    return cached(context.placements, key, choose, diagnostics)


def hardening_origin(context: RunContext, app: App) -> Origin:
    """The origin of the app's hardening: the app's own setting, else RenderConfig's."""
    return app.origin("spec", "hardening") if "hardening" in app.spec else context.inputs.config.origin("hardening")


class AppBase(Struct, frozen=True):
    """What is resolved alike for both kinds of apps: the claimed models, their weights, and what the pods need."""

    context: RunContext
    app: App
    claim: claims.Claim
    sources: tuple[weight_sources.Weights, ...]  # the weights as their models say them
    weights: tuple[weight_sources.Weights, ...]  # as the pods find them, where Jobs fill claims
    skip_loaders: bool  # by the annotation skip-model-loader, or since the engine loads from a hub's cache on a claim
    placement: flavors.Placement
    pod_needs: PodNeeds
    labels: Body
    hardening: str
    shared: tuple[SharedNeed, ...] = ()

    @property
    def flavor(self) -> flavors.FlavorOrigins | None:
        """The first flavor, which the limits are of, with the origins of its fields; None without flavors."""
        return self.placement.origins(self.claim.main)


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
    settings = _pod_settings(context, app, claim, placement, labels | model_labels(claim.main))
    return AppBase(
        context=context,
        app=app,
        claim=claim,
        sources=sources,
        weights=weights,
        skip_loaders=skip_loaders,
        placement=placement,
        pod_needs=needs.pod_needs(
            context.inputs.config, settings, _weight_access(context, claim, weights, skip_loaders, fills_caches)
        ),
        labels=labels,
        hardening=settings.hardening,
        shared=(
            *(_open_model_needs(context, claim) if _by_inftyai(context, app) else ()),
            *(_cache_needs(app, claim, weights) if fills_caches else ()),
            *network_policy_needs(context.inputs.config, app.namespace),
        ),
    )


def _by_inftyai(context: RunContext, app: App) -> bool:
    """Whether InftyAI's scheduler chooses the nodes of the app's pods."""
    return (app.spec.get("flavorPolicy") or context.flavor_policy) == flavors.INFTYAI


def _pod_settings(
    context: RunContext, app: App, claim: claims.Claim, placement: flavors.Placement, labels: Body
) -> PodSettings:
    by_inftyai = _by_inftyai(context, app)
    flavor_names = claim.flavors or (flavors.flavor_names(claim.main) if by_inftyai else ())
    annotations = {wellknown.FLAVORS: ",".join(flavor_names)} if flavor_names else {}
    if declared := flavors.declared_accelerators(context.inputs, placement.limits):
        annotations[wellknown.ACCELERATOR] = declared[0]
    return PodSettings(
        app=app.name,
        own_pods=pod_defaults.own_pods(app),
        defaults=context.pod_defaults,
        labels=labels,
        annotations=annotations,
        placement=placement,
        scheduler=context.scheduler or ("inftyai-scheduler" if by_inftyai else "default-scheduler"),
        hardening=hardening_level(context, app),
        model_volume=needs.own_model_volume(app.spec),
    )


def _weight_access(
    context: RunContext,
    claim: claims.Claim,
    weights: tuple[weight_sources.Weights, ...],
    skip_loaders: bool,
    fills_caches: bool,
) -> WeightAccess:
    names = [source.engine_access if skip_loaders else source.loader for source in weights]
    model_loaders = [find_loader(context, name) if name else None for name in names]
    return WeightAccess(
        weights,
        model_loaders,
        skip_loaders,
        sizes=[read_weights(claimed.model.spec.get("facts") or {}) for claimed in claim.models],
        shell=find_loader(context, SHELL) if fills_caches else None,
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
    return tuple(sources) if len(sources) < 2 else tuple(_apart(sources))


def _apart(sources: Iterable[weight_sources.Weights]) -> Iterator[weight_sources.Weights]:
    """The weights, where a single file of a claim that has the name of an earlier one lies in a folder of its model."""
    models: dict[str, str] = {}  # by path the first model whose weights are there
    for source in sources:
        is_taken = models.setdefault(source.path, source.name) != source.name
        if is_taken and source.claim and source.one_file and not source.files:
            path = f"{weight_sources.MODELS_FOLDER}{source.name}/{source.path.rpartition('/')[2]}"
            yield replace(source, path=path, host_path=path)
        else:
            yield source


def _on_filled_claim(weights: weight_sources.Weights) -> weight_sources.Weights:
    """The weights, on a claim where a Job loads them: no loader of the pod then brings them."""
    cache = weights.cache
    if cache is None or cache.kind != model_cache.SHARED:
        return weights
    name = weights.root.removeprefix(weight_sources.MODELS_FOLDER)
    return replace(weights, claim=cache.claim, sub_path=f"{cache.folder}/{name}", host_path=weights.root, loader=None)


def model_labels(model: OpenModel) -> dict[str, object]:
    """The labels of pods that say which model they run."""
    return {wellknown.MODEL_NAME: model.name, wellknown.MODEL_FAMILY: model.spec["familyName"]}


def _open_model_needs(context: RunContext, claim: claims.Claim) -> tuple[SharedNeed, ...]:
    """The OpenModel objects of a claim's models, the main one with the flavors that the catalog lends it."""
    lent = flavors.lent_flavors(context.inputs.config, claim.main, claim.flavors)
    return tuple([ModelNeed(model.model.name, lent if model.model is claim.main else ()) for model in claim.models])


def _cache_needs(app: App, claim: claims.Claim, weights: Iterable[weight_sources.Weights]) -> Iterator[SharedNeed]:
    """The claims that Jobs fill, one for each model that lies on one."""
    for claimed, source in zip(claim.models, weights, strict=True):
        if source.cache and source.claim:
            yield CacheNeed(app.namespace, claimed.model.name)
