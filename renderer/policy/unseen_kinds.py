"""Kinds that may have pods, and in whose objects no rule found any."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from renderer import schema_validation, yamlio
from renderer.api import RenderPolicy, Scope
from renderer.diagnostics import Diagnostic, make_diagnostic
from renderer.kubernetes import pod_parts
from renderer.kubernetes.json_values import text_at
from renderer.kubernetes.workloads import Kind, kind_of
from renderer.load.validation import GROUPS
from renderer.policy.objects import NO_DEFINITIONS, Definitions, judged_object
from renderer.policy.rules import judges_pods
from renderer.yamlio import Document


def definitions_of(documents: Iterable[Document]) -> Definitions:
    """What the CRDs among the documents say, by the kinds that they define."""
    return pod_parts.defined_kinds(document.value for document in documents if isinstance(document.value, dict))


def tree_definitions(scope: Scope, objects: Iterable[Document]) -> Definitions:
    """What the CRDs of the tree say, by the kinds that they define, where one of the objects is of an unknown kind."""
    if all(pod_parts.is_known(kind_of(item.value)) for item in objects if isinstance(item.value, dict)):
        return NO_DEFINITIONS
    return definitions_of(_documents_of_definitions(scope))


def _documents_of_definitions(scope: Scope) -> Iterator[Document]:
    for file in scope.tree.files:
        try:
            data = file.read()
        except OSError:
            continue  # reported when it is read as input
        if b"CustomResourceDefinition" in data:
            for document in yamlio.parse(file.name, data)[0]:
                yield from document.objects


def unseen_kinds(
    policies: Sequence[RenderPolicy], documents: Iterable[Document], definitions: Definitions
) -> Iterator[Diagnostic]:
    """A note for each kind of which an object has no pod that is seen, though it may have some: where it is first."""
    if not any(judges_pods(policy) for policy in policies):
        return
    known: set[Kind] = set()
    for document in documents:
        kind = kind_of(document.value) if isinstance(document.value, dict) else ("", "")
        if kind not in known and _may_have_pods(document, kind, definitions):
            judged = judged_object(document, None, definitions)
            if not judged.is_seen or judged.has_unread_text:
                known.add(kind)
                yield make_diagnostic("N805", document.origin("kind"), kind=f"{kind[0]}/{kind[1]}")


def _may_have_pods(document: Document, kind: Kind, definitions: Definitions) -> bool:
    if pod_parts.yaml_texts(kind):
        return True
    if pod_parts.is_known(kind) or kind[0] in GROUPS or not text_at(document.value, "kind"):
        return False
    if defined := definitions.get(kind):
        return defined.may_hold_pods
    name = schema_validation.name_of(text_at(document.value, "apiVersion"), kind[1])
    return not schema_validation.has_schema(name)
