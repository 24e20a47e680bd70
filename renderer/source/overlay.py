"""A tree with other texts in some of its files: what it would be, before anything is written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from renderer.source.memory import MemoryFile
from renderer.source.tree import FileSystem, InputTree, ReadableFile


class Overlay:
    """Another file system with changed contents of files that it has, by their real paths; with the methods of
    `tree.FileSystem`.
    """

    def __init__(self, below: FileSystem, contents: Mapping[str, bytes]) -> None:
        self._contents: Final = contents
        self._below: Final = below
        self.exists: Final = below.exists
        self.isfile: Final = below.isfile
        self.isdir: Final = below.isdir
        self.names: Final = below.names
        self.base_of: Final = below.base_of

    def _changed(self, path: str) -> bytes | None:
        return self._contents.get(os.path.realpath(path))

    def read(self, path: str, root: str) -> bytes:
        """The contents of a file. Raises OSError as the file system below does."""
        data = self._below.read(path, root)
        return data if (changed := self._changed(path)) is None else changed

    def read_entry(self, path: str) -> bytes | None:
        """The contents of a file that is no link; None where nothing has that name. Raises OSError likewise."""
        data = self._below.read_entry(path)
        return data if (changed := self._changed(path)) is None else changed

    def folder(self, base: str, paths: Iterable[str], ignore: Iterable[str], output: str | None) -> InputTree:
        """As `tree.folder`."""
        files = self._below.folder(base, paths, ignore, output)
        return replace(files, files=self._with_changes(files.files))

    def other_files(
        self, base: str, paths: Iterable[str], ignore: Iterable[str], output: str | None
    ) -> tuple[ReadableFile, ...]:
        """As `tree.other_files`."""
        return self._with_changes(self._below.other_files(base, paths, ignore, output))

    def _with_changes(self, files: tuple[ReadableFile, ...]) -> tuple[ReadableFile, ...]:
        return tuple(map(self._with_change, files))

    def _with_change(self, file: ReadableFile) -> ReadableFile:
        changed = self._changed(file.path)
        return file if changed is None else MemoryFile(file.name, file.key, file.path, changed)
