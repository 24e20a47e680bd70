"""The files that list an engine's options: beside the runtime's own file, else among ours.

A file is about one version, which its name ends in (`flags/tiny-1.2.txt`), or about many, which its line `versions …`
holds (`flags/tiny.txt`, and any name that leads there: `flags/tiny-1.2.txt` where no such file is).
"""

from __future__ import annotations

import os
import re

from renderer.api import BackendRuntime, OptionFile, UnreadableList
from renderer.load.preset_files import PRESETS
from renderer.source.paths import tree_root
from renderer.source.tree import DISK, FileSystem

# A version of an engine, as names and lines of lists have it.
VERSION = re.compile(r"[a-z]?\d+(\.\d+)*((\.?(post|dev)|rc)\d+)*")


class OptionListReader:
    """Reads files of options (api.OptionFiles), ours on disk, others from `ground`; nothing before it is asked for, and
    no file twice.
    """

    def __init__(self, ground: FileSystem = DISK) -> None:
        self._ground = ground
        self._read: dict[tuple[FileSystem, str], OptionFile | None] = {}

    def versions(self, runtime: BackendRuntime, listed: str) -> dict[str, str]:
        """Every version that is listed, and the path of its file as a preset would write it. Raises UnreadableList."""
        stem, _, version = listed.removesuffix(".txt").rpartition("-")
        if not VERSION.fullmatch(version):
            stem = listed.removesuffix(".txt")
        many = self.file(runtime, f"{stem}.txt")
        paths = dict.fromkeys(many.versions, f"{stem}.txt") if many else {}
        folder, _, begin = f"{stem}-".rpartition("/")
        for ground, base in reversed(self._folders(runtime)):
            for name in ground.names(os.path.join(base, folder), tree_root(base) or base):
                version = name.removeprefix(begin).removesuffix(".txt")
                if name == f"{begin}{version}.txt" and VERSION.fullmatch(version):
                    paths[version] = f"{folder}/{name}" if folder else name
        return paths

    def file(self, runtime: BackendRuntime, path: str) -> OptionFile | None:
        """A file; None when there is none. Raises UnreadableList."""
        for ground, base in self._folders(runtime):
            place = os.path.join(base, path)
            if (ground, place) not in self._read:
                self._read[ground, place] = _file(ground, place, tree_root(base) or base, path)
            if (file := self._read[ground, place]) is not None:
                return file
        return None

    def _folders(self, runtime: BackendRuntime) -> list[tuple[FileSystem, str]]:
        """Where to look, the first first."""
        ours = DISK, os.path.join(PRESETS, "backends")
        return [ours] if runtime.ours else [(self._ground, os.path.dirname(runtime.document.name) or "."), ours]


def _file(ground: FileSystem, place: str, root: str, path: str) -> OptionFile | None:
    """The file at a place below the folder `root`; None when there is none. Raises UnreadableList, which calls it by
    `path`.
    """
    try:
        text = ground.read(place, root).decode("utf-8")
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
            raise UnreadableList(f"{path}: '{version[:60]}' is no version")
    return OptionFile(lines[1:], versions, head == "samples")
