"""Whether an engine can take the weights that a Playground claims; every refusal says what would work."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from renderer.api import App, Inputs, Spec
from renderer.problems import Findings
from renderer.resolve.claims import Claim, Claimed
from renderer.resolve.engines import Engine
from renderer.resolve.sources import PULLED, Weights

_PART = re.compile(r"-\d{5}-of-\d{5}\.gguf$", re.IGNORECASE)
_SOURCES = {
    "hub": "a hub repository",
    "objectStore": "an object store",
    "host": "host://",
    "oci": "oci://",
    PULLED: f"{PULLED}://",
}


def fit(
    inputs: Inputs, app: App, engine: Engine, claim: Claim, weights: Sequence[Weights], skip: bool, found: Findings
) -> None:
    """An error for each model that the engine cannot take, and for two that it cannot take together."""
    before = len(found.problems)
    for each, its in zip(claim.models, weights, strict=True):
        fits(inputs, app, engine, each, its, skip, found)
    why = (engine.spec.get("unsupported") or {}).get("mixed") if claim.draft else None
    if why and weights[0].format != weights[1].format and len(found.problems) == before:
        words = {"app": _app(app), "backend": engine.runtime.name, "hint": why}
        main, draft = weights[0].format, weights[1].format
        found.add("E415", app.origin(*claim.models[1].path), **words, main=main, draft=draft)


def _app(app: App) -> str:
    return f"{app.kind} {app.namespace}/{app.name}"


def fits(
    inputs: Inputs, app: App, engine: Engine, claimed: Claimed, weights: Weights, skip: bool, found: Findings
) -> None:
    """An error at the model's source (at the claim, when the model is a preset) where the engine cannot take it."""
    form = (weights.kind, weights.format, weights.hub, weights.scheme, weights.one_file, bool(weights.filename), skip)
    if not engine.templated or form in engine.fitting:
        return
    if refused := _refusal(inputs, engine, weights, skip):
        code, field, words = refused
        inside = (field,) if field and not claimed.model.ours else ()
        origin = app.origin(*claimed.path) if claimed.model.ours else weights.origin.at(*inside)
        found.add(code, origin, backend=engine.runtime.name, app=_app(app), **words)
    elif weights.format not in engine.spec.get("oneFile", ()):  # else the name of the file matters too
        engine.fitting.add(form)


def _refusal(inputs: Inputs, engine: Engine, weights: Weights, skip: bool) -> tuple[str, str, dict[str, Any]] | None:
    """A code, the field below the source that is to blame, and the wording's words."""
    spec, name = engine.spec, engine.runtime.name
    said, kind, form = spec.get("unsupported") or {}, weights.kind, weights.format
    sources, formats = spec.get("sources") or [kind], spec.get("formats") or [form]
    field = "filename" if weights.filename else ""
    if kind not in sources:
        able = [other for other, its in _others(inputs, name) if kind in (its.get("sources") or [kind])]
        takes = f"it takes {', '.join(_SOURCES[each] for each in sources)}"
        takes += f"; engines for {_SOURCES[kind]}: {', '.join(able)}" if able else ""
        return "E404", "", {"source": _SOURCES[kind], "hint": said.get(kind) or takes}
    if form not in formats:
        able = [other for other, its in _others(inputs, name) if form in (its.get("formats") or [form])]
        hints = [said.get(form), f"for {form} set backendName: {_either(able)}" if able else None]
        return "E403", field, {"format": form, "hint": "; ".join(filter(None, hints))}
    whole = form in spec.get("oneFile", ()) and kind != PULLED
    if whole and not weights.one_file:
        return "E405", "", {"hint": said.get("directory") or "name one file"}
    if whole and _PART.search(weights.filename or weights.address):
        return "E408", field, {}
    if weights.one_file and not whole and "file" in said:
        return "E413", field, {"name": weights.filename, "hint": said["file"]}
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


def _others(inputs: Inputs, name: str) -> Iterator[tuple[str, Spec]]:
    """Every other engine that says what it can."""
    for other in inputs.runtimes:
        if other != name and (spec := inputs.runtimes[other].spec.get("engine")):
            yield other, spec
