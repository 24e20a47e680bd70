"""Finds the places of single fields in a file of plain block style, without reading the rest: twenty times as fast as
LocatedReader for one field, and without PyYAML for values that have a line of their own.

It steps over the parsed lines of the fast reader, which has found the file valid.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from renderer.diagnostics import Path
from renderer.yamlio import fast_reader
from renderer.yamlio.fast_reader import Line
from renderer.yamlio.scalars import UncertainError

if TYPE_CHECKING:
    from renderer.yamlio.located_reader import LocatedNode

_MAX_SEARCHES: Final = 20  # in a document: more of them take longer than LocatedReader


class NumberedLine(NamedTuple):
    """A parsed line with its number, from 1."""

    number: int
    entry: Line
    text: str

    @property
    def start(self) -> int:
        """The column of its dash or key, from 0."""
        return self.entry.dash if self.entry.dash >= 0 else self.entry.indentation


class _Block(NamedTuple):
    """A mapping or list over several lines."""

    first: int  # the index of its first line
    column: int  # of its keys or dashes, from 0
    is_list: bool


class BlockDocument:
    """The lines of one document, without blank ones and comments."""

    __slots__ = ("_lines", "_searches")

    def __init__(self, lines: Sequence[NumberedLine]) -> None:
        self._lines: Final = lines
        self._searches = 0

    def locate(self, path: Path, *, key: bool) -> tuple[int, int]:
        """As `Document.locate`. UncertainError once LocatedReader is the faster way."""
        self._searches += 1
        if self._searches > _MAX_SEARCHES:
            raise UncertainError
        key_line, nearest, rest = self._nearest(path)
        if isinstance(nearest, NumberedLine):
            return _locate_in_line(nearest, rest, key=key)
        return (key_line.number, key_line.entry.indentation + 1) if key and key_line else self._place(nearest)

    def locate_end(self, path: Path, *, key: bool) -> tuple[int, int]:
        """As `Document.locate_end`. UncertainError once LocatedReader is the faster way."""
        self._searches += 1
        if self._searches > _MAX_SEARCHES:
            raise UncertainError
        key_line, nearest, rest = self._nearest(path)
        if isinstance(nearest, NumberedLine):
            return _end_in_line(nearest, rest, key=key)
        if key and key_line:
            return key_line.number, fast_reader.key_end(key_line.text) + 1
        last = self._last_line(nearest)
        return last.number, fast_reader.value_end(last.text) + 1

    def _nearest(self, path: Path) -> tuple[NumberedLine | None, NumberedLine | _Block, Path]:
        """The block at `path`, or the line with the value there, else its nearest parent; before it the line of the
        block's key, if it has one, and behind it the rest of the path in that line.
        """
        block = self._block(0)
        key_line = None
        for depth, part in enumerate(path, 1):
            index = next((index for name, index in self._children(block) if name == part), None)
            if index is None:
                break
            line, child = self._lines[index], self._child_block(block, index)
            if child is None:
                return None, line, path[depth:]
            key_line = None if block.is_list else line
            block = child
        return key_line, block, ()

    def _last_line(self, block: _Block) -> NumberedLine:
        """The last line of a mapping or list."""
        while True:
            *_, (_, index) = self._children(block)
            child = self._child_block(block, index)
            if child is None:
                return self._lines[index]
            block = child

    def _place(self, block: _Block) -> tuple[int, int]:
        return self._lines[block.first].number, block.column + 1

    def _block(self, index: int) -> _Block:
        """The mapping or list that begins with this line."""
        line = self._lines[index]
        return _Block(index, line.start, is_list=line.entry.dash >= 0)

    def _children(self, block: _Block) -> Iterator[tuple[str | int | None, int]]:
        """The key, or number in a list, of each child, and the index of its first line."""
        number = 0
        for index in range(block.first, len(self._lines)):
            line = self._lines[index]
            if index > block.first and line.start < block.column:
                return
            if line.entry.indentation == block.column:
                if block.is_list:
                    return  # a key of the mapping around it
                yield line.entry.key, index
            elif block.is_list and line.start == block.column:
                yield number, index
                number += 1

    def _child_block(self, block: _Block, index: int) -> _Block | None:
        """The mapping or list that is the child with this first line; None for a value in the line."""
        entry = self._lines[index].entry
        if block.is_list and entry.key is not None:
            return _Block(index, entry.indentation, is_list=False)
        if entry.has_value or index + 1 == len(self._lines):
            return None
        below = self._block(index + 1)
        is_below = below.column > block.column or (below.is_list and not block.is_list and below.column == block.column)
        return below if is_below else None


def documents(data: bytes) -> list[BlockDocument]:
    """The documents of a file; UncertainError for one that is not in plain block style."""
    try:
        text = data.decode("utf-8")
        fast_reader.from_lines(text)
    except (UnicodeDecodeError, IndexError) as error:  # IndexError: as in `read_fast`
        raise UncertainError from error
    lines: list[list[NumberedLine]] = [[]]  # of each document
    for number, line in enumerate(text.split("\n"), 1):
        entry = fast_reader.LINES[line]
        if entry is fast_reader.DOCUMENT:
            lines.append([])
        elif entry is not None:
            lines[-1].append(NumberedLine(number, entry, line))
    return [BlockDocument(of_document) for of_document in (lines if lines[0] else lines[1:])]


def _locate_in_line(line: NumberedLine, path: Path, *, key: bool) -> tuple[int, int]:
    """The place of the value (or key) of a line, or of what is at `path` in the value."""
    if path:
        return line.number, _column_in_line(line, path, key=key)
    if key and line.entry.key is not None:
        return line.number, line.entry.indentation + 1
    return line.number, fast_reader.value_column(line.text) + 1


def _end_in_line(line: NumberedLine, path: Path, *, key: bool) -> tuple[int, int]:
    """The place behind the value (or key) of a line, or behind what is at `path` in the value."""
    if path:
        return line.number, _node_in_line(line, path, key=key).end[1]
    if key and line.entry.key is not None:
        return line.number, fast_reader.key_end(line.text) + 1
    return line.number, fast_reader.value_end(line.text) + 1


def _column_in_line(line: NumberedLine, path: Path, *, key: bool) -> int:
    """The column of what is at `path` in the collection of a line."""
    return _node_in_line(line, path, key=key).place[1]


def _node_in_line(line: NumberedLine, path: Path, *, key: bool) -> LocatedNode:
    """What is at `path` in the collection of a line, which is YAML by itself."""
    from renderer.yamlio.located_reader import LocatedReader  # few runs need it

    around: Path = (0,) if line.entry.dash >= 0 else ()
    if line.entry.key is not None:
        around += (line.entry.key,)
    root = LocatedReader("", line.text.encode()).read()[0]
    if root is None:  # unreachable: it has a key or dash
        raise UncertainError(line.text)
    return root.nearest(around + path, key=key)
