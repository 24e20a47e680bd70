"""The files that kustomize reads of a folder. All of them have to be in the tree, since kustomize fetches addresses."""

from __future__ import annotations

import os
from contextlib import suppress

from renderer import yamlio
from renderer.diagnostics import Diagnostic, Origin, make_diagnostic
from renderer.diagnostics.rule import NamedSource, read_error
from renderer.kubernetes.json_values import text_at
from renderer.source.kustomizations import KUSTOMIZATIONS, PATCHES, PLUGINS, RESOURCES, named_files
from renderer.source.paths import read_file, real_path_inside, tree_root
from renderer.source.tree import refuse_links_out
from renderer.yamlio import Document

_INLINE = ("patchesstrategicmerge", *PLUGINS)  # a text of several lines stands for the file there


class KustomizeFiles:
    """The files that kustomize reads of a folder, and the folders that these name."""

    def __init__(self, folder: str) -> None:
        refuse_links_out((folder,))
        self.problems: list[Diagnostic] = []
        self.objects: list[Document] = []  # and patches
        self.origin = Origin(NamedSource(folder))  # of the kustomization itself
        self._root = tree_root(folder) or os.path.realpath(folder)
        self._visited: set[str] = set()
        self._visit(folder)

    def _visit(self, folder: str) -> None:
        """Reads the kustomization of a folder, and all that it names."""
        if (real := os.path.realpath(folder)) in self._visited:
            return
        self._visited.add(real)
        for name in KUSTOMIZATIONS:
            if os.path.lexists(path := os.path.join(folder, name)):
                for document in self._read(path):
                    if len(self._visited) == 1:
                        self.origin = document.origin()
                    self._follow(document, folder)

    def _read(self, path: str) -> list[Document]:
        name = os.path.relpath(path)
        try:
            documents, problems = yamlio.parse(name, read_file(real_path_inside(self._root, path)))
        except OSError as error:
            documents, problems = [], [read_error(name, error)]
        self.problems += problems
        return documents

    def _follow(self, document: Document, folder: str, whole: Origin | None = None) -> None:
        """Reads what a kustomization, or the configuration of a plugin, names. `whole`: where the document stands as a
        text.
        """
        for field, path, name in named_files(document.value):
            origin = whole or document.origin(*path)
            if "\n" in name and field in _INLINE:
                for configuration in yamlio.parse(document.name, name.encode())[0] if field in PLUGINS else ():
                    self._follow(configuration, folder, origin)
            elif os.path.isdir(target := self._target(folder, name, origin)):
                self._visit(target)
            elif target and field in (*RESOURCES, *PATCHES, *PLUGINS):
                self._read_objects(target, folder, field)

    def _target(self, folder: str, name: str, origin: Origin) -> str:
        """The path of a file or folder of the tree; '' for what is none, which is a problem."""
        target = os.path.normpath(os.path.join(folder, name))
        with suppress(OSError):
            if os.path.exists(real_path_inside(self._root, target)):
                return target
        self.problems.append(make_diagnostic("E564", origin, name=name))
        return ""

    def _read_objects(self, path: str, folder: str, field: str) -> None:
        for document in self._read(path):
            if field in PLUGINS or text_at(document.value, "apiVersion") == "builtin":
                self._follow(document, folder)
            self.objects += document.objects
