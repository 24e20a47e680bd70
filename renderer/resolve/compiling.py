"""A BackendRuntime made ready to be filled: its templates compiled once a run, what is broken in them said.

With `spec.engine` a runtime is a template over WORDS (design/presets.md); without it exactly upstream's three
placeholders in the chosen config's args are filled, and every other brace stays (contract, section 3).
"""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from renderer import quantity, template
from renderer.api import BackendRuntime, OptionFiles, Spec
from renderer.problems import Findings, Origin, Path, Stop, guess
from renderer.resolve import normal, options
from renderer.resolve.engines import CONSTANT, WORDS, Derived, Engine, File, Recommended, Step, version
from renderer.resolve.environment import merge_env
from renderer.resolve.options import Listed, Style
from renderer.template import Filler, TemplateError, Words

_UPSTREAM = frozenset({"ModelPath", "ModelName", "DraftModelPath"})
_PLACEHOLDER = re.compile(r"\{\{\s*\.(\w+)\s*\}\}")
_OPEN = re.compile(r"\{\{\s*\.\w(?!.*\}\})", re.DOTALL)

class _Preset:
    """One runtime while it is compiled: where it stands, and whether its strings are templates."""

    def __init__(self, runtime: BackendRuntime, found: Findings) -> None:
        self.own: Spec = runtime.spec.get("engine") or {}
        self.at = Origin(runtime.document, ("spec",))
        self.found = found

    def tree(self, path: Path, value: Any) -> Filler:
        """Fills a tree; without spec.engine, or without a word in it, it stands as it is, shared by all."""
        filler = None
        if self.own:
            try:
                filler = template.compiled(value, WORDS, path)
                if filler and template.words_of(value) <= CONSTANT.keys():
                    value, filler = filler(CONSTANT), None
            except TemplateError:
                for error in _broken(value, path):
                    self.found.add("E420", self.at.at(*error.path), what=error, hint=hint(error))
        if filler is None:
            constant = template.shared(value)
            return lambda words: constant
        return filler

    def strings(self, path: Path, value: Sequence[str]) -> Callable[[Words], list[str]]:
        """Fills a list of strings."""
        return _strings(self.tree(path, value))

    def when(self, path: Path, entry: Spec) -> Filler:
        """The condition of an entry; without one it always holds."""
        try:
            return template.condition(entry.get("when", "true"), WORDS, (*path, "when"))
        except TemplateError as error:
            self.found.add("E420", self.at.at(*path, "when"), what=error, hint=hint(error))
            return lambda words: False


def engine(files: OptionFiles, runtime: BackendRuntime, found: Findings) -> Engine:
    """The runtime, compiled. Raises Stop when one of its templates is broken."""
    spec, preset = runtime.spec, _Preset(runtime, found)
    own, at = preset.own, preset.at
    configs = _configs(spec, preset)
    listed = options.listed(files, runtime, version(own, spec["version"]))
    reads = _style(spec, own, listed)
    if listed is None and "list" in own.get("options", {}) and not files.versions(runtime, own["options"]["list"]):
        found.add("E423", at.at("engine", "options", "list"), name=own["options"]["list"])
    given = [normal.entry(each, at.at("envs", i), found) for i, each in enumerate(spec.get("envs") or ())]
    made = Engine(
        runtime=runtime,
        spec=own,
        origin=at,
        configs=configs,
        command=preset.strings(("command",), spec.get("command") or []),
        envs=preset.tree(("envs",), list(merge_env(given))),
        lifecycle=preset.tree(("lifecycle",), spec.get("lifecycle") or {}),
        probes={
            key: preset.tree((key,), spec[key])
            for key in ("startupProbe", "readinessProbe", "livenessProbe")
            if spec.get(key)
        },
        derived=_derived(preset),
        asked=tuple(
            word for word in sorted(WORDS) if any(word in entry.get("when", "") for entry in own.get("derived") or ())
        ),
        holding={},
        files=_files(preset),
        steps=_steps(preset),
        volumes=tuple((each["name"], each["mountPath"]) for each in own.get("volumes") or ()),
        style=reads,
        owned=_owned(reads, spec) if own else {},
        owned_env=_owned_env(given) if own else {},
        judges={},
        judged={},
    )
    if found.problems:
        raise Stop
    return made


def _style(spec: Spec, own: Spec, listed: Listed | None) -> Style:
    """How its command line is read; what the preset itself uses counts as known."""
    layers = [config.get("args") or [] for config in spec.get("recommendedConfigs") or ()]
    layers += [entry.get("args") or [] for entry in own.get("derived") or ()]
    return options.style(own.get("options") or {}, layers, listed)


def _configs(spec: Spec, preset: _Preset) -> Mapping[str, Recommended]:
    configs: dict[str, Recommended] = {}
    for i, config in enumerate(spec.get("recommendedConfigs") or ()):
        origin = preset.at.at("recommendedConfigs", i)
        if config["name"] in configs:
            preset.found.add("E421", origin.at("name"), name=config["name"])
            continue
        path, args = ("recommendedConfigs", i, "args"), config.get("args") or []
        filled = preset.strings(path, args) if preset.own else _strings(_upstream(args, preset.at.at(*path)))
        configs[config["name"]] = Recommended(config, filled, origin)
    return configs


def _derived(preset: _Preset) -> tuple[Derived, ...]:
    derived = []
    for i, entry in enumerate(preset.own.get("derived") or ()):
        path: Path = ("engine", "derived", i)
        derived.append(
            Derived(
                preset.when(path, entry),
                entry.get("group", ""),
                preset.tree((*path, "args"), entry["args"]) if "args" in entry else None,
                preset.tree((*path, "envs"), entry["envs"]) if "envs" in entry else None,
                _size(entry, preset.at.at(*path, "sharedMemory"), preset.found),
            )
        )
    return tuple(derived)


def _files(preset: _Preset) -> tuple[File, ...]:
    """Its files; their keys in the ConfigMap are their names, so two folders cannot hold files of one name."""
    files: list[File] = []
    for i, entry in enumerate(preset.own.get("files") or ()):
        path: Path = ("engine", "files", i)
        where, key = entry["path"], posixpath.basename(entry["path"])
        if any(each.key == key and each.path != where for each in files):
            preset.found.add("E422", preset.at.at(*path, "path"), name=key)
        content = preset.tree((*path, "content"), entry["content"])
        files.append(File(preset.when(path, entry), where, key, content))
    return tuple(files)


def _steps(preset: _Preset) -> tuple[Step, ...]:
    steps = []
    for i, entry in enumerate(preset.own.get("initContainers") or ()):
        path: Path = ("engine", "initContainers", i)
        steps.append(
            Step(
                preset.when(path, entry),
                entry["name"],
                entry.get("image", ""),
                preset.strings((*path, "command"), entry.get("command") or []),
                preset.strings((*path, "args"), entry.get("args") or []),
            )
        )
    return tuple(steps)


def _broken(value: Any, path: Path) -> Iterator[TemplateError]:
    """What is wrong with each string of a tree."""
    if isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _broken(item, (*path, key))
        return
    try:
        template.compiled(value, WORDS, path)
    except TemplateError as error:
        yield error


def hint(error: TemplateError) -> str:
    """What to do about a template that does not hold."""
    meant = guess(error.word, sorted(WORDS)) if error.word else ""
    return meant if meant.startswith("did you mean") else "the words are in llmaz's docs/presets.md"


def _strings(filler: Filler) -> Callable[[Words], list[str]]:
    return lambda words: [value if isinstance(value, str) else str(value) for value in filler(words)]


def _size(entry: Spec, origin: Origin, found: Findings) -> str:
    """The entry's sharedMemory, canonical; '' without one."""
    try:
        return quantity.canonical(entry["sharedMemory"]) if "sharedMemory" in entry else ""
    except ValueError:
        found.add("E305", origin, value=entry["sharedMemory"])
        return ""


_OWNED = {  # words whose options and variables are the renderer's, and what to do instead
    "Port": "every part of the pod agrees on one port; leave it out",
    "ModelName": "set spec.servedModelName instead",
}


def _owned(reads: Style, spec: Spec) -> Mapping[str, str]:
    """Options whose preset value is the port or the served name: the renderer's."""
    owned = {}
    for config in spec.get("recommendedConfigs") or ():
        for option, value in itertools.pairwise(config.get("args") or ()):
            if (word := value.strip("{} ").lstrip(".")) in _OWNED and value.startswith("{{"):
                owned[reads.name(option)] = _OWNED[word]
    return owned


def _owned_env(entries: Sequence[Mapping[str, Any]]) -> Mapping[str, str]:
    """Variables whose preset value holds the port or the served name, for engines that are set by environment."""
    owned = {}
    for entry in entries:
        for word in template.words_of(entry.get("value")) & _OWNED.keys():
            owned[entry["name"]] = _OWNED[word]
    return owned


def _upstream(args: Sequence[str], at: Origin) -> Filler:
    """Upstream's placeholders only; what it would stop at is a TemplateError when that config is filled."""
    parts: list[tuple[str, Filler | None]] = []
    for arg in args:
        pieces = _PLACEHOLDER.split(arg) if "{{" in arg else [arg]
        unclosed = any(_OPEN.search(piece) for piece in pieces[::2])
        parts.append(
            (arg, _fill_upstream(pieces, unclosed, at.at(len(parts))) if len(pieces) > 1 or unclosed else None)
        )
    return lambda words: [filler(words) if filler else arg for arg, filler in parts]


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
                said = f"nothing fills the placeholder '{{{{ .{piece} }}}}'; {known}"
                raise TemplateError(said, at.path, "" if piece in _UPSTREAM else piece)
            else:
                out.append(words[piece])
        return "".join(out)

    return fill
