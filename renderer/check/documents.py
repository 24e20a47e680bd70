"""Validates manifests that others wrote, at their own places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from renderer import schema_validation
from renderer.check.engines import is_release, validate_engines
from renderer.check.finding import Body
from renderer.check.graph import (
    NAMED_KINDS,
    ExternalObjects,
    Key,
    validate_whole_graph,
)
from renderer.check.nulls import without_nulls
from renderer.check.object_rules import object_key, validate_object, validate_pods_alone
from renderer.check.relations import validate_relations
from renderer.check.removed_apis import removal_words
from renderer.diagnostics import Diagnostic, Finding, has_errors, make_diagnostic
from renderer.engines.catalog import EngineCatalog
from renderer.kubernetes.json_values import text_at
from renderer.kubernetes.workloads import WORKLOADS, kind_of
from renderer.yamlio import Document


def validate_documents(
    read: Sequence[Document],
    external: ExternalObjects | None = None,
    *,
    alone: bool = False,
    engines: EngineCatalog | None = None,
    rendered: Sequence[Document] = (),
) -> tuple[list[Diagnostic], list[Document]]:
    """All diagnostics about hand-written manifests, at their own places; and the documents of kinds without a schema.

    `external`: what they may refer to besides; `alone`: without the rules between objects; `engines`: what is known of
    those that they may run; `rendered`: the HelmReleases whose charts' objects are among the documents.
    """
    judged = _judge_each(read, external or ExternalObjects())
    if alone:
        return judged.problems, judged.unknown
    problems = [*judged.problems, *_repeated_objects(judged.valid, judged.bodies)]
    documents, bodies = [*judged.valid, *judged.partial], [*judged.bodies, *judged.partial_bodies]
    problems += [finding.located(documents[i].origin()) for i, finding in validate_relations(bodies)]
    external = replace(external or ExternalObjects(), present=frozenset(judged.broken))
    problems += [finding.located(documents[i].origin()) for i, finding in validate_whole_graph(bodies, external)]
    if engines:
        rendered_ids = {id(document) for document in rendered}
        problems += validate_engines(
            [document for document in read if id(document) not in rendered_ids], engines, external
        )
    return problems, [document for document in judged.unknown if not (engines and is_release(document.value))]


class _JudgedDocuments(Struct, frozen=True):
    """Hand-written manifests, each judged alone."""

    problems: list[Diagnostic] = []
    valid: list[Document] = []
    bodies: list[Body] = []  # of `valid`, as the API server reads them
    unknown: list[Document] = []  # of kinds without a schema
    partial: list[Document] = []  # those of them of which rules between objects know enough: their names, or their pods
    partial_bodies: list[Body] = []
    broken: set[Key] = set()  # objects that rules would have to look into, and cannot


def _judge_each(read: Sequence[Document], external: ExternalObjects) -> _JudgedDocuments:
    """The documents, judged without the rules between objects."""
    judged, targets = _JudgedDocuments(), external.targets
    for document in read:
        value = document.value
        if (
            not isinstance(value, dict)
            or not isinstance(value.get("kind"), str)
            or not isinstance(value.get("apiVersion"), str)
        ):
            judged.problems.append(make_diagnostic("E501", document.origin()))
            continue
        key = object_key(value)
        if not schema_validation.has_schema(schema_validation.name_of(value["apiVersion"], value["kind"])):
            if removal := removal_words(value["apiVersion"], value["kind"], targets):
                judged.problems.append(make_diagnostic("E502", document.origin("apiVersion"), **removal))
            else:
                judged.unknown.append(document)
            body = without_nulls(value) if kind_of(value) in WORKLOADS else value
            findings = _diagnostics(document, validate_pods_alone(body, document.raw, targets), external)
            judged.problems.extend(findings)
            if key and (key[0] in NAMED_KINDS or kind_of(value) in WORKLOADS) and not has_errors(findings):
                judged.partial.append(document)
                judged.partial_bodies.append(body)
            elif key:
                judged.broken.add(key)
            continue
        body = without_nulls(value)
        findings = _diagnostics(document, validate_object(body, document.raw, targets, may_be_input=True), external)
        judged.problems.extend(findings)
        if not has_errors(findings):
            judged.bodies.append(body)
            judged.valid.append(document)
        elif key:
            judged.broken.add(key)
    return judged


def _diagnostics(document: Document, findings: Iterable[Finding], external: ExternalObjects) -> list[Diagnostic]:
    """The diagnostics of an object, without those that RenderConfig allows."""
    return [finding.located(document.origin()) for finding in findings if not external.allows(finding)]


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
