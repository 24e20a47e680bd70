"""How an engine is run: which of a BackendRuntime's configs, variants and parts hold. `compiling` makes it ready."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NoReturn

from msgspec import Struct

from renderer import patterns
from renderer.api import App, BackendRuntime, Inputs, OpenModel, OptionFiles, Spec, UnreadableList
from renderer.diagnostics import Collector, Origin, Stop, suggestion
from renderer.patterns import Expression, PatternError
from renderer.plan import Body
from renderer.resolve.engine import dialect
from renderer.resolve.engine.dialect import ArgLayer, Dialect, OptionList, ReservedOption
from renderer.resolve.engine.option_validation import OptionJudge, Said, validate_options
from renderer.resolve.flavors import NONE, Accelerator
from renderer.resolve.kube.resources import MergedResources
from renderer.resolve.layers import MergedEntries, ValueLayer
from renderer.template import Filler, Words, share_maps, split_template

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
        "Slots",
        "DrainSleep",
        "Region",
        "Anonymous",
    ]
)
_MOST_FAILURES = 2**31 - 1
PORT = 8080  # the one port of args, probes, drain and Services (docs/design/contract.md#names-in-the-pod)


def constant(drain: int) -> Words:
    """The words that are alike for all apps of a run which drain alike."""
    return {"Port": PORT, "DrainSleep": drain}


class Derived(Struct, frozen=True):
    """One entry of `engine.derived`. `words`: what may fill it."""

    origin: Origin
    when: Filler
    group: str
    args: Filler | None
    envs: Filler | None
    shared_memory: str
    words: frozenset[str]


class Conditional(Struct, frozen=True):
    """What `engine.versions` says of a version: when that counts, and the sentence."""

    when: Filler
    what: Filler


class Derivation(Struct, frozen=True, eq=False):
    """What `engine.derived` gives: layers of arguments, of variables, of shared memory. `held`: the entries that
    they are from."""

    held: tuple[Derived, ...] = ()
    layers: tuple[ArgLayer, ...] = ()
    envs: tuple[ValueLayer, ...] = ()
    shared_memory: tuple[ValueLayer, ...] = ()


class HeldDerivations(Struct, frozen=True, eq=False):
    """The entries of `engine.derived` that hold together. `asking`: the values of the words that fill them."""

    entries: tuple[Derived, ...]
    asking: Callable[[Words], Any]
    filled: dict[Any, Derivation]  # a memory: by these values


class RunnerShell(Struct, frozen=True, eq=False):
    """What a runner has around its arguments."""

    command: tuple[str, ...]
    lifecycle: Body
    startup: Body
    readiness: Body
    liveness: Body


class EngineFile(Struct, frozen=True):
    """One entry of `engine.files`: when it holds, where the container sees it, its key in the ConfigMap."""

    when: Filler
    path: str
    key: str
    content: Filler


class EngineStep(Struct, frozen=True):
    """One entry of `engine.initContainers`; `image` is empty for the runner's."""

    when: Filler
    name: str
    image: str
    command: Callable[[Words], Sequence[str]]
    args: Callable[[Words], Sequence[str]]


class RunnerSize(Struct, frozen=True):
    """What follows from an app's resources and its flavor: what the runner gets, the accelerators in it, the variant
    for these, TP and MaxModelLen, and what the preset says of the image's repository and tag.
    """

    resources: MergedResources
    held: Accelerator = NONE
    variant: Spec = {}
    size: int = 1
    length: int = 0
    images: Sequence[ValueLayer] = ()
    versions: Sequence[ValueLayer] = ()


class RecommendedConfig(Struct, frozen=True, eq=False):
    """One recommendedConfig: its spec, what fills its args, and where it stands. `sized`: a memory, by what the app and
    its flavor say; `drafts`: one of the args is the path of a draft model.
    """

    spec: Spec
    layer: Callable[[Words], ArgLayer]
    origin: Origin
    sized: dict[bytes, RunnerSize]
    drafts: bool


class SharedTokens(Struct, frozen=True):
    """Options whose tokens all requests at once share, the one that says how many these are, and the one that gives
    each request its own ('': none).
    """

    options: frozenset[str]
    among: str
    instead: str


class Engine(Struct, frozen=True, eq=False):
    """A BackendRuntime in one version of its engine, compiled once; `runtime` is as it is in that. `spec` is its
    `spec.engine`, empty where it is not `templated`; `reserved` and `owned_env`: options and variables that are not for
    users to set, and what to do instead; `volumes`: name and path of each.
    """

    runtime: BackendRuntime
    version: str  # the one that it is compiled for, '' where nobody knows
    other: bool  # that is not the runtime's own
    spec: Spec
    templated: bool
    constant: Words  # the words that are alike for all apps
    origin: Origin
    configs: Mapping[str, RecommendedConfig]
    shell: Callable[[Words], RunnerShell]
    envs: Filler
    derived: tuple[Derived, ...]
    notes: tuple[Conditional, ...]  # what is otherwise in this version
    refusals: tuple[Conditional, ...]  # what this version cannot do
    asking: Callable[[Words], Any]  # all of the words that the conditions of `derived` depend on
    holding: dict[Any, HeldDerivations]  # a memory: by that, what holds
    together: dict[tuple[int, ...], HeldDerivations]  # a memory: one for the same entries
    files: tuple[EngineFile, ...]
    steps: tuple[EngineStep, ...]
    grace: int  # the seconds that a pod has to end
    volumes: tuple[tuple[str, str], ...]
    style: Dialect
    reserved: Mapping[str, ReservedOption]
    sizes: frozenset[str]  # the options that take the tensor parallel size
    lengths: frozenset[str]  # the options that take the longest context
    shared_tokens: SharedTokens | None
    sharing: frozenset[str]  # all that share accelerators out, those that take the tensor parallel size too
    shares: Mapping[str, frozenset[str]]  # those whose number multiplies it, and beside which it does not
    uncounted: frozenset[str]  # those beside which nobody can count
    filed: Mapping[str, str]  # options that name the preset's file with the draft model in it, and its path
    owned_env: Mapping[str, str]
    tags: dict[str, str]  # a memory of the versions that they say
    lists: dict[str, OptionList | None]  # a memory of its options, by version
    judges: dict[str, OptionJudge | None]  # a memory, by version
    judged: dict[tuple[str, Sequence[str]], tuple[Said, ...]]  # a memory, by version and arguments
    environments: dict[tuple[int, bytes], MergedEntries] | None  # a memory, None where apps' words are in `envs`
    fitting: set[tuple[Any, ...]]  # a memory of the forms of weights that it takes

    def derives(self, words: Words) -> Derivation:
        """What the derived entries that hold give. Raises TemplateError."""
        condition_values = self.asking(words)
        held = self.holding.get(condition_values)
        if held is None:
            entries = tuple([entry for entry in self.derived if entry.when(words)])
            fresh = HeldDerivations(entries, reading(frozenset().union(*(entry.words for entry in entries))), {})
            held = self.holding[condition_values] = self.together.setdefault(tuple(map(id, entries)), fresh)
        word_values = held.asking(words)
        known = held.filled.get(word_values)
        if known is None:
            known = held.filled[word_values] = _derivation(held.entries, words)
        return known

    def said(self, tag: str) -> str:
        """The version that an image tag says; '' when it says none."""
        known = self.tags.get(tag)
        if known is None:
            known = self.tags[tag] = version(self.spec, tag, trusted=self.runtime.ours)
        return known


def reading(words: Iterable[str]) -> Callable[[Words], Any]:
    """The values of these words, to look something up by."""
    names = sorted(words)
    return itemgetter(*names) if names else lambda words: ()


def _derivation(held: tuple[Derived, ...], words: Words) -> Derivation:
    layers: list[ArgLayer] = []
    envs: list[ValueLayer] = []
    sizes: list[ValueLayer] = []
    for entry in held:
        if entry.args:
            args = [str(arg) for arg in entry.args(words)]
            layers.append(ArgLayer(args, entry.origin.at("args"), entry.group, dialect.shape(args)))
        if entry.envs:
            envs.append(ValueLayer(share_maps(entry.envs(words)), entry.origin.at("envs")))
        if entry.shared_memory:
            sizes.append(ValueLayer(entry.shared_memory, entry.origin.at("sharedMemory")))
    return Derivation(held, tuple(layers), tuple(envs), tuple(sizes))


def model_settings(model: OpenModel, engine: Engine) -> Spec:
    """What a model says of this engine: its entry of `spec.engines`."""
    return (model.spec.get("engines") or {}).get(engine.runtime.name) or {}


def runtime(inputs: Inputs, name: str, origin: Origin, diagnostics: Collector) -> BackendRuntime:
    """The BackendRuntime of that name. Raises Stop when there is none."""
    if name in inputs.runtimes:
        return inputs.runtimes[name]
    if not inputs.unreadable and ("BackendRuntime", name) not in inputs.broken:
        known = [*inputs.runtimes, *(other for kind, other in inputs.broken if kind == "BackendRuntime")]
        diagnostics.add(
            "E205", origin, name=name, hint=suggestion(name, known, (own.name for own in inputs.definitions))
        )
    raise Stop


def recommended(engine: Engine, draft: bool, app: App, diagnostics: Collector) -> RecommendedConfig:
    """configName → speculative-decoding with a draft model → default (docs/design/contract.md#recommended-config).

    Raises Stop for a name it lacks.
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
        listed = f"choose one by configName: {', '.join(names)}" if names else "give it recommendedConfigs"
        if code == "E407":
            reason = (engine.spec.get("unsupported") or {}).get("draft")
            listed = "; ".join(filter(None, [reason, "use a backend that can, or leave the draft out"]))
        diagnostics.stop(code, place, name=name, backend=engine.runtime.name, hint=listed)
    return engine.configs[name]


def variant(engine: Engine, accelerator: Accelerator, given: bool) -> Spec | None:
    """The first variant that fits the accelerator, None when none does; `given`: the model has flavors."""
    variants = engine.spec.get("variants")
    if not variants:
        return {}
    bare = not given and not accelerator.resource
    for candidate in variants:
        if candidate.get("unflavored") if bare else candidate["accelerator"] == accelerator.vendor:
            fitting: Spec = candidate
            return fitting
    return None


def unsuited(
    inputs: Inputs, engine: Engine, accelerator: Accelerator, given: bool, origin: Origin, diagnostics: Collector
) -> NoReturn:
    """Why no variant fits the accelerator. Raises Stop."""
    bare = not given and not accelerator.resource
    vendors = [known_variant["accelerator"] for known_variant in _variants(engine.runtime)]
    resources = [
        entry["name"]
        for vendor in vendors
        for entry in inputs.accelerators
        if entry.get("vendor") == vendor and entry["count"] == "tp"
    ][:2]
    if bare:
        diagnostics.stop(
            "E402",
            origin,
            backend=engine.runtime.name,
            hint=f"say what a pod gets under spec.inferenceConfig.flavors, such as limits: {{{resources[0]}: 1}}"
            if resources
            else "add a flavor",
        )
    vendor = accelerator.vendor if accelerator.resource else "nodes without an accelerator"
    diagnostics.stop(
        "E401", origin, backend=engine.runtime.name, vendor=vendor, hint=_elsewhere(inputs, engine, accelerator)
    )


def _elsewhere(inputs: Inputs, engine: Engine, accelerator: Accelerator) -> str:
    """What runs on this accelerator, and on what this engine runs."""
    vendor, name = accelerator.vendor, engine.runtime.name
    others = [
        other
        for other in inputs.runtimes
        if other != name and any(entry["accelerator"] == vendor for entry in _variants(inputs.runtimes[other]))
    ]
    runs = f"it runs on {', '.join(entry['accelerator'] for entry in _variants(engine.runtime))}"
    reason = (engine.spec.get("unsupported") or {}).get(vendor)
    what = vendor if accelerator.resource else "nodes without one"
    able = f"engines for {what}: {', '.join(others)}" if others else f"no backend known here runs on {what}"
    return "; ".join(filter(None, [reason, runs, able]))


def _variants(runtime: BackendRuntime) -> list[Spec]:
    """What a runtime says of accelerators."""
    return (runtime.spec.get("engine") or {}).get("variants") or []


def expressed(pattern: str, *, trusted: bool = False) -> Expression | re.Pattern[str]:
    """The regular expression; `trusted`: one of ours, for which `re` will do, which is imported anyway.

    Raises PatternError.
    """
    return re.compile(pattern) if trusted else patterns.expression(pattern)


def version(spec: Spec, tag: str, *, trusted: bool = False) -> str:
    """The engine's version that an image tag says, by `options.version` of a `spec.engine`; '' when it says none.

    A pattern without a group is the version itself: so a custom image says it. One that is broken says none. Its second
    group finds the name of a release, which `options.releases` knows the version of.
    """
    releases = (spec.get("options") or {}).get("releases") or {}
    pattern = (spec.get("options") or {}).get("version")
    if not pattern or not tag:
        return ""
    try:
        expression = expressed(pattern, trusted=trusted)
    except PatternError:
        return ""
    if not expression.groups:
        return str(releases.get(pattern, pattern))
    match = expression.search(tag)
    if match and (number := match.group(1)):
        return _whole(number, tag[match.end(1) :])
    return str(releases.get(match.group(2), "")) if match and expression.groups > 1 else ""


def _whole(version: str, behind: str) -> str:
    """The version with what goes on behind it as one does: a fourth number, .post1, rc1, .dev1."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        return version
    more = re.match(r"(\.\d+)?((\.?(post|dev)|rc)\d+)*(?![0-9A-Za-z])", behind)
    return version + more[0] if more else version


def name_in_engine(engine: Engine, served: str, words: Words) -> str:
    """What the engine calls the model: its `servedName` (docs/design/presets.md#served-name)."""
    kind = str(engine.spec.get("servedName", "option"))
    if kind.startswith("fixed:"):
        return kind.removeprefix("fixed:")
    if kind == "model" or (kind == "directory" and words["Skip"] and words["Source"] == "hub"):
        return str(words["ModelName" if kind == "model" else "ModelPath"])
    return served


def judge(files: OptionFiles, engine: Engine, version: str, diagnostics: Collector) -> OptionJudge | None:
    """Who judges the options of this version; None when nobody knows them."""
    if version not in engine.judges:
        if version not in engine.lists:
            listed = engine.lists[version] = known_options(files, engine.runtime, version, diagnostics, engine.lists)
            if listed:
                engine.lists[listed.version] = listed
        listed, name = engine.lists[version], engine.runtime.name
        if listed is None:
            option_judge = None
        elif (engine.spec.get("options") or {}).get("uncertain"):
            option_judge = OptionJudge(engine.style, listed, f"the uncertain list of {name} {listed.version}", "W")
        elif dialect.order(listed.version) != dialect.order(version):
            option_judge = OptionJudge(
                engine.style, listed, f"{name} {listed.version} (the nearest known to {version})", "W"
            )
        else:
            option_judge = OptionJudge(engine.style, listed, f"{name} {version}")
        engine.judges[version] = option_judge
    return engine.judges[version]


def known_options(
    files: OptionFiles,
    runtime: BackendRuntime,
    version: str,
    diagnostics: Collector,
    read: Mapping[str, OptionList | None] = {},
) -> OptionList | None:
    """The options of this version; None, and maybe an error, when nobody knows them. `read`: those that are read."""
    path = ((runtime.spec.get("engine") or {}).get("options") or {}).get("list")
    origin = Origin(runtime.document, ("spec", "engine", "options", "list"))
    try:
        listed = dialect.listed(files, runtime, version, read)
        if path and listed is None and not files.versions(runtime, path):
            diagnostics.add("E423", origin, name=path)
    except UnreadableList as error:
        diagnostics.add("E425", origin, what=error)
        return None
    return listed


def judge_own(files: OptionFiles, engine: Engine, diagnostics: Collector) -> None:
    """What the engine of its own version would not take of a runtime's arguments."""
    own, runtime = engine.spec, engine.runtime
    version_ = version(own, runtime.spec["version"], trusted=runtime.ours)
    option_judge = judge(files, engine, version_, diagnostics) if version_ else None
    if option_judge is None:
        return
    lines = [
        (entry.get("args") or (), engine.origin.at(*path, i, "args"))
        for path, entries in ((("recommendedConfigs",), runtime.spec), (("engine", "derived"), own))
        for i, entry in enumerate(entries.get(path[-1]) or ())
    ]
    for args, origin in lines:
        filled = ["value".join(split_template(arg)[::2]) for arg in args]
        for index, code, words in validate_options(option_judge, filled, len(args)):
            diagnostics.add(code, origin.at(index), **words)


def startup(engine: Engine, probe: Body, weights_gib: float) -> Body:
    """The startup probe with a budget that grows with the weights: ceil(max(seconds, perGiB × GiB) / period)
    failures, as many as an int32 holds.
    """
    budget = engine.spec.get("startup")
    if not budget or not probe or not weights_gib:
        return probe
    period = probe.get("periodSeconds") or 10  # Kubernetes takes 0 for its default
    if not isinstance(period, int) or period < 0:
        return probe  # the probe itself is wrong, and its schema says so
    seconds = max(budget.get("seconds", 0), budget.get("perGiB", 0) * weights_gib)
    return {**probe, "failureThreshold": math.ceil(min(seconds / period, _MOST_FAILURES))}
