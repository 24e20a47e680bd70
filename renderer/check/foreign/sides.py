"""Objects of passThrough that act on rendered ones by limits, budgets, policies and Secrets: judged as `llmaz check`
judges them beside the output.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from renderer.check.finding import Body
from renderer.check.graph import ExternalObjects
from renderer.check.graph.rules import reference_rules, side_rules
from renderer.check.graph.view import ObjectView, kind_of
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
    objects = [document for document in passed if {"apiVersion", "kind"} <= document.value.keys()]
    bodies = [_placed(document.value, namespace) for document in objects]
    view = ObjectView([*rendered, *bodies], external)
    for i, document in enumerate(objects):
        kind, *place = view.keys[len(rendered) + i]
        for rule in side_rules.get(kind, ()) if not any(sign in str(bodies[i]) for sign in _PENDING) else ():
            for finding in rule(view, bodies[i], place[0], place[1]):
                yield finding.located(document.origin())
        for rule in reference_rules[kind] if kind in _ROUTES else ():
            for finding in rule(view, bodies[i], place[0], place[1]):
                if finding.code in _PORTS:
                    yield finding.located(document.origin())


def _placed(body: Body, namespace: str) -> Body:
    metadata = map_at(body, "metadata")
    return body if metadata.get("namespace") else {**body, "metadata": {**metadata, "namespace": namespace}}
