"""The contents of files with edits in them: every other byte is as it was."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from renderer.diagnostics import Edit
from renderer.source.tree import FileSystem

_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")  # as YAML counts lines
_BYTE_ORDER_MARK = "\ufeff"  # stands in no column


def edited_contents(file_system: FileSystem, edits: Iterable[Edit]) -> dict[str, bytes]:
    """The contents of the edited files, by their real paths. Raises OSError."""
    edits_by_file: dict[str, list[Edit]] = {}
    for edit in edits:
        edits_by_file.setdefault(edit.file, []).append(edit)
    contents = {}
    for file, edits_of_file in edits_by_file.items():
        path = os.path.realpath(file)
        text = file_system.read(path, os.path.dirname(path)).decode("utf-8")
        contents[path] = edited_text(text, edits_of_file).encode("utf-8")
    return contents


def edited_text(text: str, edits: Iterable[Edit]) -> str:
    """The text with edits that are `apart`."""
    mark = _BYTE_ORDER_MARK if text.startswith(_BYTE_ORDER_MARK) else ""
    text = text.removeprefix(mark)
    starts = [0, *(match.end() for match in _BREAK.finditer(text))]
    for edit in sorted(edits, key=_span, reverse=True):
        start = starts[edit.line - 1] + edit.column - 1
        end = starts[edit.end_line - 1] + edit.end_column - 1
        text = text[:start] + edit.text + text[end:]
    return mark + text


def apart(edits: Iterable[Edit]) -> list[Edit]:
    """The edits, each once, without those that overlap an earlier one."""
    chosen: dict[Edit, None] = {}
    known_by_file: dict[str, list[Edit]] = {}
    for edit in edits:
        known = known_by_file.setdefault(edit.file, [])
        if not any(_overlap(edit, other) for other in known):
            chosen[edit] = None
            known.append(edit)
    return list(chosen)


def column_before(edits: Iterable[Edit], file: str, line: int, column: int) -> int:
    """The column that a place of the text with edits within its line had before them."""
    shift = 0
    for edit in sorted((e for e in edits if e.file == file and e.line == line == e.end_line), key=_span):
        start = edit.column + shift
        if column < start:
            break
        if column < start + len(edit.text):
            return edit.column
        shift += len(edit.text) - (edit.end_column - edit.column)
    return column - shift


def _overlap(edit: Edit, other: Edit) -> bool:
    (start, end), (other_start, other_end) = _span(edit), _span(other)
    return start < other_end and other_start < end


def _span(edit: Edit) -> tuple[tuple[int, int], tuple[int, int]]:
    """The places of its start and its end."""
    return (edit.line, edit.column), (edit.end_line, edit.end_column)
