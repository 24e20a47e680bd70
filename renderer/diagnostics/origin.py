"""Where a value comes from: a `Source` locates its fields; an `Origin` is a field of a source.

Origins are located on demand, since parsing without places is much faster.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

Path: TypeAlias = tuple[str | int, ...]


class Source(Protocol):
    """Something with fields that can be located: a YAML document, a command line, a rule."""

    @property
    def name(self) -> str:
        """The file, relative to the user's current folder."""

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Line and column, from 1, of the value (or key) at `path`, else of its nearest parent; (0, 0): no place."""


@runtime_checkable
class MergedSource(Source, Protocol):
    """A source some of whose fields come from other sources."""

    def behind(self, path: Path) -> tuple[Source, Path]:
        """The source that set the field, and its path there."""


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


class Origin(Struct, frozen=True):
    """A field of a source."""

    source: Source
    path: Path = ()
    key: bool = False  # it points at the key instead of the value

    def at(self, *more: str | int, key: bool = False) -> Origin:
        """The field below this one."""
        return Origin(self.source, self.path + more, key)

    @property
    def place(self) -> tuple[str, int, int]:
        """File, line, column."""
        source, path = self.behind
        return (source.name, *source.locate(path, key=self.key))

    @property
    def behind(self) -> tuple[Source, Path]:
        """The source that set the field, and its path there; merged sources are resolved."""
        return self.source.behind(self.path) if isinstance(self.source, MergedSource) else (self.source, self.path)


class WholeOrigin(Origin, frozen=True):
    """A field of which something is made: its items have no fields of their own."""

    def at(self, *more: str | int, key: bool = False) -> Origin:
        """The field itself."""
        return Origin(self.source, self.path, key)


class Located(Protocol):
    """Anything that has origins of its items."""

    def at(self, *path: str | int) -> Origin:
        """The origin of the item at a path."""


def dotted(path: Path) -> str:
    """`('spec', 'args', 2)` as `spec.args[2]`; keys with dots in brackets."""
    text = ""
    for part in path:
        if isinstance(part, int) or "." in part or "/" in part:
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text
