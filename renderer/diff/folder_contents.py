"""The files below a folder, in a commit or on disk, whatever they are; no link is followed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cached_property

from msgspec import Struct

from renderer.diagnostics import Diagnostic
from renderer.output import leftover_files
from renderer.output.file_header import source_of
from renderer.output.folder_writer import OutputFolder
from renderer.source.commit import CommitTree
from renderer.source.git import GitEntry
from renderer.source.paths import MAX_BYTES
from renderer.source.tree import FileSystem

_LINK = "120000"


class FolderFile(Struct, frozen=True):
    """A file or link: its path below the folder, and whether it lies in a folder with a Chart.yaml below that."""

    path: str
    in_chart: bool = False


class FolderContents:
    """The files and links below a folder."""

    def __init__(self, file_system: FileSystem, folder: str) -> None:
        self._file_system = file_system
        self.folder = folder  # relative to the current one
        self.problems: list[Diagnostic] = []  # folders on disk that cannot be read
        self._known: dict[str, bytes | None] = {}

    @cached_property
    def files(self) -> Sequence[FolderFile]:
        """All of them, sorted. Raises RenderError."""
        if not isinstance(self._file_system, CommitTree):
            paths_on_disk = leftover_files.folder_files(self.folder, self.problems)
            return [FolderFile(path, in_chart) for path, in_chart in sorted(paths_on_disk)]
        charts = {os.path.dirname(path) for path in self._entries if os.path.basename(path) == "Chart.yaml"} - {""}
        paths = sorted(self._entries)
        return [FolderFile(path, bool(charts) and not charts.isdisjoint(_parents(path))) for path in paths]

    @cached_property
    def _entries(self) -> dict[str, GitEntry]:
        """Of a commit, by path below the folder."""
        if not isinstance(self._file_system, CommitTree):
            return {}
        below = path_in_commit(self._file_system, self.folder)
        prefix = f"{below}/" if below else ""
        entries = self._file_system.entries
        return {path[len(prefix) :]: entry for path, entry in entries.items() if path.startswith(prefix)}

    @property
    def is_link(self) -> bool:
        """Whether the folder itself is a link, or one leads to it."""
        parents = _parents(f"{self.folder}/x")
        if isinstance(self._file_system, CommitTree):
            entries = self._file_system.entries
            paths = (path_in_commit(self._file_system, parent) for parent in parents)
            return any(path in entries and entries[path].mode == _LINK for path in paths)
        return any(os.path.islink(parent) for parent in parents)

    def read(self, paths: Iterable[str]) -> list[bytes | None]:
        """The bytes of each file; None for what is not a regular file, or none at all. Raises RenderError."""
        all_paths = list(paths)
        missing = [path for path in dict.fromkeys(all_paths) if path not in self._known]
        if isinstance(self._file_system, CommitTree):
            regular = [path for path in missing if path in self._entries and self._entries[path].mode != _LINK]
            contents = self._file_system.contents([self._entries[path].path for path in regular])
            self._known |= {**dict.fromkeys(missing), **dict(zip(regular, contents, strict=True))}
        else:
            output = OutputFolder(self.folder)
            self._known |= {path: _read(output, path) for path in missing}
        return [self._known[path] for path in all_paths]

    def identity(self, path: str) -> tuple[bool, bytes] | None:
        """Whether the path is a link, and the bytes of the file or the link; None where there is neither."""
        data = self.read([path])[0]
        if data is not None:
            return False, data
        if isinstance(self._file_system, CommitTree):
            entry = self._entries.get(path)
            return (True, self._file_system.contents([entry.path])[0]) if entry else None
        try:
            return True, os.fsencode(os.readlink(os.path.join(self.folder, path)))
        except OSError:
            return None

    def source(self, path: str) -> str | None:
        """The input that the first line of a file names; None without such a line, and for a link."""
        data = self.read([path])[0]
        return None if data is None else source_of(data)


def path_in_commit(file_system: CommitTree, path: str) -> str:
    """A path relative to the current folder, as `path_from_top`."""
    return path_from_top(file_system.top, path)


def path_from_top(top: str, path: str) -> str:
    """A path relative to the current folder, from the top of the repository; links below the current folder are those
    of the disk, and so are not followed.
    """
    below = os.path.relpath(os.path.join(os.path.realpath(os.curdir), path), top).replace(os.sep, "/")
    return "" if below == "." else below


def _parents(path: str) -> list[str]:
    """The folders that a path lies in."""
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts))]


def _read(output: OutputFolder, path: str) -> bytes | None:
    try:
        return output.read_start(path, MAX_BYTES)
    except OSError:
        return None
