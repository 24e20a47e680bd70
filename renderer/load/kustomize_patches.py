"""What kustomizations of a tree patch: an object of a base is judged as an overlay of the tree makes it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec import Struct

from renderer import yamlio
from renderer.diagnostics import Collector
from renderer.kubernetes.api_types import api_types
from renderer.kubernetes.json_values import as_map, map_at, maps_at, text_at, texts_at
from renderer.kubernetes.strategic_merge import SERVER, Merge
from renderer.kubernetes.template_origins import TemplateOrigins
from renderer.source.kustomizations import RESOURCES
from renderer.yamlio import ChangedDocument, Document


class _Patch(Struct, frozen=True):
    """A patch of the objects of a kind and a name, each a regular expression, '' for any."""

    kind: str
    name: str
    body: object  # a map to merge, or a list of operations of JSON Patch
    document: Document


class KustomizePatches:
    """The patches of a tree's kustomizations, whose documents are read by their folders."""

    def __init__(self, kustomizations: Mapping[str, Sequence[Document]]) -> None:
        self._kustomizations = kustomizations
        self._reached: dict[str, Mapping[str, Sequence[_Patch]]] = {}
        self._patches: dict[str, Sequence[_Patch]] = {}  # by the path of a file, in the order in which they apply
        members = {
            path for folder, documents in kustomizations.items() for path in _members(documents, folder, *RESOURCES)
        }
        for root in sorted(kustomizations.keys() - members):
            for path, patches in self._reach(root).items():
                if patches:
                    self._patches.setdefault(path, patches)  # of several overlays the first counts

    def kustomizations_by_file(self) -> Mapping[str, Sequence[Document]]:
        """By the path of a file: the kustomizations that take it, or take another one that does."""
        by_file: dict[str, list[Document]] = {}
        for folder, documents in self._kustomizations.items():
            for path in self._reach(folder):
                by_file.setdefault(path, []).extend(documents)
        return by_file

    def _reach(self, folder: str) -> Mapping[str, Sequence[_Patch]]:
        """The files with resources of a kustomization and of those below it, each with what they patch in it."""
        if folder not in self._reached:
            self._reached[folder] = {}  # what leads back here adds nothing
            documents = self._kustomizations[folder]
            files: dict[str, Sequence[_Patch]] = {}
            for path in sorted(_members(documents, folder, "resources", "bases")):
                files |= self._reach(path) if path in self._kustomizations else {path: ()}
            patches = [patch for document in documents for patch in _patches_of(document, folder)]
            for component in _members(documents, folder, "components"):
                for document in self._kustomizations.get(component, ()):
                    patches += _patches_of(document, component)
            self._reached[folder] = {path: (*before, *patches) for path, before in files.items()}
        return self._reached[folder]

    def applied(self, document: Document, path: str) -> Document:
        """The object with the patches of it; itself where there is none, or one that cannot be followed."""
        value = document.value
        for patch in self._patches.get(path, ()) if isinstance(value, dict) else ():
            kind, name = text_at(value, "kind"), text_at(value, "metadata", "name")
            if all(not pattern or _fits(pattern, text) for pattern, text in ((patch.kind, kind), (patch.name, name))):
                with suppress(KeyError, IndexError, TypeError, ValueError, AttributeError):  # that kustomize refuses
                    value = _patched(value, patch)
        return document if value is document.value else ChangedDocument(document, value, {})


def _members(documents: Sequence[Document], folder: str, *fields: str) -> set[str]:
    """The files and folders that kustomizations in a folder name in some fields."""
    named = (name for document in documents for field in fields for name in texts_at(document.value, field))
    return {os.path.normpath(os.path.join(folder, name)) for name in named}


def _fits(pattern: str, text: str) -> bool:
    with suppress(re.error):
        return bool(re.fullmatch(pattern, text))
    return False


def _patches_of(kustomization: Document, folder: str) -> Iterator[_Patch]:
    """The patches of a kustomization, inline ones and those in files."""
    value = kustomization.value
    for entry in maps_at(value, "patches") + maps_at(value, "patchesJson6902"):
        target = map_at(entry, "target")
        for document in _read(text_at(entry, "patch"), text_at(entry, "path"), folder):
            yield _patch(document, target)
    for text in texts_at(value, "patchesStrategicMerge"):
        for document in _read(text if "\n" in text else "", text, folder):
            yield _patch(document, {})


def _patch(document: Document, target: Mapping[str, Any]) -> _Patch:
    body = document.value
    if target:
        kind, name = text_at(target, "kind"), text_at(target, "name")
        is_of_labels = "labelSelector" in target or "annotationSelector" in target
        return _Patch(kind, name, {} if is_of_labels else body, document)
    return _Patch(re.escape(text_at(body, "kind")), re.escape(text_at(body, "metadata", "name")), body, document)


def _read(text: str, path: str, folder: str) -> list[Document]:
    """The documents of an inline patch, else of its file."""
    if not text:
        with suppress(OSError), open(os.path.join(folder, path), encoding="utf-8") as file:
            text = file.read()
    documents, problems = yamlio.parse(path or "patch", text.encode())
    return [] if problems else documents


def _patched(value: Any, patch: _Patch) -> Any:
    """The value with a patch applied; itself with an empty one."""
    if isinstance(patch.body, list):
        for operation in patch.body:
            value = _operate(value, as_map(operation))
        return value
    body = {key: field for key, field in as_map(patch.body).items() if key not in ("apiVersion", "kind", "metadata")}
    if not body:
        return value
    type_name = api_types().kinds.get(f"{value.get('apiVersion')}/{value.get('kind')}", "")
    merge = Merge(SERVER, TemplateOrigins(), Collector())
    return merge.merge_map(value, body, type_name, patch.document.origin(), ())


def _operate(value: Any, operation: Mapping[str, Any]) -> Any:
    """The value after an operation of JSON Patch (RFC 6902) that adds, replaces or removes."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in text_at(operation, "path").split("/")[1:]]
    return _changed(value, steps, operation)


def _changed(value: Any, steps: Sequence[str], operation: Mapping[str, Any]) -> Any:
    step, rest, kind = steps[0], steps[1:], operation["op"]
    if isinstance(value, list):
        items = [*value]
        index = len(items) if step == "-" else int(step)
        if rest:
            items[index] = _changed(items[index], rest, operation)
        elif kind == "remove":
            del items[index]
        elif kind == "add":
            items.insert(index, operation["value"])
        else:
            items[index] = operation["value"]
        return items
    fields = {**value}
    if rest:
        fields[step] = _changed(fields[step], rest, operation)
    elif kind == "remove":
        del fields[step]
    else:
        fields[step] = operation["value"]
    return fields
