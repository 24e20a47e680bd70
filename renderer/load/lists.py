"""The files that list an engine's options: beside the runtime's own file, else among ours."""

from __future__ import annotations

import os
import re

from renderer.api import BackendRuntime, UnreadableList
from renderer.load.presets import PRESETS
from renderer.paths import tree_root
from renderer.tree import DISK, Ground

_VERSION = re.compile(r"[a-z]?\d+(\.\d+)*")


class Lists:
    """Reads files of options (api.OptionFiles), ours on disk, others from `ground`; nothing before it is asked for."""

    def __init__(self, ground: Ground = DISK) -> None:
        self._ground = ground

    def versions(self, runtime: BackendRuntime, listed: str) -> dict[str, str]:
        """Every version that has a list, and its file's path as a preset would write it."""
        stem, dash, _ = listed.removesuffix(".txt").rpartition("-")
        folder, _, begin = f"{stem}{dash}".rpartition("/")
        found = {}
        for ground, base in reversed(self._folders(runtime)):
            for name in ground.names(os.path.join(base, folder), tree_root(base) or base):
                version = name.removeprefix(begin).removesuffix(".txt")
                if name == f"{begin}{version}.txt" and _VERSION.fullmatch(version):
                    found[version] = f"{folder}/{name}" if folder else name
        return found

    def lines(self, runtime: BackendRuntime, path: str) -> list[str] | None:
        """The lines of a file less comments; None when there is none. Raises UnreadableList."""
        for ground, base in self._folders(runtime):
            try:
                lines = ground.read(os.path.join(base, path), tree_root(base) or base).decode("utf-8").splitlines()
                return [line for line in lines if line.strip() and line[0] != "#"]
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                raise UnreadableList(f"{path}: {error.strerror}") from None
            except UnicodeDecodeError as error:
                raise UnreadableList(f"{path}: not valid UTF-8, byte {error.start}") from None
        return None

    def _folders(self, runtime: BackendRuntime) -> list[tuple[Ground, str]]:
        """Where to look, the first first."""
        ours = DISK, os.path.join(PRESETS, "backends")
        return [ours] if runtime.ours else [(self._ground, os.path.dirname(runtime.document.name) or "."), ours]
