"""A commit as a tree that can be rendered: straight from git's objects, without a checkout."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property, partial

from renderer import git
from renderer.held import Held
from renderer.tree import MAX_BYTES


class Revision(Held):
    """The files of a commit, as if they lay at `top`."""

    def __init__(self, top: str, commit: str) -> None:
        self._entries: Callable[[], list[git.Entry]] = partial(git.files, top, commit)
        self._ahead = partial(git.listing, top, commit)
        super().__init__(top, self._listed, self.contents)

    @contextmanager
    def ahead(self) -> Iterator[None]:
        """Git lists the files from now on, while the caller is about other things. Raises RenderError."""
        with self._ahead() as entries:
            self._entries, later = entries, self._entries
            try:
                yield
            finally:
                self._entries = later

    @cached_property
    def entries(self) -> dict[str, git.Entry]:
        """All files, by their paths. Raises RenderError."""
        return {each.path: each for each in self._entries()}

    def look(self) -> None:
        """Sees to it that the files are listed. Raises RenderError."""
        self._listed()

    def _listed(self) -> tuple[Iterable[str], Iterable[str]]:
        links = [path for path, each in self.entries.items() if each.mode == "120000"]
        return self.entries.keys() - set(links), links

    def below(self, folder: str) -> dict[str, git.Entry]:
        """Files and links below a folder of the disk's, by their paths in it. Raises RenderError."""
        within = self._below(folder)
        begin = f"{within}/" if within else ""
        return {path[len(begin) :]: entry for path, entry in self.entries.items() if path.startswith(begin)}

    def contents(self, paths: Sequence[str]) -> list[bytes]:
        """What these hold, links too; of one above MAX_BYTES only zeros. Raises RenderError."""
        return git.contents(self.top, [self.entries[path].blob for path in paths], MAX_BYTES)

    def expect(self, datas: Iterable[bytes]) -> None:
        """Git is not asked for files that hold any of this."""
        digits = len(next(iter(self.entries.values())).blob) if self.entries else 0
        named = git.named(datas, digits) if digits else {}
        self._held |= {path: named[each.blob] for path, each in self.entries.items() if each.blob in named}


@cache
def revision(top: str, commit: str) -> Revision:
    """The files of a commit, looked up once. Raises RenderError."""
    return Revision(top, commit)
