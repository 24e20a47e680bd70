"""The files that list an engine's options: beside the BackendRuntime's file, else in presets/backends.

A file covers one version, which its name ends in (`flags/tiny-1.2.txt`), or many, listed in its line `versions …`
(`flags/tiny.txt`; `flags/tiny-1.2.txt` refers to it too where no such file exists).
"""

from __future__ import annotations

import os
import re

from renderer.api import BackendRuntime, OptionFile, UnreadableList
from renderer.load.preset_files import PRESETS
from renderer.source.paths import tree_root
from renderer.source.tree import DISK, FileSystem

# A version of an engine in file names and `versions` lines.
VERSION = re.compile(r"[a-z]?\d+(\.\d+)*((\.?(post|dev)|rc)\d+)*")


class OptionListReader:
    """Reads option files (api.OptionFiles) lazily, each once: presets from disk, others from `file_system`."""

    def __init__(self, file_system: FileSystem = DISK) -> None:
        self._file_system = file_system
        self._read: dict[tuple[FileSystem, str], OptionFile | None] = {}

    def versions(self, runtime: BackendRuntime, list_path: str) -> dict[str, str]:
        """Every listed version, and the path of its file relative to the runtime's folder. Raises UnreadableList."""
        stem, _, version = list_path.removesuffix(".txt").rpartition("-")
        if not VERSION.fullmatch(version):
            stem = list_path.removesuffix(".txt")
        shared = self.file(runtime, f"{stem}.txt")
        paths = dict.fromkeys(shared.versions, f"{stem}.txt") if shared else {}
        folder, _, begin = f"{stem}-".rpartition("/")
        for file_system, base in reversed(self._folders(runtime)):
            for name in file_system.names(os.path.join(base, folder), tree_root(base) or base):
                version = name.removeprefix(begin).removesuffix(".txt")
                if name == f"{begin}{version}.txt" and VERSION.fullmatch(version):
                    paths[version] = f"{folder}/{name}" if folder else name
        return paths

    def file(self, runtime: BackendRuntime, path: str) -> OptionFile | None:
        """The option file at `path`; None when there is none. Raises UnreadableList."""
        for file_system, base in self._folders(runtime):
            place = os.path.join(base, path)
            if (file_system, place) not in self._read:
                self._read[file_system, place] = _file(file_system, place, tree_root(base) or base, path)
            if (file := self._read[file_system, place]) is not None:
                return file
        return None

    def _folders(self, runtime: BackendRuntime) -> list[tuple[FileSystem, str]]:
        """The folders to search, in order."""
        presets = DISK, os.path.join(PRESETS, "backends")
        return (
            [presets] if runtime.ours else [(self._file_system, os.path.dirname(runtime.document.name) or "."), presets]
        )


def _file(file_system: FileSystem, place: str, root: str, path: str) -> OptionFile | None:
    """The file at `place` below the folder `root`; None when there is none. Raises UnreadableList that names `path`."""
    try:
        text = file_system.read(place, root).decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UnreadableList(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UnreadableList(f"{path}: not valid UTF-8, byte {error.start}") from None
    lines = [line for line in map(str.strip, text.splitlines()) if line and line[0] != "#"]
    head, *versions = lines[0].split() if lines else [""]
    if head not in ("versions", "samples"):
        return OptionFile(lines)
    for version in versions:
        if not VERSION.fullmatch(version):
            raise UnreadableList(f"{path}: '{version[:60]}' is not a version")
    return OptionFile(lines[1:], versions, head == "samples")
