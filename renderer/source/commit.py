"""The tree of a commit, read from git's objects without a checkout."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property, partial

from renderer.source import git
from renderer.source.memory import MemoryTree
from renderer.source.tree import MAX_BYTES


class CommitTree(MemoryTree):
    """The files of a commit, as if they lay at `top`."""

    def __init__(self, top: str, commit: str) -> None:
        self._entries: Callable[[], list[git.GitEntry]] = partial(git.files, top, commit)
        self._listing = partial(git.listing, top, commit)
        super().__init__(top, self._list_paths, self.contents)

    @contextmanager
    def read_ahead(self) -> Iterator[None]:
        """A context in which git lists the files in the background. Raises RenderError."""
        with self._listing() as entries:
            self._entries, original = entries, self._entries
            try:
                yield
            finally:
                self._entries = original

    @cached_property
    def entries(self) -> dict[str, git.GitEntry]:
        """All files, by their paths. Raises RenderError."""
        return {entry.path: entry for entry in self._listed if entry.mode != git.SUBMODULE}

    def submodules_and(self, *names: str) -> list[git.GitEntry]:
        """All submodules, and the files and links of these names. Raises RenderError."""
        ends = tuple(f"/{name}" for name in names)
        return [entry for entry in self._listed if entry.mode == git.SUBMODULE or f"/{entry.path}".endswith(ends)]

    @cached_property
    def _listed(self) -> list[git.GitEntry]:
        return self._entries()

    def list_files(self) -> None:
        """Lists the files now. Raises RenderError when git cannot."""
        self._list_paths()

    def _list_paths(self) -> tuple[Iterable[str], Iterable[str]]:
        links = [path for path, entry in self.entries.items() if entry.mode == "120000"]
        return self.entries.keys() - set(links), links

    def below(self, folder: str) -> dict[str, git.GitEntry]:
        """Files and links below a folder, by their paths relative to it. Raises RenderError."""
        relative = self._below(folder)
        prefix = f"{relative}/" if relative else ""
        return {path[len(prefix) :]: entry for path, entry in self.entries.items() if path.startswith(prefix)}

    def contents(self, paths: Sequence[str]) -> list[bytes]:
        """The bytes of these files or links; of one above MAX_BYTES only zeros. Raises RenderError."""
        return git.contents(self.top, [self.entries[path].blob for path in paths], MAX_BYTES)

    def keep_known(self, contents: Iterable[bytes]) -> None:
        """Keeps those of the contents that files of the commit have, so that git need not read them."""
        digits = len(next(iter(self.entries.values())).blob) if self.entries else 0
        data_by_blob = git.data_by_blob(contents, digits) if digits else {}
        self._contents |= {
            path: data_by_blob[entry.blob] for path, entry in self.entries.items() if entry.blob in data_by_blob
        }


@cache
def commit_tree(top: str, commit: str) -> CommitTree:
    """The files of a commit, cached. Raises RenderError."""
    return CommitTree(top, commit)
