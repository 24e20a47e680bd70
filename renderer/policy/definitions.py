"""Who may define the OpenModels and BackendRuntimes that others use, and where weights may come from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from msgspec.structs import replace

from renderer.api import App, BackendRuntime, Inputs, OpenModel, RenderConfig, RenderPolicy
from renderer.diagnostics import Origin, Path
from renderer.kubernetes.json_values import as_map, map_at, maps_at, text_at
from renderer.load import preset_names
from renderer.policy.denial import Denial, quoted_globs
from renderer.policy.globs import name_globs, path_globs

_SOURCES: Final = ("weights", "sources")
_REVISIONS: Final = ("weights", "revisions")
_LICENCES: Final = ("weights", "licences")
_LICENCE: Final = ("facts", "licence")
_CACHE: Final = ("modelCache", "hostPath", "path")
NODE_FOLDER: Final = "E818"
_COMMIT = re.compile(r"[0-9a-f]{40}")
_HUBS = {"Huggingface": "hf", "ModelScope": "modelscope"}


def judge_definition(
    policy: RenderPolicy, config: RenderConfig, item: OpenModel | BackendRuntime, path: str
) -> Iterator[Denial]:
    """A denial where the file `path` may not define the OpenModel or BackendRuntime, its name, one of its flavors, or
    where its weights may not have their source, revision or licence.
    """
    code, key = ("E811", "models") if isinstance(item, OpenModel) else ("E812", "backends")
    if not _may_define(policy, key, path):
        yield Denial(code, item.document.origin("kind"), ("definitions", key), {"file": path, "name": item.name})
    if not _may_define(policy, "presetNames", path):
        for origin, what in _shadowed_names(config, item):
            yield Denial("E813", origin, ("definitions", "presetNames"), {"file": path, "what": what})
    if isinstance(item, OpenModel):
        yield from _weight_denials(policy, item, None)


def judge_claims(policy: RenderPolicy, inputs: Inputs, app: App) -> Iterator[Denial]:
    """A denial of each preset that an app claims and whose source, revision or licence its weights may not have."""
    if all(policy.get(*key) is None for key in (_SOURCES, _REVISIONS, _LICENCES)):
        return
    for name, path in _claimed_names(app):
        model = inputs.models.get(name)
        if model and model.ours:
            yield from _weight_denials(policy, model, app.origin(*path))


def at_models(inputs: Inputs, app: App, denials: Iterable[Denial]) -> Iterator[Denial]:
    """The denials, those of folders of nodes moved to the model of the app that lies or is cached there."""
    for denial in denials:
        folder = str(denial.words.get("path", "")) if denial.code == NODE_FOLDER else ""
        places = _node_folders(inputs, app) if folder else ()
        origin = next((origin for path, origin in places if f"{folder}/".startswith(f"{path}/")), None)
        yield replace(denial, origin=origin) if origin else denial


def _node_folders(inputs: Inputs, app: App) -> Iterator[tuple[str, Origin]]:
    """The folders of nodes that hold the weights of the app's models, and the fields that say so."""
    for name, _ in _claimed_names(app):
        if model := inputs.models.get(name):
            uri = text_at(model.spec, "source", "uri")
            if uri.lower().startswith("host://"):
                yield uri.partition("://")[2].rstrip("/"), model.document.origin("spec", "source", "uri")
            if path := text_at(model.spec, *_CACHE):
                yield path.rstrip("/"), model.document.origin("spec", *_CACHE)
    if path := inputs.config.get(*_CACHE):
        yield str(path).rstrip("/"), inputs.config.origin(*_CACHE)


def _claimed_names(app: App) -> Iterator[tuple[str, Path]]:
    """The names of the models that an app claims, and their paths there."""
    if name := as_map(app.spec.get("modelClaim")).get("modelName"):
        yield str(name), ("spec", "modelClaim", "modelName")
    for i, entry in enumerate(maps_at(app.spec, "modelClaims", "models") if "modelClaims" in app.spec else ()):
        yield text_at(entry, "name"), ("spec", "modelClaims", "models", i, "name")


def _may_define(policy: RenderPolicy, key: str, path: str) -> bool:
    globs = path_globs(policy, "definitions", key)
    return globs is None or globs.first(path) >= 0


def _shadowed_names(config: RenderConfig, item: OpenModel | BackendRuntime) -> Iterator[tuple[Origin, str]]:
    """What an input defines anew: the name of a preset, or a flavor of RenderConfig's catalog."""
    folder = "models" if isinstance(item, OpenModel) else "backends"
    if item.name in _presets(folder):
        kind = "OpenModel" if isinstance(item, OpenModel) else "BackendRuntime"
        yield item.document.origin("metadata", "name"), f"the {kind} '{item.name}', a preset"
    catalog = config.get("flavors") or {}
    flavors = map_at(item.spec, "inferenceConfig").get("flavors") if isinstance(item, OpenModel) else ()
    for i, flavor in enumerate(flavors if isinstance(flavors, list) else ()):
        own_keys = [key for key in as_map(flavor) if key != "name"]
        if own_keys and text_at(flavor, "name") in catalog:
            origin = item.document.origin("spec", "inferenceConfig", "flavors", i, own_keys[0], key=True)
            yield origin, f"the flavor '{flavor['name']}', which RenderConfig's catalog has"


@cache
def _presets(folder: str) -> frozenset[str]:
    return frozenset(preset_names(folder))


def _source_denials(policy: RenderPolicy, model: OpenModel, claim: Origin | None) -> Iterator[Denial]:
    """A denial of the source of a model: at the claim where that is given, else in the model."""
    allowed = name_globs(policy, *_SOURCES)
    if allowed is None:
        return
    for field, address in weight_addresses(model):
        if not allowed.fit(address) or ".." in address.split("/"):
            origin = claim or model.document.origin("spec", "source", *field)
            words = {"source": address, "name": model.name, "allowed": quoted_globs(allowed.globs)}
            yield Denial("E817", origin, _SOURCES, words)


def _weight_denials(policy: RenderPolicy, model: OpenModel, claim: Origin | None) -> Iterator[Denial]:
    """A denial of the source, the revision and the licence of a model: at the claim where that is given, else in the
    model.
    """
    yield from _source_denials(policy, model, claim)
    yield from _licence_denials(policy, model, claim)
    if policy.get(*_REVISIONS) and (moving := moving_weights(model)):
        field, what, hint = moving
        origin = claim or model.document.origin("spec", "source", *field)
        words = {"name": model.name, "what": what, "hint": _model_hint(model, claim, hint)}
        yield Denial("E806", origin, _REVISIONS, words)


def _model_hint(model: OpenModel, claim: Origin | None, hint: str) -> str:
    """The hint to write something into a model; of a preset, which somebody claims, into a copy of it."""
    return f"copy the preset with llmaz presets vendor {model.name}, and {hint}" if claim else hint


def _licence_denials(policy: RenderPolicy, model: OpenModel, claim: Origin | None) -> Iterator[Denial]:
    """A denial of the licence of a model, and of a model that says none: its place, as for its source."""
    allowed = name_globs(policy, *_LICENCES, folded=True)
    if allowed is None:
        return
    shown, document = f"allowed: {quoted_globs(policy.get(*_LICENCES))}", model.document
    if licence := text_at(model.spec, *_LICENCE):
        if not allowed.fit(licence.casefold()):
            words = {"what": f"the licence '{licence}' of '{model.name}'", "hint": shown}
            yield Denial("E809", claim or document.origin("spec", *_LICENCE), _LICENCES, words)
        return
    place: Path = ("metadata", "name")
    if "facts" in model.spec:
        place = ("spec", *_LICENCE[: 2 if "licence" in model.spec["facts"] else 1])
    hint = _model_hint(model, claim, f"write it as facts.licence; {shown}")
    words = {"what": f"'{model.name}' says no licence", "hint": hint}
    yield Denial("E809", claim or document.origin(*place), _LICENCES, words)


def moving_weights(model: OpenModel) -> tuple[Path, str, str] | None:
    """The field of a model that names no fixed state of its weights, what it names, and what to write; None where they
    are fixed, and where their source has no revisions.
    """
    source = map_at(model.spec, "source")
    hub, uri = map_at(source, "modelHub"), text_at(source, "uri")
    if uri.lower().startswith("oci://"):
        fixed = re.search(r"@sha256:[0-9a-f]{64}$", uri)
        return None if fixed else (("uri",), f"the tag of {uri}", "add the digest of the image: @sha256:…")
    if uri or is_commit(revision := text_at(hub, "revision")):
        return None
    what = f"revision '{revision}'" if revision else "the default branch"
    return (("modelHub", "revision" if revision else "modelID"), what, "write the commit as modelHub.revision")


def is_commit(revision: str) -> bool:
    """Whether a revision on a hub is the full hash of a commit."""
    return bool(_COMMIT.fullmatch(revision))


def weight_addresses(model: OpenModel) -> Iterator[tuple[tuple[str, ...], str]]:
    """The addresses of a model's weights, with the fields that say them: a uri, its scheme in small letters; of a hub
    `hf://` or `modelscope://` and the repository, where no uri says where its cache lies.
    """
    source = map_at(model.spec, "source")
    if uri := text_at(source, "uri"):
        scheme, _, rest = uri.partition("://")
        yield ("uri",), f"{scheme.lower()}://{rest}"
    elif repository := text_at(source, "modelHub", "modelID"):
        hub = text_at(source, "modelHub", "name", default="Huggingface")
        yield ("modelHub", "modelID"), f"{_HUBS.get(hub, hub.lower())}://{repository}"
