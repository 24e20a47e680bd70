"""Validates manifests that others wrote, at their own places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from renderer import schema_validation
from renderer.check.engines import EngineCensus, is_release, validate_engines
from renderer.check.finding import Body
from renderer.check.graph import (
    UNJUDGED_KINDS,
    ExternalObjects,
    Key,
    validate_whole_graph,
)
from renderer.check.nulls import without_nulls
from renderer.check.object_rules import object_key, validate_object, validate_pods_alone
from renderer.check.relations import validate_relations
from renderer.check.removed_apis import removal_words
from renderer.diagnostics import Diagnostic, Finding, make_diagnostic
from renderer.engines.catalog import EngineCatalog
from renderer.kubernetes.json_values import text_at
from renderer.kubernetes.secret_makers import made_secret
from renderer.kubernetes.sync_sources import is_sync_source
from renderer.kubernetes.workloads import WORKLOADS, kind_of
from renderer.yamlio import Document, FilledDocument


class Meeting(Enum):
    """Whether two documents are applied together."""

    NEVER = 0
    PERHAPS = 1  # nobody knows
    ALWAYS = 2


def validate_documents(
    read: Sequence[Document],
    external: ExternalObjects | None = None,
    *,
    alone: bool = False,
    engines: EngineCatalog | None = None,
    census: EngineCensus | None = None,
    rendered: Sequence[Document] = (),
    unapplied: Iterable[Document] = (),
    meeting: Callable[[Document, Document], Meeting] = lambda one, other: Meeting.ALWAYS,
) -> tuple[list[Diagnostic], list[Document]]:
    """All diagnostics about hand-written manifests, at their own places; and the documents of kinds without a schema.

    `external`: what they may refer to besides; `alone`: without the rules between objects; `engines`: what is known of
    those that they may run; `census`: counts these; `rendered`: the HelmReleases whose charts' objects are among the
    documents; `unapplied`: objects beside them that are not judged, and may be there; `meeting`: whether two documents
    are applied together.
    """
    rendered_ids = {id(document) for document in rendered}
    unrendered = [document for document in read if id(document) not in rendered_ids]
    external = replace(external or ExternalObjects(), makers=frozenset(_maker_namespaces(unrendered)))
    judged = _judge_each(read, external)
    if alone:
        return judged.problems, judged.unknown
    problems = [*judged.problems, *_repeated_objects(judged.valid, judged.bodies, meeting)]
    documents, bodies = [*judged.valid, *judged.partial], [*judged.bodies, *judged.partial_bodies]
    made_secrets = {
        ("Secret", text_at(document.value, "metadata", "namespace"), name)
        for document in judged.unknown
        if (name := made_secret(document.value))
    }
    external = replace(
        external,
        present=frozenset(judged.broken | made_secrets | {*_keys_of(unapplied)}),
        ambiguous=frozenset(_ambiguous_keys(judged.valid, judged.bodies, meeting)),
    )
    for i, finding in (*validate_relations(bodies), *validate_whole_graph(bodies, external)):
        problems += _located(documents[i], [finding])
    if engines:
        problems += _of_known_text(validate_engines(unrendered, engines, external, census), unrendered)
    return problems, [document for document in judged.unknown if not (engines and is_release(document.value))]


def _keys_of(documents: Iterable[Document]) -> Iterator[Key]:
    for document in documents:
        for item in document.objects or [document]:
            if isinstance(item.value, dict) and (key := object_key(item.value)):
                yield key


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
            findings = _allowed(validate_pods_alone(body, document.raw, targets), external)
            judged.problems.extend(_located(document, findings))
            if (
                key
                and (key[0] in UNJUDGED_KINDS or kind_of(value) in WORKLOADS)
                and not any(finding.code.startswith("E") for finding in findings)
            ):
                judged.partial.append(document)
                judged.partial_bodies.append(body)
            elif key:
                judged.broken.add(key)
            continue
        body = without_nulls(value)
        findings = _allowed(validate_object(body, document.raw, targets, may_be_input=True), external)
        judged.problems.extend(_located(document, findings))
        if not any(finding.code.startswith("E") for finding in findings):
            judged.bodies.append(body)
            judged.valid.append(document)
        elif key:
            judged.broken.add(key)
    return judged


def _allowed(findings: Iterable[Finding], external: ExternalObjects) -> list[Finding]:
    """The findings without those that RenderConfig allows."""
    return [finding for finding in findings if not external.allows(finding)]


def _located(document: Document, findings: Iterable[Finding]) -> Iterator[Diagnostic]:
    """The diagnostics of an object, without those about text that is only filled in later."""
    for finding in findings:
        if not _is_of_pending(document, finding):
            yield finding.located(document.origin())


def _maker_namespaces(documents: Sequence[Document]) -> Iterator[str]:
    """The namespaces for which a chart that is not rendered may make objects, in which Flux fills in text, or in which
    the controller of objects that sync folders runs: what the set lacks there may exist. '' where something else says
    which it is.
    """
    for document in documents:
        if is_sync_source(document.value) and (controlled := text_at(document.value, "metadata", "namespace")):
            yield controlled
        if isinstance(document, FilledDocument) and document.has_pending():
            yield text_at(document.value, "metadata", "namespace")
        elif isinstance(document.value, dict) and is_release(document.value):
            targets = (("spec", "targetNamespace"), ("spec", "destination", "namespace"), ("metadata", "namespace"))
            yield next(filter(None, (text_at(document.value, *path) for path in targets)), "")


def _is_of_pending(document: Document, finding: Finding) -> bool:
    """Whether a finding may be about text that is only filled in later: there, or by a rule that looks at it."""
    if not isinstance(document, FilledDocument):
        return False
    return document.is_pending(finding.path) or (finding.code == "E570" and document.has_pending(finding.path))


def _of_known_text(problems: Iterable[Diagnostic], documents: Sequence[Document]) -> Iterator[Diagnostic]:
    """The problems that are not at text that is only filled in later."""
    filled = [document for document in documents if isinstance(document, FilledDocument)]
    places = {place for document in filled for place in document.pending_places()}
    for problem in problems:
        if (problem.file, problem.line, problem.column) not in places:
            yield problem


def _ambiguous_keys(
    documents: Sequence[Document], bodies: Sequence[Body], meeting: Callable[[Document, Document], Meeting]
) -> Iterator[Key]:
    """The objects that are there several times, in documents that nobody may apply together."""
    first_documents: dict[Key, Document] = {}
    for document, body in zip(documents, bodies, strict=True):
        key = object_key(body)
        first = first_documents.setdefault(key, document) if key else document
        if key and first is not document and meeting(first, document) != Meeting.ALWAYS:
            yield key


def _repeated_objects(
    documents: Sequence[Document], bodies: Sequence[Body], meeting: Callable[[Document, Document], Meeting]
) -> Iterator[Diagnostic]:
    """An error for each object that another document has already, and that is applied with it; a warning where nobody
    knows that.
    """
    first_documents: dict[tuple[str, ...], Document] = {}
    first_of_files: dict[tuple[str, ...], Document] = {}
    for document, body in zip(documents, bodies, strict=True):
        identity = (
            text_at(body, "apiVersion").rpartition("/")[0],
            text_at(body, "kind"),
            text_at(body, "metadata", "namespace"),
            text_at(body, "metadata", "name"),
        )
        if isinstance(document, FilledDocument) and document.is_pending(("metadata", "name")):
            continue
        first = first_documents.setdefault(identity, document)
        first_of_file = first_of_files.setdefault((document.name, *identity), document)
        first = first if first_of_file is document else first_of_file
        meets = Meeting.NEVER if first is document else meeting(first, document)
        if meets == Meeting.NEVER:
            continue
        origin, (file, line, _) = document.origin("metadata", "name"), first.origin("metadata", "name").place
        words: dict[str, Any] = {"kind": identity[1], "name": identity[3], "file": file, "line": line}
        if meets == Meeting.PERHAPS:
            yield make_diagnostic("W568", origin, **words)
        else:
            yield replace(
                make_diagnostic("E201", origin, **words), hint="leave one of them out, or give it another name"
            )
