"""The input tree of a kustomize run: the kustomization's folder, with the functionConfig as its llmaz.yaml."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from renderer import yamlio
from renderer.diagnostics import Diagnostic, Origin, make_diagnostic
from renderer.integrations.kustomize.request import FunctionRequest, Item, describe_item, is_our_kind, is_same_config
from renderer.kubernetes.json_values import map_at, texts_at, value_at
from renderer.source.memory import MemoryFile
from renderer.source.paths import git_root, is_inside
from renderer.source.tree import DISK, SUFFIXES, InputFile, InputTree, ReadableFile

CONFIG = "functionConfig"


class RequestTree:
    """A `tree.FileSystem` on disk whose only RenderConfig is `config` and whose input is that of the request."""

    exists = staticmethod(DISK.exists)
    isfile = staticmethod(DISK.isfile)
    isdir = staticmethod(DISK.isdir)
    names = staticmethod(DISK.names)
    read_entry = staticmethod(DISK.read_entry)

    def __init__(self, request: FunctionRequest) -> None:
        self.top = os.getcwd()
        self.paths = None if request.paths is None else _valid_paths(request.paths)
        # The file on disk that holds the functionConfig, else a file in memory.
        self.config, self._config_files, second = _config(request.config, self.top, self.paths or ())
        # By the names of their files in memory.
        self.items: dict[str, Item] = _items_by_name(request.items) if request.paths is None else {}
        # Of the functionConfig's fields for kustomize.
        self.problems = [*second, *self._check_paths(request.paths), *self._check_keys(request.config)]
        self._files = tuple(_memory_file(self.top, name, item) for name, item in self.items.items())

    def origin(self, *path: str | int) -> Origin:
        """The origin of a field of the functionConfig."""
        documents, _ = yamlio.parse(self.config.name, self.config.read())
        return documents[0].origin(*path)

    def _check_paths(self, paths: object) -> list[Diagnostic]:
        """Diagnostics of `spec.paths`."""
        if paths is None or (isinstance(paths, list) and paths):
            faults = [(i, path, what) for i, path in enumerate(paths or ()) if (what := _path_fault(path))]
            return [
                make_diagnostic("E733", self.origin("spec", "paths", i), value=path, what=what)
                for i, path, what in faults
            ]
        return [make_diagnostic("E733", self.origin("spec", "paths"), value=paths, what="is not a list of paths")]

    def _check_keys(self, config: Item) -> list[Diagnostic]:
        """Diagnostics of RenderConfig's keys that have no effect if no files are read."""
        keys = [key for key in ("ignore", "passThrough") if key in map_at(config, "spec")]
        return [make_diagnostic("E738", self.origin("spec", key), key=key) for key in keys if self.paths is None]

    def read(self, path: str, root: str) -> bytes:
        """As `tree.Disk.read`."""
        return self.config.read() if path == self.config.path else DISK.read(path, root)

    def base_of(self, paths: Iterable[str]) -> tuple[str, str | None]:
        """The kustomization's folder, whatever lies above it."""
        return self.top, self.config.path

    def folder(self, base: str, paths: Iterable[str], ignore: Iterable[str], output: str | None) -> InputTree:
        """The items; for a generator the files below its paths, without those that hold the functionConfig."""
        if self.paths is None:
            return InputTree(base, self._files)
        tree = DISK.folder(base, self.paths, ignore, output)
        return replace(tree, files=tuple(file for file in tree.files if file.path not in self._config_files))

    def other_files(
        self, base: str, paths: Iterable[str], ignore: Iterable[str], output: str | None
    ) -> tuple[ReadableFile, ...]:
        """No files: everything is read already."""
        return ()


def _valid_paths(paths: object) -> tuple[str, ...]:
    """The valid ones of the paths."""
    return tuple(path for path in paths if not _path_fault(path)) if isinstance(paths, list) else ()


def _path_fault(path: object) -> str:
    if not isinstance(path, str) or not path:
        return "is not a path"
    if os.path.isabs(path):
        return "is an absolute path"
    if not os.path.exists(path):
        return "does not exist"
    root = git_root(os.curdir)
    return "" if not root or is_inside(os.path.realpath(path), root) else "is outside the repository"


def _config(config: Item, top: str, paths: Sequence[str]) -> tuple[ReadableFile, set[str], list[Diagnostic]]:
    """The file of the functionConfig (on disk if one holds it alone, else in memory), the paths of all files that hold
    it, and diagnostics of other RenderConfigs in the input.
    """
    single_document: dict[str, bool] = {}
    problems: list[Diagnostic] = []
    files = _candidate_files(config, top, paths)
    for file, is_input in files.values():
        try:
            data = file.read()
        except OSError:
            continue  # reported when it is read as input
        documents = yamlio.parse(file.name, data)[0] if b"RenderConfig" in data else []
        if any(is_same_config(document.value, config) for document in documents):
            single_document[file.path] = len(documents) == 1
        elif is_input:
            configs = [
                document
                for document in documents
                if isinstance(document.value, dict) and _is_render_config(document.value)
            ]
            problems += [make_diagnostic("E734", document.origin("kind")) for document in configs]
    for path in single_document:
        if single_document[path]:
            return files[path][0], set(single_document), problems
    text = yamlio.dump(_without_kustomize_annotations(config))
    return MemoryFile(CONFIG, CONFIG, os.path.join(top, CONFIG), text.encode()), set(single_document), problems


def _is_render_config(value: Item) -> bool:
    return value.get("kind") == "RenderConfig" and is_our_kind(value)


def _candidate_files(config: Item, top: str, paths: Sequence[str]) -> dict[str, tuple[ReadableFile, bool]]:
    """Files that may hold the functionConfig by path, each with whether it is also input."""
    ignore = texts_at(config, "spec", "ignore")
    files: dict[str, tuple[ReadableFile, bool]] = {}
    for name in sorted(DISK.names(top, top)):
        if name.endswith(SUFFIXES) and not os.path.islink(path := os.path.join(top, name)) and os.path.isfile(path):
            files[path] = (InputFile(name, name, path), False)
    return files | {file.path: (file, True) for file in DISK.folder(top, paths, ignore, None).files}


def _items_by_name(items: Sequence[tuple[int, Item]]) -> dict[str, Item]:
    """The items by their names in messages: the file, if kustomize annotated it, and the object."""
    items_by_name: dict[str, Item] = {}
    for i, item in items:
        name = f"{source_path(item) or f'items[{i}]'} ({describe_item(item)})"
        items_by_name[f"{name[:-1]}, items[{i}])" if name in items_by_name else name] = item
    return items_by_name


def source_path(item: Item) -> str:
    """The file that an item came from, by its annotations; '' if unknown."""
    annotations = map_at(item, "metadata", "annotations")
    path = annotations.get("internal.config.kubernetes.io/path") or annotations.get("config.kubernetes.io/path")
    if not path and isinstance(origin := annotations.get("config.kubernetes.io/origin"), str):
        documents, problems = yamlio.parse("", origin.encode())
        path = value_at(documents[0].value, "path") if documents and not problems else None
    return path if isinstance(path, str) and path.isprintable() else ""


def _memory_file(top: str, name: str, item: Item) -> MemoryFile:
    value = _without_kustomize_annotations(item) if is_our_kind(item) else item
    return MemoryFile(name, name, os.path.join(top, name), yamlio.dump(value).encode())


def _without_kustomize_annotations(item: Item) -> Item:
    """The item without kustomize's own annotations."""
    metadata = item.get("metadata")
    if not isinstance(metadata, dict):
        return item
    own_metadata = {key: value for key, value in metadata.items() if key != "annotations"}
    if isinstance(annotations := metadata.get("annotations"), dict):
        if own_annotations := {key: value for key, value in annotations.items() if not _is_kustomize_annotation(key)}:
            own_metadata["annotations"] = own_annotations
    elif annotations is not None:
        own_metadata["annotations"] = annotations
    return {**item, "metadata": own_metadata}


def _is_kustomize_annotation(key: str) -> bool:
    """Whether the key of an annotation is kustomize's own."""
    domain = f".{key.partition('/')[0]}"
    return domain.endswith((".config.kubernetes.io", ".config.k8s.io"))
