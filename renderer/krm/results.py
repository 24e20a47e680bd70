"""Problems as the results of a ResourceList, about the objects that they concern."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from renderer import yamlio
from renderer.krm.asking import Item
from renderer.krm.standing import notes, source
from renderer.paths import tree_root
from renderer.problems import Problem
from renderer.tree import DISK
from renderer.yamlio import Document

_SEVERITIES = {"error": "error", "warning": "warning", "note": "info"}
_INDICES = ("internal.config.kubernetes.io/index", "config.kubernetes.io/index")


class Places:
    """What a problem's place is: an item by the name that messages call it, or a document of a file."""

    def __init__(self, items: Mapping[str, Item]) -> None:
        self._items = items
        self._read: dict[str, list[Document]] = {}
        names = sorted(items, key=len, reverse=True)
        self._lined = re.compile(f"({'|'.join(map(re.escape, names)) or '$^'}):\\d+")

    def said(self, each: Problem) -> Problem:
        """A problem as users can place it: an item has no lines."""
        each = each._replace(message=self._lined.sub(r"\1", each.message), hint=self._lined.sub(r"\1", each.hint))
        return each._replace(line=0, column=0) if each.file in self._items else each

    def place(self, each: Problem) -> dict[str, Any]:
        """resourceRef and file of a result."""
        if each.file in self._items:
            item = self._items[each.file]
            return {**_reference(item), **_file(source(item), _index(item))}
        documents = [d for d in self._documents(each.file) if each.line and d.locate(())[0] <= each.line]
        if not documents:
            return {}
        return {**_reference(documents[-1].value), **_file(each.file, documents[-1].index)}

    def _documents(self, path: str) -> list[Document]:
        if path not in self._read:
            try:
                data = DISK.read(path, tree_root(os.curdir)) if DISK.isfile(path) else b""
                self._read[path] = yamlio.parse(path, data)[0]
            except OSError:
                self._read[path] = []
        return self._read[path]


def results(problems: Sequence[Problem], places: Places) -> list[dict[str, Any]]:
    """One result a problem."""
    return [_result(each, places) for each in problems]


def _result(each: Problem, places: Places) -> dict[str, Any]:
    place = places.place(each)
    line = f"{each.line}:{each.column}: " if each.line else "" if place else f"{each.file}: "
    message = f"{line}{each.message} [{each.code}]" + (f"\nhint: {each.hint}" if each.hint else "")
    made = {"message": message, "severity": _SEVERITIES[each.severity], **place}
    if each.field:
        made["field"] = {"path": each.field}
    return made


def _reference(item: Any) -> dict[str, Any]:
    """resourceRef; nothing of what has no name."""
    metadata = item.get("metadata") if isinstance(item, dict) else None
    if not isinstance(metadata, dict) or not isinstance(name := metadata.get("name"), str):
        return {}
    made = {"apiVersion": str(item.get("apiVersion")), "kind": str(item.get("kind")), "name": name}
    if isinstance(namespace := metadata.get("namespace"), str):
        made["namespace"] = namespace
    return {"resourceRef": made}


def _file(path: str, index: int | None) -> dict[str, Any]:
    if not path:
        return {}
    return {"file": {"path": path} if index is None else {"path": path, "index": index}}


def _index(item: Item) -> int | None:
    """An item's position in the file that its path names; kustomize's own index is one in the list."""
    given = notes(item)
    if not any(key in given for key in ("internal.config.kubernetes.io/path", "config.kubernetes.io/path")):
        return None
    found = next((given[key] for key in _INDICES if key in given), "")
    return int(found) if str(found).isdecimal() else None
