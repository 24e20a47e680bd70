"""Specs of pods that people write as patches: what of them Kubernetes would take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from renderer import schema_validation
from renderer.adopt.source_fields import raw_text
from renderer.diagnostics import Collector, Finding, Origin, Path
from renderer.kubernetes.api_types import merge_keys, type_at
from renderer.kubernetes.json_values import without_nulls
from renderer.kubernetes.template_origins import TemplateOrigins

_SCHEMA = "output/core/podtemplate_v1"
_BELOW = ("template", "spec")  # where that schema has the spec of the pod
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


def _wrong(pod: object) -> Iterator[Finding]:
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


def _findings(pod: object) -> list[Finding]:
    """The findings about the spec of a pod, with paths below it."""
    body = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "pod"}, "template": {"spec": pod}}
    if schema_validation.is_valid(_SCHEMA, body):
        return []
    findings = schema_validation.findings(_SCHEMA, body)
    return [replace(finding, path=finding.path[len(_BELOW) :]) for finding in findings]


def _may_be_merged(finding: Finding) -> bool:
    """Whether the finding is about a field that is missing, but for the key by which an item is merged."""
    if finding.code == _OUT_OF_BOUNDS:
        return str(finding.words["what"]).endswith(_NEEDED)
    if finding.code != _MISSING_FIELD:
        return False
    *path, field, index = ("spec", *finding.path) if finding.path else ("spec", "", "")
    return not (isinstance(index, int) and finding.words["word"] in merge_keys(type_at(*path), field)[:1])


def _tell(finding: Finding, place: Origin, diagnostics: Collector) -> None:
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
