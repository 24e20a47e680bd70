"""The files that may be input: a folder, seen from where the user stands. (A git commit is another: held.py.)"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Protocol

from renderer.problems import Path
from renderer.records import NamedTuple

MAX_BYTES = 32 * 1024 * 1024
_USUAL = 32 * 1024  # most files are shorter
SUFFIXES = (".yaml", ".yml", ".json")
CONFIG = "llmaz.yaml"
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
        """The file's bytes; of one above MAX_BYTES only as many zeros, which is enough to refuse it. Raises OSError."""
        descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe must not hold us up
        try:
            data = os.read(descriptor, _USUAL)
            if len(data) == _USUAL:
                size = os.fstat(descriptor).st_size
                if size > MAX_BYTES:
                    return bytes(size)
                data += os.read(descriptor, max(size - _USUAL, 0))
            while more := os.read(descriptor, _USUAL):  # one more read costs less than to ask for the size
                data += more
            return data
        finally:
            os.close(descriptor)


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


class Tree(NamedTuple):
    """The files below `paths`, in order of their names; links that lead out of it; names that no header can hold.

    `around`: the files of the rest of the tree, of which only definitions count.
    """

    base: str
    files: tuple[Readable, ...]
    strayed: tuple[Strayed, ...] = ()
    odd: tuple[str, ...] = ()
    around: tuple[Readable, ...] = ()


def base_of(paths: Iterable[str]) -> tuple[str, str | None]:
    """The folder that headers are relative to, and the nearest `llmaz.yaml` at or above the paths, if there is one.

    The folder of `llmaz.yaml`, else the git root, else the current folder (contract, section 5).
    """
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
    skipped = os.path.realpath(output) if output else None
    for path in paths:
        absolute = os.path.abspath(path)
        if not os.path.exists(absolute):
            raise FileNotFoundError(path)
        key = os.path.relpath(absolute, base).replace(os.sep, "/")
        name = os.path.relpath(absolute, here)
        allowed = (real_base, os.path.realpath(absolute))
        if os.path.isfile(absolute):
            files.setdefault(key, File(name, key, absolute))
            continue
        for file, link in _walk(
            absolute, "" if name == "." else name + os.sep, "" if key == "." else key + "/", skipped
        ):
            if patterns and any(pattern.fullmatch(file.key) for pattern in patterns):
                continue
            if link:
                target = os.path.realpath(file.path)
                if not any(target == root or target.startswith(root + os.sep) for root in allowed):
                    strayed.append(Strayed(file.name, target))
                continue  # what a link inside the tree points at is read where it lies
            if not file.key.isprintable():
                odd.append(ascii(file.name))
                continue
            files.setdefault(file.key, file)
    return Tree(base, tuple(files[key] for key in sorted(files)), tuple(strayed), tuple(odd))


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
    """Where paths lead: a disk, or what is held of a git commit."""

    def exists(self, path: str) -> bool: ...
    def isfile(self, path: str) -> bool: ...
    def isdir(self, path: str) -> bool: ...
    def read(self, path: str) -> bytes: ...
    def names(self, path: str) -> list[str]: ...
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
    base_of = staticmethod(base_of)
    folder = staticmethod(folder)
    around = staticmethod(around)

    def read(self, path: str) -> bytes:
        """What a file holds. Raises OSError."""
        return File(path, "", path).read()

    def names(self, path: str) -> list[str]:
        """What lies in a folder; nothing where there is none."""
        try:
            return os.listdir(path)
        except OSError:
            return []


DISK: Ground = Disk()


def _walk(path: str, name: str, key: str, output: str | None) -> Iterator[tuple[File, bool]]:
    """Files, and links (True) to files of ours or to folders, in no particular order."""
    folders = [(path, name, key)]
    while folders:
        path, name, key = folders.pop()
        with os.scandir(path) as scan:
            entries = list(scan)
        if any(entry.name == "Chart.yaml" for entry in entries):
            continue
        for entry in entries:
            own = entry.name
            if entry.is_symlink():
                if own.endswith(SUFFIXES) or entry.is_dir():
                    yield File(name + own, key + own, entry.path), True
            elif entry.is_dir(follow_symlinks=False):
                if not own.startswith(".") and own != "node_modules" and not _is(entry.path, output):
                    folders.append((entry.path, f"{name}{own}{os.sep}", f"{key}{own}/"))
            elif own.endswith(SUFFIXES) and own != "kustomization.yaml" and entry.is_file(follow_symlinks=False):
                yield File(name + own, key + own, entry.path), False


def _is(folder: str, output: str | None) -> bool:
    return output is not None and os.path.realpath(folder) == output


@lru_cache(maxsize=64)
def glob(pattern: str) -> re.Pattern[str]:
    """A glob over paths with `/`: `*` and `?` stay in one folder, `**` does not; a folder stands for all below it."""
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
    return re.compile(out + "(?:/.*)?")
