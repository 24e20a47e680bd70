"""Trees that are not on disk: of a git commit, or of documents in memory."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from renderer.diagnostics import Path
from renderer.source.paths import FileTooLargeError, LinkError
from renderer.source.tree import CONFIG, MAX_BYTES, PACKAGE_FOLDERS, SUFFIXES, InputTree, ReadableFile, glob


class MemoryFile(Struct, frozen=True):
    """A file in memory: as `tree.InputFile`, with its contents."""

    name: str
    key: str
    path: str
    data: bytes

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """As `tree.InputFile.locate`."""
        return 0, 0

    def read(self) -> bytes:
        """Its contents. Raises FileTooLargeError above MAX_BYTES."""
        if len(self.data) > MAX_BYTES:
            raise FileTooLargeError(self.path, len(self.data), MAX_BYTES)
        return self.data


class MemoryTree:
    """A tree in memory, as if it lay at the folder `top`, with the methods of `tree.FileSystem`."""

    def __init__(
        self,
        top: str,
        list_paths: Callable[[], tuple[Iterable[str], Iterable[str]]],
        fetch: Callable[[Sequence[str]], Sequence[bytes]],
    ) -> None:
        self.top = os.path.realpath(top)
        self._list_paths = list_paths  # returns the paths of files and those of links, from the top
        self._fetch = fetch  # returns the contents of files, by such paths
        self._contents: dict[str, bytes] = {}

    @cached_property
    def _all(self) -> tuple[frozenset[str], frozenset[str]]:
        """Files, and links."""
        files, links = self._list_paths()
        return frozenset(files), frozenset(links)

    @property
    def _files(self) -> frozenset[str]:
        return self._all[0]

    @property
    def _links(self) -> frozenset[str]:
        return self._all[1]

    @cached_property
    def _folders(self) -> frozenset[str]:
        parents = {path.rpartition("/")[0] for files in self._all for path in files}
        return frozenset(path[:end] for path in parents for end in range(1, len(path) + 1) if f"{path}/"[end] == "/")

    def _fetch_once(self, paths: Sequence[str]) -> list[bytes]:
        """The contents of these files, each fetched once."""
        missing = [path for path in paths if path not in self._contents]
        self._contents.update(zip(missing, self._fetch(missing) if missing else (), strict=True))
        return [self._contents[path] for path in paths]

    def _below(self, path: str) -> str:
        """A path relative to the top, '' for the top itself. Links of the disk lead to the top alone: below it stands
        what is held.
        """
        absolute = os.path.abspath(path)
        if os.path.commonpath([absolute, self.top]) != self.top:
            absolute = os.path.realpath(path)
        relative = os.path.relpath(absolute, self.top).replace(os.sep, "/")
        return "" if relative == "." else relative

    def exists(self, path: str) -> bool:
        """Whether there is a file or folder."""
        return self.isfile(path) or self.isdir(path)

    def isfile(self, path: str) -> bool:
        """Whether there is a file."""
        return self._below(path) in self._files

    def isdir(self, path: str) -> bool:
        """Whether there is a folder with a file in it."""
        below = self._below(path)
        return below == "" or below in self._folders

    def read(self, path: str, root: str) -> bytes:
        """The contents of a file; all that is held lies below any `root`. Raises FileNotFoundError."""
        below = self._below(path)
        if below not in self._files:
            raise FileNotFoundError(2, "No such file or directory", path)
        return self._fetch_once([below])[0]

    def read_entry(self, path: str) -> bytes | None:
        """The contents of a file; None where nothing has that name. Raises OSError for a link, as on disk, and for a
        folder. Links on this machine's disk mean nothing.
        """
        folder, name = os.path.split(path)
        below = f"{parent}/{name}" if (parent := self._below(folder)) else name
        if below in self._links:
            raise LinkError(path)
        if below in self._folders:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        return self._fetch_once([below])[0] if below in self._files else None

    def names(self, path: str, root: str) -> list[str]:
        """The names of the files in a folder."""
        prefix = f"{below}/" if (below := self._below(path)) else ""
        return [rest for file in self._files if file.startswith(prefix) and "/" not in (rest := file[len(prefix) :])]

    def base_of(self, paths: Iterable[str]) -> tuple[str, str | None]:
        """As `tree.base_of`: the top stands for the git root."""
        common = self._below(os.path.commonpath([os.path.realpath(path) for path in paths] or [os.getcwd()]))
        folder = common if not common or common in self._folders else os.path.dirname(common)
        while True:
            candidate = f"{folder}/{CONFIG}" if folder else CONFIG
            if candidate in self._files:
                return os.path.join(self.top, folder) if folder else self.top, os.path.join(self.top, candidate)
            if not folder:
                return self.top, None
            folder = os.path.dirname(folder)

    def folder(self, base: str, paths: Iterable[str], ignore: Iterable[str], output: str | None) -> InputTree:
        """As `tree.folder`."""
        patterns = [glob(pattern) for pattern in ignore]
        output_prefix = f"{self._below(output)}/" if output is not None else None
        charts = tuple(f"{os.path.dirname(path)}/" for path in self._files if os.path.basename(path) == "Chart.yaml")
        chosen: dict[str, tuple[str, str]] = {}  # by key, the name and the path from the top
        unprintable_names: list[str] = []
        root = self._below(base)
        for path in paths:
            below, shown_path = self._below(path), os.path.relpath(path)
            if below in self._files:
                if below.isprintable():
                    chosen.setdefault(_relative(below, root), (shown_path, below))
                else:
                    unprintable_names.append(ascii(shown_path))
                continue
            prefix = "" if shown_path == "." else shown_path + os.sep
            if not self.isdir(path):
                raise FileNotFoundError(path)
            for file_path in self._walk(below, output_prefix, charts):
                key, name = (
                    _relative(file_path, root),
                    prefix + file_path[len(below) + bool(below) :].replace("/", os.sep),
                )
                if any(pattern.fullmatch(key) for pattern in patterns) or file_path in self._links:
                    continue  # links cannot be resolved in memory
                if not key.isprintable():
                    unprintable_names.append(ascii(name))
                    continue
                chosen.setdefault(key, (name, file_path))
        keys = sorted(chosen)
        contents = self._fetch_once([chosen[key][1] for key in keys])
        files = tuple(
            [
                MemoryFile(chosen[key][0], key, f"{self.top}{os.sep}{chosen[key][1].replace('/', os.sep)}", data)
                for key, data in zip(keys, contents, strict=True)
            ]
        )
        return InputTree(base, files, unprintable_names=tuple(unprintable_names))

    def other_files(
        self, base: str, paths: Iterable[str], ignore: Iterable[str], output: str | None
    ) -> tuple[ReadableFile, ...]:
        """As `tree.other_files`."""
        roots = [self._below(path) for path in paths]
        return tuple(
            file
            for file in self.folder(base, (base,), ignore, output).files
            if not any(
                (file_path := self._below(file.path)) == root or file_path.startswith(f"{root}/") for root in roots
            )
        )

    def _walk(self, folder: str, output_prefix: str | None, charts: Sequence[str]) -> Iterator[str]:
        """The files below a folder that may be input, in no particular order."""
        prefix = f"{folder}/" if folder else ""
        charts = tuple(chart for chart in charts if chart.startswith(prefix) or prefix.startswith(chart))
        for file in self._files | self._links:
            if not file.startswith(prefix) or not file.endswith(SUFFIXES):
                continue
            *folders, name = file[len(prefix) :].split("/")
            if name == "kustomization.yaml" or any(
                folder[:1] == "." or folder in PACKAGE_FOLDERS for folder in folders
            ):
                continue
            if (output_prefix and file.startswith(output_prefix)) or file.startswith(charts or ("\0",)):
                continue
            yield file


def _relative(path: str, root: str) -> str:
    """A path relative to a folder of the same tree."""
    if not root:
        return path
    return path[len(root) + 1 :] if path.startswith(f"{root}/") else os.path.relpath(path, root).replace(os.sep, "/")


def memory_tree(top: str, files: Mapping[str, bytes]) -> MemoryTree:
    """A tree of these files, by their paths from the top."""
    return MemoryTree(top, lambda: (files, ()), lambda paths: [files[path] for path in paths])
