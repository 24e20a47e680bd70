"""Finds the input files below folders on disk (of git commits and in memory: commit.py, memory.py)."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from renderer.diagnostics import Origin, Path, RenderError, make_diagnostic
from renderer.source.kustomizations import KUSTOMIZATIONS
from renderer.source.paths import CONFIG as CONFIG
from renderer.source.paths import MAX_BYTES as MAX_BYTES
from renderer.source.paths import PASSED as PASSED
from renderer.source.paths import POLICY as POLICY
from renderer.source.paths import (
    FileTooLargeError,
    is_inside,
    link_out,
    links,
    read_entry,
    read_file,
    read_file_inside,
    real_path_inside,
)
from renderer.text import patterns

SUFFIXES = (".yaml", ".yml", ".json")
PACKAGE_FOLDERS = ("node_modules", "site-packages")  # of npm, and of a virtual environment of Python


class InputFile(Struct, frozen=True):
    """One file of the input."""

    name: str  # as errors print it
    key: str  # relative to the tree's base, as headers have it
    path: str  # to read it

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """No place: the file is a Source for problems of the whole file."""
        return 0, 0

    def read(self) -> bytes:
        """The file's bytes. Raises OSError, also for what is no file, and FileTooLargeError above MAX_BYTES."""
        return read_file(self.path)


STANDARD_INPUT: Final = "-"
"""The path that stands for standard input where manifests are read."""


class StandardInput(Struct, frozen=True):
    """What a program before this one in a pipe writes."""

    name: str = "standard input"
    key: str = STANDARD_INPUT
    path: str = STANDARD_INPUT

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """No place, as of an InputFile."""
        return 0, 0

    def read(self) -> bytes:
        """All of it. Raises FileTooLargeError above MAX_BYTES."""
        data = sys.stdin.buffer.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise FileTooLargeError(self.name, len(data), MAX_BYTES)
        return data


class ReadableFile(Protocol):
    """A file, on disk or in memory."""

    @property
    def name(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def path(self) -> str: ...
    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]: ...
    def read(self) -> bytes: ...


class LinkOutside(Struct, frozen=True, order=True):
    """A link that leads out of the tree."""

    name: str
    target: str


class UnreadableFolder(Struct, frozen=True):
    """A folder whose files cannot be listed, and why."""

    name: str
    reason: str


class InputTree(Struct, frozen=True):
    """The files of a tree below the input paths."""

    base: str
    files: tuple[ReadableFile, ...]  # below the input paths, sorted
    outside_links: tuple[LinkOutside, ...] = ()  # those that lead out of the tree
    unprintable_names: tuple[str, ...] = ()  # of files that no header can name
    other_files: tuple[ReadableFile, ...] = ()  # of the rest of the tree, where only definitions count
    unreadable: tuple[UnreadableFolder, ...] = ()
    charts: tuple[str, ...] = ()  # names of folders that Helm renders, only those on disk
    kustomizations: tuple[InputFile, ...] = ()  # what kustomize reads first, only on disk


def base_of(paths: Iterable[str]) -> tuple[str, str | None]:
    """The folder that headers are relative to, and the nearest `llmaz.yaml` at or above the paths, if there is one.

    The folder of `llmaz.yaml`, else the git root, else the current folder (docs/design/contract.md#input). Raises
    RenderError for a path that a link leads out of its tree.
    """
    refuse_links_out(paths)
    current = os.getcwd()
    common = os.path.commonpath([os.path.abspath(path) for path in paths] or [current])
    folder = common if os.path.isdir(common) else os.path.dirname(common)
    while True:
        if os.path.isfile(candidate := os.path.join(folder, CONFIG)):
            return folder, candidate
        if os.path.exists(os.path.join(folder, ".git")):
            return folder, None
        parent = os.path.dirname(folder)
        if parent == folder:
            return current, None
        folder = parent


def repository_top(base: str, exists: Callable[[str], bool]) -> str:
    """The folder at or above the base that is the top of a git repository, else the base."""
    folder = os.path.abspath(base)
    while not exists(os.path.join(folder, ".git")):
        if folder == os.path.dirname(folder):
            return os.path.abspath(base)
        folder = os.path.dirname(folder)
    return folder


def refuse_links_out(paths: Iterable[str]) -> None:
    """Raises RenderError for each path on the command line that a link leads out of its tree, since a commit may have
    put the link there.
    """
    outside = [(path, link) for path in paths if (link := link_out(path))]
    if outside:
        raise RenderError(
            make_diagnostic("E121", Origin(InputFile(path, "", "")), target=target) for path, (_, target) in outside
        )


def refuse_links(path: str) -> None:
    """Raises RenderError for each link within a tree on the way to a path that will be written, wherever it leads."""
    diagnostics = [make_diagnostic("E144", Origin(InputFile(os.path.relpath(link), "", ""))) for link, _ in links(path)]
    if diagnostics:
        raise RenderError(diagnostics)


def folder(base: str, paths: Iterable[str], ignore: Iterable[str], output: str | None) -> InputTree:
    """Every file below `paths` that may be input.

    Left out (docs/design/contract.md#input): the output folder, folders whose name begins with a dot, `node_modules`,
    `site-packages`, folders with a `Chart.yaml`, `kustomization.yaml`, what matches an ignore pattern. Raises
    FileNotFoundError for a path that is not there.
    """
    patterns = [glob(pattern) for pattern in ignore]
    current, real_base = os.getcwd(), os.path.realpath(base)
    files: dict[str, InputFile] = {}
    outside_links: list[LinkOutside] = []
    unprintable_names: list[str] = []
    aside = _Aside([], [], [])
    real_output = os.path.realpath(output) if output else None
    for path in paths:
        absolute = os.path.abspath(path)
        if not os.path.exists(absolute):
            raise FileNotFoundError(path)
        key = os.path.relpath(absolute, base).replace(os.sep, "/")
        name = os.path.relpath(absolute, current)
        real = os.path.realpath(absolute)
        if not os.path.isdir(absolute):
            if key.isprintable():
                files.setdefault(key, InputFile(name, key, absolute))
            else:  # headers name it
                unprintable_names.append(ascii(name))
            continue
        relative_output = os.path.relpath(real_output, real).replace(os.sep, "/") + "/" if real_output else None
        for file, link in _walk(
            absolute, "" if name == "." else name + os.sep, "" if key == "." else key + "/", relative_output, aside
        ):
            if patterns and any(pattern.fullmatch(file.key) for pattern in patterns):
                continue
            if link:
                target = os.path.realpath(file.path)
                if not is_inside(target, real_base) and not is_inside(target, real):
                    outside_links.append(LinkOutside(file.name, target))
                continue  # the target of a link inside the tree is read at its own path
            if not file.key.isprintable():
                unprintable_names.append(ascii(file.name))
                continue
            files.setdefault(file.key, file)
    ordered = tuple(files[key] for key in sorted(files))
    return InputTree(
        base,
        ordered,
        tuple(outside_links),
        tuple(unprintable_names),
        unreadable=tuple(aside.unreadable),
        charts=tuple(sorted(aside.charts)),
        kustomizations=tuple(aside.kustomizations),
    )


def other_files(base: str, paths: Iterable[str], ignore: Iterable[str], output: str | None) -> tuple[ReadableFile, ...]:
    """The input files of the tree that lie below none of the paths, with or without resolving links."""
    roots = {os.path.realpath(path) for path in paths}
    below, real_base = tuple(root.rstrip(os.sep) + os.sep for root in roots), os.path.realpath(base) + os.sep
    return tuple(
        file
        for file in folder(base, (base,), ignore, output).files
        if (real := real_base + file.key.replace("/", os.sep)) not in roots and not real.startswith(below)
    )


class FileSystem(Protocol):
    """Access to the paths of a tree: on disk, or in memory. The paths for `read` and `names` must lie below the folder
    `root`.
    """

    def exists(self, path: str) -> bool: ...
    def isfile(self, path: str) -> bool: ...
    def isdir(self, path: str) -> bool: ...
    def read(self, path: str, root: str) -> bytes: ...
    def read_entry(self, path: str) -> bytes | None: ...
    def names(self, path: str, root: str) -> list[str]: ...
    def base_of(self, paths: Iterable[str]) -> tuple[str, str | None]: ...
    def folder(self, base: str, paths: Iterable[str], ignore: Iterable[str], output: str | None) -> InputTree: ...
    def other_files(
        self, base: str, paths: Iterable[str], ignore: Iterable[str], output: str | None
    ) -> tuple[ReadableFile, ...]: ...


class DiskFiles:
    """The file system of this machine."""

    exists = staticmethod(os.path.exists)
    isfile = staticmethod(os.path.isfile)
    isdir = staticmethod(os.path.isdir)
    read = staticmethod(lambda path, root: read_file_inside(root, path))
    read_entry = staticmethod(read_entry)
    base_of = staticmethod(base_of)
    folder = staticmethod(folder)
    other_files = staticmethod(other_files)

    def names(self, path: str, root: str) -> list[str]:
        """The names in a folder; none where it does not exist, or lies outside of `root`."""
        try:
            return os.listdir(real_path_inside(root, path))
        except OSError:
            return []


DISK: FileSystem = DiskFiles()


class DiskBeside(DiskFiles):
    """The file system of this machine, where some files and folders are no input, though they may lie in the tree."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._left_out: Final = [os.path.realpath(path) for path in paths]

    def folder(self, base: str, paths: Iterable[str], ignore: Iterable[str], output: str | None) -> InputTree:
        files = folder(base, paths, ignore, output)
        return replace(files, files=self._without(files.files))

    def other_files(
        self, base: str, paths: Iterable[str], ignore: Iterable[str], output: str | None
    ) -> tuple[ReadableFile, ...]:
        return self._without(other_files(base, paths, ignore, output))

    def _without(self, files: tuple[ReadableFile, ...]) -> tuple[ReadableFile, ...]:
        return tuple(
            file
            for file in files
            if not isinstance(file, InputFile)
            or not any(is_inside(os.path.realpath(file.path), path) for path in self._left_out)
        )


class _Aside(Struct):
    """What a walk comes by beside input files."""

    unreadable: list[UnreadableFolder]
    charts: list[str]
    kustomizations: list[InputFile]


def _walk(path: str, name: str, key: str, output: str | None, aside: _Aside) -> Iterator[tuple[InputFile, bool]]:
    """Files, and links (True) to input files or folders, in no particular order. `output`: the folder to leave out,
    relative to `path`, with a slash at its end; folders that cannot be read, charts and kustomizations are added to
    `aside`.
    """
    folders = [(path, name, key)]
    start = len(key)
    while folders:
        path, name, key = folders.pop()
        try:
            with os.scandir(path) as scan:
                entries = list(scan)
        except OSError as error:
            aside.unreadable.append(UnreadableFolder(name or os.curdir, error.strerror or str(error)))
            continue
        if any(entry.name == "Chart.yaml" for entry in entries):
            aside.charts.append(name.rstrip(os.sep) or os.curdir)
            continue
        for entry in entries:
            file_name = entry.name
            if entry.is_symlink():
                if file_name.endswith(SUFFIXES) or entry.is_dir():
                    yield InputFile(name + file_name, key + file_name, entry.path), True
            elif entry.is_dir(follow_symlinks=False):
                below = f"{key}{file_name}/"
                if file_name[0] != "." and file_name not in PACKAGE_FOLDERS and below[start:] != output:
                    folders.append((entry.path, f"{name}{file_name}{os.sep}", below))
            elif file_name in KUSTOMIZATIONS and entry.is_file(follow_symlinks=False):
                aside.kustomizations.append(InputFile(name + file_name, key + file_name, entry.path))
                if file_name == "kustomization.yml":  # a name that kustomize reads and render does not leave out
                    yield aside.kustomizations[-1], False
            elif (
                file_name.endswith(SUFFIXES)
                and file_name != "kustomization.yaml"
                and entry.is_file(follow_symlinks=False)
            ):
                yield InputFile(name + file_name, key + file_name, entry.path), False


@lru_cache(maxsize=128)
def glob(pattern: str) -> Glob:
    """A glob over paths with `/`: `*` and `?` stay in one folder, `**` does not; a folder stands for all below it.

    Raises PatternError for one that is too long, which the schema of RenderConfig refuses before.
    """
    if len(pattern) > patterns.MAX_PATTERN:
        raise patterns.PatternError(f"it has {len(pattern):,} characters")
    expression = ""
    i = 0
    text = pattern.strip("/")
    while i < len(text):
        if text.startswith("**/", i):
            expression, i = expression + "(?:.*/)?", i + 3
        elif text.startswith("**", i):
            expression, i = expression + ".*", i + 2
        elif text[i] == "*":
            expression, i = expression + "[^/]*", i + 1
        elif text[i] == "?":
            expression, i = expression + "[^/]", i + 1
        else:
            expression, i = expression + re.escape(text[i]), i + 1
    return Glob(expression + "(?:/.*)?")


class Glob:
    """A compiled glob."""

    __slots__ = ("_expression",)

    def __init__(self, expression: str) -> None:
        self._expression = patterns.compiled(expression)

    def fullmatch(self, path: str) -> bool:
        """Whether the path matches. Bytes of a path that are no UTF-8 are matched by wildcards only."""
        return self._expression.fullmatch(path.encode("utf-8", "replace")) is not None
