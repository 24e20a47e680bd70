"""How an engine runs a Playground: its config, what the pod gets, the version, and the words of its templates."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from renderer.api import App, Inputs, OpenModel, Spec
from renderer.plan import Body
from renderer.problems import Findings, Origin, Path, Stop, failing
from renderer.records import NamedTuple, quick
from renderer.resolve import compiling, engines, fitting, flavors, images, names, options, patching, resources, versions
from renderer.resolve.claims import Claim
from renderer.resolve.memo import Claimed, Memo, key_of
from renderer.resolve.memo import engine as engine_of
from renderer.resolve.sources import PULLED, Weights
from renderer.template import TemplateError, Words, shared

_BACKEND: Path = ("spec", "backendRuntimeConfig")


class Run(NamedTuple):
    """How the engine runs this app. `user`: the Playground's backendRuntimeConfig; `version`: the engine's, as far as
    the image tells; `called`: what it calls the model.
    """

    engine: engines.Engine
    config: engines.Recommended
    user: Spec
    resources: Body
    held: flavors.Accelerator
    variant: Spec
    tag: str
    version: str
    served: str
    words: Words
    called: str


_run = quick(Run)


def run(memo: Memo, app: App, engine: engines.Engine, base: Claimed, found: Findings) -> Run:
    """Config, resources, accelerator, variant, tag and words.

    Raises Stop when the engine cannot run what is claimed.
    """
    inputs, spec, claim, place = memo.inputs, app.spec, base.claim, base.kit.placement
    user, main = spec.get("backendRuntimeConfig") or {}, claim.main
    if notice := engine.spec.get("notice"):
        origin = app.origin(*_BACKEND, "backendName") if "backendName" in user else app.origin("spec")
        found.add("W230", origin, backend=engine.runtime.name, notice=" ".join(notice.split()))
    config = engines.recommended(engine, claim.draft, app, found)
    model_settings = engines.model_settings(main, engine)
    sizing = user.get("resources"), model_settings.get("resources"), model_settings.get("maxModelLen")
    said, before = key_of(sizing, place.limits, place.params, place.given), len(found.problems)
    sized = config.sized.get(said)
    merged = sized.resources if sized else _merged(config, main, engine, user, app, place, found)
    if engine.templated:
        so_far = len(found.problems)
        fitting.fit(inputs, app, engine, claim, base.weights, base.skip, found)
        if found.problems and _unreadable(found, so_far):
            raise Stop  # what its pod gets is nobody's question yet
    if sized is None:
        sized = _sized(inputs, app, engine, claim, merged, place, found)
        if len(found.problems) == before:  # what is wrong stands somewhere else for everybody
            config.sized[said] = sized
    _, held, variant, size, length = sized
    if user.get("version"):
        images.judge(user["version"], "tag", app.origin(*_BACKEND, "version"), found)
    tag = user.get("version") or variant.get("version") or engine.runtime.spec["version"]
    # servedModelName of the Playground → of the OpenModel → what the source itself calls it (contract, 4.8).
    served = spec.get("servedModelName") or main.spec.get("servedModelName") or main.name
    length = length or int(model_settings.get("maxModelLen", 0))
    words = _words(engine, base, variant, size, served, length)
    if engine.shared_tokens:
        layers = config.spec.get("args") or (), model_settings.get("args") or (), user.get("args") or ()
        words["Slots"] = options.last_number(engine.style, layers, engine.shared_tokens.among) or 1
    called = engines.called(engine, served, words)
    named = engine.templated and called == served
    if named and (hint := names.unserved(engine.spec, served)):
        found.add("E414", naming(app, main), name=served, backend=engine.runtime.name, hint=hint)
    _fixed(app, engine, variant, tag, found)
    # What an image of the podTemplate holds, only the version beside it says.
    own_image = "image" in patching.runner(spec)[1]
    version = engine.said(user.get("version", "") if own_image else tag)
    if version != engine.version and version:
        engine = _in_version(memo, engine, version, found)
        config = engine.configs[config.spec["name"]]
    elif not version and engine.templated and not user.get("version"):
        _unversioned(app, engine, own_image, tag, found)
    if engine.notes or engine.refusals:
        try:
            _differences(inputs, engine, version, version_at(app, engine, variant), words, found)
        except TemplateError as error:
            template = Origin(engine.runtime.document, ("spec", *error.path))
            found.stop("E420", template, what=error, hint=compiling.hint(error))
    return _run(engine, config, user, merged, held, variant, tag, version, served, words, called)


def _in_version(memo: Memo, engine: engines.Engine, version: str, found: Findings) -> engines.Engine:
    """The engine in another version than its own. Raises Stop where a template of the runtime does not hold there."""
    runtime = memo.inputs.runtimes[engine.runtime.name]
    other, problems = engine_of(memo, runtime, engine.constant["DrainSleep"], version)
    found.problems += problems
    if other is None:
        raise Stop
    return other


def version_at(app: App, engine: engines.Engine, variant: Spec) -> Origin:
    """Who says the version of the engine."""
    if (app.spec.get("backendRuntimeConfig") or {}).get("version"):
        return app.origin(*_BACKEND, "version")
    if "version" in variant:
        index = next(i for i, entry in enumerate(engine.spec["variants"]) if entry is variant)
        return engine.origin.at("engine", "variants", index, "version")
    return engine.origin.at("version")


def _unversioned(app: App, engine: engines.Engine, own_image: bool, tag: str, found: Findings) -> None:
    """A note where nobody says which version of the engine an image is, though much is known by version."""
    if "list" not in (engine.spec.get("options") or {}) and "versions" not in engine.spec:
        return
    if own_image:
        index, patch = patching.runner(app.spec)
        place = app.origin("spec", "podTemplate", "spec", "containers", index, "image")
        hint = f"name it in backendRuntimeConfig.version, such as {engine.runtime.spec['version']}"
        found.add("N449", place, backend=engine.runtime.name, image=patch["image"], hint=hint)
    elif not engine.runtime.ours:
        place = engine.origin.at("version")
        image = f"{engine.runtime.spec['image']}:{tag}"
        hint = "write the version itself as spec.engine.options.version"
        found.add("N449", place, backend=engine.runtime.name, image=image, hint=hint)


def _differences(
    inputs: Inputs, engine: engines.Engine, version: str, at: Origin, words: Words, found: Findings
) -> None:
    """A note for what is otherwise in this version, an error for what it cannot do. Raises Stop with such an error."""
    name = engine.runtime.name
    refusals = [entry for entry in engine.refusals if entry.when(words)]
    for entry in refusals:
        hint = versions.able(inputs.option_files, inputs.runtimes[name], version, engines.WORDS, words)
        found.add("E444", at, backend=name, version=version, what=entry.what(words), hint=hint)
    if refusals:
        raise Stop
    for entry in engine.notes:
        if entry.when(words):
            found.add("N448", at, backend=name, version=version, what=entry.what(words))


def _unreadable(found: Findings, before: int) -> bool:
    """Whether the engine cannot take the weights, or a limit is no quantity, so that nobody knows the accelerators."""
    return failing(found.problems[before:]) or any(
        each.code in ("E250", "E305") and ".limits" in each.field for each in found.problems
    )


def _merged(
    config: engines.Recommended,
    model: OpenModel,
    engine: engines.Engine,
    user: Spec,
    app: App,
    place: flavors.Placement,
    found: Findings,
) -> Body:
    """The runner's resources. `user`: the app's backendRuntimeConfig."""
    preset = resources.Side(config.spec.get("resources") or {}, config.origin)
    if of_model := engines.model_settings(model, engine).get("resources"):
        origin = Origin(model.document, ("spec", "engines", engine.runtime.name))
        preset = resources.Side(resources.merged(preset, resources.Side(of_model, origin), {}, found), origin)
    own = resources.Side(user.get("resources") or {}, app.origin(*_BACKEND))
    made: Body = shared(resources.merged(preset, own, place.limits, found))
    return made


def _sized(
    inputs: Inputs,
    app: App,
    engine: engines.Engine,
    claim: Claim,
    merged: Body,
    place: flavors.Placement,
    found: Findings,
) -> engines.Sized:
    """What the engine makes of these resources. Raises Stop when it cannot run on them."""
    if not engine.templated:
        return engines.Sized(merged)
    limits = place.places(claim.main, "limits") if place.limits else None
    limited = limits or app.origin(*_BACKEND, "resources", "limits")
    held = flavors.accelerator(inputs, merged.get("limits") or {}, limited, found)
    variant = engines.variant(engine, held, place.given)
    if variant is None:
        engines.unsuited(inputs, engine, held, place.given, app.origin(*claim.models[0].path), found)
    size = flavors.parallel_size(held, place, claim.main, found)
    return engines.Sized(merged, held, variant, size, flavors.max_model_len(place, claim.main, found))


def naming(app: App, model: OpenModel) -> Origin:
    """Who says the served name."""
    source = app.document if "servedModelName" in app.spec else model.document
    return Origin(source, ("spec", "servedModelName"))


_MOVING = re.compile(r"(?:latest|nightly|main|master|dev|edge|stable)\b|[^0-9]+$")


def _fixed(app: App, engine: engines.Engine, variant: Spec, tag: str, found: Findings) -> None:
    """A warning for a tag that is moved from image to image."""
    if not _moves(tag):
        return
    own = variant.get("version") or engine.runtime.spec["version"]
    said = app.origin(*_BACKEND, "version") if tag != own else Origin(engine.runtime.document, ("spec", "version"))
    hint = "" if _MOVING.match(own) else f", such as {own}"
    found.add("W238", said, tag=tag, hint=f"name a fixed one{hint}, or a digest")


@lru_cache(maxsize=1024)
def _moves(tag: str) -> bool:
    return bool(_MOVING.match(tag)) and "sha256:" not in tag


def _words(engine: engines.Engine, base: Claimed, variant: Spec, size: int, served: str, length: int) -> dict[str, Any]:
    main = base.weights[0]
    second = base.weights[1] if len(base.weights) > 1 else None
    return {
        "ModelPath": _path(engine, main, base.skip),
        "ModelName": main.name if main.kind == PULLED else served,
        "DraftModelPath": _path(engine, second, base.skip) if second else "",
        "Revision": main.revision,
        "DraftRevision": second.revision if second and base.claim.draft else "",
        "Hub": main.hub,
        "Filename": main.filename,
        "Endpoint": main.endpoint if main.kind == "objectStore" else "",
        "Source": main.kind,
        "Format": main.format,
        "Skip": base.skip,
        "Stream": base.skip and main.kind == "objectStore",
        "Accelerator": variant.get("accelerator", "none"),
        "TP": size,
        "MaxModelLen": length,
        "Slots": 0,
        "Region": main.words.get("Region", ""),
        "Anonymous": main.words.get("Anonymous", False),
        **engine.constant,
    }


def _path(engine: engines.Engine, weights: Weights, skip: bool) -> str:
    """What the engine opens: the path on disk, or what the user wrote when nothing loads it (gcs:// as gs:// for
    presets).
    """
    if not skip or weights.kind == "oci":
        return weights.path
    if engine.templated and weights.kind == "objectStore":
        return weights.scheme + weights.address[weights.address.index("://") :]
    return weights.address
