"""Recognizes the documents of our kinds, and validates them against the schema of their kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from renderer import schema_validation
from renderer.api import BackendRuntime
from renderer.diagnostics import Diagnostic, Finding, Path, ReplacingHint, make_diagnostic, meant_name, suggestion
from renderer.engines.option_lists import completed_tag
from renderer.kubernetes.json_values import value_at
from renderer.kubernetes.wellknown import RUNNER
from renderer.load.option_lists import OptionListReader
from renderer.load.preset_files import preset, preset_names
from renderer.schema_validation import Hint
from renderer.text import suggestions
from renderer.yamlio import Document

GROUPS = ("llmaz.io", "inference.llmaz.io", "renderer.llmaz.io")
KINDS = {
    "OpenModel": "llmaz.io/v1alpha1",
    "Playground": "inference.llmaz.io/v1alpha1",
    "Service": "inference.llmaz.io/v1alpha1",
    "BackendRuntime": "inference.llmaz.io/v1alpha1",
    "RenderConfig": "renderer.llmaz.io/v1alpha1",
    "RenderPolicy": "renderer.llmaz.io/v1alpha1",
    "ModelRoute": "renderer.llmaz.io/v1alpha1",
    "InferenceModel": "inference.networking.x-k8s.io/v1alpha2",
}
_OLD_INFERENCE_MODEL = ("InferenceModel", "inference.networking.x-k8s.io/v1alpha1")
_INFERENCE_GROUP = "inference.networking.x-k8s.io"  # the group of InferenceModel; its other kinds are foreign
_LISTED = "known: "  # how a hint begins that lists fields, since no name is close
_DEEPEST_PLACE = 6
_MISSPELT = 2  # letters by which a word that is meant differs at most from one that is elsewhere as it is
_MOST_HINTS = 20  # fields of an object for which it is tried what would be valid in their place
_OTHER_CONTAINERS = ("ephemeralContainers", "initContainers", "volumes")
# Names of fields that objects of every sort have.
_COMMON_FIELDS = {"$patch", "apiVersion", "kind", "metadata", "name", "namespace", "labels", "annotations"}
# Names that mean something else in each object that has them, so that no other branch of the spec is meant.
_FIELDS_OF_MANY = {"type", "kind", "mode", "port", "path", "key", "value", "size", "service", "replicas", "interval"}
_FIELDS_OF_MANY |= {"spec", "issuer", "host", "hostname", "config"}
_FEW_FIELDS = 3  # that a hint lists, where none is required
# Where a plain `off` is that word, not false (docs/design/contract.md#the-word-off); `*` stands for every key.
_VERSION = ("backendRuntimeConfig", "version")  # of an app, which YAML may read as a number
_OFF_FIELDS: dict[str, tuple[Path, ...]] = {
    "Playground": (("spec", "hardening"), ("spec", "gateway", "mode")),
    "Service": (("spec", "hardening"), ("spec", "gateway", "mode")),
    "RenderConfig": (
        ("spec", "hardening"),
        ("spec", "gateway", "mode"),
        ("spec", "gateway", "perNamespace", "*", "mode"),
    ),
}


def kind_of(document: Document, problems: list[Diagnostic]) -> str | None:
    """The document's kind; '' for a document of ours with a wrong kind or version (a problem is added); None for a
    foreign one.
    """
    value = document.value
    if not isinstance(value, dict):
        return _list_kind(document, value, (), problems)
    kind, version = value.get("kind"), value.get("apiVersion")
    if (
        isinstance(kind, str)
        and version is not None
        and (KINDS.get(kind) == version or (kind, version) == _OLD_INFERENCE_MODEL)
    ):
        return kind
    group = version.partition("/")[0] if isinstance(version, str) else None
    if group in GROUPS or (group == _INFERENCE_GROUP and _is_inference_model(kind)):
        problems.append(_wrong_kind(document, kind, str(version)))
        return ""
    if isinstance(kind, str) and kind in KINDS and (kind != "Service" or "llmaz" in (group or "")):
        problems.append(_wrong_version(document, kind, version))
        return ""
    if version is None and (likely_kind := _kind_without_version(value)):
        hint = f"write apiVersion: {KINDS[likely_kind]}, and kind: {likely_kind}"
        problems.append(_missing_field(document, "apiVersion", hint))
        return ""
    return _list_kind(document, value.get("items"), ("items",), problems) if kind == "List" else None


def _wrong_kind(document: Document, kind: object, version: str) -> Diagnostic:
    """The error about the kind of a document whose version is of our groups."""
    if kind is None:
        default_kind = "InferenceModel" if version.partition("/")[0] == _INFERENCE_GROUP else "Playground"
        hint = f"write kind: {' or kind: '.join(name for name in KINDS if KINDS[name] == version) or default_kind}"
        return _missing_field(document, "kind", hint)
    if not isinstance(kind, str):
        return _type_error(document, "kind")
    if kind in KINDS:
        return _wrong_version(document, kind, version)
    from renderer import foreign_words  # few runs need it

    ours = foreign_words.kind_of(kind)
    is_ours = KINDS.get(ours) == version
    hint = ReplacingHint(f"write kind: {ours}", kind, ours) if is_ours else suggestion(kind, list(KINDS))
    return make_diagnostic("E213", document.origin("kind"), kind=kind, version=version, hint=hint)


def _wrong_version(document: Document, kind: str, version: object) -> Diagnostic:
    """The error about the version of a document whose kind is ours."""
    if version is None:
        return _missing_field(document, "apiVersion", f"write apiVersion: {KINDS[kind]}")
    if not isinstance(version, str):
        return _type_error(document, "apiVersion", f"write apiVersion: {KINDS[kind]}")
    return make_diagnostic("E212", document.origin("apiVersion"), version=version, kind=kind, right=KINDS[kind])


def _kind_without_version(value: Mapping[str, object]) -> str:
    """The kind that an object without apiVersion names in other letters, as `playground`; '' for what may be another's:
    a service, and what is not an object.
    """
    if not (isinstance(value.get("metadata"), dict) and isinstance(value.get("spec"), dict)):
        return ""
    kind = str(value.get("kind")).lower()
    return next((name for name in KINDS if name.lower() == kind and name != "Service"), "")


def intended_kind(value: object) -> str:
    """The kind of ours that a document with a wrong kind or version is meant to be; '' where nobody can tell."""
    kind, version = (value.get("kind"), value.get("apiVersion")) if isinstance(value, dict) else (None, None)
    if not isinstance(kind, str):
        return ""
    if kind in KINDS:
        return kind
    if version == KINDS["OpenModel"]:
        return "OpenModel"  # the only kind of its group
    names = {name.lower(): name for name in KINDS}
    return names.get(suggestions.closest(kind.lower(), [*names], 0.6), "")


def check_intended(document: Document) -> list[Diagnostic]:
    """The violations of the schema of the intended kind, in a document of our groups with a wrong kind or version."""
    version = document.value.get("apiVersion") if isinstance(document.value, dict) else None
    kind = intended_kind(document.value)
    if not kind or not isinstance(version, str) or version.partition("/")[0] not in (*GROUPS, _INFERENCE_GROUP):
        return []
    wrong = {document.origin(field).place for field in ("kind", "apiVersion")}
    return [problem for problem in check(document, kind) if (problem.file, problem.line, problem.column) not in wrong]


def _is_inference_model(kind: object) -> bool:
    """Whether an object of InferenceModel's group is, or seems meant to be, an InferenceModel."""
    return not isinstance(kind, str) or kind.lower() in ("inferencemodel", "inferencemodels")


def _missing_field(document: Document, field: str, hint: str) -> Diagnostic:
    """The error about a missing or empty field at the top of a document."""
    if document.is_empty(field):
        return make_diagnostic("E227", document.origin(field, key=True), word=field, hint=hint)
    return make_diagnostic("E302", document.origin(), word=field, hint=hint)


def _type_error(document: Document, field: str, hint: str = "") -> Diagnostic:
    """The error about a field at the top of a document that is no text."""
    finding = schema_validation.type_finding((field,), document.value[field], "string")
    words = schema_validation.message_words(finding, document.raw((field,)))
    return make_diagnostic(finding.code, document.origin(field), **{**words, "hint": hint or words["hint"]})


def _list_kind(document: Document, items: object, path: Path, problems: list[Diagnostic]) -> str | None:
    """'' for a list that holds objects of ours (a problem is added), else None."""
    for item in items if isinstance(items, list) else ():
        version = item.get("apiVersion") if isinstance(item, dict) else None
        group = version.partition("/")[0] if isinstance(version, str) else ""
        if group in GROUPS or (group == _INFERENCE_GROUP and _is_inference_model(item.get("kind"))):
            problems.append(make_diagnostic("E218", document.origin(*path, key=True)))
            return ""
    return None


def check(document: Document, kind: str) -> list[Diagnostic]:
    """The violations of the schema of its kind. Removes null keys, and restores a plain `off` where it is a word."""
    value = document.value
    for path in _OFF_FIELDS.get(kind, ()):
        _restore_word(document, value, path)
    name = f"input/{kind.lower()}"
    if schema_validation.is_valid(name, value) or (_drop_nulls(value) and schema_validation.is_valid(name, value)):
        return []
    problems = []
    hints = _Hints(kind, value)
    for finding in schema_validation.findings(name, value, hints.find):
        origin = document.origin(*finding.path, key=finding.key)
        raw = document.raw(finding.path) if finding.code not in ("E301", "E302") else None
        is_template = (
            kind == "BackendRuntime" and raw and raw.startswith("{{") and raw.endswith("}}") and _has_engine(value)
        )
        if is_template and finding.words.get("wanted") not in ("a map", "a list"):
            continue  # a bare word may stand for a number
        code, words = finding.code, schema_validation.message_words(finding, raw)
        if code == "E303" and raw and finding.path[-2:] == _VERSION and (tag := _whole_tag(value, raw)):
            words["hint"] = ReplacingHint(f"write version: {tag}", raw, tag)
        if code == "E302" and document.is_empty(*finding.path, words["word"]):
            problems.append(_empty_field(document, name, *finding.path, words["word"]))
            continue
        if code == "E302" and words["word"] == "maxReplicas":
            code = "E271"
        elif code == "E302" and not words["hint"]:
            from renderer import foreign_words  # few runs need it

            words["hint"] = foreign_words.missing_hint(kind, name, value, finding.path, words["word"])
        problems.append(make_diagnostic(code, origin, **words))
    return problems


def _whole_tag(value: object, number: str) -> str:
    """The tag of the newest version of the engine that begins with a number, v0.10.2 for 0.10; '' where none does."""
    usual = schema_validation.spec_default("Playground", "backendRuntimeConfig", "backendName")
    backend = value_at(value, "spec", "backendRuntimeConfig", "backendName") or usual
    if backend not in preset_names("backends"):
        return ""
    document = preset(f"backends/{backend}")
    runtime = BackendRuntime(str(backend), document.value["spec"], document, ours=True)
    return completed_tag(OptionListReader(), runtime, number)


class _Hints:
    """What to write in place of fields of an object that its schema refuses."""

    def __init__(self, kind: str, value: Any) -> None:
        self.kind, self.value = kind, value
        self.schema = f"input/{kind.lower()}"
        self.left = _MOST_HINTS

    def find(self, finding: Finding) -> Hint | None:
        """What is known beyond the names of fields that are alike."""
        from renderer import foreign_words, value_forms  # few runs need them

        if not self.left:
            return None
        self.left -= 1
        if hint := foreign_words.key_hint(self.kind, self.schema, self.value, finding):
            return hint
        if finding.code == "E301":
            return self._elsewhere(finding)
        return None if finding.words.get("hint") else value_forms.form_hint(self.schema, self.value, finding)

    def _elsewhere(self, finding: Finding) -> Hint | None:
        """The place of a field that the object has elsewhere, unless a field beside it is spelt nearly so."""
        from renderer import foreign_words

        word, hint = str(finding.words["word"]), str(finding.words["hint"])
        name = "" if hint.startswith(_LISTED) else hint.removeprefix("did you mean '").removesuffix("'?")
        begins = name.lower().startswith(word.lower()) or word.lower().startswith(name.lower())
        if name and (begins or suggestions.within_letters(word.lower(), [name.lower()], _MISSPELT)):
            return None if self._takes(finding, name) else self._known(finding)
        if sibling := self._sibling(finding):
            return Hint(meant_name(str(finding.words["word"]), sibling), (*finding.path[:-1], sibling))
        place = _place_of(self.schema, self.value, word)
        if place and (word not in _FIELDS_OF_MANY or _is_near(place, finding.path)):
            of_engine = f", of the container {RUNNER}" if ".containers[]." in place else ""
            moved = foreign_words.moved_hint(self.schema, self.value, finding, place)
            return moved or Hint(f"did you mean {place}{of_engine}?")
        return self._known(finding) if name and not self._takes(finding, name) else None

    def _sibling(self, finding: Finding) -> str:
        """The one field beside an unknown one that is not there and lists its value among those that it takes."""
        value, beside = value_at(self.value, *finding.path), value_at(self.value, *finding.path[:-1])
        fields = schema_validation.schema_at(self.schema, finding.path[:-1]).get("properties") or {}
        if not isinstance(value, str) or not isinstance(beside, dict):
            return ""
        taking = [name for name, field in fields.items() if value in field.get("enum", ()) and name not in beside]
        return taking[0] if len(taking) == 1 else ""

    def _takes(self, finding: Finding, name: str) -> bool:
        """Whether a field beside the unknown one takes a value of its type."""
        value = value_at(self.value, *finding.path)
        types = schema_validation.schema_at(self.schema, (*finding.path[:-1], name)).get("type")
        type_names = [types] if isinstance(types, str) else types or ()
        if not type_names or value is None:
            return True
        if isinstance(value, dict | list):
            return ("object" if isinstance(value, dict) else "array") in type_names
        return bool({*type_names} - {"object", "array"})

    def _known(self, finding: Finding) -> Hint:
        known = schema_validation.schema_at(self.schema, finding.path[:-1]).get("properties") or {}
        return Hint(suggestion("", sorted(known)))


def _is_near(place: str, path: Path) -> bool:
    """Whether a place is in the branch of the spec in which a path is, or directly below the spec."""
    branch = place.removeprefix("spec.").partition(".")[0].removesuffix("[]")
    return len(path) <= 2 or branch in path or place.count(".") == 1


def _place_of(schema: str, value: Any, word: str) -> str:
    """Where the spec of a kind has a field of this name, the highest place; '' where it has none, and for names that
    belong to objects of every sort. Of lists of containers that of the engine's counts, of other places that in a map
    that the object has.
    """
    if word in _COMMON_FIELDS:
        return ""
    places = [place for place in _fields(schema).get(word, ()) if place.startswith("spec.")]

    def rank(place: str) -> tuple[object, ...]:
        is_new = value_at(value, *place.split(".")[:-1]) is None
        return place.count("."), *(part in place for part in _OTHER_CONTAINERS), is_new

    return min(places, key=rank, default="")


@cache
def _fields(schema: str) -> Mapping[str, Sequence[str]]:
    """The places of all fields of a kind, by their names."""
    whole = schema_validation.read_schema(schema)
    places: dict[str, list[str]] = {}
    pending: list[tuple[str, Mapping[str, Any]]] = [("", whole)]
    while pending:
        path, node = pending.pop()
        if "$ref" in node:
            node = whole["$defs"][node["$ref"].removeprefix("#/$defs/")]
        for key, field in (node.get("properties") or {}).items():
            place = f"{path}.{key}" if path else key
            if place.count(".") < _DEEPEST_PLACE:
                places.setdefault(key, []).append(place)
                pending.append((place, field))
        if isinstance(node.get("items"), dict):
            pending.append((f"{path}[]", node["items"]))
    return places


def _empty_field(document: Document, schema: str, *path: str | int) -> Diagnostic:
    """The error about a field without a value, at its own line. `schema`: the name of the kind's schema."""
    known = schema_validation.schema_at(schema, path)
    hint = "write its value after the colon"
    if known.get("type") == "object":
        properties = known.get("properties", {})
        # An extension stands beside what llmaz's own API asks for.
        own = [name for name in properties if not properties[name].get("description", "").startswith("Extension:")]
        fields = own or [*properties]
        few = " or ".join(fields) if len(fields) <= _FEW_FIELDS else ""
        needed = ", ".join(known.get("required", ())) or few
        hint = f"write its fields below it, indented{f': {needed}' if needed else ''}"
    elif known.get("type") == "array":
        hint = "write its items below it, each after '- '"
    return make_diagnostic("E227", document.origin(*path, key=True), word=path[-1], hint=hint)


def _has_engine(value: Any) -> bool:
    spec = value.get("spec")
    return isinstance(spec, dict) and "engine" in spec


def _drop_nulls(value: object) -> bool:
    """Removes keys with null values, as the API server does. Returns whether there were any."""
    if isinstance(value, list):
        return bool([item for item in value if _drop_nulls(item)])
    if not isinstance(value, dict):
        return False
    empty = [key for key, item in value.items() if item is None]
    for key in empty:
        del value[key]
    return any([bool(empty), *map(_drop_nulls, value.values())])


def _restore_word(document: Document, value: Any, path: Path, prefix: Path = ()) -> None:
    for i, part in enumerate(path[:-1]):
        if part == "*":
            for key in value if isinstance(value, dict) else ():
                _restore_word(document, value[key], path[i + 1 :], (*prefix, *path[:i], key))
            return
        value = value.get(part) if isinstance(value, dict) else None
    is_off = isinstance(value, dict) and value.get(path[-1]) is False
    if is_off and (document.raw((*prefix, *path)) or "").lower() == "off":
        value[path[-1]] = "off"
