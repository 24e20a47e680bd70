"""How an engine runs a Playground: recommended config, resources, version, and the words of its templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from renderer.api import App, Inputs, OpenModel
from renderer.diagnostics import Collector, Origin, Path, Stop, has_errors
from renderer.resolve import flavors, names
from renderer.resolve.apps import adapters, host_groups
from renderer.resolve.apps.app_base import AppBase, compile_engine
from renderer.resolve.apps.version_notes import note_unknown_version, report_version_differences, warn_moving_tag
from renderer.resolve.claims import Claim
from renderer.resolve.container_words import container_words
from renderer.resolve.context import RunContext, cache_key
from renderer.resolve.engine import (
    backend_runtime,
    compilation,
    dialect,
    disaggregation,
    engine_variants,
    kv_offloading,
    weight_validation,
)
from renderer.resolve.engine.adapters import EngineAdapter
from renderer.resolve.engine.kv_offloading import KVOffloading
from renderer.resolve.engine.multi_host import MultiHostForm
from renderer.resolve.engine.parallelism import Parallelism, resolve_parallelism, size_origin
from renderer.resolve.engine.template_words import NO_OFFLOADING
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
    """How the engine runs an app. `config`: the recommended config; `backend_config`: `backendRuntimeConfig` of the
    Playground; `image_layers`, `version_layers`: the layers of the image's repository and tag, the last one wins;
    `version`: of the engine, '' where the image does not tell; `multi_host`: how several hosts serve a replica, None
    for one; `slots`: requests at once that share a context; `name_in_engine`: the model name that the engine knows.
    `offloading`: what the app says of its KV cache; `adapters`: of the claim.
    """

    engine: backend_runtime.Engine
    config: backend_runtime.RecommendedConfig
    backend_config: BackendRuntimeConfigSpec
    resources: MergedResources
    accelerator: flavors.Accelerator
    variant: VariantSpec
    image_layers: Sequence[ValueLayer]
    version_layers: Sequence[ValueLayer]
    version: str
    served_name: str
    words: Words
    parallelism: Parallelism
    multi_host: MultiHostForm | None
    slots: int
    name_in_engine: str
    offloading: KVOffloading | None = None
    adapters: tuple[EngineAdapter, ...] = ()

    @property
    def tag(self) -> str:
        """The tag of the image."""
        return str(self.version_layers[-1].value)


def resolve_engine_run(
    context: RunContext, app: App, engine: backend_runtime.Engine, base: AppBase, mode: str, diagnostics: Collector
) -> EngineRun:
    """How the engine runs the app. `mode`: of the gateway. Raises Stop when it cannot run the claimed models."""
    inputs, spec, claim, placement = context.inputs, app.spec, base.claim, base.pod_needs.placement
    backend_config, main = spec.get("backendRuntimeConfig") or {}, claim.main
    if notice := engine.spec.get("notice"):
        origin = app.origin(*_BACKEND, "backendName") if "backendName" in backend_config else app.origin("spec")
        diagnostics.add("W230", origin, backend=engine.runtime.name, notice=" ".join(notice.split()))
    config = backend_runtime.choose_config(engine, claim.draft, app, diagnostics)
    model_settings = backend_runtime.model_settings(main, engine)
    offloading = kv_offloading.read_offloading(app, diagnostics)
    sizing = backend_config.get("resources"), model_settings.get("resources"), model_settings.get("maxModelLen")
    size_key = cache_key(sizing, placement.limits, placement.params, placement.has_flavors)
    if placement.claim:
        size_key += cache_key(placement.claim.device_class, placement.claim.count)
    if "parallelism" in spec:
        size_key += cache_key(spec["parallelism"])
    if offloading:
        size_key += cache_key(offloading.memory)
    problem_count = len(diagnostics.problems)
    runner_size = config.sizes.get(size_key)
    if runner_size:
        merged = runner_size.resources
    else:
        merged = _merge_resources(resource_layers(app, engine, config, main, offloading), placement, diagnostics)
    if engine.templated:
        weights_problem_count = len(diagnostics.problems)
        weight_validation.validate_weights(inputs, app, engine, claim, base.weights, base.skip_loaders, diagnostics)
        if diagnostics.problems and _accelerators_unknown(diagnostics, weights_problem_count):
            raise Stop
    if runner_size is None:
        runner_size = _size_runner(inputs, app, engine, claim, merged, placement, diagnostics)
        if len(diagnostics.problems) == problem_count:  # diagnostics point at the app, so they are not cached
            config.sizes[size_key] = runner_size
    accelerator, variant = runner_size.accelerator, runner_size.variant
    if backend_config.get("version"):
        images.validate_image(backend_config["version"], "tag", app.origin(*_BACKEND, "version"), diagnostics)
    version_layers = runner_size.versions
    if backend_config.get("version"):
        version_layers = [*version_layers, ValueLayer(backend_config["version"], app.origin(*_BACKEND, "version"))]
    tag = version_layers[-1].value
    # servedModelName of the Playground → of the OpenModel → the OpenModel's name (docs/design/contract.md#served-name).
    served_name = spec.get("servedModelName") or main.spec.get("servedModelName") or main.name
    length = runner_size.length or int(model_settings.get("maxModelLen", 0))
    slots = 0
    if engine.shared_tokens:
        layers = config.spec.get("args") or (), model_settings.get("args") or (), backend_config.get("args") or ()
        slots = dialect.last_number(engine.style, layers, engine.shared_tokens.slots_option) or 1
    parallelism = runner_size.parallelism
    if parallelism.hosts == 1 or engine.multi_host:
        host_groups.validate_known_sizes(inputs, app, engine, placement, main, diagnostics)
    words = _template_words(
        engine,
        base,
        variant,
        parallelism=parallelism,
        rank_ports=host_groups.rank_port_count(parallelism, mode),
        served_name=served_name,
        length=length,
        slots=slots,
        role=app.role,
    )
    if offloading:
        words |= kv_offloading.offloading_words(engine, offloading, accelerator, parallelism.local_ranks, diagnostics)
    name_in_engine = backend_runtime.name_in_engine(engine, served_name, words)
    keeps_name = engine.templated and name_in_engine == served_name
    if keeps_name and (hint := names.served_name_hint(engine.spec, served_name)):
        diagnostics.add("E414", served_name_origin(app, main), name=served_name, backend=engine.runtime.name, hint=hint)
    warn_moving_tag(version_layers, "version" in backend_config, diagnostics)
    # The version of an image of the podTemplate is known only from backendRuntimeConfig.version.
    pod_sets_image = "image" in pod_template.runner_patch(spec)[1]
    version = engine.tag_version(backend_config.get("version", "") if pod_sets_image else tag)
    if version != engine.version and version:
        engine = _compile_for_version(context, engine, version, diagnostics)
        config = engine.configs[config.spec["name"]]
    elif not version and engine.templated and not backend_config.get("version"):
        note_unknown_version(app, engine, pod_sets_image, tag, diagnostics)
    if engine.notes or engine.refusals:
        try:
            report_version_differences(inputs, engine, version, version_layers[-1].origin, words, diagnostics)
        except TemplateError as error:
            template = Origin(engine.runtime.document, ("spec", *error.path))
            diagnostics.stop("E420", template, what=error, hint=compilation.template_hint(error))
    if parallelism.expert:
        host_groups.validate_experts(main, size_origin(app, placement, main), diagnostics)
    if claim.draft:
        host_groups.validate_draft(app, engine, claim, parallelism, diagnostics)
    multi_host = None
    if parallelism.hosts > 1:
        origin = size_origin(app, placement, main)
        multi_host = host_groups.find_form(inputs, engine, parallelism, words, origin, diagnostics)
        host_groups.validate_rank_ports(parallelism, multi_host, origin, diagnostics)
        host_groups.validate_data_parallel(main, parallelism, origin, diagnostics)
    if app.role:
        disaggregation.validate_engine(inputs, app, engine, accelerator, diagnostics)
    if offloading:
        kv_offloading.validate_engine(inputs, engine, accelerator, offloading, diagnostics)
        kv_offloading.validate_hosts(offloading, parallelism.hosts, diagnostics)
    return EngineRun(
        engine=engine,
        config=config,
        backend_config=backend_config,
        resources=merged,
        accelerator=accelerator,
        variant=variant,
        image_layers=runner_size.images,
        version_layers=version_layers,
        version=version,
        served_name=served_name,
        words=container_words(words),
        parallelism=parallelism,
        multi_host=multi_host,
        slots=slots,
        name_in_engine=name_in_engine,
        offloading=offloading,
        adapters=adapters.engine_adapters(inputs, app, engine, base, diagnostics) if claim.adapters else (),
    )


def _compile_for_version(
    context: RunContext, engine: backend_runtime.Engine, version: str, diagnostics: Collector
) -> backend_runtime.Engine:
    """The engine in another version than its own. Raises Stop where a template of the runtime is broken there."""
    runtime = context.inputs.runtimes[engine.runtime.name]
    compiled, problems = compile_engine(context, runtime, engine.constant["DrainSleep"], version)
    diagnostics.problems += problems
    if compiled is None:
        raise Stop
    return compiled


def _accelerators_unknown(diagnostics: Collector, problem_count: int) -> bool:
    """Whether the accelerators are not known: the engine does not support the weights (an error since
    `problem_count`), or a limit is no quantity.
    """
    return has_errors(diagnostics.problems[problem_count:]) or any(
        problem.code in ("E250", "E305") and ".limits" in problem.field for problem in diagnostics.problems
    )


def resource_layers(
    app: App,
    engine: backend_runtime.Engine,
    config: backend_runtime.RecommendedConfig,
    model: OpenModel,
    offloading: KVOffloading | None,
) -> list[ValueLayer]:
    """The layers of the runner's resources: preset, OpenModel, what KV cache outside of accelerators adds to these,
    Playground.
    """
    backend_config, name = app.spec.get("backendRuntimeConfig") or {}, engine.runtime.name
    layers = [ValueLayer(config.spec.get("resources") or {}, config.origin.at("resources"))]
    if model_resources := backend_runtime.model_settings(model, engine).get("resources"):
        layers.append(ValueLayer(model_resources, Origin(model.document, ("spec", "engines", name, "resources"))))
    if offloading:
        layers.append(kv_offloading.memory_layer(offloading, layers))
    return [*layers, ValueLayer(backend_config.get("resources") or {}, app.origin(*_BACKEND, "resources"))]


def _merge_resources(
    layers: Sequence[ValueLayer], placement: flavors.Placement, diagnostics: Collector
) -> MergedResources:
    merged = resources.merge_resources(layers, placement.limits, diagnostics)
    return MergedResources(share_maps(merged.sides), merged.history)


def _size_runner(
    inputs: Inputs,
    app: App,
    engine: backend_runtime.Engine,
    claim: Claim,
    merged: MergedResources,
    placement: flavors.Placement,
    diagnostics: Collector,
) -> backend_runtime.RunnerSize:
    """The engine variant and the sizes that follow from these resources. Raises Stop when no variant supports them."""
    authors: list[tuple[Mapping[str, object], Origin]] = [(engine.runtime.spec, engine.origin)]
    if not engine.templated:
        return backend_runtime.RunnerSize(
            merged, images=replacements("image", authors), versions=replacements("version", authors)
        )
    origin = (placement.limits and placement.origins(claim.main)) or app.origin(*_BACKEND, "resources")
    accelerator = flavors.find_accelerator(inputs, merged.sides.get("limits", {}), origin, diagnostics)
    if placement.claim:
        accelerator = flavors.claimed_accelerator(inputs, placement.claim)
    variant = engine_variants.find_variant(engine, accelerator, placement.has_flavors)
    if variant is None:
        engine_variants.refuse_accelerator(
            inputs, engine, accelerator, placement.has_flavors, app.origin(*claim.models[0].path), diagnostics
        )
    parallelism = resolve_parallelism(
        app,
        accelerator,
        placement,
        claim.main,
        diagnostics,
        keeps_ranks_whole=any(form.all_serve for form in engine.multi_host),
    )
    if variant:
        index = next(i for i, entry in enumerate(engine.spec["variants"]) if entry is variant)
        authors.append((variant, engine.origin.at("engine", "variants", index)))
    length = flavors.max_model_len(placement, claim.main, diagnostics)
    image_layers = [replacements(key, authors) for key in ("image", "version")]
    return backend_runtime.RunnerSize(merged, accelerator, variant, parallelism, length, *image_layers)


def served_name_origin(app: App, model: OpenModel) -> Origin:
    """The origin of the served name."""
    source = app.document if "servedModelName" in app.spec else model.document
    return Origin(source, ("spec", "servedModelName"))


def _template_words(
    engine: backend_runtime.Engine,
    base: AppBase,
    variant: VariantSpec,
    *,
    parallelism: Parallelism,
    rank_ports: int,
    served_name: str,
    length: int,
    slots: int,
    role: str,
) -> dict[str, object]:
    main = base.weights[0]
    draft = base.weights[1] if base.claim.draft else None
    return {
        "ModelPath": _model_path(engine, main, base.skip_loaders),
        "ModelName": main.name if main.kind == PULLED else served_name,
        "DraftModelPath": _model_path(engine, draft, base.skip_loaders) if draft else "",
        "Revision": main.revision,
        "DraftRevision": draft.revision if draft else "",
        "Hub": main.hub,
        "Filename": main.filename,
        "Endpoint": main.endpoint if main.kind == "objectStore" else "",
        "Source": main.kind,
        "Format": main.format,
        "Skip": base.skip_loaders,
        "Stream": base.skip_loaders and main.kind == "objectStore",
        "Accelerator": variant.get("accelerator", "none"),
        "TP": parallelism.tensor,
        "PP": parallelism.pipeline,
        "DP": parallelism.data,
        "EP": parallelism.expert,
        "WorldSize": parallelism.size,
        "Hosts": parallelism.hosts,
        "LocalRanks": parallelism.local_ranks,
        "RankPorts": rank_ports,
        "MaxModelLen": length,
        "Slots": slots,
        "Region": main.words.get("Region", ""),
        "Anonymous": main.words.get("Anonymous", False),
        **NO_OFFLOADING,
        "Adapters": base.claim.adapters,
        "Role": role,
        "EnginePort": disaggregation.engine_port(role),
        **engine.constant,
    }


def _model_path(engine: backend_runtime.Engine, weights: Weights, skip_loaders: bool) -> str:
    """What the engine opens: a path in the pod, or the address of the weights where the loaders are skipped (for
    presets gcs:// becomes gs://).
    """
    if not skip_loaders or weights.kind in ("oci", "pvc"):
        return weights.path
    if engine.templated and weights.kind == "objectStore":
        return weights.scheme + weights.address[weights.address.index("://") :]
    return weights.address
