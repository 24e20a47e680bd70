"""The files that list an engine's options: beside the BackendRuntime's file, else in presets/backends.

A file covers one version, which its name ends in (`flags/tiny-1.2.txt`), or many, listed in its line `versions …`
(`flags/tiny.txt`; `flags/tiny-1.2.txt` refers to it too where no such file exists). One with the line `learnt 1.2` is
from what that version's `--help` prints, and may lie in the folder that RenderConfig names as well; it counts where no
other list has its version.
"""

from __future__ import annotations

import os

from renderer.api import BackendRuntime, OptionFile, RenderConfig, UnreadableList
from renderer.engines.option_lists import VERSION, list_stem, parse_options
from renderer.load.preset_files import PRESETS
from renderer.source.paths import tree_root
from renderer.source.tree import DISK, FileSystem

_BACKENDS = os.path.join(PRESETS, "backends")
_NONE = OptionFile(())  # where there is no file


class OptionListReader:
    """Reads option files (api.OptionFiles) lazily, each once: presets from disk, others from `file_system`."""

    def __init__(self, file_system: FileSystem = DISK, learnt_folder: tuple[str, str] = ("", "")) -> None:
        """`learnt_folder`: the folder of RenderConfig, and the path from there to learnt lists, empty for none."""
        self._file_system, self._learnt_folder = file_system, learnt_folder
        self._read: dict[tuple[FileSystem, str], OptionFile] = {}
        self._learnt: dict[str, OptionFile] | None = None
        self._unread: dict[str, str] = {}

    def versions(self, runtime: BackendRuntime, list_path: str) -> dict[str, str]:
        """Every listed version, and the path of its file relative to the runtime's folder. Raises UnreadableList."""
        stem = list_stem(list_path)
        shared = self.file(runtime, f"{stem}.txt")
        paths = dict.fromkeys(shared.versions, f"{stem}.txt") if shared else {}
        learnt: dict[str, str] = {}
        folder, _, begin = f"{stem}-".rpartition("/")
        for file_system, base in reversed(self._folders(runtime)):
            for name in file_system.names(os.path.join(base, folder), tree_root(base) or base):
                version = name.removeprefix(begin).removesuffix(".txt")
                if name == f"{begin}{version}.txt" and VERSION.fullmatch(version):
                    path = f"{folder}/{name}" if folder else name
                    is_learnt = not runtime.ours and base != _BACKENDS and self._at(file_system, base, path).learnt
                    (learnt if is_learnt else paths)[version] = path
        for name, file in self.learnt().items():
            if name == f"{begin}{file.learnt}.txt":
                learnt[file.learnt] = f"{folder}/{name}" if folder else name
        return {**learnt, **paths}

    def file(self, runtime: BackendRuntime, path: str) -> OptionFile | None:
        """The option file at `path`; None when there is none. Raises UnreadableList."""
        for file_system, base in self._folders(runtime):
            if (file := self._at(file_system, base, path)) is not _NONE:
                return file
        return self.learnt().get(os.path.basename(path))

    def learnt(self) -> dict[str, OptionFile]:
        """The lists in the folder that RenderConfig names, by file name."""
        if self._learnt is None:
            self._learnt, (base, folder) = {}, self._learnt_folder
            place = os.path.join(base, folder)
            names = self._file_system.names(place, tree_root(base) or base) if folder else ()
            for name in sorted(name for name in names if name.endswith(".txt")):
                try:
                    file = self._at(self._file_system, base, f"{folder}/{name}")
                    parse_options(file, name, file.learnt)
                except UnreadableList as error:
                    self._unread[name] = str(error).removeprefix(f"{folder}/").removeprefix(f"{name}: ")
                    continue
                if file.learnt:
                    self._learnt[name] = file
                else:
                    self._unread[name] = "its first line is not 'learnt VERSION'"
        return self._learnt

    def unread(self) -> dict[str, str]:
        """The files of that folder that are no such lists, by name, and what is wrong with each."""
        self.learnt()
        return self._unread

    def _at(self, file_system: FileSystem, base: str, path: str) -> OptionFile:
        """The file at a path below a folder; `_NONE` when there is none. Raises UnreadableList."""
        place = os.path.join(base, path)
        if (file_system, place) not in self._read:
            self._read[file_system, place] = _file(file_system, place, tree_root(base) or base, path)
        return self._read[file_system, place]

    def _folders(self, runtime: BackendRuntime) -> list[tuple[FileSystem, str]]:
        """The folders to search, in order."""
        presets = DISK, _BACKENDS
        return (
            [presets] if runtime.ours else [(self._file_system, os.path.dirname(runtime.document.name) or "."), presets]
        )


def learnt_folder(config: RenderConfig) -> tuple[str, str]:
    """The folder of RenderConfig, and the path from there to the lists that it names, '' for none."""
    return os.path.dirname(config.document.name) or os.curdir, str(config.get("optionLists") or "")


def _file(file_system: FileSystem, place: str, root: str, path: str) -> OptionFile:
    """The file at `place` below the folder `root`; `_NONE` when there is none. Raises UnreadableList that names
    `path`.
    """
    try:
        text = file_system.read(place, root).decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return _NONE
    except OSError as error:
        raise UnreadableList(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UnreadableList(f"{path}: not valid UTF-8, byte {error.start}") from None
    lines = [line for line in map(str.strip, text.splitlines()) if line and line[0] != "#"]
    head, *versions = lines[0].split() if lines else [""]
    if head == "learnt":
        if len(versions) != 1 or not os.path.basename(path).endswith(f"-{versions[0]}.txt"):
            raise UnreadableList(f"{path}: '{lines[0][:60]}' is not 'learnt VERSION' with the version of its name")
        return OptionFile(lines[1:], learnt=versions[0])
    if head not in ("versions", "samples"):
        return OptionFile(lines)
    for version in versions:
        if not VERSION.fullmatch(version):
            raise UnreadableList(f"{path}: '{version[:60]}' is not a version")
    return OptionFile(lines[1:], versions, head == "samples")
