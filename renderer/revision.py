"""A commit as a tree that can be rendered: straight from git's objects, without a checkout."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from renderer import git
from renderer.held import Held


@cache
def revision(top: str, commit: str) -> Held:
    """The files of a commit, as if they lay at `top`. Raises RenderError."""
    entries = {each.path: each for each in git.files(top, commit)}
    links = [path for path, each in entries.items() if each.mode == "120000"]

    def fetch(paths: Sequence[str], likely: Iterable[bytes]) -> Sequence[bytes]:
        return git.contents(top, [entries[path].blob for path in paths], likely)

    return Held(top, entries.keys() - set(links), links, fetch)
