"""A source that is not a file, and the diagnostic for a file that cannot be read."""

from __future__ import annotations

from renderer.diagnostics import Diagnostic, Origin, Path, make_diagnostic


class NamedSource:
    """A source without places: a built-in default, or a flag of the command line."""

    def __init__(self, name: str) -> None:
        self.name = name

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        return 0, 0


class LineOf(NamedSource):
    """A line of a file that is not YAML."""

    def __init__(self, name: str, line: int) -> None:
        super().__init__(name)
        self._line = line

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        return self._line, 1


def read_error(name: str, error: OSError) -> Diagnostic:
    """The diagnostic for a file `name` that cannot be read."""
    return make_diagnostic("E120", Origin(NamedSource(name)), what=error.strerror or error)
