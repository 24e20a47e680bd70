"""Where llmaz stands while kustomize runs it: the kustomization's folder, with the functionConfig as its llmaz.yaml."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from renderer import yamlio
from renderer.held import Blob
from renderer.krm.asking import Asked, Item, called, ours, same
from renderer.paths import git_root, is_inside
from renderer.problems import Origin, Problem, problem
from renderer.tree import DISK, SUFFIXES, File, Readable, Tree

CONFIG = "functionConfig"


class Standing:
    """A `tree.Ground`: the disk, but that `config` is the one RenderConfig, and that the input is what was asked for.

    `items`: what each held file is, by its name; `config`: the file that the functionConfig stands in, where that is
    found, else one that is held; `problems`: what is wrong with what only this entry reads.
    """

    exists = staticmethod(DISK.exists)
    isfile = staticmethod(DISK.isfile)
    isdir = staticmethod(DISK.isdir)
    names = staticmethod(DISK.names)

    def __init__(self, asked: Asked) -> None:
        self.top = os.getcwd()
        self.paths = None if asked.paths is None else _paths(asked.paths)
        self.config, self._beside, second = _config(asked.config, self.top, self.paths or ())
        self.items: dict[str, Item] = _names(asked.items) if asked.paths is None else {}
        self.problems = [*second, *self._odd_paths(asked.paths), *self._meaningless(asked.config)]
        self._files = tuple(_held(self.top, name, item) for name, item in self.items.items())

    def origin(self, *path: str | int) -> Origin:
        """A field of the functionConfig, where it stands."""
        documents, _ = yamlio.parse(self.config.name, self.config.read())
        return documents[0].origin(*path)

    def _odd_paths(self, given: Any) -> list[Problem]:
        """What is wrong with `spec.paths`."""
        if given is None or (isinstance(given, list) and given):
            wrong = [(i, each, what) for i, each in enumerate(given or ()) if (what := _wrong(each))]
            return [problem("E733", self.origin("spec", "paths", i), value=each, what=what) for i, each, what in wrong]
        return [problem("E733", self.origin("spec", "paths"), value=given, what="is no list of paths")]

    def _meaningless(self, config: Item) -> list[Problem]:
        """Keys of RenderConfig that mean nothing where no file is read."""
        spec = config.get("spec")
        keys = [key for key in ("ignore", "passThrough") if isinstance(spec, dict) and key in spec]
        return [problem("E738", self.origin("spec", key), key=key) for key in keys if self.paths is None]

    def read(self, path: str, root: str) -> bytes:
        """As `tree.Disk.read`."""
        return self.config.read() if path == self.config.path else DISK.read(path, root)

    def base_of(self, paths: Iterable[str]) -> tuple[str, str | None]:
        """The kustomization's folder, whatever lies above it."""
        return self.top, self.config.path

    def folder(self, base: str, paths: Iterable[str], ignore: Iterable[str], output: str | None) -> Tree:
        """The items; for a generator the files that it reads, without the one that the functionConfig stands in."""
        if self.paths is None:
            return Tree(base, self._files)
        found = DISK.folder(base, self.paths, ignore, output)
        return found._replace(files=tuple(file for file in found.files if file.path not in self._beside))

    def around(
        self, base: str, paths: Iterable[str], ignore: Iterable[str], output: str | None
    ) -> tuple[Readable, ...]:
        """Nothing: what is read is all."""
        return ()


def _paths(given: Any) -> tuple[str, ...]:
    """Those of the paths that can be read."""
    return tuple(each for each in given if not _wrong(each)) if isinstance(given, list) else ()


def _wrong(path: Any) -> str:
    if not isinstance(path, str) or not path:
        return "is no path"
    if os.path.isabs(path):
        return "is an absolute path"
    if not os.path.exists(path):
        return "is not there"
    root = git_root(os.curdir)
    return "" if not root or is_inside(os.path.realpath(path), root) else "leads out of the repository"


def _config(config: Item, top: str, paths: Sequence[str]) -> tuple[Readable, set[str], list[Problem]]:
    """The functionConfig as a file, the one that it stands in where that is found; the paths of all such; and what is
    wrong with other files that hold a RenderConfig.
    """
    alone: dict[str, bool] = {}
    problems: list[Problem] = []
    files = _near(config, top, paths)
    for file, read in files.values():
        try:
            data = file.read()
        except OSError:
            continue  # whoever has to read it says so
        documents = yamlio.parse(file.name, data)[0] if b"RenderConfig" in data else []
        if any(same(each.value, config) for each in documents):
            alone[file.path] = len(documents) == 1
        elif read:
            found = [each for each in documents if isinstance(each.value, dict) and _second(each.value)]
            problems += [problem("E734", each.origin("kind")) for each in found]
    for path in alone:
        if alone[path]:
            return files[path][0], set(alone), problems
    text = yamlio.dump(_cleaned(config))
    return Blob(CONFIG, CONFIG, os.path.join(top, CONFIG), text.encode()), set(alone), problems


def _second(value: Item) -> bool:
    return value.get("kind") == "RenderConfig" and ours(value)


def _near(config: Item, top: str, paths: Sequence[str]) -> dict[str, tuple[Readable, bool]]:
    """Files that the functionConfig may stand in, and whether each is read for input."""
    spec = config.get("spec")
    given = spec.get("ignore") if isinstance(spec, dict) else None
    ignore = [each for each in given if isinstance(each, str)] if isinstance(given, list) else ()
    files: dict[str, tuple[Readable, bool]] = {}
    for name in sorted(DISK.names(top, top)):
        if name.endswith(SUFFIXES) and not os.path.islink(path := os.path.join(top, name)) and os.path.isfile(path):
            files[path] = (File(name, name, path), False)
    return files | {file.path: (file, True) for file in DISK.folder(top, paths, ignore, None).files}


def _names(items: Sequence[tuple[int, Item]]) -> dict[str, Item]:
    """The items by what errors call them: the file that each came from, where kustomize says so, and the object."""
    named: dict[str, Item] = {}
    for i, item in items:
        name = f"{source(item) or f'items[{i}]'} ({called(item)})"
        named[f"{name[:-1]}, items[{i}])" if name in named else name] = item
    return named


def notes(item: Item) -> dict[str, Any]:
    """An object's annotations."""
    metadata = item.get("metadata")
    found = metadata.get("annotations") if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else {}


def source(item: Item) -> str:
    """The file that an item came from, '' where nobody says."""
    given = notes(item)
    path = given.get("internal.config.kubernetes.io/path") or given.get("config.kubernetes.io/path")
    if not path and isinstance(origin := given.get("config.kubernetes.io/origin"), str):
        documents, problems = yamlio.parse("", origin.encode())
        value = documents[0].value if documents and not problems else None
        path = value.get("path") if isinstance(value, dict) else None
    return path if isinstance(path, str) and path.isprintable() else ""


def _held(top: str, name: str, item: Item) -> Blob:
    value = _cleaned(item) if ours(item) else item
    return Blob(name, name, os.path.join(top, name), yamlio.dump(value).encode())


def _cleaned(item: Item) -> Item:
    """An item without what kustomize noted on it."""
    metadata = item.get("metadata")
    if not isinstance(metadata, dict):
        return item
    kept = {key: each for key, each in metadata.items() if key != "annotations"}
    if isinstance(given := metadata.get("annotations"), dict):
        if own := {key: each for key, each in given.items() if not _noted(key)}:
            kept["annotations"] = own
    elif given is not None:
        kept["annotations"] = given
    return {**item, "metadata": kept}


def _noted(key: str) -> bool:
    """Whether an annotation is kustomize's own."""
    domain = f".{key.partition('/')[0]}"
    return domain.endswith((".config.kubernetes.io", ".config.k8s.io"))
