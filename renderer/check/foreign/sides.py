"""Objects of passThrough that act on rendered ones by limits, budgets, policies and Secrets: judged as `llmaz check`
judges them beside the output.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from renderer import schema_validation
from renderer.check import valid_bodies
from renderer.check.finding import Body
from renderer.check.graph import ExternalObjects
from renderer.check.graph.rules import reference_rules, side_rules
from renderer.check.graph.view import ObjectView, kind_of
from renderer.check.nulls import without_nulls
from renderer.diagnostics import Diagnostic
from renderer.kubernetes.json_values import map_at, text_at
from renderer.yamlio import Document

_ROUTES, _PORTS = ("HTTPRoute",), ("E577", "E591", "E592")  # routes, and what is told of their Services' ports
_PENDING = ("${", "{{")  # of text that is filled in later


def is_side(document: Document) -> bool:
    """Whether rules are about such objects."""
    return kind_of(text_at(document.value, "apiVersion"), text_at(document.value, "kind")) in (*side_rules, *_ROUTES)


def validate_sides(
    rendered: Sequence[Body], passed: Sequence[Document], namespace: str, external: ExternalObjects
) -> Iterator[Diagnostic]:
    """The diagnostics about objects of passThrough beside rendered ones. `namespace`: of those that name none."""
    objects = [(document, body) for document in passed if (body := _valid_body(document.value, namespace))]
    view = ObjectView([*rendered, *(body for _, body in objects)], external)
    for i, (document, body) in enumerate(objects, len(rendered)):
        kind, *place = view.keys[i]
        if any(sign in str(body) for sign in _PENDING):
            continue
        for rule in side_rules.get(kind, ()):
            for finding in rule(view, body, place[0], place[1]):
                yield finding.located(document.origin())
        for rule in reference_rules[kind] if kind in _ROUTES else ():
            for finding in rule(view, body, place[0], place[1]):
                if finding.code in _PORTS:
                    yield finding.located(document.origin())


def _valid_body(value: object, namespace: str) -> Body | None:
    """An object in its namespace; None where it is none, or not valid, so that rules cannot look into it."""
    version, kind = text_at(value, "apiVersion"), text_at(value, "kind")
    if not (isinstance(value, dict) and version and kind):
        return None
    body, schema = without_nulls(value), schema_validation.name_of(version, kind)
    metadata = map_at(body, "metadata")
    if not metadata.get("namespace"):
        body = {**body, "metadata": {**metadata, "namespace": namespace}}
    return body if not schema_validation.has_schema(schema) or valid_bodies(schema, [body], None) else None
