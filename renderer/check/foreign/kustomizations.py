"""What kustomizations of the tree make of a foreign object."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from renderer import yamlio
from renderer.api import Scope
from renderer.check.foreign.objects import ForeignObject
from renderer.kubernetes.json_values import map_at, text_at
from renderer.source.kustomizations import KUSTOMIZATIONS, part_paths, resource_paths

_RENAMING = ("namePrefix", "nameSuffix")


class Kustomizations:
    """The kustomizations of a tree, read where one is asked for."""

    def __init__(self, scope: Scope) -> None:
        self._file_system, self._base = scope.options.file_system, os.path.abspath(scope.tree.base)
        self._read: dict[str, Mapping[str, object]] = {}

    def change(self, foreign: ForeignObject) -> bool:
        """Whether the object is a patch, or gets another name or namespace before it reaches a cluster."""
        path = os.path.abspath(foreign.file.path)
        folder = os.path.dirname(path)
        while True:
            if (kustomization := self._kustomization(folder)) and _changes(kustomization, folder, path, foreign.key[1]):
                return True
            if folder == self._base or folder == os.path.dirname(folder):
                return False
            folder = os.path.dirname(folder)

    def _kustomization(self, folder: str) -> Mapping[str, object]:
        """The kustomization of a folder; empty where there is none that can be read."""
        if folder not in self._read:
            self._read[folder] = next(self._candidates(folder), {})
        return self._read[folder]

    def _candidates(self, folder: str) -> Iterator[Mapping[str, object]]:
        for name in KUSTOMIZATIONS:
            path = os.path.join(folder, name)
            if self._file_system.isfile(path):
                try:
                    data = self._file_system.read(path, self._base)
                except OSError:
                    continue
                for document in yamlio.parse(path, data)[0][:1]:
                    yield map_at(document.value)


def _changes(kustomization: Mapping[str, object], folder: str, path: str, namespace: str) -> bool:
    """Whether a kustomization in `folder` names the file `path` as a patch, or as a resource that it renames or moves
    out of `namespace`.
    """
    if path in part_paths(kustomization, folder):
        return True
    moves = text_at(kustomization, "namespace") not in ("", namespace)
    if not moves and not any(text_at(kustomization, key) for key in _RENAMING):
        return False
    resources = resource_paths(kustomization, folder)
    return any(path == resource or path.startswith(resource + os.sep) for resource in resources)
