"""The files that kustomize reads of a folder. All of them have to be in the tree, since kustomize fetches addresses."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress

from renderer import yamlio
from renderer.diagnostics import Diagnostic, NamedSource, Origin, Path, ReplacingHint, make_diagnostic, read_error
from renderer.kubernetes.json_values import list_at
from renderer.source.kustomizations import (
    KUSTOMIZATIONS,
    PATCHES,
    PLUGINS,
    RESOURCES,
    is_address,
    is_repository,
    named_files,
)
from renderer.source.paths import read_file, real_path_inside, tree_root
from renderer.source.tree import refuse_links_out
from renderer.yamlio import Document

_FOLDERS = (*RESOURCES, *PLUGINS)
# What the kustomization of a folder of plugins may hold: all else might change the names that their files hold.
_UNCHANGING = ("apiversion", "kind", "metadata", "resources", "bases")
_SEPARATOR = re.compile(rb"^---(?=#)", re.MULTILINE)  # to kustomize alone; YAML asks for a blank before a comment


class KustomizeFiles:
    """The files that kustomize reads of a folder, and the folders that these name."""

    def __init__(self, folder: str) -> None:
        refuse_links_out((folder,))
        self.problems: list[Diagnostic] = []
        self.objects: list[Document] = []  # and patches
        self.origin = Origin(NamedSource(folder))  # of the kustomization itself
        self._root = tree_root(folder) or os.path.realpath(folder)
        self._documents: dict[str, list[Document]] = {}  # by the path of their file
        # As kustomize does, links are followed before a name in the folder is. What several kustomizations take for
        # plugins is read for the first of them: whether something is fetched is the same for all.
        self._folders = [(real := os.path.realpath(folder), "")]
        self._visited = {(real, False)}  # folders, and plugins' folders and files
        while self._folders:
            self._visit(*self._folders.pop())

    def _visit(self, folder: str, user: str) -> None:
        """Reads the kustomization of a folder, and all that it names. `user`: the folder whose kustomization takes the
        objects for plugins; '' where they are plain objects.
        """
        for name in KUSTOMIZATIONS:
            if os.path.lexists(path := os.path.join(folder, name)):
                for document in self._read(path):
                    if isinstance(self.origin.source, NamedSource):
                        self.origin = document.origin()
                    if user:
                        self._refuse_changes(document)
                    self._follow(document, folder, user)

    def _read(self, path: str) -> list[Document]:
        """The documents of a file, as kustomize separates them."""
        if path not in self._documents:
            name = os.path.relpath(path)
            try:
                data = _SEPARATOR.sub(b"--- ", read_file(real_path_inside(self._root, path)))
                documents, problems = yamlio.parse(name, data, disputes=True)
            except OSError as error:
                documents, problems = [], [read_error(name, error)]
            self.problems += problems
            self._documents[path] = documents
        return self._documents[path]

    def _refuse_changes(self, document: Document) -> None:
        for key in document.value if isinstance(document.value, dict) else ():
            if str(key).casefold() not in _UNCHANGING:
                self.problems.append(make_diagnostic("E567", document.origin(key, key=True)))

    def _follow(self, document: Document, folder: str, user: str = "", whole: Origin | None = None) -> None:
        """Reads what a kustomization, or the configuration of a plugin, names. `whole`: where the document stands as a
        text.
        """
        for start, value in _with_items(document.value):
            for field, path, name in named_files(value):
                origin = whole or document.origin(*start, *path)
                if field in PLUGINS and (inline := self._inline(name, origin)):
                    for configuration in inline:
                        self._follow(configuration, folder, whole=origin)
                elif "\n" not in name or field != "patchesstrategicmerge" or _is_fetched(name, field):
                    self._follow_name(self._target(folder, name, field, origin), folder, user, field)

    def _inline(self, text: str, origin: Origin) -> list[Document]:
        """The configurations of plugins that stand in the place of their file's name."""
        if ":" not in text or _is_fetched(text, PLUGINS[0]):
            return []
        data = _SEPARATOR.sub(b"--- ", text.encode())
        documents, problems = yamlio.parse(origin.source.name, data, disputes=True)
        file, line, column = origin.place
        self.problems += [problem.moved(file, line, column) for problem in problems]
        return [document for document in documents if isinstance(document.value, (dict, list))]

    def _follow_name(self, target: str, folder: str, user: str, field: str) -> None:
        """Reads a file or folder that a kustomization in `folder` names in a field."""
        user = folder if field in PLUGINS else user
        place = (os.path.realpath(target), bool(user))
        if not target or place in self._visited or field not in (*PATCHES, *_FOLDERS):
            return
        self._visited.add(place)
        if os.path.isdir(target):
            self._folders.append((place[0], user))
            return
        is_new = target not in self._documents
        for document in self._read(target):
            if is_new:
                self.objects += document.objects
            if user and field in _FOLDERS:
                self._follow(document, user)

    def _target(self, folder: str, name: str, field: str, origin: Origin) -> str:
        """The path of a file or folder of the tree; '' for what is none, which is a problem."""
        target = os.path.normpath(os.path.join(folder, name))
        is_there = False
        with suppress(OSError):
            is_there = os.path.exists(real_path_inside(self._root, target))
        if is_there and not _is_fetched(name, field):
            return target
        in_tree = ReplacingHint(f"write './{name}'", name, f"./{name}")
        hint = in_tree if is_there else "copy it into the tree, and name it by its path"
        kind = "an address" if is_address(name) else "a repository"
        what = f"{kind} to kustomize" if is_there else "not a file or folder of this tree"
        self.problems.append(make_diagnostic("E564", origin, name=name, what=what, hint=hint))
        return ""


def _is_fetched(name: str, field: str) -> bool:
    """Whether kustomize fetches what a name in this field stands for, whatever lies in the tree."""
    return is_address(name) or (field in _FOLDERS and is_repository(name))


def _with_items(value: object, path: Path = ()) -> Iterator[tuple[Path, object]]:
    """A value, and the items of it where it is a list of objects, to any depth, since kustomize takes all of them."""
    yield path, value
    for i, item in enumerate(list_at(value, "items")):
        yield from _with_items(item, (*path, "items", i))
