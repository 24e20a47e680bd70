"""Text of manifests that is filled in before a cluster gets them: by Flux, by SOPS, by kustomize."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

from msgspec import Struct

from renderer import schema_validation, yamlio
from renderer.diagnostics import Diagnostic, Origin, Path, counted, make_diagnostic
from renderer.kubernetes.json_values import map_at, text_at
from renderer.source.kustomizations import KUSTOMIZATIONS
from renderer.text.variables import fill_in, has_unknown
from renderer.yamlio import Document, FilledDocument, source_path

FindVariables: TypeAlias = Callable[[Document], Mapping[str, str] | None]
"""The known variables of a document; None where nothing is seen to fill it in."""
_VARIABLE, _ENCRYPTED = "${", "ENC["
_SUBSTITUTE = "kustomize.toolkit.fluxcd.io/substitute"  # a label or an annotation
# Fields whose texts are scripts, or anything.
_SCRIPTS = frozenset(["command", "args", "data", "stringData", "binaryData", "annotations"])
# The name of a Namespace that the namespace of a kustomization replaces, and that nobody can mean: `_`, `.invalid`.
_UNNAMED = re.compile("[._-]")
# How a value begins that is a reference which vals, or the vault plugin of Argo CD, resolves before a cluster gets it.
_RESOLVED = re.compile(r"ref\+[a-z0-9]+://|<path:")


def fill_documents(
    documents: Sequence[Document], find_variables: FindVariables
) -> tuple[list[Document], list[Diagnostic]]:
    """The documents with what is known to be filled in: FilledDocuments where anything is; and a note that counts the
    fields of which nothing in the tree says who fills them in.
    """
    filled: list[Document] = []
    unexplained: list[Origin] = []
    for document in documents:
        result = _fill_document(document, find_variables)
        filled.append(result.document)
        unexplained += result.unexplained
    if not unexplained:
        return filled, []
    return filled, [make_diagnostic("N534", unexplained[0], count=counted(len(unexplained), "field"))]


class _Result(Struct):
    """A document, and the fields of which nothing in the tree says who fills them in."""

    document: Document
    unexplained: Sequence[Origin] = ()


@lru_cache(maxsize=1)  # the documents of a file, which come one after another, have its text in common
def _has_variables(data: bytes) -> bool:
    return _VARIABLE.encode() in data


@lru_cache(maxsize=1)
def _has_references(data: bytes) -> bool:
    return b"ref+" in data or b"<path:" in data


def _fill_document(document: Document, find_variables: FindVariables) -> _Result:
    body = document.value
    if not isinstance(body, dict):
        return _Result(document)
    has_variables = _has_variables(document.data) and not _is_disabled(body)
    filling = _Filling(document, find_variables(document) if has_variables else None, has_variables=has_variables)
    is_unnamed = _is_unnamed(body)
    if not (filling.is_encrypted or has_variables or is_unnamed or _has_references(document.data)):
        return _Result(document)
    value = filling.fill()
    if is_unnamed:
        filling.pending.add(("metadata", "name"))
        if not _is_kustomized(document.name):
            filling.unexplained.append(("metadata", "name"))
    if value == body and not filling.pending:
        return _Result(document)
    return _Result(
        FilledDocument(document, value, filling.moved, filling.pending),
        [document.origin(*path) for path in filling.unexplained],
    )


def _is_disabled(body: Mapping[str, Any]) -> bool:
    """Whether Flux fills nothing into the object."""
    return any(text_at(body, "metadata", place, _SUBSTITUTE) == "disabled" for place in ("labels", "annotations"))


def _is_unnamed(body: Mapping[str, Any]) -> bool:
    return text_at(body, "kind") == "Namespace" and bool(_UNNAMED.match(text_at(body, "metadata", "name")))


def _is_kustomized(name: str) -> bool:
    """Whether a kustomization stands beside a file."""
    return any(os.path.isfile(os.path.join(os.path.dirname(name), file)) for file in KUSTOMIZATIONS)


class _Filling:
    """Fills in one object."""

    def __init__(self, document: Document, variables: Mapping[str, str] | None, *, has_variables: bool) -> None:
        body = document.value
        self._document = document
        self._body: Mapping[str, Any] = body
        self._variables = variables
        self._has_variables = has_variables
        self.is_encrypted = "mac" in map_at(body, "sops")  # what `sops encrypt` adds, and Flux takes away
        self.moved: dict[Path, Path] = {}
        self.pending: set[Path] = set()
        self.unexplained: list[Path] = []
        schema = schema_validation.name_of(text_at(body, "apiVersion"), text_at(body, "kind"))
        self._is_judged = schema_validation.has_schema(schema)

    def fill(self) -> Mapping[str, Any]:
        """The body of the object as far as it is known."""
        left_out = {"sops"} if self.is_encrypted else ()
        return {key: self._filled(value, (key,)) for key, value in self._body.items() if key not in left_out}

    def _filled(self, value: Any, path: Path) -> Any:
        if isinstance(value, dict):
            return {(name := self._key(key, path)): self._filled(item, (*path, name)) for key, item in value.items()}
        if isinstance(value, list):
            return [self._filled(item, (*path, i)) for i, item in enumerate(value)]
        if not isinstance(value, str):
            return value
        if (self.is_encrypted and value.startswith(_ENCRYPTED)) or _RESOLVED.match(value):
            self.pending.add(path)
            return value
        text = self._text(value, path, path)
        return text if text == value or self._is_quoted(path) else _scalar(text)

    @cached_property
    def _rows(self) -> Sequence[str]:
        """The lines of the file."""
        return self._document.data.decode("utf-8", "replace").split("\n")

    def _is_quoted(self, path: Path) -> bool:
        """Whether a value stands in quotes, so that its author means a text."""
        _, line, column = self._document.origin(*source_path(self.moved, path)).place
        return self._rows[line - 1][column - 1 : column] in ("'", '"')

    def _key(self, key: Any, path: Path) -> Any:
        if not isinstance(key, str) or _VARIABLE not in key:
            return key
        filled = self._text(key, (*path, key), path)
        self.moved[*path, filled] = (*source_path(self.moved, path), key)
        return filled

    def _text(self, text: str, path: Path, pending: Path) -> str:
        """A text with its variables filled in. `path`: its place; `pending`: what is unknown while it is."""
        if _VARIABLE not in text or not self._has_variables:
            return text
        is_known = self._variables is not None
        if not is_known and (not self._is_judged or _is_script(text, path)):
            return text  # a shell may fill it in
        filled = fill_in(text, self._variables or {})
        if has_unknown(text, self._variables or {}):
            self.pending.add(pending)
            if not is_known:
                self.unexplained.append(path)
        return filled


def _is_script(text: str, path: Path) -> bool:
    return "\n" in text or not _SCRIPTS.isdisjoint(path)


def _scalar(text: str) -> Any:
    """What a plain scalar with this text means, where it is a number or a boolean, else the text."""
    if "\n" in text or not text:
        return text
    documents, problems = yamlio.parse("", text.encode())
    value = documents[0].value if len(documents) == 1 and not problems else text
    return value if isinstance(value, (bool, int, float)) else text
