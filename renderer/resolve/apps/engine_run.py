"""How an engine runs a Playground: its config, what the pod gets, the version, and the words of its templates."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from renderer.api import App, Inputs, OpenModel
from renderer.diagnostics import Collector, Origin, Path, Stop, has_errors
from renderer.resolve import flavors, names
from renderer.resolve.apps.app_base import AppBase
from renderer.resolve.apps.app_base import engine as engine_of
from renderer.resolve.claims import Claim
from renderer.resolve.context import RunContext, cache_key
from renderer.resolve.engine import backend_runtime, compilation, dialect, versions, weight_formats
from renderer.resolve.kube import images, resources
from renderer.resolve.kube.resources import MergedResources
from renderer.resolve.layers import ValueLayer, replacements
from renderer.resolve.pod import pod_template
from renderer.resolve.weight_sources import PULLED, Weights
from renderer.template import TemplateError, Words, share_maps

if TYPE_CHECKING:
    from renderer.input_types import BackendRuntimeConfigSpec, VariantSpec

_BACKEND: Path = ("spec", "backendRuntimeConfig")


class EngineRun(Struct, frozen=True):
    """How the engine runs this app. `user`: the Playground's backendRuntimeConfig; `images` and `versions`: who says
    the image's repository and its tag, what wins last; `version`: the engine's, as far as the image tells; `called`:
    what it calls the model.
    """

    engine: backend_runtime.Engine
    config: backend_runtime.RecommendedConfig
    user: BackendRuntimeConfigSpec
    resources: MergedResources
    held: flavors.Accelerator
    variant: VariantSpec
    images: Sequence[ValueLayer]
    versions: Sequence[ValueLayer]
    version: str
    served: str
    words: Words
    called: str

    @property
    def tag(self) -> str:
        """The tag of the image."""
        return str(self.versions[-1].value)


def engine_run(
    context: RunContext, app: App, engine: backend_runtime.Engine, base: AppBase, diagnostics: Collector
) -> EngineRun:
    """Config, resources, accelerator, variant, tag and words.

    Raises Stop when the engine cannot run what is claimed.
    """
    inputs, spec, claim, place = context.inputs, app.spec, base.claim, base.kit.placement
    user, main = spec.get("backendRuntimeConfig") or {}, claim.main
    if notice := engine.spec.get("notice"):
        origin = app.origin(*_BACKEND, "backendName") if "backendName" in user else app.origin("spec")
        diagnostics.add("W230", origin, backend=engine.runtime.name, notice=" ".join(notice.split()))
    config = backend_runtime.choose_config(engine, claim.draft, app, diagnostics)
    model_settings = backend_runtime.model_settings(main, engine)
    sizing = user.get("resources"), model_settings.get("resources"), model_settings.get("maxModelLen")
    size_key, before = cache_key(sizing, place.limits, place.params, place.has_flavors), len(diagnostics.problems)
    sized = config.sizes.get(size_key)
    merged = sized.resources if sized else _resources(app, engine, config, main, place, diagnostics)
    if engine.templated:
        so_far = len(diagnostics.problems)
        weight_formats.validate_weights(inputs, app, engine, claim, base.weights, base.skip, diagnostics)
        if diagnostics.problems and _unreadable(diagnostics, so_far):
            raise Stop  # what its pod gets is nobody's question yet
    if sized is None:
        sized = _sized(inputs, app, engine, claim, merged, place, diagnostics)
        if len(diagnostics.problems) == before:  # what is wrong stands somewhere else for everybody
            config.sizes[size_key] = sized
    held, variant = sized.accelerator, sized.variant
    if user.get("version"):
        images.validate_image(user["version"], "tag", app.origin(*_BACKEND, "version"), diagnostics)
    version_layers = sized.versions
    if user.get("version"):
        version_layers = [*version_layers, ValueLayer(user["version"], app.origin(*_BACKEND, "version"))]
    tag = version_layers[-1].value
    # servedModelName of the Playground → of the OpenModel → the OpenModel's name (docs/design/contract.md#served-name).
    served = spec.get("servedModelName") or main.spec.get("servedModelName") or main.name
    length = sized.length or int(model_settings.get("maxModelLen", 0))
    slots = 0
    if engine.shared_tokens:
        layers = config.spec.get("args") or (), model_settings.get("args") or (), user.get("args") or ()
        slots = dialect.last_number(engine.style, layers, engine.shared_tokens.slots_option) or 1
    words = _words(engine, base, variant, sized.size, served, length, slots)
    called = backend_runtime.name_in_engine(engine, served, words)
    named = engine.templated and called == served
    if named and (hint := names.served_name_hint(engine.spec, served)):
        diagnostics.add("E414", served_name_origin(app, main), name=served, backend=engine.runtime.name, hint=hint)
    _fixed(version_layers, "version" in user, diagnostics)
    # What an image of the podTemplate holds, only the version beside it says.
    own_image = "image" in pod_template.runner_patch(spec)[1]
    version = engine.tag_version(user.get("version", "") if own_image else tag)
    if version != engine.version and version:
        engine = _in_version(context, engine, version, diagnostics)
        config = engine.configs[config.spec["name"]]
    elif not version and engine.templated and not user.get("version"):
        _unversioned(app, engine, own_image, tag, diagnostics)
    if engine.notes or engine.refusals:
        try:
            _differences(inputs, engine, version, version_layers[-1].origin, words, diagnostics)
        except TemplateError as error:
            template = Origin(engine.runtime.document, ("spec", *error.path))
            diagnostics.stop("E420", template, what=error, hint=compilation.template_hint(error))
    return EngineRun(
        engine=engine,
        config=config,
        user=user,
        resources=merged,
        held=held,
        variant=variant,
        images=sized.images,
        versions=version_layers,
        version=version,
        served=served,
        words=words,
        called=called,
    )


def _in_version(
    context: RunContext, engine: backend_runtime.Engine, version: str, diagnostics: Collector
) -> backend_runtime.Engine:
    """The engine in another version than its own. Raises Stop where a template of the runtime does not hold there."""
    runtime = context.inputs.runtimes[engine.runtime.name]
    other, problems = engine_of(context, runtime, engine.constant["DrainSleep"], version)
    diagnostics.problems += problems
    if other is None:
        raise Stop
    return other


def _unversioned(app: App, engine: backend_runtime.Engine, own_image: bool, tag: str, diagnostics: Collector) -> None:
    """A note where nobody says which version of the engine an image is, though much is known by version."""
    if "list" not in (engine.spec.get("options") or {}) and "versions" not in engine.spec:
        return
    if own_image:
        index, patch = pod_template.runner_patch(app.spec)
        place = app.origin("spec", "podTemplate", "spec", "containers", index, "image")
        hint = f"name it in backendRuntimeConfig.version, such as {engine.runtime.spec['version']}"
        diagnostics.add("N449", place, backend=engine.runtime.name, image=patch["image"], hint=hint)
    elif not engine.runtime.ours:
        place = engine.origin.at("version")
        image = f"{engine.runtime.spec['image']}:{tag}"
        hint = "write the version itself as spec.engine.options.version"
        diagnostics.add("N449", place, backend=engine.runtime.name, image=image, hint=hint)


def _differences(
    inputs: Inputs, engine: backend_runtime.Engine, version: str, at: Origin, words: Words, diagnostics: Collector
) -> None:
    """A note for what is otherwise in this version, an error for what it cannot do. Raises Stop with such an error."""
    name = engine.runtime.name
    refusals = [entry for entry in engine.refusals if entry.when(words)]
    for entry in refusals:
        hint = versions.capable_versions_hint(
            inputs.option_files, inputs.runtimes[name], version, backend_runtime.WORDS, words
        )
        diagnostics.add("E444", at, backend=name, version=version, what=entry.message(words), hint=hint)
    if refusals:
        raise Stop
    for entry in engine.notes:
        if entry.when(words):
            diagnostics.add("N448", at, backend=name, version=version, what=entry.message(words))


def _unreadable(diagnostics: Collector, before: int) -> bool:
    """Whether the engine cannot take the weights, or a limit is no quantity, so that nobody knows the accelerators."""
    return has_errors(diagnostics.problems[before:]) or any(
        problem.code in ("E250", "E305") and ".limits" in problem.field for problem in diagnostics.problems
    )


def resource_layers(
    app: App, engine: backend_runtime.Engine, config: backend_runtime.RecommendedConfig, model: OpenModel
) -> list[ValueLayer]:
    """Who says what the runner gets: the preset, the model, the Playground."""
    user, name = app.spec.get("backendRuntimeConfig") or {}, engine.runtime.name
    layers = [ValueLayer(config.spec.get("resources") or {}, config.origin.at("resources"))]
    if of_model := backend_runtime.model_settings(model, engine).get("resources"):
        layers.append(ValueLayer(of_model, Origin(model.document, ("spec", "engines", name, "resources"))))
    return [*layers, ValueLayer(user.get("resources") or {}, app.origin(*_BACKEND, "resources"))]


def _resources(
    app: App,
    engine: backend_runtime.Engine,
    config: backend_runtime.RecommendedConfig,
    model: OpenModel,
    place: flavors.Placement,
    diagnostics: Collector,
) -> MergedResources:
    merged = resources.merge_resources(resource_layers(app, engine, config, model), place.limits, diagnostics)
    return MergedResources(share_maps(merged.sides), merged.history)


def _sized(
    inputs: Inputs,
    app: App,
    engine: backend_runtime.Engine,
    claim: Claim,
    merged: MergedResources,
    place: flavors.Placement,
    diagnostics: Collector,
) -> backend_runtime.RunnerSize:
    """What the engine makes of these resources. Raises Stop when it cannot run on them."""
    authors: list[tuple[Mapping[str, object], Origin]] = [(engine.runtime.spec, engine.origin)]
    if not engine.templated:
        return backend_runtime.RunnerSize(
            merged, images=replacements("image", authors), versions=replacements("version", authors)
        )
    limited = (place.limits and place.origins(claim.main)) or app.origin(*_BACKEND, "resources")
    held = flavors.find_accelerator(inputs, merged.sides.get("limits") or {}, limited, diagnostics)
    variant = backend_runtime.find_variant(engine, held, place.has_flavors)
    if variant is None:
        backend_runtime.refuse_accelerator(
            inputs, engine, held, place.has_flavors, app.origin(*claim.models[0].path), diagnostics
        )
    size = flavors.parallel_size(held, place, claim.main, diagnostics)
    if variant:
        index = next(i for i, entry in enumerate(engine.spec["variants"]) if entry is variant)
        authors.append((variant, engine.origin.at("engine", "variants", index)))
    length = flavors.max_model_len(place, claim.main, diagnostics)
    image_layers = [replacements(key, authors) for key in ("image", "version")]
    return backend_runtime.RunnerSize(merged, held, variant, size, length, *image_layers)


def served_name_origin(app: App, model: OpenModel) -> Origin:
    """Who says the served name."""
    source = app.document if "servedModelName" in app.spec else model.document
    return Origin(source, ("spec", "servedModelName"))


_MOVING = re.compile(r"(?:latest|nightly|main|master|dev|edge|stable)\b|[^0-9]+$")


def _fixed(version_layers: Sequence[ValueLayer], by_user: bool, diagnostics: Collector) -> None:
    """A warning for a tag that is moved from image to image. `by_user`: the Playground says the last one."""
    tag, origin = version_layers[-1].value, version_layers[-1].origin
    if not _moves(tag):
        return
    own = version_layers[-2 if by_user else -1].value
    hint = "" if _MOVING.match(own) else f", such as {own}"
    diagnostics.add("W238", origin, tag=tag, hint=f"name a fixed one{hint}, or a digest")


@lru_cache(maxsize=1024)
def _moves(tag: str) -> bool:
    return bool(_MOVING.match(tag)) and "sha256:" not in tag


def _words(
    engine: backend_runtime.Engine, base: AppBase, variant: VariantSpec, size: int, served: str, length: int, slots: int
) -> dict[str, Any]:
    main = base.weights[0]
    second = base.weights[1] if len(base.weights) > 1 else None
    return {
        "ModelPath": _path(engine, main, base.skip),
        "ModelName": main.name if main.kind == PULLED else served,
        "DraftModelPath": _path(engine, second, base.skip) if second else "",
        "Revision": main.revision,
        "DraftRevision": second.revision if second and base.claim.draft else "",
        "Hub": main.hub,
        "Filename": main.filename,
        "Endpoint": main.endpoint if main.kind == "objectStore" else "",
        "Source": main.kind,
        "Format": main.format,
        "Skip": base.skip,
        "Stream": base.skip and main.kind == "objectStore",
        "Accelerator": variant.get("accelerator", "none"),
        "TP": size,
        "MaxModelLen": length,
        "Slots": slots,
        "Region": main.words.get("Region", ""),
        "Anonymous": main.words.get("Anonymous", False),
        **engine.constant,
    }


def _path(engine: backend_runtime.Engine, weights: Weights, skip: bool) -> str:
    """What the engine opens: the path on disk, or what the user wrote when nothing loads it (gcs:// as gs:// for
    presets).
    """
    if not skip or weights.kind == "oci":
        return weights.path
    if engine.templated and weights.kind == "objectStore":
        return weights.scheme + weights.address[weights.address.index("://") :]
    return weights.address
