"""Objects of our kinds that are no input: in files that passThrough copies, and in lists."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.diagnostics import Diagnostic, Origin, make_diagnostic
from renderer.kubernetes.json_values import text_at
from renderer.load.validation import GROUPS, KINDS
from renderer.yamlio import Document

_OF_KUSTOMIZE = "ResourceList"
_OPERATED = ("Playground", "Service", "OpenModel", "BackendRuntime")  # kinds that llmaz's operator reads


def refuse_to_pass(origin: Origin, kind: str, pattern: str) -> Diagnostic:
    """The error about an object of our kinds in a file that a pattern of passThrough matches."""
    hint = "move it to a file that no pattern of passThrough matches"
    if kind in ("RenderConfig", "RenderPolicy"):
        hint = "pass through a folder without it, as passThrough: [extra]"
    reader = "nothing there reads it"
    if kind in _OPERATED:
        reader = "without the llmaz operator nothing there reads it; with it, the rendered objects are created twice"
    return make_diagnostic("E210", origin, kind=kind, pattern=pattern, reader=reader, hint=hint)


def is_input(value: object) -> bool:
    """Whether an object is, or is meant to be, one of our kinds."""
    version = text_at(value, "apiVersion")
    return version.partition("/")[0] in GROUPS or (bool(version) and KINDS.get(text_at(value, "kind")) == version)


def listed_inputs(document: Document) -> Iterator[Document]:
    """The objects of our kinds among the items of a list, whatever kind the list has."""
    return (part for part in document.objects if part.value is not document.value and is_input(part.value))


def refuse_list(document: Document) -> list[Diagnostic]:
    """The error about a list with objects of our kinds, at the first of them; none about any other document, and about
    the list by which kustomize hands objects to its functions.
    """
    first = None if text_at(document.value, "kind") == _OF_KUSTOMIZE else next(listed_inputs(document), None)
    return [make_diagnostic("E218", first.origin())] if first else []
