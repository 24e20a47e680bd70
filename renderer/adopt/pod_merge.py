"""Specs of pods that people write as patches: what of them Kubernetes would take, and their strategic merge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from renderer import schema_validation
from renderer.adopt.source_fields import raw_text
from renderer.adopt.template_origins import TemplateOrigins
from renderer.diagnostics import Collector, Origin, Path
from renderer.kubernetes.json_values import map_at, without_nulls
from renderer.schema_validation import SchemaFinding

_SCHEMA = "output/core/podtemplate_v1"
_BELOW = ("template", "spec")  # where that schema has the spec of the pod
_MERGE_KEY = "="  # in the tree of merge keys: the key of a list's items
_UNKNOWN_FIELD, _MISSING_FIELD, _OUT_OF_BOUNDS = "E301", "E302", "E307"
_NEEDED = " is needed"  # how a finding ends about a map that has none of the fields of which it needs one


def read_pod(value: object, origin: Origin, diagnostics: Collector) -> dict[str, Any]:
    """A copy of the spec of a pod without what Kubernetes would not take, which is told: unknown fields are lost,
    values of another type are errors. What the patch lacks may stand in what it is merged into.
    """
    pod = without_nulls(value)
    for _ in range(2):  # what a first problem hides is found behind it
        findings = [*_wrong(pod)]
        if not findings:
            break
        for finding in findings:
            _tell(finding, Origin(origin.source, (*origin.path, *finding.path), finding.key), diagnostics)
        pod = _pruned(pod, [finding.path for finding in findings])
    return pod if isinstance(pod, dict) and not [*_wrong(pod)] else {}


def _wrong(pod: object) -> Iterator[SchemaFinding]:
    return (finding for finding in _findings(pod) if not _may_be_merged(finding))


def valid_pod(
    pod: dict[str, Any], origins: TemplateOrigins, path: Path, diagnostics: Collector, without_image: Path = ()
) -> dict[str, Any]:
    """A copy of the whole spec of a pod, at `path` of its template, without what Kubernetes would not take, which is
    told; and so is what is missing in it. `without_image`: the path of a container that needs none.
    """
    findings = [
        finding
        for finding in _findings(pod)
        if (finding.code, finding.path, finding.words.get("word")) != (_MISSING_FIELD, without_image, "image")
    ]
    for finding in findings:
        origin = origins((*path, *finding.path))
        _tell(finding, Origin(origin.source, origin.path, finding.key), diagnostics)
    wrong = [finding.path for finding in findings if not _may_be_merged(finding)]
    return _pruned(pod, wrong) if wrong else pod


def _findings(pod: object) -> list[SchemaFinding]:
    """The findings about the spec of a pod, with paths below it."""
    body = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "pod"}, "template": {"spec": pod}}
    if schema_validation.is_valid(_SCHEMA, body):
        return []
    findings = schema_validation.findings(_SCHEMA, body)
    return [
        SchemaFinding(finding.code, finding.path[len(_BELOW) :], finding.key, finding.words) for finding in findings
    ]


def _may_be_merged(finding: SchemaFinding) -> bool:
    """Whether the finding is about a field that is missing, but for the key by which an item is merged."""
    if finding.code == _OUT_OF_BOUNDS:
        return finding.words["what"].endswith(_NEEDED)
    if finding.code != _MISSING_FIELD:
        return False
    keys: Mapping[str, object] = merge_keys()
    for part in finding.path:
        keys = keys if isinstance(part, int) else map_at(keys, part)
    is_item = isinstance(finding.path[-1] if finding.path else "", int)
    return not (is_item and keys.get(_MERGE_KEY) == finding.words["word"])


def _tell(finding: SchemaFinding, place: Origin, diagnostics: Collector) -> None:
    if finding.code == _UNKNOWN_FIELD:
        diagnostics.add("W965", place, word=finding.words["word"], hint=finding.words["hint"])
    else:
        diagnostics.add(finding.code, place, **schema_validation.message_words(finding, raw_text(place)))


def _pruned(value: Any, paths: list[Path]) -> dict[str, Any]:
    """The value without the fields at these paths; a list goes as a whole, since its other items would move."""
    if not isinstance(value, dict):
        return {}
    below: dict[object, list[Path]] = {}
    for path in paths:
        if path:
            below.setdefault(path[0], []).append(path[1:])
    pruned: dict[str, Any] = {}
    for key, item in value.items():
        rests = below.get(key)
        if rests is None:
            pruned[key] = item
        elif () not in rests and isinstance(item, dict):
            pruned[key] = _pruned(item, rests)
        elif () not in rests and isinstance(item, list) and all(len(rest) > 1 for rest in rests):
            pruned[key] = [
                _pruned(part, [rest[1:] for rest in rests if rest[0] == i])
                if any(rest[0] == i for rest in rests)
                else part
                for i, part in enumerate(item)
            ]
    return pruned


@cache
def merge_keys() -> Mapping[str, Any]:
    """The fields of a pod's spec as a tree; `=` has the key by which the items of a list are merged."""
    tree: dict[str, Any] = {}
    for path, keys in schema_validation.read_schema("output/merging").items():
        parts = path.replace("[]", "").split(".")
        if parts[0] == "spec":
            node = tree
            for part in parts[1:]:
                node = node.setdefault(part, {})
            node[_MERGE_KEY] = keys[0]
    return tree


def merge(
    base: Mapping[str, Any],
    patch: Mapping[str, Any],
    keys: Mapping[str, Any],
    origin: Origin,
    path: Path,
    origins: TemplateOrigins,
) -> dict[str, Any]:
    """The strategic merge of a patch into a map at `path`. `keys`: a part of merge_keys(); `origin`: of the patch,
    whose fields get their origins.
    """
    merged = dict(base)
    for key, value in patch.items():
        place, item_origin, item_keys = (*path, key), origin.at(key), map_at(keys, key)
        old = base.get(key)
        if isinstance(value, dict):
            origins.copy(place, item_origin)
            merged[key] = merge(old if isinstance(old, dict) else {}, value, item_keys, item_origin, place, origins)
        elif isinstance(value, list) and _MERGE_KEY in item_keys:
            merged[key] = _merge_list(
                old if isinstance(old, list) else [], value, item_keys, item_origin, place, origins
            )
        else:
            origins.forget(place)
            origins.copy(place, item_origin)
            merged[key] = value
    return merged


def _merge_list(
    old: list[Any], patches: list[Any], keys: Mapping[str, Any], origin: Origin, path: Path, origins: TemplateOrigins
) -> list[Any]:
    """The items by their merge key, new ones behind the others."""
    name = keys[_MERGE_KEY]
    items = [*old]
    indices = {item.get(name): i for i, item in reversed([*enumerate(items)])}
    for i, patch in enumerate(patches):
        index = indices.setdefault(patch.get(name), len(items))
        place = (*path, index)
        if index == len(items):
            items.append({})
        elif path[-1] in ("env", "volumes"):  # a variable has one value, a volume one source
            items[index] = {}
            origins.forget(place)
        origins.copy(place, origin.at(i))
        items[index] = merge(items[index], patch, keys, origin.at(i), place, origins)
    return items
