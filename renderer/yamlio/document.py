"""Reads YAML into documents, with the place of every key and value.

There are three readers, each of which leaves files that it does not support to the next: line by line, for plain block
style (nearly every file, in a sixth of the time); by libyaml's events, for YAML without tags and anchors; and
LocatedReader, which supports all of YAML and reports every problem.

Fields are located on demand: the first ones of a file in plain block style by its lines (`block_places.py`), all others
by LocatedReader.

Plain scalars mean what Kubernetes' Go tools read in them, not what PyYAML does: `y` and `off` are booleans, `010` is 8,
`1e3` is 1000, `1:30` and dates are strings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from renderer.diagnostics import Diagnostic, Edit, Origin, Path, Source
from renderer.kubernetes.object_lists import is_object_list, listed_objects
from renderer.yamlio import fast_reader
from renderer.yamlio.scalars import UncertainError

if TYPE_CHECKING:
    from renderer.yamlio.block_places import BlockDocument
    from renderer.yamlio.located_reader import LocatedNode, LocatedReader
    from renderer.yamlio.scalar_edits import ScalarEdits


_NULLS = frozenset(["", "~", "null", "Null", "NULL"])  # plain scalars without a value


class Document:
    """One YAML document. It is a Source."""

    __slots__ = ("_file", "index", "value")

    def __init__(self, file: _File, index: int, value: Any) -> None:
        self._file: Final = file
        self.index: Final = index  # its position in the file, from 0
        self.value: Final = value  # in JSON terms

    def __repr__(self) -> str:
        return f"Document({self.name!r}, {self.index})"

    @property
    def name(self) -> str:
        """The file's name in messages."""
        return self._file.name

    @property
    def data(self) -> bytes:
        """The bytes of the whole file."""
        return self._file.data

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Line and column in the file, from 1, of the value (or key) at `path`, else of its nearest parent.

        Fields below an alias or merge key are located at its anchor, the alias itself at the `*`.
        """
        return self._file.locate(self.index, path, key=key)

    def locate_end(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Line and column, from 1, behind what `locate` finds."""
        return self._file.locate_end(self.index, path, key=key)

    def edits(self, path: Path, old: str, new: str | float, *, key: bool = False) -> tuple[Edit, ...]:
        """The edit by which the value (or key) at `path`, or the one word `old` in it, says `new`; none where that is
        not sure, or an alias, a merge or another file says it too.
        """
        return self._file.edits(self.index, path, old, new, key=key)

    def raw(self, path: Path) -> str | None:
        """The text of the scalar at `path`, without quotes (`0.10`, not 0.1); None where there is no scalar."""
        node = self._file.nodes()[self.index]
        for part in path:
            child = node.child_at(part) if node else None
            if child is None:
                return None
            node = child[1]
        return node.raw if node else None

    def is_empty(self, *path: str | int) -> bool:
        """Whether the field at `path` is in the file without a value, as `spec:` alone; it then counts as missing."""
        return self.raw(path) in _NULLS

    def origin(self, *path: str | int, key: bool = False) -> Origin:
        """The Origin of the field at `path`."""
        return Origin(self, path, key)

    def parts(self, *path: str | int) -> list[Document]:
        """The items of the list at `path` as documents."""
        items = self.value
        for part in path:
            items = items[part]
        return [_ListItem(self, (*path, i), value) for i, value in enumerate(items)]

    @property
    def objects(self) -> list[Document]:
        """What appliers make of it: the document itself, and the items of a list as documents."""
        if not is_object_list(self.value):
            return [self]
        return [_ListItem(self, path, value) for path, value in listed_objects(self.value)]


class _ListItem(Document):
    """An item of a list in a document, or the list itself, as a document."""

    __slots__ = ("_path", "_whole")

    def __init__(self, whole: Document, path: Path, value: object) -> None:
        super().__init__(whole._file, whole.index, value)
        self._whole: Final = whole
        self._path: Final = path

    @property
    def objects(self) -> list[Document]:
        """Itself: lists in it have been taken apart with it."""
        return [self]

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        return self._whole.locate((*self._path, *path), key=key)

    def locate_end(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        return self._whole.locate_end((*self._path, *path), key=key)

    def edits(self, path: Path, old: str, new: str | float, *, key: bool = False) -> tuple[Edit, ...]:
        return self._whole.edits((*self._path, *path), old, new, key=key)

    def raw(self, path: Path) -> str | None:
        return self._whole.raw((*self._path, *path))


def source_path(moved: Mapping[Path, Path], path: Path) -> Path:
    """Where a field stands, when fields or what they are in have moved. `moved`: the path of each before it did."""
    for length in range(len(path), 0, -1):
        if (place := moved.get(path[:length])) is not None:
            return (*place, *path[length:])
    return path


class ChangedDocument(Document):
    """A document with a changed value. It is a MergedSource."""

    __slots__ = ("_moved", "whole")

    def __init__(self, whole: Document, value: object, moved: Mapping[Path, Path]) -> None:
        super().__init__(whole._file, whole.index, value)
        self.whole: Final = whole  # the document before the change
        self._moved: Final = moved  # the paths in `whole`, by those in `value`

    def behind(self, path: Path) -> tuple[Source, Path]:
        """The source that set the field, and its path there; the document may be a MergedSource itself."""
        return Origin(self.whole, source_path(self._moved, path)).behind

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        return self.whole.locate(source_path(self._moved, path), key=key)

    def raw(self, path: Path) -> str | None:
        return self.whole.raw(source_path(self._moved, path))


class BuiltDocument(Document):
    """A document that a program built of others, whose fields are located in these. It is a MergedSource."""

    __slots__ = ("_built", "_origin_of")

    def __init__(self, built: Document, origin_of: Callable[[Path], Origin]) -> None:
        super().__init__(built._file, built.index, built.value)
        self._built: Final = built
        self._origin_of: Final = origin_of  # the field that a field was made of, by its path

    @property
    def name(self) -> str:
        """The name of the file that the document was made of."""
        return self.behind(())[0].name

    def behind(self, path: Path) -> tuple[Source, Path]:
        """The field that the field at `path` was made of: its source, and its path there."""
        return self._origin_of(path).behind

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        source, place = self.behind(path)
        return source.locate(place, key=key)

    def raw(self, path: Path) -> str | None:
        return self._built.raw(path)


class _File:
    """The file of its documents: its bytes, and its located nodes, read on demand."""

    __slots__ = ("_blocks", "_editable", "_edits", "_nodes", "data", "name")

    def __init__(self, name: str, data: bytes, *, editable: bool) -> None:
        self.name = name
        self.data = data
        self._editable = editable
        self._blocks: list[BlockDocument] | None = None
        self._edits: ScalarEdits | None = None
        self._nodes: list[LocatedNode | None] | None = None

    def locate(self, index: int, path: Path, *, key: bool) -> tuple[int, int]:
        """The place of a field of the document with that index."""
        if self._nodes is None:
            with suppress(UncertainError):
                return self._block_document(index).locate(path, key=key)
        node = self.nodes()[index]
        return node.locate(path, key=key) if node else (0, 0)  # the latter is unreachable: a Document has content

    def locate_end(self, index: int, path: Path, *, key: bool) -> tuple[int, int]:
        """The place behind a field of the document with that index."""
        if self._nodes is None:
            with suppress(UncertainError):
                return self._block_document(index).locate_end(path, key=key)
        node = self.nodes()[index]
        return self._scalar_edits().end_of(node.nearest(path, key=key)) if node else (0, 0)  # as in `locate`

    def edits(self, index: int, path: Path, old: str, new: str | float, *, key: bool) -> tuple[Edit, ...]:
        """The edit of a field of the document with that index."""
        if not self._editable:
            return ()
        node = self.nodes()[index]
        return self._scalar_edits().edits(node, path, old, new, key=key) if node else ()

    def _scalar_edits(self) -> ScalarEdits:
        if self._edits is None:
            from renderer.yamlio.scalar_edits import ScalarEdits  # quiet runs do not need it

            self._edits = ScalarEdits(self.name, self.data)
        return self._edits

    def _block_document(self, index: int) -> BlockDocument:
        """The document with that index. UncertainError for a file that is not in plain block style."""
        if self._blocks is None:
            from renderer.yamlio import block_places  # quiet runs do not need it

            self._blocks = block_places.documents(self.data)
        return self._blocks[index]

    def nodes(self) -> list[LocatedNode | None]:
        if self._nodes is None:
            self._nodes = _located_reader(self.name, self.data).read()
        return self._nodes


def parse(
    name: str, data: bytes, *, disputes: bool = False, editable: bool = True
) -> tuple[list[Document], list[Diagnostic]]:
    """The documents of a file, called `name` in messages, and the problems of its YAML. Never raises.

    Documents without content are left out, but count in `index`. After a syntax error the documents before it are
    returned. `disputes`: whether it is a problem, too, where YAML's merge keys make readers take different values;
    `editable`: whether the bytes are those of a file that is the user's.
    """
    file = _File(name, data, editable=editable)
    try:
        values = fast_reader.read_fast(data)
        problems: list[Diagnostic] = []
    except Exception:  # noqa: BLE001 - LocatedReader reports whatever it was
        reader = _located_reader(name, data, disputes=disputes)
        values = [node and node.value for node in reader.read()]
        problems = reader.problems
    return [Document(file, index, value) for index, value in enumerate(values) if value is not None], problems


def _located_reader(name: str, data: bytes, *, disputes: bool = False) -> LocatedReader:
    """A LocatedReader of the file; imported here, since few runs need it."""
    from renderer.yamlio.located_reader import LocatedReader

    return LocatedReader(name, data, disputes=disputes)


def documents(name: str, data: bytes, values: Iterable[tuple[int, object]], *, editable: bool = True) -> list[Document]:
    """Documents of a file whose values, with their indices, another process parsed. `editable`: as for `parse`."""
    file = _File(name, data, editable=editable)
    return [Document(file, index, value) for index, value in values]
