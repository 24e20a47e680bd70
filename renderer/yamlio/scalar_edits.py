"""Edits of the keys and scalars of a file: what is written in place of one keeps its style and is read as meant."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from renderer.diagnostics import Edit, Path
from renderer.yamlio.located_reader import YAML_BREAK, LocatedNode
from renderer.yamlio.writer import quoted_part, scalar

_OTHER_BREAK = re.compile("[\x85\u2028\u2029]")  # libyaml alone counts a line there
_WORD = re.compile(r"[A-Za-z0-9_./:@%+=,-]+")  # that stands for itself in a shell, in JSON and in a list with commas
_PLAIN_WORD = re.compile(r"[A-Za-z0-9_./+-][A-Za-z0-9_./@%+=-]*")  # that no bracket around it ends
_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+){2,}")  # which no reader takes for a number, though the writer quotes it
_IN_BRACKETS: Final = frozenset(",[]{}")  # what ends a plain scalar there


class ScalarEdits:
    """The text of a file, for its edits."""

    __slots__ = ("_name", "_starts", "_text")

    def __init__(self, name: str, data: bytes) -> None:
        self._name: Final = name
        self._text: Final = data.decode("utf-8", "replace").removeprefix("\ufeff")
        self._starts: Final = [0, *(match.end() for match in YAML_BREAK.finditer(self._text))]  # of the lines

    def end_of(self, node: LocatedNode) -> tuple[int, int]:
        """The place behind a value; of a text in a block that behind its last character."""
        start = self._offset(node.place)
        return self._place(start + len(self._text[start : self._offset(node.end)].rstrip()))

    def edits(self, root: LocatedNode, path: Path, old: str, new: str | float, *, key: bool) -> tuple[Edit, ...]:
        """As `Document.edits`."""
        node = _scalar_at(root, path, new, key=key)
        if node is None or _OTHER_BREAK.search(self._text) or not str(new).isprintable():
            return ()
        start = self._offset(node.place)
        source = self._text[start : self._offset(self.end_of(node))]
        if old in ("", node.raw):
            text = _written(source, new, str(node.raw)) if source else ""
            return self._edit(start, start + len(source), text) if text else ()
        if not isinstance(new, str):
            return ()
        return self._part_edits(start, source, str(node.raw), old, new)

    def _part_edits(self, start: int, source: str, value: str, old: str, new: str) -> tuple[Edit, ...]:
        """The edit of the one word `old` in a scalar that stands in the file as it is."""
        spans = [match.span() for match in re.finditer(rf"(?<![\w-]){re.escape(old)}(?![\w-])", value)] if old else []
        if len(spans) != 1 or not _WORD.fullmatch(new):
            return ()
        begin, end = spans[0]
        if source == value:  # plain
            changed = f"{value[:begin]}{new}{value[end:]}"
            if scalar(changed) != changed or not _PLAIN_WORD.fullmatch(new):
                return ()  # it would be read as something else
            return self._edit(start + begin, start + end, new)
        if source[:1] in ("'", '"') and source[1:-1] == value:
            return self._edit(start + 1 + begin, start + 1 + end, new)
        if source[:1] == "|" and (at := self._offset_in_block(start, value, begin)) >= 0:
            return self._edit(at, at + end - begin, new)
        return ()

    def _offset_in_block(self, start: int, value: str, position: int) -> int:
        """Where in the file a character of a literal block stands; -1 where its line is not there as it is."""
        row = value.count("\n", 0, position)
        column = position - (value.rfind("\n", 0, position) + 1)
        index = bisect_right(self._starts, start) + row
        line = value.split("\n")[row]
        if index >= len(self._starts):
            return -1
        end = self._starts[index + 1] if index + 1 < len(self._starts) else len(self._text)
        text = self._text[self._starts[index] : end].rstrip("\r\n")
        indent = len(text) - len(line)
        return self._starts[index] + indent + column if indent > 0 and text[indent:] == line else -1

    def _edit(self, start: int, end: int, text: str) -> tuple[Edit, ...]:
        return (Edit(self._name, *self._place(start), *self._place(end), text),)

    def _offset(self, place: tuple[int, int]) -> int:
        """The index of the character at a place."""
        line, column = place
        return self._starts[line - 1] + column - 1 if line <= len(self._starts) else len(self._text)

    def _place(self, offset: int) -> tuple[int, int]:
        """The place of the character at an index."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


def _scalar_at(root: LocatedNode, path: Path, new: object, *, key: bool) -> LocatedNode | None:
    """The scalar, or key, at a path; None where there is none, where what is written there is read elsewhere too, or
    stands elsewhere, and for a key that would be there twice as `new`.
    """
    node = key_node = above = root
    for part in path:
        entry = node.child_at(part)
        if entry is None or node.anchored:
            return None
        above, (key_node, node) = node, entry
        if key_node.place < above.place:  # the parent is an alias, or merges the field
            return None
    scalar_node = key_node if key else node
    if key and path and isinstance(above.value, dict) and new in above.value:
        return None
    return None if scalar_node.raw is None or scalar_node.anchored else scalar_node


def _written(source: str, new: str | float, old: str) -> str:
    """`new` in the style of a scalar that stands in the file as `source`; '' for one that is no such."""
    if not isinstance(new, str):
        return scalar(new) if source == old or source[:1] in ("'", '"') else ""
    if source[:1] == "'":
        return "'" + new.replace("'", "''") + "'"
    if source[:1] == '"':
        return f'"{quoted_part(new)}"'
    if source != old:  # an alias, a text in a block or over several lines
        return ""
    if not _IN_BRACKETS.isdisjoint(new):
        return f'"{quoted_part(new)}"'
    return new if _VERSION.fullmatch(new) else scalar(new)
