"""YAML in, with the place of every key and value; YAML out that Go and Python read alike.

A file is read in one of three ways, and each leaves to the next what it cannot vouch for: line by line, for plain block
style, which is nearly every file and takes a sixth of the time; from libyaml's events, for all of YAML but tags and
anchors; carefully, with the place of every key and value and words for every problem. The careful way also answers
where a field stands: nearly every file is fine, and nobody asks.

Plain scalars mean what Kubernetes' Go tools read in them, not what PyYAML does: `y` and `off` are booleans, `010` is 8,
`1e3` is 1000, `1:30` and dates are strings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from renderer.diagnostics import Diagnostic, Origin, Path, Source
from renderer.yamlio import fast_reader
from renderer.yamlio.limits import MAX_BYTES, MAX_DEPTH, MAX_EXPANDED
from renderer.yamlio.writer import SharedMap, dump

if TYPE_CHECKING:
    from renderer.yamlio.located_reader import LocatedNode, LocatedReader

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_EXPANDED",
    "ChangedDocument",
    "Document",
    "SharedMap",
    "documents",
    "dump",
    "parse",
]


class Document:
    """One YAML document: `value` in JSON terms, `index` its position in the file, from 0. It is a problems.Source."""

    __slots__ = ("_file", "index", "value")

    def __init__(self, file: _File, index: int, value: Any) -> None:
        self._file: Final = file
        self.index: Final = index
        self.value: Final = value

    def __repr__(self) -> str:
        return f"Document({self.name!r}, {self.index})"

    @property
    def name(self) -> str:
        """The file as users know it."""
        return self._file.name

    @property
    def data(self) -> bytes:
        """The bytes of the whole file."""
        return self._file.data

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Line and column in the file, from 1, of the value (or key) at `path`, else of its nearest parent.

        What an alias or a merge key brought stands where its anchor is; the value that is an alias stands at the `*`.
        """
        node = self._file.nodes()[self.index]
        if node is None:
            return (0, 0)  # cannot be: a Document has content
        key_place = node.place
        for part in path:
            below = node.below(part)
            if below is None:
                break
            key_place, node = below
        return key_place if key else node.place

    def raw(self, path: Path) -> str | None:
        """The scalar at `path` as the user wrote it, without quotes (`0.10`, not 0.1); None when no scalar is there."""
        node = self._file.nodes()[self.index]
        for part in path:
            below = node.below(part) if node else None
            if below is None:
                return None
            node = below[1]
        return node.raw if node else None

    def origin(self, *path: str | int, key: bool = False) -> Origin:
        """The field at `path` as an Origin."""
        return Origin(self, path, key)

    def parts(self, *path: str | int) -> list[Document]:
        """The items of the list at `path`, each as a document of its own."""
        items = self.value
        for part in path:
            items = items[part]
        return [_Part(self, (*path, i), value) for i, value in enumerate(items)]


class _Part(Document):
    """What stands at a place in a document, as a document of its own."""

    __slots__ = ("_at",)

    def __init__(self, whole: Document, at: Path, value: Any) -> None:
        super().__init__(whole._file, whole.index, value)
        self._at: Final = at

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        return super().locate((*self._at, *path), key=key)

    def raw(self, path: Path) -> str | None:
        return super().raw((*self._at, *path))


class ChangedDocument(Document):
    """A document with another value in its place; `moved`: paths in that value, and where in the document such a field
    stands. It is a problems.Merged.
    """

    __slots__ = ("_moved", "whole")

    def __init__(self, whole: Document, value: Any, moved: Mapping[Path, Path]) -> None:
        super().__init__(whole._file, whole.index, value)
        self.whole: Final = whole
        self._moved: Final = moved

    def behind(self, path: Path) -> tuple[Source, Path]:
        """Who set the field, and where it stands there: others may have set some of the document too."""
        return Origin(self.whole, self._place(path)).behind

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        return self.whole.locate(self._place(path), key=key)

    def raw(self, path: Path) -> str | None:
        return self.whole.raw(self._place(path))

    def _place(self, path: Path) -> Path:
        for length in range(len(path), 0, -1):
            if (place := self._moved.get(path[:length])) is not None:
                return (*place, *path[length:])
        return path


class _File:
    """What the documents of one file share: its bytes and, once asked for, the place of everything in it."""

    __slots__ = ("_nodes", "data", "name")

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.data = data
        self._nodes: list[LocatedNode | None] | None = None

    def nodes(self) -> list[LocatedNode | None]:
        if self._nodes is None:
            self._nodes = _careful(self.name, self.data).read()
        return self._nodes


def parse(name: str, data: bytes) -> tuple[list[Document], list[Diagnostic]]:
    """The documents of a file that is called `name` in messages, and what is wrong with its YAML. Never raises.

    Documents without content are left out, but count in `index`. With problems, the documents are those that are whole
    before the first syntax error, so that more can be said about them.
    """
    file = _File(name, data)
    try:
        values = fast_reader.read_fast(data)
        problems: list[Diagnostic] = []
    except Exception:  # noqa: BLE001 - whatever it was, the careful way has words for it
        careful = _careful(name, data)
        values = [node and node.value for node in careful.read()]
        problems = careful.problems
    return [Document(file, index, value) for index, value in enumerate(values) if value is not None], problems


def _careful(name: str, data: bytes) -> LocatedReader:
    """The careful way, imported when first needed: nearly every run does without it."""
    from renderer.yamlio.located_reader import LocatedReader

    return LocatedReader(name, data)


def documents(name: str, data: bytes, values: Iterable[tuple[int, Any]]) -> list[Document]:
    """Documents whose values (with their index) another process parsed out of `data`."""
    file = _File(name, data)
    return [Document(file, index, value) for index, value in values]
