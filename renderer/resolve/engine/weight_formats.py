"""Whether an engine can take the weights that a Playground claims; every refusal says what would work."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from renderer import patterns
from renderer.api import App, Inputs
from renderer.diagnostics import Collector, has_errors
from renderer.resolve.claims import Claim, ClaimedModel
from renderer.resolve.engine.backend_runtime import Engine
from renderer.resolve.weight_sources import PULLED, Weights

if TYPE_CHECKING:
    from renderer.input_types import EngineSpec

_PART = r"(?i)-\d{5}-of-\d{5}\.gguf$"  # as text: few runs need it, and re keeps what it has compiled
_FILES = (".safetensors", ".bin", ".pt", ".pth")  # of weights, where a folder is meant
_BEFORE = ("-", "_", ".")  # the word GGUF at the end of a repository's name
_CONFIGURATIONS = ("config.json", "params.json")  # which of them there is differs by format
_SOURCES = {
    "hub": "a hub repository",
    "objectStore": "an object store",
    "host": "host://",
    "oci": "oci://",
    PULLED: f"{PULLED}://",
}


def validate_weights(
    inputs: Inputs,
    app: App,
    engine: Engine,
    claim: Claim,
    weights: Sequence[Weights],
    skip: bool,
    diagnostics: Collector,
) -> None:
    """An error for each model that the engine cannot take, and for two that it cannot take together."""
    before = len(diagnostics.problems)
    for claimed, its in zip(claim.models, weights, strict=True):
        takes_weights(inputs, app, engine, claimed, its, skip, diagnostics)
    why = (engine.spec.get("unsupported") or {}).get("mixed") if claim.draft else None
    if why and weights[0].format != weights[1].format and not has_errors(diagnostics.problems[before:]):
        words = {"app": _app(app), "backend": engine.runtime.name, "hint": why}
        main, draft = weights[0].format, weights[1].format
        diagnostics.add("E415", app.origin(*claim.models[1].path), **words, main=main, draft=draft)


def _app(app: App) -> str:
    return f"{app.kind} {app.namespace}/{app.name}"


def takes_weights(
    inputs: Inputs,
    app: App,
    engine: Engine,
    claimed: ClaimedModel,
    weights: Weights,
    skip: bool,
    diagnostics: Collector,
) -> None:
    """An error at the model's source (at the claim, when the model is a preset) where the engine cannot take it."""
    if not engine.templated:
        return
    one = weights.one_file, weights.kind != "hub" and _single(weights)
    form = (weights.kind, weights.format, weights.hub, weights.scheme, *one, bool(weights.filename), skip)
    if form not in engine.fitting:
        if refused := _refusal(inputs, engine, weights, skip):
            code, field, words = refused
            inside = (field,) if field and not claimed.model.ours else ()
            origin = app.origin(*claimed.path) if claimed.model.ours else weights.origin.at(*inside)
            diagnostics.add(code, origin, backend=engine.runtime.name, app=_app(app), **words)
            return
        if weights.format not in engine.spec.get("oneFile", ()):  # else the name of the file matters too
            engine.fitting.add(form)
    if weights.kind == "hub" and weights.format == "safetensors" and not weights.filename:
        if weights.address[-4:].lower() == "gguf" and weights.address[-5:-4] in _BEFORE:
            diagnostics.add("W224", weights.origin.at("modelID"), name=weights.address)
        if not skip and (weights.words.get("AllowPatterns") or weights.words.get("IgnorePatterns")):
            _undescribed(weights, diagnostics)


def _single(weights: Weights) -> bool:
    """Whether its URI ends in a file of weights, where a folder is meant."""
    return weights.kind in ("objectStore", "host") and weights.address.lower().endswith(_FILES)


def _undescribed(weights: Weights, diagnostics: Collector) -> None:
    """A warning for patterns that leave out what goes with the weights."""
    allow, ignore = (_patterns(weights, word) for word in ("AllowPatterns", "IgnorePatterns"))
    left_out = [name for name in _CONFIGURATIONS if (allow and not _taken(name, allow)) or _taken(name, ignore)]
    if left_out == [*_CONFIGURATIONS]:
        field = "allowPatterns" if allow and not _taken(left_out[0], allow) else "ignorePatterns"
        diagnostics.add("W225", weights.origin.at(field), name=left_out[0])


def _patterns(weights: Weights, word: str) -> list[str]:
    """The patterns of a loader's word."""
    return [part for part in str(weights.words.get(word, "")).split(",") if part]


def _taken(name: str, globs: Sequence[str]) -> bool:
    """Whether the loader would count a file among these globs."""
    return any(patterns.fits(name, glob) for glob in globs)


def _refusal(inputs: Inputs, engine: Engine, weights: Weights, skip: bool) -> tuple[str, str, dict[str, Any]] | None:
    """A code, the field below the source that is to blame, and the wording's words."""
    spec, name = engine.spec, engine.runtime.name
    reasons, kind, form = spec.get("unsupported") or {}, weights.kind, weights.format
    sources, formats = spec.get("sources") or [kind], spec.get("formats") or [form]
    field = "filename" if weights.filename else ""
    if kind not in sources:
        able = [other for other, its in _others(inputs, name) if kind in (its.get("sources") or [kind])]
        takes = f"it takes {', '.join(_SOURCES[source] for source in sources)}"
        takes += f"; engines for {_SOURCES[kind]}: {', '.join(able)}" if able else ""
        return "E404", "", {"source": _SOURCES[kind], "hint": reasons.get(kind) or takes}
    if form not in formats:
        able = [other for other, its in _others(inputs, name) if form in (its.get("formats") or [form])]
        hints = [reasons.get(form), f"for {form} set backendName: {_either(able)}" if able else None]
        return "E403", field, {"format": form, "hint": "; ".join(filter(None, hints))}
    whole = form in spec.get("oneFile", ()) and kind != PULLED
    if whole and not weights.one_file:
        return "E405", "", {"hint": reasons.get("directory") or "name one file"}
    if whole and re.search(_PART, weights.filename or weights.address):
        return "E408", field, {}
    if weights.one_file and not whole and "file" in reasons:
        return "E413", field, {"name": weights.filename, "hint": reasons["file"]}
    if _single(weights) and "file" in reasons:
        name, hint = weights.address.rpartition("/")[2], f"{reasons['file'].partition(';')[0]}; name the folder"
        return "E413", field, {"name": name, "hint": hint}
    if skip and kind == "hub" and weights.filename:
        return "E409", field, {"name": weights.filename}
    if skip and kind == "hub" and weights.hub not in spec.get("hubs", [weights.hub]):
        able = [other for other, its in _others(inputs, name) if weights.hub in its.get("hubs", ())]
        return "E412", "", {"hub": weights.hub, "hint": _unskip(able)}
    stream = spec.get("stream") or {}
    if (
        skip
        and kind == "objectStore"
        and not (weights.scheme in stream.get("schemes", ()) and form in stream.get("formats", ()))
    ):
        able = [
            other
            for other, its in _others(inputs, name)
            if weights.scheme in (its.get("stream") or {}).get("schemes", ())
            and form in its["stream"].get("formats", ())
        ]
        return "E411", "", {"scheme": weights.scheme, "hint": _unskip(able)}
    return None


def _unskip(able: list[str]) -> str:
    """What to do where an engine cannot load weights itself."""
    return "drop the annotation llmaz.io/skip-model-loader" + (f", or use {_either(able)}" if able else "")


def _either(names: list[str]) -> str:
    """`'a', 'b' or 'c'`."""
    quoted = [f"'{name}'" for name in names]
    return " or ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]]))


def _others(inputs: Inputs, name: str) -> Iterator[tuple[str, EngineSpec]]:
    """Every other engine that says what it can."""
    for other in inputs.runtimes:
        if other != name and (spec := inputs.runtimes[other].spec.get("engine")):
            yield other, spec
