"""Files that lie in no folder: those of a git commit, or documents that somebody hands over."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from renderer.paths import FileTooLargeError
from renderer.problems import Path
from renderer.records import NamedTuple
from renderer.tree import CONFIG, MAX_BYTES, SUFFIXES, Readable, Tree, glob


class Blob(NamedTuple):
    """A file that is held: as `tree.File`, with its contents."""

    name: str
    key: str
    path: str
    data: bytes

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """As a `tree.File`'s."""
        return 0, 0

    def read(self) -> bytes:
        """What it holds. Raises FileTooLargeError above MAX_BYTES."""
        if len(self.data) > MAX_BYTES:
            raise FileTooLargeError(self.path, len(self.data), MAX_BYTES)
        return self.data


class Held:
    """A tree that is held, as if it lay at the folder `top`. It has the same questions as `tree.Disk`.

    `listed`: paths of files, and of links, from the top; `fetch`: what many files, by these paths, hold.
    """

    def __init__(
        self,
        top: str,
        listed: Callable[[], tuple[Iterable[str], Iterable[str]]],
        fetch: Callable[[Sequence[str]], Sequence[bytes]],
    ) -> None:
        self.top = os.path.realpath(top)
        self._listed, self._fetch = listed, fetch
        self._held: dict[str, bytes] = {}

    @cached_property
    def _all(self) -> tuple[frozenset[str], frozenset[str]]:
        """Files, and links."""
        files, links = self._listed()
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

    def _hold(self, paths: Sequence[str]) -> list[bytes]:
        """What these files hold, each asked for once."""
        missing = [path for path in paths if path not in self._held]
        self._held.update(zip(missing, self._fetch(missing) if missing else (), strict=True))
        return [self._held[path] for path in paths]

    def _below(self, path: str) -> str:
        """A path from the top, '' for the top itself."""
        here = os.path.relpath(os.path.realpath(path), self.top).replace(os.sep, "/")
        return "" if here == "." else here

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
        """What a file holds; all that is held lies below any `root`. Raises FileNotFoundError."""
        below = self._below(path)
        if below not in self._files:
            raise FileNotFoundError(2, "No such file or directory", path)
        return self._hold([below])[0]

    def names(self, path: str, root: str) -> list[str]:
        """The files that lie in a folder."""
        begin = f"{below}/" if (below := self._below(path)) else ""
        return [rest for each in self._files if each.startswith(begin) and "/" not in (rest := each[len(begin) :])]

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

    def folder(self, base: str, paths: Iterable[str], ignore: Iterable[str], output: str | None) -> Tree:
        """As `tree.folder`."""
        patterns = [glob(pattern) for pattern in ignore]
        skipped = f"{self._below(output)}/" if output is not None else None
        charts = tuple(f"{os.path.dirname(path)}/" for path in self._files if os.path.basename(path) == "Chart.yaml")
        wanted: dict[str, tuple[str, str]] = {}  # by key, the name and the path from the top
        odd: list[str] = []
        root = self._below(base)
        for path in paths:
            below, named = self._below(path), os.path.relpath(path)
            if below in self._files:
                if below.isprintable():
                    wanted.setdefault(_relative(below, root), (named, below))
                else:
                    odd.append(ascii(named))
                continue
            begin = "" if named == "." else named + os.sep
            if not self.isdir(path):
                raise FileNotFoundError(path)
            for each in self._walk(below, skipped, charts):
                key, name = _relative(each, root), begin + each[len(below) + bool(below) :].replace("/", os.sep)
                if any(pattern.fullmatch(key) for pattern in patterns) or each in self._links:
                    continue  # where a link leads nobody can say of what is held
                if not key.isprintable():
                    odd.append(ascii(name))
                    continue
                wanted.setdefault(key, (name, each))
        keys = sorted(wanted)
        held = self._hold([wanted[key][1] for key in keys])
        files = tuple(
            [
                Blob(wanted[key][0], key, f"{self.top}{os.sep}{wanted[key][1].replace('/', os.sep)}", data)
                for key, data in zip(keys, held, strict=True)
            ]
        )
        return Tree(base, files, odd=tuple(odd))

    def around(
        self, base: str, paths: Iterable[str], ignore: Iterable[str], output: str | None
    ) -> tuple[Readable, ...]:
        """As `tree.around`."""
        roots = [self._below(path) for path in paths]
        return tuple(
            file
            for file in self.folder(base, (base,), ignore, output).files
            if not any((own := self._below(file.path)) == root or own.startswith(f"{root}/") for root in roots)
        )

    def _walk(self, below: str, skipped: str | None, charts: Sequence[str]) -> Iterator[str]:
        """What may be input below a folder, in no particular order."""
        begin = f"{below}/" if below else ""
        charts = tuple(each for each in charts if each.startswith(begin) or begin.startswith(each))
        for each in self._files | self._links:
            if not each.startswith(begin) or not each.endswith(SUFFIXES):
                continue
            *folders, name = each[len(begin) :].split("/")
            if name == "kustomization.yaml" or any(one[:1] == "." or one == "node_modules" for one in folders):
                continue
            if (skipped and each.startswith(skipped)) or each.startswith(charts or ("\0",)):
                continue
            yield each


def _relative(path: str, root: str) -> str:
    """A path as seen from a folder of the same tree."""
    if not root:
        return path
    return path[len(root) + 1 :] if path.startswith(f"{root}/") else os.path.relpath(path, root).replace(os.sep, "/")


def given(top: str, files: Mapping[str, bytes]) -> Held:
    """A tree of files that are at hand, by their paths from the top."""
    return Held(top, lambda: (files, ()), lambda paths: [files[path] for path in paths])
