"""5: objects against the rules of the cluster that takes them: schemas, CEL, LWS's webhook, HPA, and each other.

For objects of ours a finding points back at the input field that caused it; `llmaz check` runs the same rules over any
manifests, and points at their own lines.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from functools import cache, partial
from typing import Any

from msgspec.structs import replace

from renderer import component_versions, schema
from renderer.api import Inputs, Scope
from renderer.check.api_versions import validate_api_versions
from renderer.check.cel import cel_rules
from renderer.check.finding import Body, Finding, IndexedFinding, locate_finding
from renderer.check.graph import (
    ExternalObjects,
    Key,
    ObjectView,
    findings_by_object,
    kind_of,
    known_objects,
    outside,
    validate_whole_graph,
)
from renderer.check.kinds.hpa import hpa_rules
from renderer.check.kinds.karpenter import pool_rules
from renderer.check.kinds.lws import lws_pods, lws_webhook
from renderer.check.kinds.objects import service_rules, workload_rules
from renderer.check.kinds.rbac import binding_rules, role_rules
from renderer.check.relations import validate_relations
from renderer.diagnostics import Diagnostic, Origin, Path, RenderError, has_errors, make_diagnostic
from renderer.output.folder import OutputFolder
from renderer.plan import Manifest
from renderer.source.tree import MARK, InputFile
from renderer.workers import process_count
from renderer.yamlio import Document

__all__ = [
    "ExternalObjects",
    "batch",
    "documents",
    "external_objects",
    "folder",
    "manifests",
    "outside",
    "prepare",
    "writable",
]

RULES: dict[str, tuple[Callable[[Body], Iterator[Finding]], ...]] = {  # by schema
    "output/leaderworkerset.x-k8s.io/leaderworkerset_v1": (lws_webhook, lws_pods),
    "output/autoscaling/horizontalpodautoscaler_v2": (hpa_rules,),
    "output/core/service_v1": (service_rules,),
    "output/karpenter.sh/nodepool_v1": (pool_rules,),
    "output/apps/deployment_v1": (workload_rules,),
    "output/apps/statefulset_v1": (workload_rules,),
    "output/apps/daemonset_v1": (workload_rules,),
    "output/rbac.authorization.k8s.io/role_v1": (role_rules,),
    "output/rbac.authorization.k8s.io/rolebinding_v1": (binding_rules,),
}


_COMMON_KINDS = (  # what nearly every app has
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),
    ("v1", "Service"),
    ("policy/v1", "PodDisruptionBudget"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
    ("gateway.envoyproxy.io/v1alpha1", "Backend"),
    ("aigateway.envoyproxy.io/v1beta1", "AIServiceBackend"),
    ("aigateway.envoyproxy.io/v1beta1", "AIGatewayRoute"),
)


def prepare(scope: Scope) -> None:
    """Compiles common schemas and rules before there are objects, where several processes will need them: once for all
    of them, while the inputs are being read.
    """
    if process_count(len(scope.tree.files)) > 1:
        targets = component_versions.target_versions(scope.config.get("targets") or {})
        for version, kind in _COMMON_KINDS:
            _valid_bodies(schema.name_of(version, kind), (), targets)


def external_objects(inputs: Inputs) -> ExternalObjects:
    """What rendered objects may refer to: what RenderConfig declares, and valid gateway objects of others in the tree,
    except where a Gateway of ours will stand beside them. Targets that RenderConfig leaves out have their defaults.
    """
    targets = component_versions.target_versions(inputs.config.get("targets") or {})
    external = replace(outside(inputs.config), targets=targets)
    if not inputs.around:
        return external
    own_namespaces = (
        {namespace for namespace, _ in external.gateways} if inputs.config.get("gateway", "create") else set()
    )
    bodies: list[Body] = []
    broken: set[Key] = set()
    for body in inputs.around:
        if (key := _key(body)) and body["metadata"].get("namespace") not in own_namespaces:
            if not schema.has_schema(schema.name_of(body["apiVersion"], body["kind"])):
                continue
            if any(validate_object(body)):
                broken.add(key)  # it is there, and not ours to judge
            else:
                bodies.append(body)
    return replace(known_objects(bodies, external), present=frozenset(broken))


def batch(
    apps: Sequence[Sequence[Manifest]], outside: ExternalObjects
) -> Callable[[Sequence[Manifest], frozenset[Key]], list[Diagnostic]]:
    """`manifests` for the apps of a batch. Objects of one kind are first validated in a row: schema and rules stay in
    the processor's cache.
    """
    kinds: dict[tuple[str, str], list[Body]] = defaultdict(list)
    for app_manifests in apps:
        for manifest in app_manifests:
            kinds[manifest.body["apiVersion"], manifest.body["kind"]].append(manifest.body)
    doubtful: set[int] = set()
    for (version, kind), bodies in kinds.items():
        valid: Sequence[Body] = ()
        with suppress(Exception):  # met again where a body is asked alone, with its file at hand
            valid = _valid_bodies(schema.name_of(version, kind), bodies, outside.targets)
        if len(valid) < len(bodies):
            doubtful.update(map(id, bodies))
            doubtful.difference_update(map(id, valid))
    return partial(manifests, outside=outside, doubtful=doubtful)


def _valid_bodies(name: str, bodies: Sequence[Body], targets: component_versions.TargetVersions | None) -> list[Body]:
    """Those of the bodies, of the kind of one schema, for which `validate_object` finds nothing."""
    too_new = targets.too_new_schema(name) if targets else None
    valid = schema.valid_values(name, bodies, too_new.schema if too_new else "")
    for rule in _rules(name):
        valid = [body for body in valid if not any(rule(body))]
    return valid


def manifests(
    app_manifests: Sequence[Manifest],
    others: frozenset[Key] = frozenset(),
    outside: ExternalObjects | None = None,
    targets: component_versions.TargetVersions | None = None,
    doubtful: Set[int] | None = None,
) -> list[Diagnostic]:
    """All diagnostics about one app's objects, at the input's places; with `outside` also those of the graph from
    Gateway to pod.

    `others`: objects of other apps that these refer to; `targets`: the target versions, where `outside` is not known;
    `doubtful`: where all bodies have been validated alone, the ids of those that may be wrong.
    """
    if outside and others:
        outside = replace(outside, present=outside.present | others)
    problems = []
    bodies = [manifest.body for manifest in app_manifests]
    if doubtful is None or doubtful:
        for manifest in app_manifests:
            if doubtful is None or id(manifest.body) in doubtful:
                for code, path, words in validate_object(
                    manifest.body, targets=outside.targets if outside else targets
                ):
                    problems.append(locate_finding(manifest, code, path, words))
    for finding in validate_relations(bodies):
        problems.append(locate_finding(app_manifests[finding.index], finding.code, finding.path, finding.words))
    broken = problems and has_errors(problems)
    for finding in findings_by_object(ObjectView(bodies, outside)) if outside and not broken else ():
        if finding.code[0] != "N":
            problems.append(locate_finding(app_manifests[finding.index], finding.code, finding.path, finding.words))
    return problems


def documents(
    read: Sequence[Document], outside: ExternalObjects | None = None, *, alone: bool = False
) -> tuple[list[Diagnostic], list[Document]]:
    """All diagnostics about hand-written manifests, at their own places; and the documents of kinds without a schema.

    `outside`: what they may refer to besides; `alone`: each object is judged as if there were no other.
    """
    problems: list[Diagnostic] = []
    bodies: list[Body] = []
    valid: list[Document] = []
    unjudged: list[Document] = []  # of kinds that nobody here knows
    broken: set[Key] = set()
    unknown = []
    for document in read:
        value = document.value
        if (
            not isinstance(value, dict)
            or not isinstance(value.get("kind"), str)
            or not isinstance(value.get("apiVersion"), str)
        ):
            problems.append(make_diagnostic("E501", document.origin()))
            continue
        if not schema.has_schema(schema.name_of(value["apiVersion"], value["kind"])):
            unknown.append(document)
            if _key(value):
                unjudged.append(document)
            continue
        findings = [
            make_diagnostic(code, document.origin(*path, key=bool(words.get("key"))), **words)
            for code, path, words in validate_object(value, document.raw, outside.targets if outside else None)
        ]
        problems += findings
        if not has_errors(findings):
            bodies.append(value)
            valid.append(document)
        elif key := _key(value):
            broken.add(key)
    if alone:
        return problems, unknown
    seen: dict[tuple[str, str, str, str], Document] = {}
    for document, body in zip(valid, bodies, strict=True):
        metadata = body["metadata"]
        identity = (
            body["apiVersion"].rpartition("/")[0],
            body["kind"],
            metadata.get("namespace", ""),
            metadata.get("name", ""),
        )
        if (first := seen.setdefault(identity, document)) is not document:
            file, line, _ = first.origin("metadata", "name").place
            duplicate = make_diagnostic(
                "E201", document.origin("metadata", "name"), kind=identity[1], name=identity[3], file=file, line=line
            )
            problems.append(replace(duplicate, hint="leave one of them out, or give it another name"))
    problems += [_diagnostic(valid[finding.index], finding) for finding in validate_relations(bodies)]
    judged = [*valid, *unjudged]
    external = replace(outside or ExternalObjects(), present=frozenset(broken))
    problems += [
        _diagnostic(judged[finding.index], finding)
        for finding in validate_whole_graph([document.value for document in judged], external)
    ]
    return problems, unknown


def _diagnostic(document: Document, finding: IndexedFinding) -> Diagnostic:
    return make_diagnostic(finding.code, document.origin(*finding.path), **finding.words)


def _key(value: Mapping[str, Any]) -> Key | None:
    """Kind, namespace and name of an object that no schema has judged; None when one of them is not a string."""
    metadata = value.get("metadata")
    identity = (
        value.get("apiVersion"),
        value.get("kind"),
        metadata.get("name") if isinstance(metadata, dict) else None,
    )
    if not isinstance(metadata, dict) or not all(isinstance(part, str) for part in identity):
        return None
    namespace = metadata.get("namespace") or ""
    if not isinstance(namespace, str):
        return None
    return kind_of(value["apiVersion"], value["kind"]), namespace, metadata["name"]


def validate_object(
    body: Body,
    raw: Callable[[Path], str | None] = lambda path: None,
    targets: component_versions.TargetVersions | None = None,
) -> Iterator[Finding]:
    """Findings about one object of a kind with a schema: of its schema, then of the rules that no schema holds.

    `raw`: the scalar at a path as its author wrote it; `targets`: the versions that it has to work with.
    """
    name = schema.name_of(body["apiVersion"], body["kind"])
    too_new = targets.too_new_schema(name) if targets else None
    if targets and too_new and not schema.is_valid(name, body, too_new.schema):
        yield from validate_api_versions(targets, too_new, body)
        too_new = None
    if not too_new and not schema.is_valid(name, body):
        for schema_finding in schema.findings(name, body):
            yield (
                schema_finding.code,
                schema_finding.path,
                {**schema.message_words(schema_finding, raw(schema_finding.path)), "key": schema_finding.key},
            )
        return
    for rule in _rules(name):
        yield from rule(body)


@cache
def _rules(name: str) -> tuple[Callable[[Body], Iterable[Finding]], ...]:
    """The rules of a kind that its schema does not hold."""
    in_cel = cel_rules(name)
    return (*RULES.get(name, ()), *((in_cel,) if in_cel else ()))


def folder(scope: Scope, states: Mapping[str, str]) -> list[Diagnostic]:
    """An error for each thing in the output folder that is in the way and not ours: a file, or a file where a folder is
    needed.
    """
    blocking = {_blocking_path(scope.folder, path) for path, state in states.items() if state == "foreign"}
    return [
        make_diagnostic("E144" if os.path.islink(path) else "E141", Origin(InputFile(path, "", "")))
        for path in sorted(blocking)
    ]


def charts(scope: Scope) -> list[Diagnostic]:
    """An error where plain manifests would be written into a Helm chart of ours."""
    chart = _chart(scope.folder) if scope.options.compares else ""
    return [make_diagnostic("E743", Origin(InputFile(scope.folder, "", "")), folder=chart)] if chart else []


def _chart(folder: str) -> str:
    """The folder at or above this one that holds a chart of ours, '' where there is none."""
    while folder:
        with suppress(OSError):
            if OutputFolder(folder).begin("Chart.yaml", len(MARK)) == MARK.encode():
                return folder
        folder = os.path.dirname(folder)
    return ""


def _blocking_path(folder: str, path: str) -> str:
    """The first part of the way to a path that is no folder, or a link below the output folder; else
    the path itself.
    """
    full_path = f"{folder}/{path}"
    for end in (i for i, character in enumerate(full_path) if character == "/" and i):
        prefix = full_path[:end]
        if (end > len(folder) and os.path.islink(prefix)) or (os.path.lexists(prefix) and not os.path.isdir(prefix)):
            return prefix
    return full_path


@contextmanager
def writable(folder: str) -> Iterator[None]:
    """Turns an OSError within into a RenderError with a diagnostic."""
    try:
        yield
    except OSError as error:
        raise RenderError(
            [make_diagnostic("E140", Origin(InputFile(error.filename or folder, "", "")), what=error.strerror or error)]
        ) from None
