"""The files that may be input: a folder, seen from where the user stands. (A git commit is another: held.py.)"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Protocol

from renderer import patterns
from renderer.paths import CONFIG as CONFIG
from renderer.paths import MAX_BYTES as MAX_BYTES
from renderer.paths import is_inside, link_out, links, read_file, read_file_inside, real_path_inside
from renderer.problems import Origin, Path, RenderError, problem
from renderer.records import NamedTuple

SUFFIXES = (".yaml", ".yml", ".json")
MARK = "# Rendered by llmaz from "  # so begins every file that we write: it is output, and never input


class File(NamedTuple):
    """One file: `name` as errors print it, `key` relative to the tree's base (headers say it), `path` to read it."""

    name: str
    key: str
    path: str

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """A file as such has no places: it is a problems.Source for what concerns all of it."""
        return 0, 0

    def read(self) -> bytes:
        """The file's bytes. Raises OSError: for what is no regular file too, and FileTooLargeError above MAX_BYTES."""
        return read_file(self.path)


class Readable(Protocol):
    """A file, on disk or held."""

    @property
    def name(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def path(self) -> str: ...
    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]: ...
    def read(self) -> bytes: ...


class Strayed(NamedTuple):
    """A link that leads out of the tree."""

    name: str
    target: str


class Unreadable(NamedTuple):
    """A folder whose files cannot be listed, and why."""

    name: str
    reason: str


class Tree(NamedTuple):
    """The files below `paths`, in order of their names; links that lead out of it; names that no header can hold;
    folders that cannot be read.

    `around`: the files of the rest of the tree, of which only definitions count.
    """

    base: str
    files: tuple[Readable, ...]
    strayed: tuple[Strayed, ...] = ()
    odd: tuple[str, ...] = ()
    around: tuple[Readable, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()


def base_of(paths: Iterable[str]) -> tuple[str, str | None]:
    """The folder that headers are relative to, and the nearest `llmaz.yaml` at or above the paths, if there is one.

    The folder of `llmaz.yaml`, else the git root, else the current folder (contract, section 5). Raises RenderError
    for a path that a link leads out of its tree.
    """
    refuse_links_out(paths)
    here = os.getcwd()
    common = os.path.commonpath([os.path.abspath(path) for path in paths] or [here])
    folder = common if os.path.isdir(common) else os.path.dirname(common)
    while True:
        if os.path.isfile(candidate := os.path.join(folder, CONFIG)):
            return folder, candidate
        if os.path.exists(os.path.join(folder, ".git")):
            return folder, None
        parent = os.path.dirname(folder)
        if parent == folder:
            return here, None
        folder = parent


def refuse_links_out(paths: Iterable[str]) -> None:
    """Raises RenderError for each path on the way to which a link leads out of the tree that holds it: who names
    `models` on a command line does not expect the folder of somebody else that a commit may have put there.
    """
    strays = [(path, stray) for path in paths if (stray := link_out(path))]
    if strays:
        raise RenderError(problem("E121", Origin(File(path, "", "")), target=target) for path, (_, target) in strays)


def refuse_links(path: str) -> None:
    """Raises RenderError for a link in a tree on the way to a path that is written, wherever it leads."""
    found = [problem("E144", Origin(File(os.path.relpath(link), "", ""))) for link, _ in links(path)]
    if found:
        raise RenderError(found)


def folder(base: str, paths: Iterable[str], ignore: Iterable[str], output: str | None) -> Tree:
    """Every file below `paths` that may be input.

    Left out (contract, section 1): the output folder, folders whose name begins with a dot, `node_modules`, folders
    with a `Chart.yaml`, `kustomization.yaml`, what matches an ignore pattern. Raises FileNotFoundError for a path that
    is not there.
    """
    patterns = [glob(pattern) for pattern in ignore]
    here, real_base = os.getcwd(), os.path.realpath(base)
    files: dict[str, File] = {}
    strayed: list[Strayed] = []
    odd: list[str] = []
    unreadable: list[Unreadable] = []
    skipped = os.path.realpath(output) if output else None
    for path in paths:
        absolute = os.path.abspath(path)
        if not os.path.exists(absolute):
            raise FileNotFoundError(path)
        key = os.path.relpath(absolute, base).replace(os.sep, "/")
        name = os.path.relpath(absolute, here)
        real = os.path.realpath(absolute)
        if not os.path.isdir(absolute):
            if key.isprintable():
                files.setdefault(key, File(name, key, absolute))
            else:  # a header of what is rendered says it
                odd.append(ascii(name))
            continue
        inner = os.path.relpath(skipped, real).replace(os.sep, "/") + "/" if skipped else None
        for file, link in _walk(
            absolute, "" if name == "." else name + os.sep, "" if key == "." else key + "/", inner, unreadable
        ):
            if patterns and any(pattern.fullmatch(file.key) for pattern in patterns):
                continue
            if link:
                target = os.path.realpath(file.path)
                if not is_inside(target, real_base) and not is_inside(target, real):
                    strayed.append(Strayed(file.name, target))
                continue  # what a link inside the tree points at is read where it lies
            if not file.key.isprintable():
                odd.append(ascii(file.name))
                continue
            files.setdefault(file.key, file)
    listed = tuple(files[key] for key in sorted(files))
    return Tree(base, listed, tuple(strayed), tuple(odd), unreadable=tuple(unreadable))


def around(base: str, paths: Iterable[str], ignore: Iterable[str], output: str | None) -> tuple[Readable, ...]:
    """Every file of the tree that may be input and lies below none of the paths, links followed or not."""
    roots = {os.path.realpath(path) for path in paths}
    below, real_base = tuple(root.rstrip(os.sep) + os.sep for root in roots), os.path.realpath(base) + os.sep
    return tuple(
        file
        for file in folder(base, (base,), ignore, output).files
        if (real := real_base + file.key.replace("/", os.sep)) not in roots and not real.startswith(below)
    )


class Ground(Protocol):
    """Where paths lead: a disk, or what is held of a git commit. What `read` and `names` are asked for has to lie below
    the folder `root`.
    """

    def exists(self, path: str) -> bool: ...
    def isfile(self, path: str) -> bool: ...
    def isdir(self, path: str) -> bool: ...
    def read(self, path: str, root: str) -> bytes: ...
    def names(self, path: str, root: str) -> list[str]: ...
    def base_of(self, paths: Iterable[str]) -> tuple[str, str | None]: ...
    def folder(self, base: str, paths: Iterable[str], ignore: Iterable[str], output: str | None) -> Tree: ...
    def around(
        self, base: str, paths: Iterable[str], ignore: Iterable[str], output: str | None
    ) -> tuple[Readable, ...]: ...


class Disk:
    """The folders of this machine."""

    exists = staticmethod(os.path.exists)
    isfile = staticmethod(os.path.isfile)
    isdir = staticmethod(os.path.isdir)
    read = staticmethod(lambda path, root: read_file_inside(root, path))
    base_of = staticmethod(base_of)
    folder = staticmethod(folder)
    around = staticmethod(around)

    def names(self, path: str, root: str) -> list[str]:
        """What lies in a folder; nothing where there is none, or where it lies outside of `root`."""
        try:
            return os.listdir(real_path_inside(root, path))
        except OSError:
            return []


DISK: Ground = Disk()


def _walk(
    path: str, name: str, key: str, output: str | None, unreadable: list[Unreadable]
) -> Iterator[tuple[File, bool]]:
    """Files, and links (True) to files of ours or to folders, in no particular order. `output`: the folder that is left
    out, seen from `path`, with a slash at its end; folders that cannot be read are added to `unreadable`.
    """
    folders = [(path, name, key)]
    start = len(key)
    while folders:
        path, name, key = folders.pop()
        try:
            with os.scandir(path) as scan:
                entries = list(scan)
        except OSError as error:
            unreadable.append(Unreadable(name or os.curdir, error.strerror or str(error)))
            continue
        if any(entry.name == "Chart.yaml" for entry in entries):
            continue
        for entry in entries:
            own = entry.name
            if entry.is_symlink():
                if own.endswith(SUFFIXES) or entry.is_dir():
                    yield File(name + own, key + own, entry.path), True
            elif entry.is_dir(follow_symlinks=False):
                below = f"{key}{own}/"
                if not own.startswith(".") and own != "node_modules" and below[start:] != output:
                    folders.append((entry.path, f"{name}{own}{os.sep}", below))
            elif own.endswith(SUFFIXES) and own != "kustomization.yaml" and entry.is_file(follow_symlinks=False):
                yield File(name + own, key + own, entry.path), False


@lru_cache(maxsize=128)
def glob(pattern: str) -> Glob:
    """A glob over paths with `/`: `*` and `?` stay in one folder, `**` does not; a folder stands for all below it.

    Raises PatternError for one that is too long, which the schema of RenderConfig refuses before.
    """
    if len(pattern) > patterns.MAX_PATTERN:
        raise patterns.PatternError(f"it has {len(pattern):,} characters")
    out = ""
    i = 0
    text = pattern.strip("/")
    while i < len(text):
        if text.startswith("**/", i):
            out, i = out + "(?:.*/)?", i + 3
        elif text.startswith("**", i):
            out, i = out + ".*", i + 2
        elif text[i] == "*":
            out, i = out + "[^/]*", i + 1
        elif text[i] == "?":
            out, i = out + "[^/]", i + 1
        else:
            out, i = out + re.escape(text[i]), i + 1
    return Glob(out + "(?:/.*)?")


class Glob:
    """A compiled glob."""

    __slots__ = ("_expression",)

    def __init__(self, expression: str) -> None:
        self._expression = patterns.compiled(expression)

    def fullmatch(self, path: str) -> bool:
        """Whether the path is like it. What is no UTF-8 in a path is a character that only wildcards stand for."""
        return self._expression.fullmatch(path.encode("utf-8", "replace")) is not None
