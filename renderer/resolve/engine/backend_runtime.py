"""A compiled BackendRuntime, and the choice of its recommended config, variant and derived entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from msgspec import Struct, field

from renderer.api import App, BackendRuntime, Inputs, OpenModel
from renderer.diagnostics import Collector, Origin, Stop, suggestion
from renderer.engines import dialect
from renderer.engines.accelerator import NONE, Accelerator
from renderer.engines.dialect import ArgLayer, ReservedOption
from renderer.engines.image_version import version_of_tag
from renderer.engines.memory import MemoryOptions
from renderer.engines.option_lists import OptionList
from renderer.engines.option_rules import OptionRules
from renderer.engines.running_engine import KnownEngine
from renderer.plan import Container
from renderer.resolve import tasks
from renderer.resolve.engine.multi_host import MultiHostForm
from renderer.resolve.engine.parallel_sizes import SINGLE, Parallelism
from renderer.resolve.engine.template_words import ConstantWords
from renderer.resolve.kube.resources import MergedResources
from renderer.resolve.layers import MergedEntries, ValueLayer
from renderer.template import Filler, Words, share_maps

if TYPE_CHECKING:
    from renderer.input_types import EngineSpec, ModelEngineSpec, RecommendedConfigSpec, VariantSpec


class DerivedEntry(Struct, frozen=True):
    """One entry of `engine.derived`."""

    origin: Origin
    when: Filler
    group: str
    args: Callable[[Words], Sequence[str]] | None
    envs: Filler | None
    shared_memory: str
    words: frozenset[str]  # those in its templates
    holds_kv_cache: bool  # offloaded KV cache lies in shared memory


class ConditionalMessage(Struct, frozen=True):
    """A note or refusal of `engine.versions`: its condition, and its message."""

    when: Filler
    message: Filler


class Derivation(Struct, frozen=True, eq=False):
    """Layers of arguments, environment and shared memory from `engine.derived`, and the entries that they come from."""

    entries: tuple[DerivedEntry, ...] = ()
    layers: tuple[ArgLayer, ...] = ()
    envs: tuple[ValueLayer, ...] = ()
    shared_memory: tuple[ValueLayer, ...] = ()

    @property
    def shared_memory_holds_kv_cache(self) -> bool:
        """Whether KV cache that the engine keeps outside of its accelerators lies in shared memory."""
        return any(entry.holds_kv_cache for entry in self.entries)


class DerivationCache(Struct, frozen=True, eq=False):
    """Entries of `engine.derived` that are active together, and a cache of what they give."""

    entries: tuple[DerivedEntry, ...]
    key: Callable[[Words], object]  # the values of their words
    derivations: dict[object, Derivation]  # by `key`


class EngineFile(Struct, frozen=True):
    """One entry of `engine.files`."""

    when: Filler
    path: str  # its mount path in the container
    key: str  # in the ConfigMap
    content: Filler
    origin: Origin  # of the content


class EngineVolume(Struct, frozen=True):
    """One entry of `engine.volumes`."""

    name: str
    path: str  # its mount path in the container
    origin: Origin


class EngineStep(Struct, frozen=True):
    """One entry of `engine.initContainers`."""

    when: Filler
    name: str
    image: str  # '' for the runner's
    command: Callable[[Words], Sequence[str]]
    args: Callable[[Words], Sequence[str]]
    origin: Origin


class RunnerSize(Struct, frozen=True):
    """What follows from the resources of an app and its flavor."""

    accelerator: Accelerator = NONE
    variant: VariantSpec = {}
    parallelism: Parallelism = SINGLE
    length: int = 0  # MaxModelLen
    images: Sequence[ValueLayer] = ()  # the preset's layers of the image's repository
    versions: Sequence[ValueLayer] = ()  # the preset's layers of its tag


class RecommendedConfig(Struct, frozen=True, eq=False):
    """One recommended config."""

    spec: RecommendedConfigSpec
    layer: Callable[[Words], ArgLayer]  # fills its args
    origin: Origin
    resources: dict[bytes, MergedResources]  # a cache, by the settings of app and flavor
    sizes: dict[bytes, RunnerSize]  # a cache, by the settings of app and flavor
    drafts: bool  # an argument is the path of a draft model


class SharedTokens(Struct, frozen=True):
    """Options whose number of tokens is shared by concurrent requests."""

    options: frozenset[str]
    slots_option: str  # sets the number of requests
    per_request_option: str  # sets the tokens of each request, '' without one


class Engine(KnownEngine, frozen=True, eq=False, kw_only=True):
    """A BackendRuntime, compiled for one version of its engine."""

    runtime: BackendRuntime  # adapted to the version
    version: str  # '' where it is unknown
    is_other_version: bool  # than the runtime's own
    spec: EngineSpec  # its `spec.engine`, empty where it is not `templated`
    templated: bool
    constants: ConstantWords
    constant: Mapping[str, int | str]  # these words by name
    origin: Origin
    configs: Mapping[str, RecommendedConfig]
    shell: Callable[[Words], Container]  # its command, hooks and probes
    envs: Filler
    derived: tuple[DerivedEntry, ...]
    notes: tuple[ConditionalMessage, ...] = ()  # on differences of this version
    refusals: tuple[ConditionalMessage, ...] = ()  # of what this version cannot do
    condition_key: Callable[[Words], object]  # the values that the conditions of `derived` depend on
    multi_host: tuple[MultiHostForm, ...]
    probes_of_several: Mapping[str, Filler]  # by key, probes and hooks that differ where it serves several main models
    args_of_several: Callable[[Words], Sequence[str]] | None  # its command line there, beside a file of the models
    files: tuple[EngineFile, ...]
    steps: tuple[EngineStep, ...]
    grace_seconds: int  # the grace period of the pod
    volumes: tuple[EngineVolume, ...]
    reserved: Mapping[str, Sequence[ReservedOption]]  # options that users must not set
    pipeline_options: frozenset[str]  # that set the pipeline parallel size
    shared_tokens: SharedTokens | None
    memory: MemoryOptions | None  # what it takes of an accelerator, where that is known
    draft_files: Mapping[str, str]  # options that take the preset's file with the draft model in it, and its path
    reserved_env: Mapping[str, str]  # variables that users must not set, and what to do instead
    address_variables: frozenset[str]  # those of them that are an address with the port, which may be another address
    # Caches:
    active_derivations: dict[object, DerivationCache] = field(default_factory=dict)  # by `condition_key`
    derivations_by_entries: dict[tuple[int, ...], DerivationCache] = field(default_factory=dict)  # by identities
    tag_versions: dict[str, str] = field(default_factory=dict)
    option_lists: dict[str, OptionList | None]  # by version
    option_rules: dict[str, OptionRules | None] = field(default_factory=dict)  # by version
    environments: dict[tuple[int, int, bytes], MergedEntries] | None  # None where apps' words are in `envs`
    accepted_weights: set[tuple[object, ...]] = field(default_factory=set)  # forms of weights
    task_options: dict[str, Mapping[str, str]] = field(default_factory=dict)  # by task, those of `args_of_task`
    names_of_tasks: set[str] = field(default_factory=set)  # of all of these

    def args_of_task(self, task: str, words: Words) -> Sequence[str]:
        """The arguments that it gets for models of a task alone. `words`: of any app. Raises TemplateError."""
        usual = self.derivation({**words, "Task": tasks.CHAT}).entries
        words_of_task = {**words, "Task": task}
        added = [
            entry for entry in self.derivation(words_of_task).entries if not any(entry is other for other in usual)
        ]
        return [arg for entry in added if entry.args for arg in entry.args(words_of_task)]

    def derivation(self, words: Words) -> Derivation:
        """What the active entries of `engine.derived` give. Raises TemplateError."""
        key = self.condition_key(words)
        cache = self.active_derivations.get(key)
        if cache is None:
            entries = tuple([entry for entry in self.derived if entry.when(words)])
            fresh = DerivationCache(entries, word_getter(frozenset().union(*(entry.words for entry in entries))), {})
            cache = self.active_derivations[key] = self.derivations_by_entries.setdefault(
                tuple(map(id, entries)), fresh
            )
        values = cache.key(words)
        known = cache.derivations.get(values)
        if known is None:
            known = cache.derivations[values] = _fill_entries(cache.entries, words)
        return known

    def tag_version(self, tag: str) -> str:
        """The version that an image tag names, '' without one; cached."""
        known = self.tag_versions.get(tag)
        if known is None:
            known = self.tag_versions[tag] = version_of_tag(self.spec, tag, trusted=self.runtime.ours)
        return known


def word_getter(words: Iterable[str]) -> Callable[[Words], object]:
    """A function that returns the values of these words, as a key of a cache."""
    names = sorted(words)
    return itemgetter(*names) if names else lambda words: ()


def _fill_entries(entries: tuple[DerivedEntry, ...], words: Words) -> Derivation:
    layers: list[ArgLayer] = []
    envs: list[ValueLayer] = []
    sizes: list[ValueLayer] = []
    for entry in entries:
        if entry.args:
            args = list(entry.args(words))
            layers.append(ArgLayer(args, entry.origin.at("args"), entry.group, dialect.args_shape(args)))
        if entry.envs:
            envs.append(ValueLayer(share_maps(entry.envs(words)), entry.origin.at("envs")))
        if entry.shared_memory:
            sizes.append(ValueLayer(entry.shared_memory, entry.origin.at("sharedMemory")))
    return Derivation(entries, tuple(layers), tuple(envs), tuple(sizes))


def model_settings(model: OpenModel, engine: Engine) -> ModelEngineSpec:
    """The model's entry of `spec.engines` for this engine."""
    return (model.spec.get("engines") or {}).get(engine.runtime.name) or {}


def find_runtime(inputs: Inputs, name: str, origin: Origin, diagnostics: Collector) -> BackendRuntime:
    """The BackendRuntime of that name. Raises Stop when there is none."""
    if name in inputs.runtimes:
        return inputs.runtimes[name]
    if not inputs.unreadable and ("BackendRuntime", name) not in inputs.broken:
        known = [*inputs.runtimes, *(other for kind, other in inputs.broken if kind == "BackendRuntime")]
        diagnostics.add(
            "E205", origin, name=name, hint=suggestion(name, known, (own.name for own in inputs.definitions))
        )
    raise Stop


def find_config(engine: Engine, draft: bool, app: App, diagnostics: Collector) -> RecommendedConfig:
    """The config by configName, else speculative-decoding with a draft model, else default
    (docs/design/contract.md#recommended-config). Raises Stop when the engine has none of that name.
    """
    user = app.spec.get("backendRuntimeConfig") or {}
    name = user.get("configName") or ("speculative-decoding" if draft else "default")
    if name not in engine.configs:
        origin = app.origin("spec", "backendRuntimeConfig")
        names = list(engine.configs)
        if user.get("configName"):
            diagnostics.stop(
                "E206", origin.at("configName"), name=name, backend=engine.runtime.name, hint=suggestion(name, names)
            )
        code = "E407" if name == "speculative-decoding" else "E206"
        place = origin.at("backendName") if "backendName" in user else Origin(origin.source, ("spec",))
        hint = f"choose one by configName: {', '.join(names)}" if names else "give it recommendedConfigs"
        if code == "E407":
            reason = (engine.spec.get("unsupported") or {}).get("draft")
            hint = "; ".join(filter(None, [reason, "use a backend that can, or leave the draft out"]))
        diagnostics.stop(code, place, name=name, backend=engine.runtime.name, hint=hint)
    return engine.configs[name]


def name_in_engine(engine: Engine, served: str, words: Words) -> str:
    """The name of the model in the engine, by `servedName` (docs/design/presets.md#served-name)."""
    kind = str(engine.spec.get("servedName", "option"))
    if kind.startswith("fixed:"):
        return kind.removeprefix("fixed:")
    if kind == "model" or (kind == "directory" and words["Skip"] and words["Source"] == "hub"):
        return str(words["ModelName" if kind == "model" else "ModelPath"])
    return served
