"""A source that is no file."""

from __future__ import annotations

from renderer.diagnostics import Path


class NamedSource:
    """A source without places: a built-in default, or a flag of the command line."""

    def __init__(self, name: str) -> None:
        self.name = name

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        return 0, 0
