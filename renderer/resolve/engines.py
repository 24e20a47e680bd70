"""How an engine is run: a BackendRuntime made ready to be filled, and which of its configs, variants and parts hold.

With `spec.engine` a runtime is a template over WORDS (design/presets.md); without it exactly upstream's three
placeholders in the chosen config's args are filled, and every other brace stays (contract, section 3).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from renderer import quantity, template
from renderer.api import BackendRuntime, Inputs, Spec
from renderer.plan import Body
from renderer.problems import Findings, Origin, Path, Stop, guess, quoted
from renderer.resolve import normal
from renderer.resolve.environment import merge_env
from renderer.resolve.flavors import Accelerator
from renderer.resolve.options import Style, style
from renderer.template import Filler, TemplateError, Words

WORDS = frozenset(
    [
        "ModelPath",
        "ModelName",
        "DraftModelPath",
        "Revision",
        "DraftRevision",
        "Hub",
        "Filename",
        "Endpoint",
        "Source",
        "Format",
        "Skip",
        "Stream",
        "Accelerator",
        "Port",
        "TP",
        "MaxModelLen",
        "DrainSleep",
        "Region",
        "Anonymous",
    ]
)
DRAIN_SLEEP = 10
PORT = 8080  # the one port of args, probes, drain and Services (contract, section 3)
CONSTANT: Words = {"Port": PORT, "DrainSleep": DRAIN_SLEEP}  # the words that are alike for all apps of a run
_UPSTREAM = frozenset({"ModelPath", "ModelName", "DraftModelPath"})
_PLACEHOLDER = re.compile(r"\{\{\s*\.(\w+)\s*\}\}")
_OPEN = re.compile(r"\{\{\s*\.\w(?!.*\}\})", re.DOTALL)
_LATER = ("files", "volumes", "initContainers")


class Derived(NamedTuple):
    """One entry of `engine.derived`."""

    when: Filler
    group: str
    args: Filler | None
    envs: Filler | None
    shared_memory: str


class Recommended(NamedTuple):
    """One recommendedConfig: its spec, its args filled, and where it stands."""

    spec: Spec
    args: Callable[[Words], list[str]]
    origin: Origin


class Engine(NamedTuple):
    """A BackendRuntime, compiled once. `spec` is its `spec.engine`, empty without one; `owned`: options that are the
    renderer's.
    """

    runtime: BackendRuntime
    spec: Spec
    origin: Origin
    configs: Mapping[str, Recommended]
    command: Filler
    envs: Filler
    lifecycle: Filler
    probes: Mapping[str, Filler]
    derived: tuple[Derived, ...]
    asked: tuple[str, ...]  # the words that the conditions of `derived` read
    holding: dict[tuple[Any, ...], tuple[Derived, ...]]  # a memory: by the values of these words, what holds
    style: Style
    owned: Mapping[str, str]

    def derives(self, words: Words) -> tuple[Derived, ...]:
        """The derived entries that hold. Raises TemplateError."""
        asked = tuple([words[word] for word in self.asked])
        known = self.holding.get(asked)
        if known is None:
            known = self.holding[asked] = tuple(entry for entry in self.derived if entry.when(words))
        return known

    @property
    def templated(self) -> bool:
        """Whether the runtime has `spec.engine`."""
        return bool(self.spec)


def runtime(inputs: Inputs, name: str, origin: Origin, found: Findings) -> BackendRuntime:
    """The BackendRuntime of that name. Raises Stop when there is none."""
    if name in inputs.runtimes:
        return inputs.runtimes[name]
    if not inputs.unreadable and ("BackendRuntime", name) not in inputs.broken:
        known = [*inputs.runtimes, *(other for kind, other in inputs.broken if kind == "BackendRuntime")]
        found.add("E205", origin, name=name, hint=guess(name, known))
    raise Stop


def engine(runtime: BackendRuntime, found: Findings) -> Engine:
    """The runtime, compiled. Raises Stop when one of its templates is broken."""
    spec, own = runtime.spec, runtime.spec.get("engine") or {}
    at = Origin(runtime.document, ("spec",))
    for key in _LATER:
        if key in own:
            found.add("E410", at.at("engine", key, key=True), key=key)

    def tree(path: Path, value: Any) -> Filler:
        """Fills a tree; without spec.engine, or without a word in it, it stands as it is, shared by all."""
        filler = None
        if own:
            try:
                filler = template.compiled(value, WORDS, path)
                if filler and template.words_of(value) <= CONSTANT.keys():
                    value, filler = filler(CONSTANT), None
            except TemplateError:
                for error in _broken(value, path):
                    found.add("E420", at.at(*error.path), what=error, hint=hint(error))
        if filler is None:
            constant = template.shared(value)
            return lambda words: constant
        return filler

    derived = []
    for i, entry in enumerate(own.get("derived") or ()):
        path: Path = ("engine", "derived", i)
        try:
            when = template.condition(entry.get("when", "true"), WORDS, (*path, "when"))
        except TemplateError as error:
            found.add("E420", at.at(*path, "when"), what=error, hint=hint(error))
            continue
        derived.append(
            Derived(
                when,
                entry.get("group", ""),
                tree((*path, "args"), entry["args"]) if "args" in entry else None,
                tree((*path, "envs"), entry["envs"]) if "envs" in entry else None,
                _size(entry, at.at(*path, "sharedMemory"), found),
            )
        )
    configs = {}
    for i, config in enumerate(spec.get("recommendedConfigs") or ()):
        if config["name"] in configs:
            found.add("E421", at.at("recommendedConfigs", i, "name"), name=config["name"])
            continue
        path, args = ("recommendedConfigs", i, "args"), config.get("args") or []
        filled = tree(path, args) if own else _upstream(args, at.at(*path), found)
        configs[config["name"]] = Recommended(config, _strings(filled), at.at("recommendedConfigs", i))
    command = _strings(tree(("command",), spec.get("command") or []))
    given = [normal.entry(each, at.at("envs", i), found) for i, each in enumerate(spec.get("envs") or ())]
    envs, lifecycle = tree(("envs",), list(merge_env(given))), tree(("lifecycle",), spec.get("lifecycle") or {})
    probes = {
        key: tree((key,), spec[key]) for key in ("startupProbe", "readinessProbe", "livenessProbe") if spec.get(key)
    }
    if found.problems:
        raise Stop
    all_args = [config.get("args") or [] for config in spec.get("recommendedConfigs") or ()]
    options = style(
        own.get("options") or {}, [*all_args, *(entry.get("args") or [] for entry in own.get("derived") or ())]
    )
    return Engine(
        runtime=runtime,
        spec=own,
        origin=at,
        configs=configs,
        command=command,
        envs=envs,
        lifecycle=lifecycle,
        probes=probes,
        derived=tuple(derived),
        asked=tuple(
            word for word in sorted(WORDS) if any(word in entry.get("when", "") for entry in own.get("derived") or ())
        ),
        holding={},
        style=options,
        owned=_owned(options, all_args) if own else {},
    )


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


def _owned(options: Style, configs: Sequence[Sequence[str]]) -> Mapping[str, str]:
    """Options whose preset value is the port or the served name: the renderer's."""
    hints = {
        "Port": "every part of the pod agrees on one port; leave it out",
        "ModelName": "set spec.servedModelName instead",
    }
    owned = {}
    for args in configs:
        for option, value in itertools.pairwise(args):
            if (word := value.strip("{} ").lstrip(".")) in hints and value.startswith("{{"):
                owned[options.name(option)] = hints[word]
    return owned


def _upstream(args: Sequence[str], at: Origin, found: Findings) -> Filler:
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


def recommended(engine: Engine, draft: bool, user: Spec, origin: Origin, found: Findings) -> Recommended:
    """configName → speculative-decoding with a draft model → default (contract, section 2).

    Raises Stop for a name it lacks.
    """
    name = user.get("configName") or ("speculative-decoding" if draft else "default")
    if name not in engine.configs:
        names = list(engine.configs)
        if user.get("configName"):
            found.stop("E206", origin.at("configName"), name=name, backend=engine.runtime.name, hint=guess(name, names))
        code = "E407" if name == "speculative-decoding" else "E206"
        place = origin.at("backendName") if "backendName" in user else Origin(origin.source, ("spec",))
        listed = f"choose one by configName: {', '.join(names)}" if names else "give it recommendedConfigs"
        found.stop(code, place, name=name, backend=engine.runtime.name, hint=listed)
    return engine.configs[name]


def variant(  # noqa: RET503 - found.stop never returns
    inputs: Inputs, engine: Engine, accelerator: Accelerator, given: bool, origin: Origin, found: Findings
) -> Spec:
    """The first variant that fits the accelerator; `given`: the model has flavors. Raises Stop when none fits."""
    variants = engine.spec.get("variants")
    if not variants:
        return {}
    bare = not given and not accelerator.resource
    for each in variants:
        if each.get("unflavored") if bare else each["accelerator"] == accelerator.vendor:
            fitting: Spec = each
            return fitting
    vendors = [each["accelerator"] for each in variants]
    resources = [
        entry["name"]
        for vendor in vendors
        for entry in inputs.accelerators
        if entry.get("vendor") == vendor and entry["count"] == "tp"
    ][:2]
    if bare:
        found.stop(
            "E402",
            origin,
            backend=engine.runtime.name,
            hint=f"say what a pod gets under spec.inferenceConfig.flavors, such as limits: {{{resources[0]}: 1}}"
            if resources
            else "add a flavor",
        )
    found.stop(
        "E401",
        origin,
        backend=engine.runtime.name,
        vendor=accelerator.vendor if accelerator.resource else "nodes without an accelerator",
        hint=f"it runs on {quoted(vendors)}",
    )


def version(engine: Engine, tag: str) -> str:
    """The engine's version that an image tag says, by `options.version`; '' when it says none."""
    pattern = (engine.spec.get("options") or {}).get("version")
    match = re.search(pattern, tag) if pattern and tag else None
    return match.group(1) if match and match.groups() else ""


def startup(engine: Engine, probe: Body, weights_gib: float) -> Body:
    """The startup probe with a budget that grows with the weights: ceil(max(seconds, perGiB × GiB) / period)
    failures.
    """
    budget = engine.spec.get("startup")
    if not budget or not probe or not weights_gib:
        return probe
    seconds = max(budget.get("seconds", 0), budget.get("perGiB", 0) * weights_gib)
    return {**probe, "failureThreshold": int(-(-seconds // probe.get("periodSeconds", 10)))}
