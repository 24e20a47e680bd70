"""What is told about an app's annotations and the claimed models, their weights, and how these come into the pods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from renderer.api import OpenModel
from renderer.diagnostics import Diagnostic, Origin, make_diagnostic, rule, suggestion
from renderer.engines.rules.disk import in_gib, too_little_room
from renderer.fit.weights import ModelWeights, read_weights
from renderer.kubernetes.json_values import text_at
from renderer.resolve import app_annotations, model_cache, names
from renderer.resolve.claims import ClaimedModel
from renderer.resolve.pod.hardening import TIGHT
from renderer.resolve.weight_sources import ModelCache, Weights
from renderer.resolve.workload.claimed import AppBase, hardening_origin, skips_loaders

_METADATA = frozenset(["labels", "annotations"])


@rule(of=AppBase)
def invalid_family(base: AppBase) -> Iterator[Diagnostic]:
    """An error for the family of the main model where it is not a label's value."""
    yield from names.invalid_family_name(base.claim.main)


@rule(of=AppBase, when=lambda base: "," in base.app.spec.get("servedModelName", ""))
def listed_names(base: AppBase) -> Iterator[Diagnostic]:
    """A warning for several public names as one text, which is one name."""
    name = base.app.spec["servedModelName"]
    first, *others = [part.strip() for part in name.split(",")]
    words = {"name": name, "first": first, "rest": others[0]}
    yield make_diagnostic("W916", base.app.origin("spec", "servedModelName"), **words)


@rule(of=AppBase, when=lambda base: not base.claim.main.ours or base.claim.mains > 1)
def latest_revision(base: AppBase) -> Iterator[Diagnostic]:
    """A warning for the revision `latest`, which images have and repositories of the hub do not."""
    for claimed in base.claim.models:
        if text_at(claimed.model.spec, "source", "modelHub", "revision") == "latest":
            yield make_diagnostic("W917", Origin(claimed.model.document, ("spec", "source", "modelHub", "revision")))


@rule(of=AppBase, when=lambda base: base.app.annotations)
def inert_annotations(base: AppBase) -> Iterator[Diagnostic]:
    """A warning for each annotation of the domain on a Playground or Service that has no effect."""
    app = base.app
    for key, value in app.annotations.items():
        if key == app_annotations.SKIP:
            if value not in ("true", "false"):
                yield make_diagnostic("W217", app.origin("metadata", "annotations", key), name=key, value=value)
        elif app_annotations.is_llmaz_key(key):
            hint = app_annotations.INERT.get(key) or suggestion(key, [app_annotations.SKIP])
            advice = hint if not hint.startswith("known") else "leave it out"
            yield make_diagnostic("W216", app.origin("metadata", "annotations", key, key=True), name=key, hint=advice)


@rule(of=AppBase, when=lambda base: not base.app.document.value["metadata"].keys().isdisjoint(_METADATA))
def lost_metadata(base: AppBase) -> Iterator[Diagnostic]:
    """A warning for each label and annotation of other controllers on a Playground or Service."""
    yield from app_annotations.lost_metadata(base.app)


@rule(of=AppBase, when=lambda base: base.app.annotations)
def unnamed_patterns(base: AppBase) -> Iterator[Diagnostic]:
    """A warning for patterns, which only loaders apply: without one the engine gets the whole repository."""
    for claimed, weights in zip(base.claim.models, base.weights, strict=True) if skips_loaders(base.app) else ():
        for field, word in (("allowPatterns", "AllowPatterns"), ("ignorePatterns", "IgnorePatterns")):
            if weights.words.get(word) and not weights.files:  # whose names are the patterns
                yield make_diagnostic("W210", weights.origin.at(field), field=field, model=claimed.model.name)


@rule(of=AppBase, when=lambda base: base.skip_loaders)
def outside_hub_cache(base: AppBase) -> Iterator[Diagnostic]:
    """An error for each model outside of the hub's cache on a claim from which the engine loads."""
    cached = next((source for source in base.sources if source.cache_env), None)
    for claimed, other in zip(base.claim.models, base.sources, strict=True) if cached else ():
        if cached and ((other.claim, other.sub_path) != (cached.claim, cached.sub_path) or not other.cache_env):
            yield make_diagnostic("E316", other.origin, name=claimed.model.name, claim=cached.claim)


@rule(of=AppBase, when=lambda base: base.skip_loaders)
def unused_caches(base: AppBase) -> Iterator[Diagnostic]:
    """A warning for a model's own cache where the engine loads by itself."""
    for claimed in base.claim.models if any(source.cache for source in base.sources) else ():
        if "modelCache" in claimed.model.spec:
            origin = Origin(claimed.model.document, ("spec", "modelCache"), key=True)
            yield make_diagnostic("W310", origin, name=claimed.model.name)


@rule(of=AppBase, when=lambda base: not base.skip_loaders and any(source.cache for source in base.sources))
def small_caches(base: AppBase) -> Iterator[Diagnostic]:
    """A warning for each model whose weights are larger than the claim of a pod that its cache requests. Those of one
    pod share a claim that is as large as all of them ask for.
    """
    caches = [
        (source.path, source.cache, weights)
        for claimed, source in zip(base.claim.models, base.sources, strict=True)
        if source.cache and source.cache.kind == model_cache.PER_POD and source.cache.size
        if (weights := read_weights(claimed.model.spec.get("facts") or {}))
    ]
    if sum(in_gib(cache.size) - weights.gib for _, cache, weights in caches) < 0:
        for path, cache, weights in caches:
            yield from _too_small(path, cache, weights)


def small_claims(claims: Iterable[tuple[OpenModel, Weights]]) -> Iterator[Diagnostic]:
    """A warning for each size of claims that a Job fills with the weights of one model each, about the largest model
    that does not fit: what one place says is of many models.
    """
    largest: dict[Origin, tuple[float, Diagnostic]] = {}
    for model, source in claims:
        weights = read_weights(model.spec.get("facts") or {})
        if weights and source.cache and source.cache.size:
            for finding in _too_small(source.path, source.cache, weights):
                entry = weights.gib, finding
                largest[source.cache.origin] = max(largest.get(source.cache.origin, entry), entry)
    yield from (finding for _, finding in largest.values())


def _too_small(path: str, cache: ModelCache, weights: ModelWeights) -> Iterator[Diagnostic]:
    what = f"modelCache.{cache.kind}.size"
    return too_little_room("W486", cache.origin.at("size"), weights, path, what, cache.size)


@rule(of=AppBase, when=lambda base: base.hardening in TIGHT)
def unrestricted(base: AppBase) -> Iterator[Diagnostic]:
    """What does not go with `hardening: restricted`, nor with OpenShift's: a folder of the node, rights of pods."""
    origin, access = hardening_origin(base.context, base.app), base.placement.access
    loaded = [source for source in base.sources if not base.skip_loaders]
    if any(source.cache and source.cache.kind == model_cache.HOST_PATH for source in loaded):
        yield make_diagnostic("E319", origin)
    if (access.capabilities or access.host_network) and base.placement.flavors[0].catalog:
        yield make_diagnostic("E448", origin, flavor=base.placement.flavors[0].name)


@rule(of=AppBase, when=lambda base: len(base.weights) > 1)
def shared_paths(base: AppBase) -> Iterator[Diagnostic]:
    """An error for each further model whose weights are brought to the path of another one's."""
    owners: dict[str, ClaimedModel] = {}  # by path the first model whose weights are brought there
    for claimed, weights in zip(base.claim.models, base.weights, strict=False):
        if (weights.loader and not base.skip_loaders) or (weights.claim and not weights.cache_env):
            owner = owners.setdefault(weights.path, claimed)
            if owner is not claimed:
                yield make_diagnostic("E289", weights.origin, path=weights.path, model=owner.model.name)
