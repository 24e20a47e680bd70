"""Objects of llmaz's API of any release, in today's shape (docs/design/operator.md#older-fields)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from renderer.adopt.conversion_context import ALONE, ConversionContext
from renderer.adopt.draft import Draft, shortened
from renderer.adopt.former_fields import (
    DEFAULTS,
    EACH,
    MOVES,
    REMOVALS,
    SHIPPED_LABELS,
    UNREAD_ANNOTATIONS,
    WRITTEN_ANNOTATIONS,
    WRITTEN_FIELDS,
    WRITTEN_LABELS,
)
from renderer.adopt.operator_releases import default_backend, former_backends
from renderer.adopt.pinned_version import settle_version
from renderer.adopt.server_defaults import SERVER_METADATA
from renderer.diagnostics import Diagnostic, Path, has_errors, suggestion
from renderer.kubernetes.json_values import map_at, text_at
from renderer.load.validation import KINDS, check
from renderer.yamlio import Document

Body = Mapping[str, Any]
_GROUPS: Final = ("llmaz.io", "inference.llmaz.io")
_VERSIONS: Final = {kind: version for kind, version in KINDS.items() if version.partition("/")[0] in _GROUPS}
_FORMER_KINDS: Final = {"Model": "OpenModel"}
_METADATA: Final = ("name", "namespace", "labels", "annotations")
_DEFAULT_CONFIG: Final = "default"
_CLAIMS: Final = ("spec", "modelClaims")
_CONFIG: Final = ("spec", "backendRuntimeConfig")
_CONFIGS: Final = ("spec", "recommendedConfigs")
_ELASTIC: Final = ("spec", "elasticConfig")
_NAMELESS: Final = "this claim names no model"
_NAMELESS_HINT: Final = "write modelClaims.models, with the name of an OpenModel"
_HUB: Final = ("spec", "source", "modelHub")


class ConvertedObject(Struct, frozen=True):
    """An object of llmaz's API in today's shape."""

    body: dict[str, Any]  # apiVersion, kind, metadata and spec, without what a server wrote
    document: Document  # the same, whose fields are located where they stood
    comments: dict[Path, str]  # a sentence where a choice was made, by the path in `body`
    problems: Sequence[Diagnostic]  # with errors where `body` lacks something, or is not an object of today's API

    @property
    def kind(self) -> str:
        """Such as Playground."""
        return str(self.body.get("kind", ""))

    @property
    def name(self) -> str:
        """'' where it has none."""
        return str(map_at(self.body, "metadata").get("name", ""))

    @property
    def valid(self) -> bool:
        """Whether it is an object of today's API, and nothing is missing."""
        return not has_errors(self.problems)


def convert_llmaz_object(document: Document, context: ConversionContext = ALONE) -> ConvertedObject | None:
    """The object in today's shape, with what cannot be said in it among its problems; None for what is not an object of
    llmaz's API. Never raises.
    """
    version = text_at(document.value, "apiVersion")
    if version.partition("/")[0] not in _GROUPS:
        return None
    draft = Draft(document)
    kind = draft.body.get("kind")
    today = _FORMER_KINDS.get(kind, kind) if isinstance(kind, str) else ""
    if _VERSIONS.get(today) != version:
        what = (
            f"there is no kind '{shortened(kind)}' in {shortened(version)}"
            if "kind" in draft.body
            else "kind is missing"
        )
        draft.tell("E960", ("kind",), what=what, hint=_kind_hint(today))
        return ConvertedObject(draft.body, document, {}, draft.problems)
    draft.body["kind"] = today
    stored = _is_stored(draft.body)
    _reduce_metadata(draft)
    _move_fields(draft, today)
    _CONVERSIONS[today](draft, context)
    _remove_fields(draft, today)
    if stored:
        for path in WRITTEN_FIELDS:
            draft.drop(path)
        _remove_defaults(draft, today)
    first = [key for key in ("apiVersion", "kind", "metadata", "spec") if key in draft.body]
    draft.body = {key: draft.body[key] for key in dict.fromkeys([*first, *draft.body])}
    changed = draft.changed_document
    problems = sorted({*draft.problems, *check(changed, today)})
    return ConvertedObject(draft.body, changed, draft.comments, problems)


def _kind_hint(kind: str) -> str:
    """What to write where kind and version do not fit."""
    version = _VERSIONS.get(kind)
    return f"write apiVersion: {version}" if version else suggestion(kind, [*_VERSIONS])


def _is_stored(body: Body) -> bool:
    """Whether an API server returned the object."""
    metadata = body.get("metadata")
    return "status" in body or (isinstance(metadata, dict) and any(key in metadata for key in SERVER_METADATA))


def _reduce_metadata(draft: Draft) -> None:
    """Leaves of metadata what its author wrote."""
    for key in SERVER_METADATA:
        draft.drop(("metadata", key))
    for kind, names in (("annotations", WRITTEN_ANNOTATIONS), ("labels", WRITTEN_LABELS)):
        for name in names:
            draft.drop(("metadata", kind, name))
    for name in UNREAD_ANNOTATIONS:
        path = ("metadata", "annotations", name)
        if draft.value(path) is not None:
            draft.tell("N961", path, key=True, field=name, reason="no release has read it")
            draft.drop(path)
    for kind in ("annotations", "labels"):
        draft.drop_empty(("metadata", kind))
    metadata = draft.value(("metadata",))
    if isinstance(metadata, dict):
        ordered = {key: metadata[key] for key in _METADATA if key in metadata}
        draft.body["metadata"] = ordered | metadata


def _move_fields(draft: Draft, kind: str) -> None:
    for move in MOVES[kind]:
        for old, new in _expanded(draft, move.old, move.new):
            draft.move(old, new)
    draft.drop_empty(("spec", "workloadTemplate", "leaderWorkerTemplate"))


def _expanded(draft: Draft, path: Path, other: Path = ()) -> Iterator[tuple[Path, Path]]:
    """The path, and another with the same list in it, for every item of that list."""
    if EACH not in path:
        yield path, other
        return
    at, other_at = path.index(EACH), other.index(EACH) if EACH in other else -1
    items = draft.value(path[:at])
    for i in range(len(items) if isinstance(items, list) else 0):
        yield (
            (*path[:at], i, *path[at + 1 :]),
            (*other[:other_at], i, *other[other_at + 1 :]) if other else (),
        )


def _remove_fields(draft: Draft, kind: str) -> None:
    for removal in REMOVALS[kind]:
        if draft.value(removal.path) is None:
            continue
        if removal.code:
            draft.tell(
                removal.code, draft.source(removal.path), key=True, field=removal.path[-1], reason=removal.reason
            )
        draft.drop(removal.path)


def _remove_defaults(draft: Draft, kind: str) -> None:
    other_hub = draft.value((*_HUB, "name")) not in (None, "Huggingface")
    for pattern, default in DEFAULTS[kind]:
        if other_hub and pattern == (*_HUB, "revision"):
            if draft.value(pattern) == default:
                draft.comments[pattern] = (
                    "Of the operator's CRD, if nobody wrote it; the hub's own default may be another."
                )
            continue
        for path, _ in _expanded(draft, pattern):
            if draft.value(path) == default and not isinstance(draft.value(path), bool):
                draft.drop(path)


def _convert_model(draft: Draft, context: ConversionContext) -> None:
    """A hub that is only named stands beside the modelID in the oldest shape."""
    hub = draft.value(_HUB)
    if isinstance(hub, str):
        source = draft.source(_HUB)
        draft.drop(_HUB)
        draft.set((*_HUB, "name"), hub, source)
    draft.move(("spec", "source", "modelID"), (*_HUB, "modelID"))


def _convert_playground(draft: Draft, context: ConversionContext) -> None:
    _convert_claims(draft)
    _convert_arguments(draft)
    _convert_triggers(draft, context)
    settle_version(draft, context)


def _convert_service(draft: Draft, context: ConversionContext) -> None:
    _convert_claims(draft)
    claim = draft.typed(("spec", "modelClaim"), dict, "a map")
    if claim is None:
        return
    source = draft.source(("spec", "modelClaim"))
    draft.drop(("spec", "modelClaim"))
    if draft.value(_CLAIMS) is not None:
        draft.tell_contradiction(source, _CLAIMS)
        return
    flavors, name = claim.pop("inferenceFlavors", None), claim.pop("modelName", None)
    if name is None:
        draft.tell("E963", source, what=_NAMELESS, hint=_NAMELESS_HINT)
        return
    draft.set((*_CLAIMS, "models"), [{"name": name}], source)
    draft.set_source((*_CLAIMS, "models", 0, "name"), (*source, "modelName"))
    if flavors is not None:
        draft.set((*_CLAIMS, "inferenceFlavors"), flavors, (*source, "inferenceFlavors"))
    _tell_unknown(draft, claim, source)


def _convert_claims(draft: Draft) -> None:
    """Lists of claims, and lists of names in a claim."""
    many: Path = ("spec", "multiModelsClaims")
    claims = draft.typed(many, list, "a list of claims")
    if claims == []:
        draft.drop(many)
    elif claims:
        draft.drop(many)
        for i in range(1, len(claims)):
            what = "no release served more than the first claim, and an app has only one"
            hint = "write a Playground for each claim, and a ModelRoute that splits requests by weight"
            draft.tell("E963", (*many, i), what=what, hint=hint)
        _convert_claim(draft, claims[0], (*many, 0), alone=len(claims) == 1)
    one: Path = ("spec", "multiModelsClaim")
    claim = draft.typed(one, dict, "a map with modelNames")
    if claim is not None:
        draft.drop(one)
        _convert_claim(draft, claim, one, alone=True)
    names = draft.value((*_CLAIMS, "modelNames"))
    if names is not None:
        claim = draft.drop(_CLAIMS)
        if "models" in claim:
            draft.set((*_CLAIMS, "models"), claim.pop("models"), (*_CLAIMS, "models"))
            draft.tell_contradiction((*_CLAIMS, "modelNames"), (*_CLAIMS, "models"))
            draft.body["spec"]["modelClaims"] |= {key: claim[key] for key in claim if key != "modelNames"}
        else:
            _convert_claim(draft, claim, _CLAIMS, alone=True)


def _convert_claim(draft: Draft, claim: object, source: Path, *, alone: bool) -> None:
    """One claim with names of models, which has stood at `source` and is taken away. `alone`: there is no other."""
    if not isinstance(claim, dict):
        draft.tell_type(source, claim, "a map with modelNames")
        return
    for present in (_CLAIMS, ("spec", "modelClaim")):
        if draft.value(present) is not None:
            draft.tell_contradiction(source[:2], present)
            return
    if "rate" in claim:
        claim.pop("rate")
        reason = "one claim gets all requests" if alone else "no release has read it"
        draft.tell("W960", (*source, "rate"), key=True, field="rate", reason=reason)
    flavors = next(
        ((key, claim.pop(key)) for key in ("inferenceFlavors", "inferenceFlavorClaims") if key in claim), None
    )
    mode = claim.pop("inferenceMode", "Standard")
    names = claim.pop("modelNames", None)
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        draft.tell("E963", (*source, "modelNames"), what=_NAMELESS, hint=_NAMELESS_HINT)
        return
    models: list[dict[str, str]] = [{"name": names[0]}]
    if mode == "SpeculativeDecoding" and len(names) == 2:
        models = [{"name": names[0], "role": "main"}, {"name": names[1], "role": "draft"}]
        draft.comments[*_CLAIMS, "models"] = "In the inferenceMode SpeculativeDecoding the second model was the draft."
    elif mode not in ("Standard", "SpeculativeDecoding"):
        what, hint = (
            f"there is no inferenceMode '{shortened(mode)}'",
            "write the role of each model in modelClaims.models",
        )
        draft.tell("E963", (*source, "inferenceMode"), what=what, hint=hint)
    elif len(names) > 1:
        what = "the role of this model is unknown: no release served more than the first"
        hint = "write it under modelClaims.models with role: draft, or leave it out"
        draft.tell("E963", (*source, "modelNames", 1), what=what, hint=hint)
    elif mode == "SpeculativeDecoding":
        what, hint = "the draft model is missing", "write it under modelClaims.models with role: draft"
        draft.tell("E963", (*source, "modelNames"), what=what, hint=hint)
    draft.set((*_CLAIMS, "models"), models, (*source, "modelNames"))
    for i in range(len(models)):
        draft.set_source((*_CLAIMS, "models", i, "name"), (*source, "modelNames", i))
    if flavors is not None:
        draft.set((*_CLAIMS, "inferenceFlavors"), flavors[1], (*source, flavors[0]))
    _tell_unknown(draft, claim, source)


def _tell_unknown(draft: Draft, rest: Body, source: Path) -> None:
    """E963 for the fields of an old map that were not known to any release."""
    for key in rest:
        what = f"no release had a field '{shortened(key)}' here"
        draft.tell("E963", (*source, key), key=True, what=what, hint="leave it out")


def _convert_arguments(draft: Draft) -> None:
    """Arguments as a map of a configuration's name and flags."""
    path: Path = (*_CONFIG, "args")
    arguments = draft.value(path)
    if not isinstance(arguments, dict):
        return
    source = draft.source(path)
    draft.drop(path)
    rest = {key: item for key, item in arguments.items() if key not in ("name", "flags")}
    if "name" in arguments:
        if draft.value((*_CONFIG, "configName")) not in (None, arguments["name"]):
            draft.tell_contradiction((*source, "name"), (*_CONFIG, "configName"))
        else:
            draft.set((*_CONFIG, "configName"), arguments["name"], (*source, "name"))
    if "flags" in arguments:
        draft.set(path, arguments["flags"], (*source, "flags"))
    _tell_unknown(draft, rest, source)


def _convert_triggers(draft: Draft, context: ConversionContext) -> None:
    """A trigger of the backend's configuration, and the name of one of the BackendRuntime's."""
    old: Path = (*_CONFIG, "scaleTrigger")
    new: Path = (*_ELASTIC, "scaleTrigger")
    if isinstance(draft.value(_ELASTIC), dict):
        draft.move(old, new)
    elif draft.value(old) is not None:
        reason = "without elasticConfig the operator made no autoscaler"
        draft.tell("W960", draft.source(old), key=True, field="scaleTrigger", reason=reason)
        draft.drop(old)
    reference = (*_ELASTIC, "scaleTriggerRef")
    if draft.value(reference) is None:
        return
    source = draft.source(reference)
    value = draft.drop(reference)
    name = value.get("name") if isinstance(value, dict) else None
    backend = draft.value((*_CONFIG, "backendName")) or default_backend()
    known = context.triggers.get(backend, {}) if isinstance(backend, str) else {}
    if draft.value(new) is not None:
        draft.tell_contradiction(source, new)
    elif not isinstance(name, str):
        draft.tell_type(source, value, "a map with the name of a trigger")
    elif name in known:
        draft.set(new, known[name], source)
        draft.comments[new] = f"The trigger '{shortened(name)}' of the BackendRuntime, which Playgrounds named."
    else:
        what = f"no BackendRuntime in these files has the trigger '{shortened(name)}'"
        draft.tell("E963", source, what=what, hint="write the trigger itself under elasticConfig.scaleTrigger")


def _convert_runtime(draft: Draft, context: ConversionContext) -> None:
    """Arguments, resources and triggers of a BackendRuntime belong to its configurations."""
    path: Path = ("spec", "args")
    arguments = draft.typed(path, list, "a list of maps with name and flags")
    if arguments is not None:
        source = draft.source(path)
        draft.drop(path)
        if draft.value(_CONFIGS) is None:
            _convert_configs(draft, arguments, source)
        elif arguments:
            draft.tell_contradiction(source, _CONFIGS)
    _convert_named_triggers(draft)
    for key in ("resources", "sharedMemorySize", "scaleTrigger"):
        _spread(draft, key)
    name, version = draft.value(("metadata", "name")), draft.value(("spec", "version"))
    is_shipped = any(draft.value(("metadata", "labels", label)) == "llmaz" for label in SHIPPED_LABELS)
    if is_shipped and isinstance(name, str) and name in former_backends():
        draft.tell("N962", ("metadata", "name"), name=name, version=shortened(version))


def _convert_configs(draft: Draft, arguments: Sequence[object], source: Path) -> None:
    configs: list[dict[str, Any]] = []
    draft.set(_CONFIGS, configs, source)
    for i, entry in enumerate(arguments):
        if not isinstance(entry, dict):
            draft.tell_type((*source, i), entry, "a map with name and flags")
            continue
        place = (*_CONFIGS, len(configs))
        configs.append({"name": entry.get("name", _DEFAULT_CONFIG)})
        draft.set_source(place, (*source, i))
        draft.set_source((*place, "name"), (*source, i, "name"))
        if "flags" in entry:
            draft.set((*place, "args"), entry["flags"], (*source, i, "flags"))
        _tell_unknown(draft, {key: item for key, item in entry.items() if key not in ("name", "flags")}, (*source, i))
    draft.drop_empty(_CONFIGS)


def _convert_named_triggers(draft: Draft) -> None:
    """The first of the named triggers served all Playgrounds that named none."""
    path: Path = ("spec", "scaleTriggers")
    entries = draft.typed(path, list, "a list of triggers")
    if not entries:
        draft.drop(path)
        return
    source = draft.source(path)
    draft.drop(path)
    for i, entry in enumerate(entries):
        if not isinstance(entry, dict):
            draft.tell_type((*source, i), entry, "a map with name and hpa")
        elif i == 0:
            draft.set(("spec", "scaleTrigger"), {key: entry[key] for key in entry if key != "name"}, (*source, i))
        else:
            reason = "a configuration has one trigger; Playgrounds that named this one get a copy"
            draft.tell("W960", (*source, i), field=shortened(entry.get("name", "scaleTriggers")), reason=reason)


def _spread(draft: Draft, key: str) -> None:
    """Moves a field of a BackendRuntime into each of its configurations."""
    value = draft.value(("spec", key))
    if value is None:
        return
    source = draft.source(("spec", key))
    draft.drop(("spec", key))
    configs = draft.value(_CONFIGS)
    if configs is None:
        draft.set(_CONFIGS, [{"name": _DEFAULT_CONFIG}], source)
        configs = draft.value(_CONFIGS)
    for i in range(len(configs) if isinstance(configs, list) else 0):
        place = (*_CONFIGS, i, key)
        if draft.value(place) not in (None, value):
            draft.tell_contradiction(source, place)
        elif isinstance(configs[i], dict):
            draft.set(place, value, source)


_CONVERSIONS: Final[dict[str, Callable[[Draft, ConversionContext], None]]] = {
    "OpenModel": _convert_model,
    "Playground": _convert_playground,
    "Service": _convert_service,
    "BackendRuntime": _convert_runtime,
}
