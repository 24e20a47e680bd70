"""Namespaces of models, beside those that files of passThrough create."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from renderer.api import App, Inputs, TrafficInput
from renderer.check.graph import declared_objects
from renderer.diagnostics import Diagnostic, Origin, make_diagnostic, quoted
from renderer.kubernetes.json_values import text_at
from renderer.text.suggestions import closest
from renderer.yamlio import Document

_SIMILAR = 0.7


def unlisted_namespaces(inputs: Inputs, passed: Sequence[Document]) -> Iterator[Diagnostic]:
    """A warning for each namespace of apps and routes that the objects of passThrough do not create, where they create
    those of others. A tree whose files create none of them leaves that to somebody else.
    """
    objects = [document for document in passed if text_at(document.value, "kind") == "Namespace"]
    listed = {text_at(document.value, "metadata", "name"): document for document in objects}
    external = declared_objects(inputs.config)
    items: tuple[App | TrafficInput, ...] = (*inputs.apps, *inputs.rendered_traffic)
    used = {item.namespace for item in items}
    if inputs.config.get("gateway", "create"):
        used |= {namespace for namespace, _ in external.gateways}
    if used.isdisjoint(listed):
        return
    reported = set[str]()
    for item in items:
        name = item.namespace
        if name in listed or name in reported or external.declared("Namespace", "", name):
            continue
        reported.add(name)
        file = next(iter(listed.values())).origin().place[0]
        hint = f"write one into {file}; where something else creates it, write external: [Namespace/{name}]"
        if similar := closest(name, list(listed), _SIMILAR):
            hint = f"did you mean '{similar}'? Else {hint}"
        origin = Origin(item.document, ("metadata", "namespace"))
        if not text_at(item.document.value, "metadata", "namespace") and inputs.config.get("namespace"):
            origin = inputs.config.origin("namespace")
        yield make_diagnostic("W535", origin, name=name, listed=quoted(list(listed)), hint=hint)
