"""Whether the engine can load the weights of the claimed models; each error has a hint."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from renderer.api import App, Inputs
from renderer.diagnostics import Diagnostic, Origin, counted, has_errors, make_diagnostic, rule
from renderer.kubernetes.json_values import text_at
from renderer.resolve.claims import ClaimedModel
from renderer.resolve.engine.backend_runtime import Engine
from renderer.resolve.pod.pod_template import runner_patch
from renderer.resolve.weight_files import is_part
from renderer.resolve.weight_sources import PULLED, Weights
from renderer.resolve.workload.engine_run import EngineChoice, EngineRun
from renderer.resolve.workload.gpu_fit import accelerator_type
from renderer.text import patterns

if TYPE_CHECKING:
    from renderer.input_types import EngineSpec

_PROJECTOR = "projector"  # the key of a source
_FILES = (".safetensors", ".bin", ".pt", ".pth")  # of weights, where a folder is meant
_OTHER_FILES = (".json", ".txt", ".md", ".jinja", ".zip", ".tar", ".gz", ".tgz")  # beside weights, or around them
_BEFORE = ("-", "_", ".")  # the word GGUF at the end of a repository's name
# What has to be left of a repository: one of each. Which of them there is differs by format and model.
_CONFIGURATIONS = ("config.json", "params.json")
_TOKENIZERS = (
    *("tokenizer.json", "tokenizer.model", "tekken.json", "vocab.json", "vocab.txt", "tiktoken.model"),
    *("sentencepiece.bpe.model", "spiece.model", "qwen.tiktoken"),
)
_WEIGHTS = (
    "model.safetensors",
    "model-00001-of-00002.safetensors",
    "consolidated.safetensors",
    "adapter_model.safetensors",
)
_OLDER_WEIGHTS = "pytorch_model.bin"
_SOURCES = {
    "hub": "a hub repository",
    "objectStore": "an object store",
    "host": "host://",
    "oci": "oci://",
    "pvc": "pvc://",
    PULLED: f"{PULLED}://",
}
_PARAMETERS = r"(?i)(?<![\w.])(\d+(?:\.\d+)?)b(?![a-z0-9])"  # such as 405B
_BYTES = (  # of a parameter, by a word of its format
    (r"(?:int|fp|w|q)4(?![0-9])|awq|gptq|4-?bit", 0.5),
    (r"(?:int|fp|w|q)8(?![0-9])|8-?bit", 1.0),
)


@rule(of=EngineChoice, when=lambda choice: choice.engine.templated, gate=True)
def unloadable_weights(choice: EngineChoice) -> Iterator[Diagnostic]:
    """An error for each model that the engine cannot load, and for two formats that it cannot combine."""
    base, engine = choice.base, choice.engine
    problems = [
        problem
        for claimed, weights in zip(base.claim.models, base.weights, strict=True)
        for problem in _unloadable_model(choice, claimed, weights)
    ]
    yield from problems
    why = (engine.spec.get("unsupported") or {}).get("mixed") if base.claim.draft else None
    main, draft = (weights.format for weights in base.weights[:2]) if why else ("", "")
    if main != draft and not has_errors(problems):
        params = {"app": _describe(base.app), "backend": engine.runtime.name, "hint": why, "main": main, "draft": draft}
        yield make_diagnostic("E415", base.app.origin(*base.claim.models[1].path), **params)


def _describe(app: App) -> str:
    return f"{app.kind} {app.namespace}/{app.label}"


def _unloadable_model(choice: EngineChoice, claimed: ClaimedModel, weights: Weights) -> Iterator[Diagnostic]:
    """An error at the model's source (at the claim for a preset) where the engine cannot load it."""
    base, engine, skip = choice.base, choice.engine, choice.base.skip_loaders
    app, inputs = base.app, base.context.inputs
    one = weights.one_file, weights.kind != "hub" and _names_weights_file(weights)
    named = bool(weights.filename), bool(weights.projector)
    form = (weights.kind, weights.format, weights.hub, weights.scheme, *one, *named, skip)
    if form not in engine.accepted_weights:
        if refusal := _refusal(inputs, app, engine, weights, skip):
            code, field, words = refusal
            source_path = (field,) if field and not claimed.model.ours else ()
            origin = app.origin(*claimed.path) if claimed.model.ours else weights.origin.at(*source_path)
            if field == _PROJECTOR:
                origin = Origin(claimed.model.document, ("spec", "source", _PROJECTOR))
            yield make_diagnostic(code, origin, backend=engine.runtime.name, app=_describe(app), **words)
            return
        if weights.format not in engine.spec.get("oneFile", ()):  # else it depends on the file name
            engine.accepted_weights.add(form)
    if weights.kind == "hub" and weights.format == "safetensors" and not weights.filename:
        if weights.address[-4:].lower() == "gguf" and weights.address[-5:-4] in _BEFORE:
            is_read = "gguf" in engine.spec.get("formats", ["gguf"])
            able = [] if is_read else _engines_of_format(inputs, base.app, engine, "gguf")
            hint = f", and set backendName: {join_alternatives(able)}" if able else ""
            yield make_diagnostic("W224", weights.origin.at("modelID"), name=weights.address, hint=hint)
        if not skip and (weights.words.get("AllowPatterns") or weights.words.get("IgnorePatterns")):
            yield from _excluded_files(weights, needs_tokenizer=claimed.role != "lora")


def _names_weights_file(weights: Weights) -> bool:
    """Whether its URI ends in a file of weights, or beside them, instead of a folder."""
    return weights.kind in ("objectStore", "host", "pvc") and weights.address.lower().endswith((*_FILES, *_OTHER_FILES))


def _excluded_files(weights: Weights, *, needs_tokenizer: bool) -> Iterator[Diagnostic]:
    """A warning for patterns that exclude the model's configuration, else its tokenizer; and for those that exclude the
    weights, unless they name older files of them.
    """
    allow, ignore = (_patterns(weights, word) for word in ("AllowPatterns", "IgnorePatterns"))

    def excluding(names: Sequence[str]) -> str:
        """The field that excludes all of them, '' where one is left."""
        not_allowed = bool(allow) and not any(_matches_any(name, allow) for name in names)
        is_left = any((not allow or _matches_any(name, allow)) and not _matches_any(name, ignore) for name in names)
        return "" if is_left else "allowPatterns" if not_allowed else "ignorePatterns"

    for names in (_CONFIGURATIONS, *((_TOKENIZERS,) if needs_tokenizer else ())):
        if field := excluding(names):
            yield make_diagnostic("W225", weights.origin.at(field), name=names[0])
            break
    if (field := excluding(_WEIGHTS)) and not (allow and _matches_any(_OLDER_WEIGHTS, allow)):
        yield make_diagnostic("W920", weights.origin.at(field))


def _patterns(weights: Weights, word: str) -> list[str]:
    """The patterns in a word of the loader."""
    return [part for part in str(weights.words.get(word, "")).split(",") if part]


def _matches_any(name: str, globs: Sequence[str]) -> bool:
    """Whether a file matches one of the globs, as the loader matches them."""
    return patterns.fits_any(name, globs)


def _refusal(
    inputs: Inputs, app: App, engine: Engine, weights: Weights, skip: bool
) -> tuple[str, str, dict[str, object]] | None:
    """The code of an error, the field below the source that causes it, and the words of the message."""
    spec, name = engine.spec, engine.runtime.name
    reasons, kind, form = spec.get("unsupported") or {}, weights.kind, weights.format
    sources, formats = spec.get("sources") or [kind], spec.get("formats") or [form]
    field = "filename" if weights.filename else ""
    if kind not in sources:
        able = other_engines(inputs, app, name, lambda other: kind in (other.get("sources") or [kind]))
        supported = f"it loads from {', '.join(_SOURCES[source] for source in sources)}"
        supported += f"; engines for {_SOURCES[kind]}: {', '.join(able)}" if able else ""
        return "E404", "", {"source": _SOURCES[kind], "hint": reasons.get(kind) or supported}
    if form not in formats:
        able = _engines_of_format(inputs, app, engine, form)
        hints = [reasons.get(form), f"for {form} set backendName: {join_alternatives(able)}" if able else None]
        return "E403", field, {"format": form, "hint": "; ".join(filter(None, hints))}
    single_file = form in spec.get("oneFile", ()) and kind != PULLED
    if single_file and not weights.one_file:
        return "E405", "", {"hint": reasons.get("directory") or "name one file"}
    if weights.projector and kind == PULLED:
        return "E942", _PROJECTOR, {"what": "projector", "hint": "remove it: what the engine pulls has its own"}
    if weights.projector and "projector" not in spec:
        able = other_engines(
            inputs, app, name, lambda other: "projector" in other and kind in (other.get("sources") or [kind])
        )
        hint = f"for a projector set backendName: {join_alternatives(able)}" if able else "remove it"
        if form != "gguf":
            hint = "remove it: only a GGUF model has its projector in another file"
        return "E942", _PROJECTOR, {"what": "projector", "hint": hint}
    if single_file and is_part(weights.filename or weights.address) and form not in spec.get("parts", ()):
        able = other_engines(inputs, app, name, lambda other: form in other.get("parts", ()))
        other = f", or set backendName: {join_alternatives(able)}" if able else ""
        return "E408", field, {"hint": f"merge the parts into one file{other}"}
    if weights.one_file and not single_file and "file" in reasons:
        return "E413", field, {"name": weights.filename, "hint": reasons["file"]}
    if _names_weights_file(weights) and "file" in reasons:
        name, hint = weights.address.rpartition("/")[2], f"{reasons['file'].partition(';')[0]}; name the folder"
        return "E413", field, {"name": name, "hint": hint}
    if skip and kind == "hub" and weights.filename:
        return "E409", field, {"name": weights.filename}
    if skip and kind == "hub" and weights.hub not in spec.get("hubs", [weights.hub]):
        able = other_engines(inputs, app, name, lambda other: weights.hub in other.get("hubs", ()))
        return "E412", "", {"hub": weights.hub, "hint": _skip_hint(able)}

    def streams(engine_spec: EngineSpec) -> bool:
        stream = engine_spec.get("stream") or {}
        return weights.scheme in stream.get("schemes", ()) and form in stream.get("formats", ())

    if skip and kind == "objectStore" and not streams(spec):
        return "E411", "", {"scheme": weights.scheme, "hint": _skip_hint(other_engines(inputs, app, name, streams))}
    return None


def _engines_of_format(inputs: Inputs, app: App, engine: Engine, form: str) -> list[str]:
    """The names of all other engines that read weights in this format."""
    return other_engines(inputs, app, engine.runtime.name, lambda other: form in (other.get("formats") or [form]))


def _skip_hint(able: list[str]) -> str:
    """What to do where the engine cannot load weights itself."""
    return "drop the annotation llmaz.io/skip-model-loader" + (f", or use {join_alternatives(able)}" if able else "")


def join_alternatives(names: list[str]) -> str:
    """`'a', 'b' or 'c'`."""
    quoted = [f"'{name}'" for name in names]
    return " or ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]]))


def other_engines(inputs: Inputs, app: App, name: str, is_able: Callable[[EngineSpec], bool]) -> list[str]:
    """The names of all other engines whose `spec.engine` passes a test, for a role of those that have roles."""
    specs = {other: inputs.runtimes[other].spec.get("engine") for other in inputs.runtimes if other != name}
    able = [(other, spec) for other, spec in specs.items() if spec and is_able(spec)]
    return [other for other, spec in able if not app.role or "disaggregation" in spec]


@rule(of=EngineRun, when=lambda run: "startup" in run.engine.spec)
def unknown_size(run: EngineRun) -> Iterator[Diagnostic]:
    """A note about a model whose size nobody says, and whose number of parameters tells that it loads for longer than
    the preset's startup probe waits.
    """
    model, budget = run.base.claim.main, run.engine.spec.get("startup") or {}
    facts = model.spec.get("facts") or {}
    if "weightsGiB" in facts or "perGiB" not in budget:
        return
    hub = model.spec["source"].get("modelHub") or {}
    names = f"{hub.get('modelID', '')} {hub.get('filename', '')} {model.name}"
    text, seconds = f"{facts.get('parameters', '')} {names}", budget.get("seconds", 0)
    number = re.search(_PARAMETERS, text)
    if not number or float(number[1]) * 2 * budget["perGiB"] < seconds:
        return
    if "startupProbe" in runner_patch(run.base.app.spec)[1]:
        return
    words = f"{text} {facts.get('precision', '')} {facts.get('quantization', '')}".lower()
    size = next((size for pattern, size in _BYTES if re.search(pattern, words)), 2.0)
    gib = round(float(number[1]) * size * 1e9 / 2**30)
    if gib * budget["perGiB"] > seconds:
        params = {"model": model.name, "billions": number[1], "seconds": seconds, "gib": gib}
        origin = Origin(model.document, ("spec", "source"), key=True)
        yield make_diagnostic("N256", origin, **params, share=_share_of_accelerator(run, gib))


def _says_no_size(run: EngineRun) -> bool:
    """Whether nobody says how large the weights are, of an engine that puts all of them on its accelerators."""
    facts = run.base.claim.main.spec.get("facts") or {}
    return bool(run.engine.memory) and "weightsGiB" not in facts and "parameters" not in facts


@rule(of=EngineRun, when=_says_no_size)
def too_large_by_name(run: EngineRun) -> Iterator[Diagnostic]:
    """A warning where the repository's name says a size whose weights would not fit at 4 bits either."""
    model, parallelism = run.base.claim.main, run.size.parallelism
    number = re.search(_PARAMETERS, text_at(model.spec, "source", "modelHub", "modelID"))
    if not number or parallelism.data > 1 or not (card := accelerator_type(run)):
        return
    count, gib = parallelism.tensor * parallelism.pipeline, float(number[1]) * 0.5e9 / 2**30
    if gib / count > card.memory_gib:
        words = {"billions": number[1], "gib": f"{gib:.0f}", "count": counted(count, "accelerator"), "type": card.name}
        yield make_diagnostic("W924", run.base.app.origin(*run.base.claim.models[0].path), **words)


def _share_of_accelerator(run: EngineRun, gib: float) -> str:
    """What each accelerator would hold of the weights, in words; '' where the type is not known."""
    parallelism, card = run.size.parallelism, accelerator_type(run)
    if not card or parallelism.data > 1:
        return ""
    count = parallelism.tensor * parallelism.pipeline
    verb = "do not fit" if gib / count > card.memory_gib else "fit"
    return f" ({gib / count:.0f} GiB {verb} on each of {counted(count, 'accelerator')} of type {card.name})"
