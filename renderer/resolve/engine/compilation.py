"""Compiles a BackendRuntime: its templates once a run, with an error for each that is invalid.

With `spec.engine` a runtime is a template over WORDS (docs/design/presets.md#templates). Without it only upstream's
three placeholders in the args of the chosen config are filled (docs/design/contract.md#placeholders).
"""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from msgspec import Struct
from msgspec.structs import replace

from renderer import template
from renderer.api import BackendRuntime, OptionFiles
from renderer.diagnostics import Collector, Diagnostic, Origin, Path, Stop, make_diagnostic, suggestion
from renderer.engines.dialect import ArgLayer, Dialect, ReservedOption, args_shape
from renderer.engines.given_options import option_names
from renderer.engines.image_version import compile_version_pattern, version_of_tag
from renderer.engines.known_engine import (
    bare_word,
    build_dialect,
    grouped_options,
    health_paths,
    length_options,
    memory_share,
    shares_memory,
    size_options,
)
from renderer.engines.memory import memory_options
from renderer.engines.name_lists import engine_names
from renderer.engines.option_lists import OptionList
from renderer.engines.runtime_versions import runtime_in_version
from renderer.kubernetes import quantity
from renderer.kubernetes.wellknown import RUNNER
from renderer.plan import Body, Container
from renderer.resolve.container_words import literal_words
from renderer.resolve.engine import chat_template, grace_period, versions
from renderer.resolve.engine.backend_runtime import (
    ConditionalMessage,
    DerivedEntry,
    Engine,
    EngineFile,
    EngineStep,
    EngineVolume,
    RecommendedConfig,
    SharedTokens,
    word_getter,
)
from renderer.resolve.engine.multi_host import MultiHostForm
from renderer.resolve.engine.preparation import CONFIG_VOLUME
from renderer.resolve.engine.preset_args import find_option_list, unreadable_names
from renderer.resolve.engine.template_words import UPSTREAM_WORDS, WORDS, ConstantWords
from renderer.resolve.kube import api_defaults, images
from renderer.template import Filler, TemplateError, Words
from renderer.text.patterns import PatternError

if TYPE_CHECKING:
    from renderer.input_types import (
        BackendRuntimeSpec,
        DerivedSpec,
        EngineSpec,
        FileSpec,
        InitContainerSpec,
        MultiHostSpec,
        NoteSpec,
    )

_TEXTS = frozenset({"command", "value"})  # keys of hooks, probes and variables whose values are always text
_PROBES: tuple[Literal["startupProbe", "readinessProbe", "livenessProbe"], ...] = (
    "startupProbe",
    "readinessProbe",
    "livenessProbe",
)
# Both as text: few runs need them, and re caches compiled patterns.
_PLACEHOLDER = r"\{\{\s*\.(\w+)\s*\}\}"
_OPEN = r"\{\{\s*\.\w"


class _Compiler(Struct):
    """Compiles the templates of one runtime."""

    runtime: BackendRuntime  # in the version of its engine that runs
    constants: ConstantWords
    constant: Mapping[str, int | str]  # these words by name
    diagnostics: Collector
    open_trees: int = 0  # the number of trees with words that differ between apps

    @property
    def engine_spec(self) -> EngineSpec:
        """Its `spec.engine`."""
        return self.runtime.spec.get("engine") or {}

    @property
    def origin(self) -> Origin:
        """Of its spec."""
        return Origin(self.runtime.document, ("spec",))

    def compile_tree(self, path: Path, value: object) -> Filler:
        """A function that fills a tree. Without such words, or `spec.engine`, all apps share the tree."""
        filler, value = self._compile(path, value)
        if filler is None:
            constant = template.share_maps(value)
            return lambda words: constant
        return filler

    def _compile(self, path: Path, value: object) -> tuple[Filler | None, Any]:
        """The filler of a tree, None where the tree is the same for all apps; and the tree."""
        filler = None
        if self.engine_spec:
            try:
                filler = template.compile_template(value, WORDS, path, _TEXTS)
                if filler and template.words_of(value) <= self.constant.keys():
                    value, filler = filler(self.constant), None
            except TemplateError:
                for error in _template_errors(value, path, self.constant):
                    self.diagnostics.add("E420", self.origin.at(*error.path), what=error, hint=template_hint(error))
        self.open_trees += filler is not None
        return filler, value

    def compile_strings(self, path: Path, value: Sequence[str]) -> Callable[[Words], Sequence[str]]:
        """A function that fills a list of strings."""
        filler, value = self._compile(path, value)
        if filler is None:
            constant = tuple([str(string) for string in value])
            return lambda words: constant
        return template.strings_filler(filler)

    def compile_layer(self, path: Path, value: Sequence[str]) -> Callable[[Words], ArgLayer]:
        """A function that fills a list of arguments; only words that differ between apps are filled for each."""
        texts: list[str] = []
        fillers: list[tuple[int, Filler]] = []
        for i, arg in enumerate(value):
            filler, text = self._compile((*path, i), arg)
            texts.append(str(text))
            if filler:
                fillers.append((i, filler))
        return _layer_filler(texts, self.origin.at(*path), fillers)

    def compile_condition(
        self, path: Path, entry: DerivedSpec | FileSpec | InitContainerSpec | MultiHostSpec | NoteSpec
    ) -> Filler:
        """The condition of an entry; true without one."""
        try:
            return template.compile_condition(entry.get("when", "true"), WORDS, (*path, "when"))
        except TemplateError as error:
            self.diagnostics.add("E420", self.origin.at(*path, "when"), what=error, hint=template_hint(error))
            return lambda words: False


def compile_engine(
    files: OptionFiles,
    runtime: BackendRuntime,
    diagnostics: Collector,
    constants: ConstantWords,
    other_version: str = "",
) -> Engine:
    """The runtime, compiled with these words, in its own version of the engine or another one. Raises Stop when a
    template is invalid.
    """
    spec = runtime.spec
    version = other_version or version_of_tag(spec.get("engine") or {}, spec["version"], trusted=runtime.ours)
    adapted = runtime_in_version(runtime, version)
    if not runtime.ours:  # ours are tested
        diagnostics.problems += () if other_version else versions.invalid_versions(runtime)
        diagnostics.problems += () if other_version else grace_period.invalid_drains(runtime)
        diagnostics.problems += _invalid_version_pattern(adapted)
        diagnostics.problems += _invalid_images(adapted)
    compiler = _Compiler(adapted, constants, constants.words(), diagnostics)
    option_list = find_option_list(files, adapted, version, diagnostics)
    names = engine_names(files, adapted)
    diagnostics.problems += () if runtime.ours else unreadable_names(adapted, names, version)
    messages = {field: _compile_messages(compiler, runtime, version, field) for field in ("notes", "refuse")}
    engine = _compile(compiler, version, option_list, is_other_version=bool(other_version))
    if diagnostics.problems:
        raise Stop
    return replace(engine, notes=messages["notes"], refusals=messages["refuse"], names=names)


def _compile(compiler: _Compiler, version: str, option_list: OptionList | None, *, is_other_version: bool) -> Engine:
    """The runtime in one version, without notes and refusals."""
    runtime, engine_spec, origin = compiler.runtime, compiler.engine_spec, compiler.origin
    spec = runtime.spec
    style = build_dialect(spec, option_list)
    envs = api_defaults.default_env(spec.get("envs") or (), origin.at("envs"), compiler.diagnostics)
    same_env = template.words_of(envs) <= compiler.constant.keys()
    sizes = size_options(style, engine_spec)
    return Engine(
        runtime=runtime,
        version=version,
        is_other_version=is_other_version,
        spec=engine_spec,
        templated=bool(engine_spec),
        constants=compiler.constants,
        constant=compiler.constant,
        origin=origin,
        configs=_compile_configs(spec, compiler),
        shell=_compile_shell(compiler, spec),
        envs=compiler.compile_tree(("envs",), envs),
        derived=_compile_derived(compiler),
        condition_key=_condition_key(engine_spec),
        multi_host=_compile_multi_host(compiler, style),
        probes_of_several=_compile_probes_of_several(compiler),
        args_of_several=_compile_args_of_several(compiler),
        files=_compile_files(compiler),
        steps=_compile_steps(compiler),
        grace_seconds=grace_period.grace_seconds(engine_spec, compiler.constants.drain_sleep),
        volumes=_read_volumes(compiler),
        style=style,
        reserved=_reserved_options(style, spec, engine_spec),
        size_options=sizes.size,
        pipeline_options=grouped_options(style, engine_spec, "PP"),
        length_options=length_options(style, engine_spec),
        shared_tokens=_shared_tokens(style, engine_spec),
        memory=memory_options(style, engine_spec, length_options(style, engine_spec), sizes),
        parallel_options=sizes.all,
        multipliers=sizes.multipliers,
        uncountable_options=sizes.uncountable,
        health_paths=health_paths(spec),
        shares_memory=shares_memory(engine_spec),
        absent=engine_spec.get("absent") or (),
        memory_share=memory_share(style, engine_spec),
        draft_files=_draft_files(style, spec, engine_spec),
        reserved_env=_reserved_env(envs) if engine_spec else {},
        address_variables=_address_variables(envs) if engine_spec else frozenset(),
        option_lists={version: option_list},
        environments={} if same_env or not engine_spec else None,
    )


def _invalid_version_pattern(runtime: BackendRuntime) -> Iterator[Diagnostic]:
    """An error where `engine.options.version` is not a valid regular expression."""
    if pattern := ((runtime.spec.get("engine") or {}).get("options") or {}).get("version"):
        try:
            compile_version_pattern(pattern)
        except PatternError as error:
            yield make_diagnostic(
                "E424", Origin(runtime.document, ("spec", "engine", "options", "version")), what=error
            )


def _compile_shell(compiler: _Compiler, spec: BackendRuntimeSpec) -> Callable[[Words], Container]:
    """A function that fills command, hooks and probes of the runner."""
    before = compiler.open_trees
    command = compiler.compile_strings(("command",), spec.get("command") or [])
    parts = {key: compiler.compile_tree((key,), spec.get(key) or {}) for key in ("lifecycle", *_PROBES)}

    def fill(words: Words) -> Container:
        literal = literal_words(words)
        fields = {key: part(literal) for key, part in parts.items()}
        return Container.read({"name": RUNNER, "command": list(command(words)), **fields})

    if compiler.open_trees > before:
        return fill
    constant = fill(compiler.constant)
    return lambda words: constant


def _shared_tokens(style: Dialect, engine_spec: EngineSpec) -> SharedTokens | None:
    shared = (engine_spec.get("options") or {}).get("shared")
    if not shared:
        return None
    return SharedTokens(option_names(style, shared["options"]), shared["among"], shared.get("instead", ""))


def _condition_key(engine_spec: EngineSpec) -> Callable[[Words], object]:
    """A function that returns what the conditions of `derived` depend on: of most words only their truth."""
    read = [template.condition_words(entry.get("when", "")) for entry in engine_spec.get("derived") or ()]
    value_words = {word for words, _ in read for word in words} & WORDS
    truth_words = sorted({word for _, words in read for word in words} - value_words)
    values = word_getter(value_words)
    return lambda words: (values(words), *map(bool, map(words.__getitem__, truth_words)))


def _invalid_images(runtime: BackendRuntime) -> Iterator[Diagnostic]:
    """An error for each invalid image and tag of the runtime."""
    origin = Origin(runtime.document, ("spec",))
    variants = (runtime.spec.get("engine") or {}).get("variants") or ()
    parts: list[tuple[Mapping[str, object], Origin]] = [
        (runtime.spec, origin),
        *((part, origin.at("engine", "variants", i)) for i, part in enumerate(variants)),
    ]
    for part, part_origin in parts:
        for key, form in (("image", "repository"), ("version", "tag")):
            if key in part:
                yield from images.invalid_image(str(part[key]), form, part_origin.at(key))


def _compile_configs(spec: BackendRuntimeSpec, compiler: _Compiler) -> Mapping[str, RecommendedConfig]:
    configs: dict[str, RecommendedConfig] = {}
    templated = bool(compiler.engine_spec)
    for i, config in enumerate(spec.get("recommendedConfigs") or ()):
        origin = compiler.origin.at("recommendedConfigs", i)
        if config["name"] in configs:
            compiler.diagnostics.add("E421", origin.at("name"), name=config["name"])
            continue
        path, args = ("recommendedConfigs", i, "args"), config.get("args") or []
        layer = compiler.compile_layer(path, args) if templated else _upstream_layer(args, compiler.origin.at(*path))
        drafts = templated and any(bare_word(arg) == "DraftModelPath" for arg in args)
        configs[config["name"]] = RecommendedConfig(config, layer, origin, {}, {}, drafts)
    return configs


def _compile_derived(compiler: _Compiler) -> tuple[DerivedEntry, ...]:
    derived = []
    groups = (compiler.engine_spec.get("options") or {}).get("groups") or {}
    for i, entry in enumerate(compiler.engine_spec.get("derived") or ()):
        path: Path = ("engine", "derived", i)
        if "group" in entry and entry["group"] not in groups:
            hint = suggestion(entry["group"], list(groups)) or "add it there"
            compiler.diagnostics.add("E426", compiler.origin.at(*path, "group"), name=entry["group"], hint=hint)
        derived.append(
            DerivedEntry(
                origin=compiler.origin.at(*path),
                when=compiler.compile_condition(path, entry),
                group=entry.get("group", ""),
                args=compiler.compile_strings((*path, "args"), entry["args"]) if "args" in entry else None,
                envs=compiler.compile_tree((*path, "envs"), entry["envs"]) if "envs" in entry else None,
                shared_memory=_shared_memory(entry, compiler.origin.at(*path, "sharedMemory"), compiler.diagnostics),
                words=template.words_of([entry.get("args"), entry.get("envs")]) & WORDS,
                holds_kv_cache=entry.get("kvCacheInSharedMemory", False),
            )
        )
    return tuple(derived)


def _compile_multi_host(compiler: _Compiler, style: Dialect) -> tuple[MultiHostForm, ...]:
    """The forms of replicas of several hosts."""
    forms = []
    for i, entry in enumerate(compiler.engine_spec.get("multiHost") or ()):
        path: Path = ("engine", "multiHost", i)
        worker = entry.get("worker") or {}
        lifecycle = compiler.compile_tree((*path, "worker", "lifecycle"), worker.get("lifecycle") or {})
        forms.append(
            MultiHostForm(
                origin=compiler.origin.at(*path),
                when=compiler.compile_condition(path, entry),
                all_serve=entry.get("serves") == "all",
                command=compiler.compile_strings((*path, "command"), entry["command"]) if "command" in entry else None,
                supervisor_port=entry.get("supervisorPort", 0),
                probes=template.share_maps({key: entry[key] for key in _PROBES if key in entry}),
                dropped_options=option_names(style, worker.get("without")),
                worker_args=tuple(worker.get("args") or ()),
                worker_lifecycle=cast("Callable[[Words], Body]", lifecycle),
            )
        )
    return tuple(forms)


def _compile_probes_of_several(compiler: _Compiler) -> Mapping[str, Filler]:
    """The fields of its probes that differ where it serves several main models."""
    form: Mapping[str, Any] = compiler.engine_spec.get("models") or {}
    keys = [key for key in (*_PROBES, "lifecycle") if key in form]
    return {key: compiler.compile_tree(("engine", "models", key), form[key]) for key in keys}


def _compile_args_of_several(compiler: _Compiler) -> Callable[[Words], Sequence[str]] | None:
    """The command line beside a file with the models; None without one."""
    file = (compiler.engine_spec.get("models") or {}).get("file")
    return compiler.compile_strings(("engine", "models", "file", "args"), file["args"]) if file else None


def _compile_messages(
    compiler: _Compiler, original: BackendRuntime, engine_version: str, field: Literal["notes", "refuse"]
) -> tuple[ConditionalMessage, ...]:
    """The `notes` or `refuse` items of `engine.versions` for a version."""
    return tuple(
        ConditionalMessage(compiler.compile_condition(path, item), compiler.compile_tree((*path, "what"), item["what"]))
        for item, path in versions.version_items(original, engine_version, field)
    )


def _compile_files(compiler: _Compiler) -> tuple[EngineFile, ...]:
    """Its files. The key in the ConfigMap is the file name; an error for the same name in two folders, and for that of
    a chat template, which may lie there too.
    """
    files: list[EngineFile] = []
    folders: dict[str, set[str]] = {chat_template.KEY: {""}} if "chatTemplate" in compiler.engine_spec else {}  # by key
    for i, entry in enumerate(compiler.engine_spec.get("files") or ()):
        path: Path = ("engine", "files", i)
        mount_path, key = entry["path"], posixpath.basename(entry["path"])
        paths = folders.setdefault(key, set())
        if paths - {mount_path}:
            compiler.diagnostics.add("E422", compiler.origin.at(*path, "path"), name=key)
        paths.add(mount_path)
        content = compiler.compile_tree((*path, "content"), entry["content"])
        condition, origin = compiler.compile_condition(path, entry), compiler.origin.at(*path, "content")
        files.append(EngineFile(condition, mount_path, key, content, origin))
    return tuple(files)


# Both as text, as above.
_VOLUMES = r"model-volume|dshm|(?:model-host|model-image|writable|kv-cache)(?:-\d+)?|[a-z]+-credentials"
_CONTAINERS = r"model-runner|model-loader(?:-\d+)?"


def _read_volumes(compiler: _Compiler) -> tuple[EngineVolume, ...]:
    """Its volumes; an error for duplicates and names of the renderer."""
    entries = compiler.engine_spec.get("volumes") or ()
    engine_spec = compiler.engine_spec
    of_files = {CONFIG_VOLUME} if "chatTemplate" in engine_spec or engine_spec.get("files") else set[str]()
    of_template = {chat_template.VOLUME} if "chatTemplate" in engine_spec else set[str]()
    names = _read_names(compiler, "volumes", _VOLUMES, of_files | of_template)
    paths: set[str] = set()
    for i, entry in enumerate(entries):
        path = entry["mountPath"].rstrip("/")
        if path in paths:
            compiler.diagnostics.add("E294", compiler.origin.at("engine", "volumes", i, "mountPath"), name=path)
        paths.add(path)
    return tuple(
        EngineVolume(name, entries[i]["mountPath"], compiler.origin.at("engine", "volumes", i))
        for i, name in enumerate(names)
    )


def _read_names(
    compiler: _Compiler, field: Literal["initContainers", "volumes"], reserved: str, more_reserved: set[str]
) -> list[str]:
    """The names in a list of `spec.engine`; an error for duplicates and names of the renderer."""
    names: set[str] = set()
    unique: list[str] = []
    for i, entry in enumerate(compiler.engine_spec.get(field) or ()):
        name, at = entry["name"], compiler.origin.at("engine", field, i, "name")
        if name in names:
            compiler.diagnostics.add("E294", at, name=name)
        elif re.fullmatch(reserved, name) or name in more_reserved:
            compiler.diagnostics.add(
                "E299", at, what=f"'{name}' is a name that llmaz itself uses", hint="take another name"
            )
        names.add(name)
        unique.append(name)
    return unique


def _compile_steps(compiler: _Compiler) -> tuple[EngineStep, ...]:
    steps = []
    _read_names(compiler, "initContainers", _CONTAINERS, set())
    for i, entry in enumerate(compiler.engine_spec.get("initContainers") or ()):
        path: Path = ("engine", "initContainers", i)
        if "image" in entry:
            invalid = images.invalid_image(entry["image"], "image", compiler.origin.at(*path, "image"))
            compiler.diagnostics.problems += invalid
        steps.append(
            EngineStep(
                compiler.compile_condition(path, entry),
                entry["name"],
                entry.get("image", ""),
                compiler.compile_strings((*path, "command"), entry.get("command") or []),
                compiler.compile_strings((*path, "args"), entry.get("args") or []),
                compiler.origin.at(*path),
            )
        )
    return tuple(steps)


def _template_errors(value: object, path: Path, constant: Words) -> Iterator[TemplateError]:
    """The errors of all templates of a tree that do not depend on an app's words."""
    if isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _template_errors(item, (*path, key), constant)
        return
    try:
        filler = template.compile_template(value, WORDS, path)
        if filler and template.words_of(value) <= constant.keys():
            filler(constant)
    except TemplateError as error:
        yield error


def template_hint(error: TemplateError) -> str:
    """What to do about an invalid template."""
    hint = suggestion(error.word, sorted(WORDS)) if error.word else ""
    if error.word and not hint.startswith("did you mean"):
        return f"the template variables are {', '.join(sorted(WORDS))}"
    return hint


def _layer_filler(
    args: Sequence[str], origin: Origin, fillers: Sequence[tuple[int, Filler]]
) -> Callable[[Words], ArgLayer]:
    """A function that fills the arguments. `fillers`: by index, for those that differ between apps."""
    usual_shape = args_shape(["" if any(place == i for place, _ in fillers) else arg for i, arg in enumerate(args)])

    def fill(words: Words) -> ArgLayer:
        filled, shape = [*args], usual_shape
        for place, filler in fillers:
            filled[place] = text = str(filler(words))
            if text[:1] == "-":
                shape = ()  # unknown: the text may be an option
        return ArgLayer(filled, origin, "", shape)

    return fill


def _shared_memory(entry: DerivedSpec, origin: Origin, diagnostics: Collector) -> str:
    """The canonical sharedMemory of an entry; '' without one."""
    try:
        return quantity.canonical(entry["sharedMemory"]) if "sharedMemory" in entry else ""
    except ValueError:
        diagnostics.add("E305", origin, value=entry["sharedMemory"], hint=quantity.hint(entry["sharedMemory"]))
        return ""


_SAME_PORT = "all parts of the pod use the same port: leave it out, or write spec.service.enginePort"
_RESERVED_WORDS = {  # words whose options and variables are reserved, and what to do instead
    "Port": _SAME_PORT,
    "HostPort": _SAME_PORT,
    "ModelName": "set spec.servedModelName instead",
}


def _reserved_options(
    style: Dialect, spec: BackendRuntimeSpec, engine_spec: EngineSpec
) -> Mapping[str, Sequence[ReservedOption]]:
    """The options that the preset reserves, and those that it sets to the port or the served name; each with all that
    is said of it, of other values.
    """
    reserved: dict[str, list[ReservedOption]] = {}
    for entry in (engine_spec.get("options") or {}).get("reserved") or ():
        rule = ReservedOption(entry["why"], tuple(entry.get("values") or ()), bool(entry.get("warns")))
        for option in entry["options"]:
            reserved.setdefault(style.name(option), []).append(rule)
    for config in (spec.get("recommendedConfigs") or ()) if engine_spec else ():
        for option, value in itertools.pairwise(config.get("args") or ()):
            if (word := bare_word(value)) in _RESERVED_WORDS:
                reserved[style.name(option)] = [ReservedOption(_RESERVED_WORDS[word])]
    return reserved


def _draft_files(style: Dialect, spec: BackendRuntimeSpec, engine_spec: EngineSpec) -> Mapping[str, str]:
    """Options whose value in a config is a file of the preset with the draft model's path in it, and the file."""
    files = engine_spec.get("files") or ()
    paths = {entry["path"] for entry in files if "DraftModelPath" in template.words_of(entry["content"])}
    return {
        style.name(option): value
        for config in (spec.get("recommendedConfigs") or ())
        for option, value in itertools.pairwise(config.get("args") or ())
        if value in paths
    }


def _reserved_env(entries: Sequence[Mapping[str, Any]]) -> Mapping[str, str]:
    """The variables that the preset sets to the port or the served name, and what to do instead."""
    reserved = {}
    for entry in entries:
        for word in template.words_of(entry.get("value")) & _RESERVED_WORDS.keys():
            reserved[entry["name"]] = _RESERVED_WORDS[word]
    return reserved


def _address_variables(entries: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """The variables that the preset sets to address and port in one."""
    return frozenset(entry["name"] for entry in entries if "HostPort" in template.words_of(entry.get("value")))


def _upstream_layer(args: Sequence[str], origin: Origin) -> Callable[[Words], ArgLayer]:
    """A function that fills upstream's placeholders; it raises TemplateError where upstream fails."""
    parts: list[tuple[str, Filler | None]] = []
    for arg in args:
        pieces = re.split(_PLACEHOLDER, arg) if "{{" in arg else [arg]
        unclosed = any(re.search(_OPEN, piece.rpartition("}}")[2]) for piece in pieces[::2])
        parts.append(
            (arg, _upstream_filler(pieces, unclosed, origin.at(len(parts))) if len(pieces) > 1 or unclosed else None)
        )
    return lambda words: ArgLayer([str(filler(words)) if filler else arg for arg, filler in parts], origin)


def _upstream_filler(pieces: list[str], unclosed: bool, origin: Origin) -> Filler:
    def fill(words: Words) -> str:
        if unclosed:
            raise TemplateError("the placeholder is never closed", origin.path)
        texts = []
        for i, piece in enumerate(pieces):
            if i % 2 == 0:
                texts.append(piece)
            elif piece not in UPSTREAM_WORDS or not words[piece]:
                known = (
                    "it needs a draft model"
                    if piece in UPSTREAM_WORDS
                    else f"known are {', '.join(sorted(UPSTREAM_WORDS))}"
                )
                message = f"nothing fills the placeholder '{{{{ .{piece} }}}}'; {known}"
                raise TemplateError(message, origin.path, "" if piece in UPSTREAM_WORDS else piece)
            else:
                texts.append(str(words[piece]))
        return "".join(texts)

    return fill
