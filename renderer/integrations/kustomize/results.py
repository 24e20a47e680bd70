"""Diagnostics as results of a ResourceList, each with its object and file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from renderer import yamlio
from renderer.diagnostics import Diagnostic
from renderer.integrations.kustomize.input_tree import source_path
from renderer.integrations.kustomize.request import Item
from renderer.kubernetes.json_values import map_at
from renderer.source.paths import tree_root
from renderer.source.tree import DISK
from renderer.yamlio import Document

_SEVERITIES = {"error": "error", "warning": "warning", "note": "info"}
_INDICES = ("internal.config.kubernetes.io/index", "config.kubernetes.io/index")


class ItemPlaces:
    """Finds the item or document that a diagnostic is about."""

    def __init__(self, items: Mapping[str, Item]) -> None:
        self._items = items  # by their names in messages
        self._parsed: dict[str, list[Document]] = {}
        names = sorted(items, key=len, reverse=True)
        self._with_line = re.compile(f"({'|'.join(map(re.escape, names)) or '$^'}):\\d+")

    def strip_lines(self, diagnostic: Diagnostic) -> Diagnostic:
        """The diagnostic without line numbers of items, which users do not see as text."""
        diagnostic = replace(
            diagnostic,
            message=self._with_line.sub(r"\1", diagnostic.message),
            hint=self._with_line.sub(r"\1", diagnostic.hint),
        )
        return diagnostic.moved(diagnostic.file, 0, 0) if diagnostic.file in self._items else diagnostic

    def place(self, diagnostic: Diagnostic) -> dict[str, object]:
        """The fields resourceRef and file of a result; {} if the object is unknown."""
        if diagnostic.file in self._items:
            item = self._items[diagnostic.file]
            return {**_reference(item), **_file(source_path(item), _index(item))}
        documents = [
            d for d in self._documents(diagnostic.file) if diagnostic.line and d.locate(())[0] <= diagnostic.line
        ]
        if not documents:
            return {}
        return {**_reference(documents[-1].value), **_file(diagnostic.file, documents[-1].index)}

    def _documents(self, path: str) -> list[Document]:
        if path not in self._parsed:
            try:
                data = DISK.read(path, tree_root(os.curdir)) if DISK.isfile(path) else b""
                self._parsed[path] = yamlio.parse(path, data)[0]
            except OSError:
                self._parsed[path] = []
        return self._parsed[path]


def results(problems: Sequence[Diagnostic], places: ItemPlaces) -> list[dict[str, object]]:
    """A result for each diagnostic."""
    return [_result(problem, places) for problem in problems]


def _result(diagnostic: Diagnostic, places: ItemPlaces) -> dict[str, object]:
    place = places.place(diagnostic)
    line = f"{diagnostic.line}:{diagnostic.column}: " if diagnostic.line else "" if place else f"{diagnostic.file}: "
    message = f"{line}{diagnostic.message} [{diagnostic.code}]" + (
        f"\nhint: {diagnostic.hint}" if diagnostic.hint else ""
    )
    result = {"message": message, "severity": _SEVERITIES[diagnostic.severity], **place}
    if diagnostic.field:
        result["field"] = {"path": diagnostic.field}
    return result


def _reference(item: Any) -> dict[str, object]:
    """The field resourceRef; {} for an object without a name."""
    metadata = map_at(item, "metadata")
    if not isinstance(name := metadata.get("name"), str):
        return {}
    reference = {"apiVersion": str(item.get("apiVersion")), "kind": str(item.get("kind")), "name": name}
    if isinstance(namespace := metadata.get("namespace"), str):
        reference["namespace"] = namespace
    return {"resourceRef": reference}


def _file(path: str, index: int | None) -> dict[str, object]:
    if not path:
        return {}
    return {"file": {"path": path} if index is None else {"path": path, "index": index}}


def _index(item: Item) -> int | None:
    """The position of an item in its file; None without a path, since the index is then one in the list."""
    annotations = map_at(item, "metadata", "annotations")
    if not any(key in annotations for key in ("internal.config.kubernetes.io/path", "config.kubernetes.io/path")):
        return None
    index = str(next((annotations[key] for key in _INDICES if key in annotations), ""))
    return int(index) if index.isdecimal() else None
