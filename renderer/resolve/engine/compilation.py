"""A BackendRuntime made ready to be filled: its templates compiled once a run, what is broken in them said.

With `spec.engine` a runtime is a template over WORDS (docs/design/presets.md#templates). Without it exactly upstream's
three placeholders in the chosen config's args are filled, and every other brace stays
(docs/design/contract.md#placeholders).
"""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from renderer import quantity, template
from renderer.api import BackendRuntime, OptionFiles
from renderer.diagnostics import Collector, Origin, Path, Stop, suggestion
from renderer.patterns import PatternError
from renderer.resolve.engine import dialect, versions
from renderer.resolve.engine.backend_runtime import (
    WORDS,
    Conditional,
    Derived,
    Engine,
    EngineFile,
    EngineStep,
    RecommendedConfig,
    RunnerShell,
    SharedTokens,
    constant,
    expressed,
    known_options,
    reading,
    version,
)
from renderer.resolve.engine.dialect import ArgLayer, Dialect, OptionList, ReservedOption
from renderer.resolve.kube import api_defaults, images
from renderer.template import Filler, TemplateError, Words

if TYPE_CHECKING:
    from renderer.input_types import BackendRuntimeSpec, DerivedSpec, EngineSpec, FileSpec, InitContainerSpec, NoteSpec

_TEXTS = frozenset({"command", "value"})  # of hooks, probes and variables: text, though a word of theirs is a number
_UPSTREAM = frozenset({"ModelPath", "ModelName", "DraftModelPath"})
_CONFIG = "config"  # the volume of its files
_GRACE = 130  # seconds that a pod has to end where its preset says nothing of a drain
# Both as text: few runs need them, and re keeps what it has compiled.
_PLACEHOLDER = r"\{\{\s*\.(\w+)\s*\}\}"
_OPEN = r"\{\{\s*\.\w"


class _Preset:
    """One runtime while it is compiled: where it stands, and whether its strings are templates."""

    def __init__(self, runtime: BackendRuntime, constant: Words, diagnostics: Collector) -> None:
        self.constant = constant
        self.own: EngineSpec = runtime.spec.get("engine") or {}
        self.at = Origin(runtime.document, ("spec",))
        self.found = diagnostics
        self.open = 0  # how many trees have a word in them that differs from app to app

    def tree(self, path: Path, value: Any) -> Filler:
        """Fills a tree; without spec.engine, or without a word in it, it stands as it is, shared by all."""
        filler, value = self._filler(path, value)
        if filler is None:
            constant = template.share_maps(value)
            return lambda words: constant
        return filler

    def _filler(self, path: Path, value: Any) -> tuple[Filler | None, Any]:
        """What fills a tree; None, and the tree itself, where it is alike for all apps."""
        filler = None
        if self.own:
            try:
                filler = template.compile_template(value, WORDS, path, _TEXTS)
                if filler and template.words_of(value) <= self.constant.keys():
                    value, filler = filler(self.constant), None
            except TemplateError:
                for error in _broken(value, path, self.constant):
                    self.found.add("E420", self.at.at(*error.path), what=error, hint=hint(error))
        self.open += filler is not None
        return filler, value

    def strings(self, path: Path, value: Sequence[str]) -> Callable[[Words], Sequence[str]]:
        """Fills a list of strings."""
        filler, value = self._filler(path, value)
        if filler is None:
            constant = tuple([str(string) for string in value])
            return lambda words: constant
        return _strings(filler)

    def layer(self, path: Path, value: Sequence[str]) -> Callable[[Words], ArgLayer]:
        """Fills a list of arguments; only what differs from app to app is filled for each."""
        texts: list[str] = []
        open_: list[tuple[int, Filler]] = []
        for i, arg in enumerate(value):
            filler, text = self._filler((*path, i), arg)
            texts.append(str(text))
            if filler:
                open_.append((i, filler))
        return _layer(texts, self.at.at(*path), open_)

    def when(self, path: Path, entry: DerivedSpec | FileSpec | InitContainerSpec | NoteSpec) -> Filler:
        """The condition of an entry; without one it always holds."""
        try:
            return template.condition(entry.get("when", "true"), WORDS, (*path, "when"))
        except TemplateError as error:
            self.found.add("E420", self.at.at(*path, "when"), what=error, hint=hint(error))
            return lambda words: False


def engine(
    files: OptionFiles, runtime: BackendRuntime, diagnostics: Collector, drain: int = 10, other_version: str = ""
) -> Engine:
    """The runtime, compiled for apps that drain alike, in its own version of the engine or another one. Raises Stop
    when one of its templates is broken.
    """
    if not (runtime.ours or other_version):  # ours are tested
        versions.validate_versions(runtime, diagnostics)
    whole, engine_spec = runtime, runtime.spec.get("engine") or {}
    its_version = other_version or version(engine_spec, runtime.spec["version"], trusted=runtime.ours)
    runtime = versions.in_version(whole, its_version)
    spec, preset = runtime.spec, _Preset(runtime, constant(drain), diagnostics)
    own, at = preset.own, preset.at
    configs = _configs(spec, preset)
    if (pattern := (own.get("options") or {}).get("version")) and not runtime.ours:
        try:
            expressed(pattern)
        except PatternError as error:
            diagnostics.add("E424", at.at("engine", "options", "version"), what=error)
    listed = known_options(files, runtime, its_version, diagnostics)
    reads = _style(spec, own, listed)
    if not runtime.ours:  # ours are tested
        _images(spec, at, diagnostics)
    given = api_defaults.entries(spec.get("envs") or (), at.at("envs"), diagnostics)
    alike = template.words_of(given) <= preset.constant.keys()
    sizes = frozenset(reads.name(option) for _, option in _derived_from(own, "TP"))
    shared = ((own.get("options") or {}).get("shares") or {}).items()
    shares = {reads.name(option): frozenset(map(reads.name, beside)) for option, beside in shared}
    compiled = Engine(
        runtime=runtime,
        version=its_version,
        other=bool(other_version),
        spec=own,
        templated=bool(own),
        constant=preset.constant,
        origin=at,
        configs=configs,
        shell=_shell(preset, spec),
        envs=preset.tree(("envs",), given),
        derived=_derived(preset),
        notes=_conditional(preset, whole, its_version, "notes"),
        refusals=_conditional(preset, whole, its_version, "refuse"),
        asking=_asking(own),
        holding={},
        together={},
        files=_files(preset),
        steps=_steps(preset),
        grace=_grace(own, drain),
        volumes=_volumes(preset),
        style=reads,
        reserved=_reserved(reads, spec, own),
        sizes=sizes,
        lengths=frozenset(reads.name(option) for _, option in _derived_from(own, "MaxModelLen")),
        shared_tokens=_shared_tokens(reads, own),
        sharing=sizes.union(shares, *(reads.groups.get(group, ()) for group, _ in _derived_from(own, "TP"))),
        shares=shares,
        uncounted=_option_names(reads, (own.get("options") or {}).get("uncounted")),
        filed=_filed(reads, spec, own),
        owned_env=_owned_env(given) if own else {},
        tags={},
        lists={its_version: listed},
        judges={},
        judged={},
        environments={} if alike or not own else None,
        fitting=set(),
    )
    if diagnostics.problems:
        raise Stop
    return compiled


def _shell(preset: _Preset, spec: BackendRuntimeSpec) -> Callable[[Words], RunnerShell]:
    """Fills command, hooks and probes; only where a word of an app's is in them for each."""
    before = preset.open
    command = preset.strings(("command",), spec.get("command") or [])
    keys = ("lifecycle", "startupProbe", "readinessProbe", "livenessProbe")
    parts = [preset.tree((key,), spec.get(key) or {}) for key in keys]

    def fill(words: Words) -> RunnerShell:
        return RunnerShell(tuple(command(words)), *[part(words) for part in parts])

    if preset.open > before:
        return fill
    constant = fill(preset.constant)
    return lambda words: constant


def _shared_tokens(reads: Dialect, own: EngineSpec) -> SharedTokens | None:
    shared = (own.get("options") or {}).get("shared")
    if not shared:
        return None
    return SharedTokens(_option_names(reads, shared["options"]), shared["among"], shared.get("instead", ""))


def _grace(own: EngineSpec, drain: int) -> int:
    """The engine's own time to drain, after a hook that sleeps."""
    drain_spec = own.get("drain")
    return int(drain_spec["seconds"]) + drain - 10 if drain_spec else _GRACE


def _asking(own: EngineSpec) -> Callable[[Words], Any]:
    """What of the words the conditions of `derived` depend on: of most only whether they are true."""
    read = [template.read_by(entry.get("when", "")) for entry in own.get("derived") or ()]
    valued = {word for words, _ in read for word in words} & WORDS
    truths = sorted({word for _, words in read for word in words} - valued)
    values = reading(valued)
    return lambda words: (values(words), *map(bool, map(words.__getitem__, truths)))


def _images(spec: BackendRuntimeSpec, at: Origin, diagnostics: Collector) -> None:
    """An error for each image and tag of the runtime that is none."""
    variants = (spec.get("engine") or {}).get("variants") or ()
    places: list[tuple[Mapping[str, object], Origin]] = [
        (spec, at),
        *((part, at.at("engine", "variants", i)) for i, part in enumerate(variants)),
    ]
    for part, where in places:
        for key, form in (("image", "repository"), ("version", "tag")):
            if key in part:
                images.validate_image(str(part[key]), form, where.at(key), diagnostics)


def _style(spec: BackendRuntimeSpec, own: EngineSpec, listed: OptionList | None) -> Dialect:
    """How its command line is read; what the preset itself uses counts as known."""
    layers = [config.get("args") or [] for config in spec.get("recommendedConfigs") or ()]
    layers += [entry.get("args") or [] for entry in own.get("derived") or ()]
    return dialect.style(own.get("options") or {}, layers, listed)


def _configs(spec: BackendRuntimeSpec, preset: _Preset) -> Mapping[str, RecommendedConfig]:
    configs: dict[str, RecommendedConfig] = {}
    for i, config in enumerate(spec.get("recommendedConfigs") or ()):
        origin = preset.at.at("recommendedConfigs", i)
        if config["name"] in configs:
            preset.found.add("E421", origin.at("name"), name=config["name"])
            continue
        path, args = ("recommendedConfigs", i, "args"), config.get("args") or []
        filled = preset.layer(path, args) if preset.own else _upstream(args, preset.at.at(*path))
        drafts = bool(preset.own) and any(_bare(arg) == "DraftModelPath" for arg in args)
        configs[config["name"]] = RecommendedConfig(config, filled, origin, {}, drafts)
    return configs


def _derived(preset: _Preset) -> tuple[Derived, ...]:
    derived = []
    groups = (preset.own.get("options") or {}).get("groups") or {}
    for i, entry in enumerate(preset.own.get("derived") or ()):
        path: Path = ("engine", "derived", i)
        if "group" in entry and entry["group"] not in groups:
            meant = suggestion(entry["group"], list(groups)) or "add it there"
            preset.found.add("E426", preset.at.at(*path, "group"), name=entry["group"], hint=meant)
        derived.append(
            Derived(
                preset.at.at(*path),
                preset.when(path, entry),
                entry.get("group", ""),
                preset.tree((*path, "args"), entry["args"]) if "args" in entry else None,
                preset.tree((*path, "envs"), entry["envs"]) if "envs" in entry else None,
                _size(entry, preset.at.at(*path, "sharedMemory"), preset.found),
                template.words_of([entry.get("args"), entry.get("envs")]) & WORDS,
            )
        )
    return tuple(derived)


def _conditional(
    preset: _Preset, whole: BackendRuntime, its_version: str, field: Literal["notes", "refuse"]
) -> tuple[Conditional, ...]:
    """What the entries of `engine.versions` tell, or refuse, in a version."""
    conditional = []
    for item, path in versions.conditions(whole, its_version, field):
        inside = path[1:]
        conditional.append(Conditional(preset.when(inside, item), preset.tree((*inside, "what"), item["what"])))
    return tuple(conditional)


def _files(preset: _Preset) -> tuple[EngineFile, ...]:
    """Its files; their keys in the ConfigMap are their names, so two folders cannot hold files of one name."""
    files: list[EngineFile] = []
    folders: dict[str, set[str]] = {}  # by key
    for i, entry in enumerate(preset.own.get("files") or ()):
        path: Path = ("engine", "files", i)
        where, key = entry["path"], posixpath.basename(entry["path"])
        paths = folders.setdefault(key, set())
        if paths - {where}:
            preset.found.add("E422", preset.at.at(*path, "path"), name=key)
        paths.add(where)
        content = preset.tree((*path, "content"), entry["content"])
        files.append(EngineFile(preset.when(path, entry), where, key, content))
    return tuple(files)


# Both as text: few runs need them, and re keeps what it has compiled.
_VOLUMES = r"model-volume|dshm|(?:model-host|model-image|writable)(?:-\d+)?|[a-z]+-credentials"
_CONTAINERS = r"model-runner|model-loader(?:-\d+)?"


def _volumes(preset: _Preset) -> tuple[tuple[str, str], ...]:
    """Its volumes, by name and mount path, of which none is there twice, or the renderer's."""
    entries = preset.own.get("volumes") or ()
    names = _names(preset, "volumes", _VOLUMES, {_CONFIG} if preset.own.get("files") else set())
    paths: set[str] = set()
    for i, entry in enumerate(entries):
        path = entry["mountPath"].rstrip("/")
        if path in paths:
            preset.found.add("E294", preset.at.at("engine", "volumes", i, "mountPath"), name=path)
        paths.add(path)
    return tuple((name, volume["mountPath"]) for name, volume in zip(names, entries, strict=True))


def _names(preset: _Preset, field: Literal["initContainers", "volumes"], ours: str, more: set[str]) -> list[str]:
    """The names in a list of `spec.engine`; an error for one that is there twice, or the renderer's own."""
    names: set[str] = set()
    listed: list[str] = []
    for i, entry in enumerate(preset.own.get(field) or ()):
        name, at = entry["name"], preset.at.at("engine", field, i, "name")
        if name in names:
            preset.found.add("E294", at, name=name)
        elif re.fullmatch(ours, name) or name in more:
            preset.found.add("E299", at, what=f"'{name}' is a name of the renderer's own", hint="take another name")
        names.add(name)
        listed.append(name)
    return listed


def _steps(preset: _Preset) -> tuple[EngineStep, ...]:
    steps = []
    _names(preset, "initContainers", _CONTAINERS, set())
    for i, entry in enumerate(preset.own.get("initContainers") or ()):
        path: Path = ("engine", "initContainers", i)
        if "image" in entry:
            images.validate_image(entry["image"], "image", preset.at.at(*path, "image"), preset.found)
        steps.append(
            EngineStep(
                preset.when(path, entry),
                entry["name"],
                entry.get("image", ""),
                preset.strings((*path, "command"), entry.get("command") or []),
                preset.strings((*path, "args"), entry.get("args") or []),
            )
        )
    return tuple(steps)


def _broken(value: Any, path: Path, constant: Words) -> Iterator[TemplateError]:
    """What is wrong with each string of a tree, whatever the words are that differ from app to app."""
    if isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _broken(item, (*path, key), constant)
        return
    try:
        filler = template.compile_template(value, WORDS, path)
        if filler and template.words_of(value) <= constant.keys():
            filler(constant)
    except TemplateError as error:
        yield error


def hint(error: TemplateError) -> str:
    """What to do about a template that does not hold."""
    meant = suggestion(error.word, sorted(WORDS)) if error.word else ""
    return meant if meant.startswith("did you mean") else "the words are in llmaz's docs/presets.md"


def _layer(args: Sequence[str], at: Origin, open_: Sequence[tuple[int, Filler]]) -> Callable[[Words], ArgLayer]:
    """Fills the open places among the arguments."""
    usual = dialect.shape(["" if any(place == i for place, _ in open_) else arg for i, arg in enumerate(args)])

    def fill(words: Words) -> ArgLayer:
        filled, shape = [*args], usual
        for place, filler in open_:
            filled[place] = text = str(filler(words))
            if text[:1] == "-":
                shape = ()  # it may be an option
        return ArgLayer(filled, at, "", shape)

    return fill


def _strings(filler: Filler) -> Callable[[Words], Sequence[str]]:
    return lambda words: [value if isinstance(value, str) else str(value) for value in filler(words)]


def _size(entry: Mapping[str, object], origin: Origin, diagnostics: Collector) -> str:
    """The entry's sharedMemory, canonical; '' without one."""
    try:
        return quantity.canonical(entry["sharedMemory"]) if "sharedMemory" in entry else ""
    except ValueError:
        diagnostics.add("E305", origin, value=entry["sharedMemory"])
        return ""


_OWNED = {  # words whose options and variables are the renderer's, and what to do instead
    "Port": "every part of the pod agrees on one port; leave it out",
    "ModelName": "set spec.servedModelName instead",
}


def _reserved(reads: Dialect, spec: BackendRuntimeSpec, own: EngineSpec) -> Mapping[str, ReservedOption]:
    """Options whose preset value is the port or the served name, the renderer's; and those that the preset names."""
    reserved = {}
    for entry in (own.get("options") or {}).get("reserved") or ():
        rule = ReservedOption(entry["why"], tuple(entry.get("values") or ()), bool(entry.get("warns")))
        reserved.update(dict.fromkeys([reads.name(option) for option in entry["options"]], rule))
    for config in (spec.get("recommendedConfigs") or ()) if own else ():
        for option, value in itertools.pairwise(config.get("args") or ()):
            if (word := _bare(value)) in _OWNED:
                reserved[reads.name(option)] = ReservedOption(_OWNED[word])
    return reserved


def _option_names(reads: Dialect, options: Sequence[str] | None) -> frozenset[str]:
    return frozenset(map(reads.name, options or ()))


def _bare(value: str) -> str:
    """The word that the value is, in braces; '' for anything else."""
    return value.strip("{} ").lstrip(".") if value.startswith("{{") else ""


def _derived_from(own: EngineSpec, word: str) -> Iterator[tuple[str, str]]:
    """Group and option of what `derived` gives the word."""
    for entry in own.get("derived") or ():
        for option, value in itertools.pairwise(entry.get("args") or ()):
            if _bare(value) == word:
                yield entry.get("group", ""), option


def _filed(reads: Dialect, spec: BackendRuntimeSpec, own: EngineSpec) -> Mapping[str, str]:
    """The options whose value in a config is one of the preset's files that tell of the draft model, and its path."""
    files = own.get("files") or ()
    paths = {entry["path"] for entry in files if "DraftModelPath" in template.words_of(entry["content"])}
    return {
        reads.name(option): value
        for config in (spec.get("recommendedConfigs") or ())
        for option, value in itertools.pairwise(config.get("args") or ())
        if value in paths
    }


def _owned_env(entries: Sequence[Mapping[str, Any]]) -> Mapping[str, str]:
    """Variables whose preset value holds the port or the served name, for engines that are set by environment."""
    owned = {}
    for entry in entries:
        for word in template.words_of(entry.get("value")) & _OWNED.keys():
            owned[entry["name"]] = _OWNED[word]
    return owned


def _upstream(args: Sequence[str], at: Origin) -> Callable[[Words], ArgLayer]:
    """Upstream's placeholders only; what it would stop at is a TemplateError when that config is filled."""
    parts: list[tuple[str, Filler | None]] = []
    for arg in args:
        pieces = re.split(_PLACEHOLDER, arg) if "{{" in arg else [arg]
        unclosed = any(re.search(_OPEN, piece.rpartition("}}")[2]) for piece in pieces[::2])
        parts.append(
            (arg, _fill_upstream(pieces, unclosed, at.at(len(parts))) if len(pieces) > 1 or unclosed else None)
        )
    return lambda words: ArgLayer([filler(words) if filler else arg for arg, filler in parts], at)


def _fill_upstream(pieces: list[str], unclosed: bool, at: Origin) -> Filler:
    def fill(words: Words) -> str:
        if unclosed:
            raise TemplateError("the placeholder is never closed", at.path)
        out = []
        for i, piece in enumerate(pieces):
            if i % 2 == 0:
                out.append(piece)
            elif piece not in _UPSTREAM or not words[piece]:
                known = "it needs a draft model" if piece in _UPSTREAM else f"known are {', '.join(sorted(_UPSTREAM))}"
                message = f"nothing fills the placeholder '{{{{ .{piece} }}}}'; {known}"
                raise TemplateError(message, at.path, "" if piece in _UPSTREAM else piece)
            else:
                out.append(words[piece])
        return "".join(out)

    return fill
