"""The files that list an engine's options: beside the runtime's own file, else among ours."""

from __future__ import annotations

import os
import re

from renderer.api import BackendRuntime, UnreadableList
from renderer.load.presets import PRESETS

_VERSION = re.compile(r"[a-z]?\d+(\.\d+)*")


class Lists:
    """Reads files of options (api.OptionFiles); nothing is read before it is asked for."""

    def versions(self, runtime: BackendRuntime, listed: str) -> dict[str, str]:
        """Every version that has a list, and its file's path as a preset would write it."""
        stem, dash, _ = listed.removesuffix(".txt").rpartition("-")
        folder, _, begin = f"{stem}{dash}".rpartition("/")
        found = {}
        for base in reversed(self._folders(runtime)):
            try:
                names = os.listdir(os.path.join(base, folder))
            except OSError:
                continue
            for name in names:
                version = name.removeprefix(begin).removesuffix(".txt")
                if name == f"{begin}{version}.txt" and _VERSION.fullmatch(version):
                    found[version] = f"{folder}/{name}" if folder else name
        return found

    def lines(self, runtime: BackendRuntime, path: str) -> list[str] | None:
        """The lines of a file less comments; None when there is none. Raises UnreadableList."""
        for base in self._folders(runtime):
            place = os.path.join(base, path)
            if not os.path.isfile(place):
                continue  # a pipe would never end
            try:
                with open(place, encoding="utf-8") as file:
                    return [line for line in file.read().splitlines() if line.strip() and line[0] != "#"]
            except OSError:
                continue
            except UnicodeDecodeError as error:
                raise UnreadableList(f"{path}: not valid UTF-8, byte {error.start}") from None
        return None

    def _folders(self, runtime: BackendRuntime) -> list[str]:
        """Where to look, the first first."""
        ours = os.path.join(PRESETS, "backends")
        return [ours] if runtime.ours else [os.path.dirname(runtime.document.name) or ".", ours]
