"""5: validation of manifests by the rules of the cluster: schemas, CEL, webhooks, and references between objects.

A diagnostic about a rendered manifest points at the input field that caused it; `llmaz check` applies the same rules to
any manifests, and points at their own lines.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from functools import cache, partial

from msgspec import Struct
from msgspec.structs import replace

from renderer import schema_validation
from renderer.api import Inputs, Scope
from renderer.check.api_versions import validate_api_versions
from renderer.check.cel import cel_rules
from renderer.check.finding import Body, Finding, IndexedFinding, locate_finding
from renderer.check.graph import (
    NAMED_KINDS,
    ExternalObjects,
    Key,
    ObjectView,
    declared_objects,
    kind_of,
    known_objects,
    validate_graph,
    validate_whole_graph,
)
from renderer.check.kinds.disaggregated_sets import validate_disaggregated_set, validate_disaggregated_set_pods
from renderer.check.kinds.hpa import validate_hpa
from renderer.check.kinds.karpenter import validate_node_pool
from renderer.check.kinds.keda import validate_scaled_object
from renderer.check.kinds.lws import validate_lws, validate_lws_pods
from renderer.check.kinds.objects import validate_pods, validate_service, validate_workload
from renderer.check.kinds.rbac import validate_role, validate_role_binding
from renderer.check.nulls import without_nulls
from renderer.check.relations import validate_relations
from renderer.check.removed_apis import removal_words
from renderer.diagnostics import Diagnostic, Origin, Path, RenderError, has_errors, make_diagnostic
from renderer.kubernetes import component_versions
from renderer.kubernetes.json_values import text_at
from renderer.output.file_header import MARK
from renderer.output.folder_writer import OutputFolder
from renderer.plan import Manifest
from renderer.source.tree import InputFile
from renderer.workers import process_count
from renderer.yamlio import Document

__all__ = [
    "ExternalObjects",
    "declared_objects",
    "external_objects",
    "find_blocking_files",
    "manifest_validator",
    "precompile_rules",
    "reporting_write_errors",
    "valid_bodies",
    "validate_documents",
    "validate_manifests",
    "without_nulls",
]

RULES: dict[str, tuple[Callable[[Body], Iterator[Finding]], ...]] = {  # by schema
    "output/leaderworkerset.x-k8s.io/leaderworkerset_v1": (validate_lws, validate_lws_pods),
    "output/disaggregatedset.x-k8s.io/disaggregatedset_v1": (
        validate_disaggregated_set,
        validate_disaggregated_set_pods,
    ),
    "output/autoscaling/horizontalpodautoscaler_v2": (validate_hpa,),
    "output/keda.sh/scaledobject_v1alpha1": (validate_scaled_object,),
    "output/core/service_v1": (validate_service,),
    "output/karpenter.sh/nodepool_v1": (validate_node_pool,),
    "output/apps/deployment_v1": (validate_workload,),
    "output/apps/statefulset_v1": (validate_workload,),
    "output/apps/daemonset_v1": (validate_workload,),
    "output/apps/replicaset_v1": (validate_workload,),
    "output/batch/cronjob_v1": (validate_pods,),
    "output/batch/job_v1": (validate_pods,),
    "output/core/pod_v1": (validate_pods,),
    "output/core/podtemplate_v1": (validate_pods,),
    "output/rbac.authorization.k8s.io/role_v1": (validate_role,),
    "output/rbac.authorization.k8s.io/rolebinding_v1": (validate_role_binding,),
}


_COMMON_KINDS = (  # of nearly every app
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),
    ("v1", "Service"),
    ("policy/v1", "PodDisruptionBudget"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
    ("gateway.envoyproxy.io/v1alpha1", "Backend"),
    ("aigateway.envoyproxy.io/v1beta1", "AIServiceBackend"),
    ("aigateway.envoyproxy.io/v1beta1", "AIGatewayRoute"),
)


def precompile_rules(scope: Scope) -> None:
    """Compiles the schemas and rules of common kinds while the inputs are read, where several processes will inherit
    them.
    """
    if process_count(len(scope.tree.files)) > 1:
        targets = component_versions.target_versions(scope.config.get("targets") or {})
        for version, kind in _COMMON_KINDS:
            valid_bodies(schema_validation.name_of(version, kind), (), targets)


def external_objects(inputs: Inputs) -> ExternalObjects:
    """The objects that rendered ones may refer to: those that RenderConfig declares, and valid gateway objects of
    others in the tree, except in the namespaces of Gateways that we create. Target versions have defaults.
    """
    targets = component_versions.target_versions(inputs.config.get("targets") or {})
    external = replace(declared_objects(inputs.config), targets=targets)
    if not inputs.foreign_objects:
        return external
    own_namespaces = (
        {namespace for namespace, _ in external.gateways} if inputs.config.get("gateway", "create") else set()
    )
    bodies: list[Body] = []
    broken: set[Key] = set()
    for body in inputs.foreign_objects:
        if (key := _key(body)) and key[1] not in own_namespaces:
            if not schema_validation.has_schema(schema_validation.name_of(body["apiVersion"], body["kind"])):
                continue
            body = without_nulls(body)
            if any(validate_object(body)):
                broken.add(key)  # it exists, but rules cannot look into it
            else:
                bodies.append(body)
    return replace(known_objects(bodies, external), present=frozenset(broken))


def manifest_validator(
    apps: Sequence[Sequence[Manifest]], external: ExternalObjects
) -> Callable[[Sequence[Manifest], frozenset[Key]], list[Diagnostic]]:
    """`validate_manifests` for the apps of a batch. Objects of one kind are first validated in a row: schema and rules
    stay in the processor's cache.
    """
    kinds: dict[tuple[str, str], list[Body]] = defaultdict(list)
    for app_manifests in apps:
        for manifest in app_manifests:
            kinds[manifest.body["apiVersion"], manifest.body["kind"]].append(manifest.body)
    doubtful: set[int] = set()
    for (version, kind), bodies in kinds.items():
        valid: Sequence[Body] = ()
        with suppress(Exception):  # raised again when the body is validated alone, where its file is known
            valid = valid_bodies(schema_validation.name_of(version, kind), bodies, external.targets)
        if len(valid) < len(bodies):
            doubtful.update(map(id, bodies))
            doubtful.difference_update(map(id, valid))
    return partial(validate_manifests, external=external, doubtful=doubtful)


def valid_bodies(name: str, bodies: Sequence[Body], targets: component_versions.TargetVersions | None) -> list[Body]:
    """Those of the bodies, all of the kind of one schema, without findings of `validate_object`."""
    too_new = targets.too_new_schema(name) if targets else None
    valid = schema_validation.valid_values(name, bodies, too_new.schema if too_new else "")
    for rule in _rules(name):
        valid = [body for body in valid if not any(rule(body))]
    return valid


def validate_manifests(
    app_manifests: Sequence[Manifest],
    others: frozenset[Key] = frozenset(),
    external: ExternalObjects | None = None,
    targets: component_versions.TargetVersions | None = None,
    doubtful: Set[int] | None = None,
) -> list[Diagnostic]:
    """All diagnostics about one app's objects, at the input's places; with `external` also those of the graph from
    Gateway to pod.

    `others`: objects of other apps that these refer to; `targets`: the target versions, where `external` is not known;
    `doubtful`: where all bodies have been validated alone, the ids of those that may be wrong.
    """
    if external and others:
        external = replace(external, present=external.present | others)
    problems = []
    bodies = [manifest.body for manifest in app_manifests]
    if doubtful is None or doubtful:
        for manifest in app_manifests:
            if doubtful is None or id(manifest.body) in doubtful:
                for code, path, words in validate_object(
                    manifest.body, targets=external.targets if external else targets
                ):
                    problems.append(locate_finding(manifest, code, path, words))
    for finding in validate_relations(bodies):
        problems.append(locate_finding(app_manifests[finding.index], finding.code, finding.path, finding.words))
    broken = problems and has_errors(problems)
    for finding in validate_graph(ObjectView(bodies, external)) if external and not broken else ():
        if finding.code[0] != "N":
            problems.append(locate_finding(app_manifests[finding.index], finding.code, finding.path, finding.words))
    return problems


def validate_documents(
    read: Sequence[Document], external: ExternalObjects | None = None, *, alone: bool = False
) -> tuple[list[Diagnostic], list[Document]]:
    """All diagnostics about hand-written manifests, at their own places; and the documents of kinds without a schema.

    `external`: what they may refer to besides; `alone`: without the rules between objects.
    """
    judged = _judge_each(read, external.targets if external else None)
    if alone:
        return judged.problems, judged.unknown
    valid, bodies = judged.valid, judged.bodies
    problems = [*judged.problems, *_repeated_objects(valid, bodies)]
    problems += [_diagnostic(valid[finding.index], finding) for finding in validate_relations(bodies)]
    documents = [*valid, *judged.opaque]
    external = replace(external or ExternalObjects(), present=frozenset(judged.broken))
    problems += [
        _diagnostic(documents[finding.index], finding)
        for finding in validate_whole_graph([*bodies, *(document.value for document in judged.opaque)], external)
    ]
    return problems, judged.unknown


class _JudgedDocuments(Struct, frozen=True):
    """Hand-written manifests, each judged alone."""

    problems: list[Diagnostic] = []
    valid: list[Document] = []
    bodies: list[Body] = []  # of `valid`, as the API server reads them
    unknown: list[Document] = []  # of kinds without a schema
    opaque: list[Document] = []  # of kinds without a schema that rules need not look into
    broken: set[Key] = set()  # objects that rules would have to look into, and cannot


def _judge_each(read: Sequence[Document], targets: component_versions.TargetVersions | None) -> _JudgedDocuments:
    """The documents, judged without the rules between objects."""
    judged = _JudgedDocuments()
    for document in read:
        value = document.value
        if (
            not isinstance(value, dict)
            or not isinstance(value.get("kind"), str)
            or not isinstance(value.get("apiVersion"), str)
        ):
            judged.problems.append(make_diagnostic("E501", document.origin()))
            continue
        key = _key(value)
        if not schema_validation.has_schema(schema_validation.name_of(value["apiVersion"], value["kind"])):
            if removal := removal_words(value["apiVersion"], value["kind"], targets):
                judged.problems.append(make_diagnostic("E502", document.origin("apiVersion"), **removal))
            else:
                judged.unknown.append(document)
            if key and key[0] in NAMED_KINDS:
                judged.opaque.append(document)
            elif key:
                judged.broken.add(key)
            continue
        body = without_nulls(value)
        findings = [
            make_diagnostic(code, document.origin(*path, key=bool(words.get("key"))), **words)
            for code, path, words in validate_object(body, document.raw, targets)
        ]
        judged.problems.extend(findings)
        if not has_errors(findings):
            judged.bodies.append(body)
            judged.valid.append(document)
        elif key:
            judged.broken.add(key)
    return judged


def _repeated_objects(documents: Sequence[Document], bodies: Sequence[Body]) -> Iterator[Diagnostic]:
    """An error for each object that another document has already."""
    first_documents: dict[tuple[str, str, str, str], Document] = {}
    for document, body in zip(documents, bodies, strict=True):
        identity = (
            text_at(body, "apiVersion").rpartition("/")[0],
            text_at(body, "kind"),
            text_at(body, "metadata", "namespace"),
            text_at(body, "metadata", "name"),
        )
        if (first := first_documents.setdefault(identity, document)) is not document:
            file, line, _ = first.origin("metadata", "name").place
            duplicate = make_diagnostic(
                "E201", document.origin("metadata", "name"), kind=identity[1], name=identity[3], file=file, line=line
            )
            yield replace(duplicate, hint="leave one of them out, or give it another name")


def _diagnostic(document: Document, finding: IndexedFinding) -> Diagnostic:
    return make_diagnostic(finding.code, document.origin(*finding.path), **finding.words)


def _key(value: Mapping[str, object]) -> Key | None:
    """Kind, namespace and name of an object that no schema has validated; None when one of them is not a string."""
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
    """Findings about one object of a kind with a schema: of its schema, then of the other rules for its kind. `raw`:
    the scalar at a path as its author wrote it; `targets`: the target versions.
    """
    name = schema_validation.name_of(body["apiVersion"], body["kind"])
    too_new = targets.too_new_schema(name) if targets else None
    if targets and too_new and not schema_validation.is_valid(name, body, too_new.schema):
        yield from validate_api_versions(targets, too_new, body)
        too_new = None
    if not too_new and not schema_validation.is_valid(name, body):
        for schema_finding in schema_validation.findings(name, body):
            yield (
                schema_finding.code,
                schema_finding.path,
                {
                    **schema_validation.message_words(schema_finding, raw(schema_finding.path)),
                    "key": schema_finding.key,
                },
            )
        return
    for rule in _rules(name):
        yield from rule(body)


@cache
def _rules(name: str) -> tuple[Callable[[Body], Iterable[Finding]], ...]:
    """The rules for a kind beside its schema."""
    in_cel = cel_rules(name)
    return (*RULES.get(name, ()), *((in_cel,) if in_cel else ()))


def find_blocking_files(scope: Scope, states: Mapping[str, str]) -> list[Diagnostic]:
    """An error for each path that a file of ours needs and a foreign file or link occupies."""
    blocking = {_blocking_path(scope.folder, path) for path, state in states.items() if state == "foreign"}
    return [
        make_diagnostic("E144" if os.path.islink(path) else "E141", Origin(InputFile(path, "", "")))
        for path in sorted(blocking)
    ]


def find_chart(scope: Scope) -> list[Diagnostic]:
    """An error where plain manifests would be written into a Helm chart that we rendered."""
    chart = _chart_folder(scope.folder) if scope.options.compares else ""
    return [make_diagnostic("E743", Origin(InputFile(scope.folder, "", "")), folder=chart)] if chart else []


def _chart_folder(folder: str) -> str:
    """The nearest folder, this one or above it, with a chart that we rendered; '' where there is none."""
    while folder:
        with suppress(OSError):
            if OutputFolder(folder).read_start("Chart.yaml", len(MARK)) == MARK.encode():
                return folder
        folder = os.path.dirname(folder)
    return ""


def _blocking_path(folder: str, path: str) -> str:
    """The first prefix of a path that is not a folder, or is a link below the output folder; else the path itself."""
    full_path = f"{folder}/{path}"
    for end in (i for i, character in enumerate(full_path) if character == "/" and i):
        prefix = full_path[:end]
        if (end > len(folder) and os.path.islink(prefix)) or (os.path.lexists(prefix) and not os.path.isdir(prefix)):
            return prefix
    return full_path


@contextmanager
def reporting_write_errors(folder: str) -> Iterator[None]:
    """Turns an OSError within into a RenderError with a diagnostic."""
    try:
        yield
    except OSError as error:
        raise RenderError(
            [make_diagnostic("E140", Origin(InputFile(error.filename or folder, "", "")), what=error.strerror or error)]
        ) from None
