"""How an engine runs a Playground: recommended config, resources, version, and the words of its templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from renderer.api import App, OpenModel
from renderer.diagnostics import Collector, Located, Origin, Path, Stop
from renderer.engines.given_options import last_whole_number
from renderer.plan import NamedModel
from renderer.resolve import claims, flavors, tasks
from renderer.resolve.claims import ClaimedModel
from renderer.resolve.container_words import container_words
from renderer.resolve.context import cache_key, cached
from renderer.resolve.engine import (
    adapters,
    backend_runtime,
    engine_variants,
    kv_offloading,
    ports,
)
from renderer.resolve.engine.adapters import EngineAdapter
from renderer.resolve.engine.chat_template import FIELD, MOUNT_PATH, ChatTemplate, find_chat_template
from renderer.resolve.engine.kv_offloading import KVOffloading, SumOrigin
from renderer.resolve.engine.multi_host import MultiHostForm
from renderer.resolve.engine.parallel_sizes import resolve_parallelism, size_origin
from renderer.resolve.engine.template_words import NO_OFFLOADING, ONE_MODEL
from renderer.resolve.gateway import task_routes
from renderer.resolve.gateway.settings import gateway_settings
from renderer.resolve.kube import resources
from renderer.resolve.kube.resources import MergedResources
from renderer.resolve.layers import ValueLayer, replacements
from renderer.resolve.pod import pod_template
from renderer.resolve.weight_sources import PULLED, Weights
from renderer.resolve.workload import host_groups
from renderer.resolve.workload.claimed import AppBase
from renderer.resolve.workload.run_context import find_engine
from renderer.template import Words, share_maps

if TYPE_CHECKING:
    from renderer.input_types import BackendRuntimeConfigSpec, ModelEngineSpec

BACKEND: Path = ("spec", "backendRuntimeConfig")


class AppEngine(Struct, frozen=True):
    """The models of an app, and the engine that is to serve them, in the version of its runtime."""

    base: AppBase
    engine: backend_runtime.Engine
    backend_config: BackendRuntimeConfigSpec  # of the Playground
    model_settings: ModelEngineSpec  # the model's entry of `spec.engines` for this engine

    @property
    def model_settings_origin(self) -> Origin:
        """Where that entry is, or would be."""
        return Origin(self.base.claim.main.document, ("spec", "engines", self.engine.runtime.name))


class EngineChoice(AppEngine, frozen=True):
    """The engine with what the sizes of a replica follow from."""

    config: backend_runtime.RecommendedConfig
    offloading: KVOffloading | None  # what the app says of its KV cache
    resources: MergedResources


class MainModel(Struct, frozen=True):
    """One of several main models that an engine serves."""

    claimed: ClaimedModel
    name: str  # its public name
    name_in_engine: str
    path: str  # of its weights, '' where the engine pulls them
    projector: str  # the path of its projector, '' without one
    preload: bool  # it is loaded when the server starts
    files: tuple[str, ...]  # the paths of all that it opens: its weights, their further parts, its projector


class EngineRun(EngineChoice, frozen=True):
    """How an engine, in the version that runs, serves an app."""

    size: backend_runtime.RunnerSize
    version: str  # of the engine, '' where the image does not tell
    version_layers: Sequence[ValueLayer]  # of the image's tag, the last one wins
    served_name: str
    name_in_engine: str  # the model name that the engine knows
    words: Words  # for the container
    slots: int  # requests at once that share a context
    multi_host: MultiHostForm | None  # how several hosts serve a replica, None for one
    adapters: tuple[EngineAdapter, ...]  # of the claim
    chat_template: ChatTemplate | None  # None where the engine takes the model's own
    mains: tuple[MainModel, ...] = ()  # of the claim, where there are several

    @property
    def tag(self) -> str:
        """The tag of the image."""
        return str(self.version_layers[-1].value)

    @property
    def all_serve(self) -> bool:
        """Whether every pod of a replica of several answers requests."""
        return self.multi_host is not None and self.multi_host.all_serve

    @property
    def size_origin(self) -> Origin:
        """Where the sizes of a replica are said."""
        return size_origin(self.base.app, self.base.placement, self.base.claim.main)


def choose_config(of_app: AppEngine, diagnostics: Collector) -> EngineChoice:
    """The engine with its recommended config, and the resources. Raises Stop where there is no such config."""
    base, engine = of_app.base, of_app.engine
    config = backend_runtime.find_config(engine, base.claim.draft, base.app, diagnostics)
    offloading = kv_offloading.read_offloading(base.app, diagnostics)
    choice = EngineChoice(
        base, engine, of_app.backend_config, of_app.model_settings, config, offloading, MergedResources({}, {})
    )
    merge = partial(_merge_resources, choice)
    resources = cached(config.resources, _size_key(choice), merge, diagnostics)
    return replace(choice, resources=resources)


def _size_key(choice: EngineChoice) -> bytes:
    """All that the sizes depend on, beside the config."""
    placement, settings = choice.base.placement, choice.model_settings
    values = (
        choice.backend_config.get("resources"),
        settings.get("resources"),
        settings.get("maxModelLen"),
        placement.limits,
        placement.params,
        placement.has_flavors,
        (placement.claim.device_class, placement.claim.count) if placement.claim else None,
        choice.base.app.spec.get("parallelism"),
        choice.offloading.memory if choice.offloading else None,
    )
    return cache_key(*values)


def size_runner(choice: EngineChoice, diagnostics: Collector) -> backend_runtime.RunnerSize:
    """The sizes of a replica; cached for equal settings. Raises Stop where no variant of the engine supports them."""
    return cached(choice.config.sizes, _size_key(choice), partial(_size_runner, choice), diagnostics)


def run_engine(choice: EngineChoice, size: backend_runtime.RunnerSize, mode: str, diagnostics: Collector) -> EngineRun:
    """How the engine runs the app. `mode`: of the gateway. Raises Stop where a template of the runtime is broken."""
    base, offloading, main = choice.base, choice.offloading, choice.base.claim.main
    version_layers = _version_layers(choice, size)
    version = choice.engine.tag_version(version_layers[-1].value)
    engine = _engine_in_version(choice, version, diagnostics)
    served_name = claims.public_name(main, base.app)
    slots = _slots(choice)
    words = _template_words(choice, size, served_name, slots, host_groups.rank_port_count(size.parallelism, mode))
    mains = _main_models(choice.base, engine) if base.claim.mains > 1 else ()
    if mains:
        words |= _words_of_mains(base, mains)
    template = _chat_template(choice)
    if template:
        words["ChatTemplatePath"] = MOUNT_PATH
    if offloading:
        ranks = size.parallelism.local_ranks
        words |= kv_offloading.offloading_words(engine, offloading, size.accelerator, ranks, diagnostics)
    return EngineRun(
        base=base,
        engine=engine,
        backend_config=choice.backend_config,
        model_settings=choice.model_settings,
        config=engine.configs[choice.config.spec["name"]],
        offloading=offloading,
        resources=choice.resources,
        size=size,
        version=version,
        version_layers=version_layers,
        served_name=served_name,
        name_in_engine=backend_runtime.name_in_engine(engine, served_name, words),
        words=container_words(words),
        slots=slots,
        multi_host=host_groups.find_form(engine, size.parallelism, words),
        adapters=_engine_adapters(base, engine) if base.claim.adapters else (),
        mains=mains,
        chat_template=template,
    )


def _chat_template(choice: EngineChoice) -> ChatTemplate | None:
    """The template of the Playground, else of the model for this engine."""
    own, model = choice.base.app.spec, choice.model_settings
    if FIELD not in own and FIELD not in model:
        return None
    layers = replacements(FIELD, [(model, choice.model_settings_origin), (own, choice.base.app.origin("spec"))])
    return find_chat_template(choice.base.context.inputs.template_files, layers)


def _version_layers(choice: EngineChoice, size: backend_runtime.RunnerSize) -> list[ValueLayer]:
    """The layers of the image's tag, the last one wins; its value is '' for an image of the podTemplate whose version
    nobody says.

    Such an image says its version itself where its repository is one of the engine's.
    """
    app = choice.base.app
    own_version = replacements("version", [(choice.backend_config, app.origin(*BACKEND))])
    layers = [*size.versions, *own_version]
    patched = pod_template.runner_image(app)
    if patched is None:
        return layers
    image, origin = patched
    tag = engine_variants.tag_of_own_image(choice.engine, choice.base.context.inputs.config, image)
    if choice.engine.tag_version(tag):
        return [*layers, ValueLayer(tag, origin)]
    return layers if own_version else [*layers, ValueLayer("", origin)]


def _slots(choice: EngineChoice) -> int:
    """Requests at once that share a context, 0 where none do."""
    engine = choice.engine
    if not engine.shared_tokens:
        return 0
    authors = choice.config.spec, choice.model_settings, choice.backend_config
    layers = [author.get("args") or () for author in authors]
    return last_whole_number(engine.style, layers, engine.shared_tokens.slots_option) or 1


def _engine_in_version(choice: EngineChoice, version: str, diagnostics: Collector) -> backend_runtime.Engine:
    """The engine in another version than its own. Raises Stop where a template of the runtime is broken there."""
    engine, context = choice.engine, choice.base.context
    if version == engine.version or not version:
        return engine
    runtime = context.inputs.runtimes[engine.runtime.name]
    compiled, problems = find_engine(context, runtime, engine.constants, version)
    diagnostics.problems += problems
    if compiled is None:
        raise Stop
    return compiled


def resource_layers(choice: EngineChoice) -> list[ValueLayer]:
    """The layers of the runner's resources: preset, OpenModel, what KV cache outside of accelerators adds to these,
    Playground.
    """
    config = choice.config
    layers = [ValueLayer(config.spec.get("resources") or {}, config.origin.at("resources"))]
    if model_resources := choice.model_settings.get("resources"):
        layers.append(ValueLayer(model_resources, choice.model_settings_origin.at("resources")))
    if choice.offloading:
        layers.append(kv_offloading.memory_layer(choice.offloading, layers))
    own = choice.backend_config.get("resources") or {}
    return [*layers, ValueLayer(own, choice.base.app.origin(*BACKEND, "resources"))]


def resource_authors(choice: EngineChoice) -> list[Located]:
    """Who says the resources: the author of each layer, the flavor last, where there is one."""
    layers: list[Located] = [layer.origin for layer in resource_layers(choice)]
    if choice.offloading:
        layers[-2] = SumOrigin(choice.offloading.origin.at("cpu"))
    return [*layers, *([choice.base.flavor] if choice.base.flavor else [])]


def resource_author(choice: EngineChoice, side: str, name: str) -> Located | None:
    """Who says a resource; None where nobody does."""
    positions = choice.resources.history.get((side, name))
    return resource_authors(choice)[positions[-1].layer] if positions else None


def _merge_resources(choice: EngineChoice, diagnostics: Collector) -> MergedResources:
    merged = resources.merge_resources(resource_layers(choice), choice.base.placement.limits, diagnostics)
    return MergedResources(share_maps(merged.sides), merged.history)


def _size_runner(choice: EngineChoice, diagnostics: Collector) -> backend_runtime.RunnerSize:
    app, engine, claim, placement = choice.base.app, choice.engine, choice.base.claim, choice.base.placement
    inputs = choice.base.context.inputs
    authors: list[tuple[Mapping[str, object], Origin]] = [(engine.runtime.spec, engine.origin)]
    if not engine.templated:
        return backend_runtime.RunnerSize(
            images=replacements("image", authors), versions=replacements("version", authors)
        )
    origin = (placement.limits and choice.base.flavor) or app.origin(*BACKEND, "resources")
    accelerator = flavors.find_accelerator(inputs, choice.resources.sides.get("limits", {}), origin, diagnostics)
    if placement.claim:
        accelerator = flavors.claimed_accelerator(inputs, placement.claim)
    variant = engine_variants.find_variant(engine, accelerator, placement.has_flavors)
    if variant is None:
        engine_variants.refuse_accelerator(
            inputs, engine, accelerator, placement, app.origin(*claim.models[0].path), diagnostics
        )
    keeps_ranks_whole = any(form.all_serve for form in engine.multi_host)
    parallelism = resolve_parallelism(
        app, accelerator, placement, claim.main, diagnostics, keeps_ranks_whole=keeps_ranks_whole
    )
    if variant:
        index = next(i for i, entry in enumerate(engine.spec["variants"]) if entry is variant)
        authors.append((variant, engine.origin.at("engine", "variants", index)))
    length = flavors.max_model_len(placement, claim.main, diagnostics)
    image_layers = [replacements(key, authors) for key in ("image", "version")]
    return backend_runtime.RunnerSize(accelerator, variant, parallelism, length, *image_layers)


def served_name_origin(app: App, model: OpenModel) -> Origin:
    """The origin of the served name."""
    source = app.document if "servedModelName" in app.spec else model.document
    return Origin(source, ("spec", "servedModelName"))


def client_model_name(run: EngineRun) -> str:
    """The model name that clients send: the public name where a route replaces it, or where the engine accepts any
    name; else the name that the engine knows.
    """
    return run.name_in_engine if is_asked_directly(run) else run.served_name


def is_asked_directly(run: EngineRun) -> bool:
    """Whether clients have to send the names that the engine knows: no route replaces them, and it refuses others."""
    context, app = run.base.context, run.base.app
    if run.engine.spec.get("servedName") not in ("directory", "model"):
        return False
    return task_routes.app_mode(context.inputs, app, gateway_settings(context, app.namespace)) == "off"


def _template_words(
    choice: EngineChoice, size: backend_runtime.RunnerSize, served_name: str, slots: int, rank_ports: int
) -> dict[str, object]:
    base, engine, parallelism = choice.base, choice.engine, size.parallelism
    main = base.weights[0]
    draft = base.weights[1] if base.claim.draft else None
    return {
        "ModelPath": _model_path(engine, main, base.skip_loaders),
        "ModelName": _own_name(main, served_name),
        "DraftModelPath": _model_path(engine, draft, base.skip_loaders) if draft else "",
        "ProjectorPath": main.projector,
        "ChatTemplatePath": "",
        "Revision": main.revision,
        "DraftRevision": draft.revision if draft else "",
        "Hub": main.hub,
        "Filename": main.filename,
        "Endpoint": main.endpoint if main.kind == "objectStore" else "",
        "Source": main.kind,
        "Format": main.format,
        "Skip": base.skip_loaders,
        "Stream": base.skip_loaders and main.kind == "objectStore",
        "Accelerator": size.variant.get("accelerator", "none"),
        "TP": parallelism.tensor,
        "PP": parallelism.pipeline,
        "DP": parallelism.data,
        "EP": parallelism.expert,
        "WorldSize": parallelism.size,
        "Hosts": parallelism.hosts,
        "LocalRanks": parallelism.local_ranks,
        "RankPorts": rank_ports,
        "MaxModelLen": size.length or int(choice.model_settings.get("maxModelLen", 0)),
        "Slots": slots,
        "Region": main.words.get("Region", ""),
        "Anonymous": main.words.get("Anonymous", False),
        **NO_OFFLOADING,
        **ONE_MODEL,
        "Adapters": base.claim.adapters,
        "Role": base.app.role,
        "Task": base.claim.task,
        "EnginePort": ports.engine_port(base.app),
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


def _own_name(weights: Weights, public_name: str) -> str:
    """The name of a model in its files: that by which the engine pulls it, else the public one."""
    return weights.name if weights.kind == PULLED else public_name


def _main_models(base: AppBase, engine: backend_runtime.Engine) -> tuple[MainModel, ...]:
    """The main models of a claim that has several, for its engine."""
    models = []
    for claimed, weights in zip(base.claim.served, base.weights, strict=False):
        name, path = claims.public_name(claimed.model), _model_path(engine, weights, base.skip_loaders)
        own_name = _own_name(weights, name)
        words = {"ModelName": own_name, "ModelPath": path, "Skip": base.skip_loaders, "Source": weights.kind}
        in_engine = backend_runtime.name_in_engine(engine, name, words)
        own_path = "" if weights.kind == PULLED else path
        preload = bool(claims.entry_of(base.app, claimed).get("preload"))
        files = tuple(dict.fromkeys(filter(None, (own_path, *weights.paths, weights.projector))))
        models.append(MainModel(claimed, name, in_engine, own_path, weights.projector, preload, files))
    return tuple(models)


def plan_mains(run: EngineRun) -> tuple[NamedModel, ...]:
    """The main models beside the first, as routes know them."""
    models = [(main, main.claimed.model) for main in run.mains[1:]]
    return tuple([NamedModel(main.name, main.name_in_engine, it.name, tasks.task_of(it)) for main, it in models])


def _words_of_mains(base: AppBase, mains: Sequence[MainModel]) -> dict[str, object]:
    return {
        "Models": len(mains),
        "Loaded": base.claim.loaded,
        "ModelNames": tuple(main.name_in_engine for main in mains),
        "ModelFiles": tuple(text for main in mains for text in (main.name_in_engine, main.path, main.projector)),
        "WeightFiles": tuple(text for main in mains for path in main.files for text in (main.name_in_engine, path)),
        "OpenModels": tuple(main.claimed.model.name for main in mains),
        "Preloaded": tuple(main.claimed.model.name for main in mains if main.preload),
    }


def _engine_adapters(base: AppBase, engine: backend_runtime.Engine) -> tuple[EngineAdapter, ...]:
    """The adapters of a claim, for its engine; none where the engine loads none."""
    if not adapters.can_load(engine):
        return ()
    pairs = zip(base.claim.models, base.weights, strict=True)
    return tuple([_engine_adapter(base, claimed, weights) for claimed, weights in pairs if claimed.role == "lora"])


def _engine_adapter(base: AppBase, claimed: ClaimedModel, weights: Weights) -> EngineAdapter:
    model, by_address = claimed.model, base.skip_loaders and weights.kind in ("hub", "objectStore")
    return EngineAdapter(
        model=model.name,
        name=claims.public_name(model),
        path=weights.address if by_address else weights.path,
        rank=((model.spec.get("facts") or {}).get("adapter") or {}).get("rank", 0),
        origin=base.app.origin(*claimed.path),
        facts=Origin(model.document, ("spec", "facts", "adapter")),
    )
