"""Foreign objects of the tree, which are left alone: warnings where they collide with rendered objects, or aim at
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import chain

from msgspec import Struct

from renderer import workers, yamlio
from renderer.api import ClaimedName, ForeignDocument, ForeignFile, Inputs, Scope
from renderer.check.foreign.autoscalers import validate_autoscaler
from renderer.check.foreign.collisions import validate_policy_targets, validate_public_names, validate_same_object
from renderer.check.foreign.gateways import validate_buffers
from renderer.check.foreign.guarded_models import validate_guarded_models, validate_name_patterns
from renderer.check.foreign.kustomizations import Kustomizations
from renderer.check.foreign.missing_targets import find_missing_targets, judged_objects, valid_objects
from renderer.check.foreign.objects import (
    ForeignObject,
    OwnObject,
    OwnObjects,
    foreign_objects,
)
from renderer.check.foreign.resource_quotas import JudgedQuota, judged_quotas
from renderer.check.foreign.shared_volumes import validate_claim
from renderer.diagnostics import Diagnostic, has_errors
from renderer.kubernetes.json_values import text_at
from renderer.kubernetes.workloads import QUOTA_KINDS
from renderer.source.tree import glob

_QUOTA = b"ResourceQuota"
_SAME = ("E211", "W260")  # of an object that is rendered too, of which nothing else is said


class ForeignState(Struct, frozen=True):
    """What is wrong with foreign objects, and what those of them that are passed through allow."""

    problems: Sequence[Diagnostic] = ()
    quotas: Sequence[JudgedQuota] = ()


def validate_foreign_objects(
    scope: Scope,
    inputs: Inputs,
    objects: Sequence[OwnObject],
    names: Sequence[ClaimedName],
    problems: Sequence[Diagnostic],
    *,
    has_quotas: bool = False,
) -> ForeignState:
    """The diagnostics about foreign objects below PATHS. `names`: the public names of rendered routes; `problems`:
    those of the input, which may be why an object is not rendered; `has_quotas`: there are ResourceQuotas among the
    foreign objects.
    """
    rendered = OwnObjects(inputs, objects)
    foreign = _foreign_objects(scope, inputs, rendered, has_quotas=has_quotas)
    kustomizations = Kustomizations(scope)
    findings = [(object_, finding) for object_ in foreign for finding in validate_same_object(object_, rendered)]
    same = {id(object_) for object_, finding in findings if finding.code in _SAME}
    others = [object_ for object_ in foreign if id(object_) not in same]
    for object_ in others:
        findings += [(object_, finding) for finding in validate_autoscaler(object_, rendered)]
        findings += [(object_, finding) for finding in validate_policy_targets(object_, rendered)]
        findings += [(object_, finding) for finding in validate_claim(object_, rendered)]
    quotas: list[JudgedQuota] = []
    if has_quotas:
        counted = [object_ for object_ in others if object_.kind in QUOTA_KINDS]
        unchanged = [object_ for object_ in counted if object_.passed or not kustomizations.change(object_)]
        quotas = [*judged_quotas(valid_objects(unchanged), rendered, one_cluster=not scope.options.env)]
        near = [entry for entry in quotas if entry.quota.key[1] in rendered.namespaces]
        findings += [(entry.quota, finding) for entry in near for finding in entry.findings]
    judged = judged_objects(others)
    findings += validate_guarded_models(others, judged, rendered, inputs)
    findings += validate_name_patterns(judged, names)
    indexed = [*validate_public_names(judged, names)]
    # Of a part of the tree, or of a broken one, not all objects are rendered.
    if not (scope.pruned_paths or inputs.unreadable or inputs.broken or has_errors(problems)):
        indexed += validate_buffers(judged, names)
        indexed += find_missing_targets(judged, {object_.key for object_ in foreign}, rendered, inputs)
    findings += [(judged[index], finding) for index, finding in indexed]
    problems = [
        finding.located(object_.document.origin())
        for object_, finding in findings
        if object_.passed or not kustomizations.change(object_)
    ]
    return ForeignState(problems, [entry for entry in quotas if entry.quota.passed])


def has_resource_quotas(inputs: Inputs) -> bool:
    """Whether the tree has a ResourceQuota."""
    return any(_QUOTA in file.kinds for file in inputs.foreign_files) or any(
        text_at(part.value, "kind") == _QUOTA.decode()
        for foreign in inputs.foreign_documents
        for part in foreign.document.objects
    )


def _foreign_objects(scope: Scope, inputs: Inputs, rendered: OwnObjects, *, has_quotas: bool) -> list[ForeignObject]:
    """The foreign objects below PATHS that may collide with rendered ones, or refer to them; with quotas also all that
    decides how much these count.
    """
    names = {name.encode() for name in rendered.names}
    beside = {kind.encode() for kind in QUOTA_KINDS} if has_quotas else frozenset()
    candidates = [
        file for file in inputs.foreign_files if not (names.isdisjoint(file.names) and beside.isdisjoint(file.kinds))
    ]
    documents = [*inputs.foreign_documents]
    for candidate, parsed in zip(candidates, chain.from_iterable(workers.run(_parse_files, candidates)), strict=True):
        read = yamlio.documents(candidate.file.name, parsed.data, parsed.values)
        documents += [ForeignDocument(document, candidate.file) for document in read]
    patterns = [glob(pattern) for pattern in scope.config.get("passThrough") or ()]
    namespace = str(scope.config.get("namespace") or "default")
    objects: list[ForeignObject] = []
    for foreign in documents:
        passed = any(pattern.fullmatch(foreign.file.key) for pattern in patterns)
        objects += foreign_objects(foreign.document, foreign.file, namespace, passed)
    return objects


class _ParsedFile(Struct, frozen=True):
    """The bytes of a file, and the documents in it as plain values, by position."""

    data: bytes = b""
    values: Sequence[tuple[int, object]] = ()


def _parse_files(files: Sequence[ForeignFile]) -> list[_ParsedFile]:
    """The contents of each file; nothing of one that cannot be read, or is not YAML."""
    parsed_files = []
    for file in files:
        data = b""
        with suppress(OSError):
            data = file.file.read()
        documents, problems = yamlio.parse(file.file.name, data)
        values = [(document.index, document.value) for document in documents]
        parsed_files.append(_ParsedFile() if problems else _ParsedFile(data, values))
    return parsed_files
