"""Reads the values of a valid file: line by line, else from libyaml's events; UncertainError for every other file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, Final

from msgspec import Struct

from renderer.yamlio import inline_values
from renderer.yamlio.limits import MAX_BYTES, MAX_DEPTH, MAX_LINE, MAX_VALUES, long_line
from renderer.yamlio.scalars import KEYS, ScalarCache, UncertainError, resolve_scalar


def read_fast(data: bytes) -> list[object]:
    """The values of all documents. Raises some exception for a file with problems, tags or anchors."""
    if len(data) > MAX_LINE and _may_exceed_limits(data):  # MAX_LINE is the smallest limit, in bytes
        raise UncertainError
    try:
        values = from_lines(data.decode("utf-8"))
    except (UncertainError, IndexError):  # IndexError: a line would close the document itself
        values = from_events(data)
    if len(data) > MAX_VALUES and sum(map(_count, values)) > MAX_VALUES:
        raise UncertainError
    return values


_MAX_SIGNS: Final = 4 * MAX_VALUES  # indicators (colons, dashes …) of a file; texts may hold some too
_MAX_LINE_LENGTH: Final = 2_000  # characters of a line: above, the expressions below take much memory


def _may_exceed_limits(data: bytes) -> bool:
    """Whether the file may exceed a limit, so that LocatedReader has to count."""
    signs = sum(map(data.count, (b":", b":", b",", b"-", b"[", b"{", b"?")))
    return len(data) > MAX_BYTES or signs > _MAX_SIGNS or long_line(data) >= 0


def _count(value: object) -> int:
    """The number of keys, scalars, lists and maps in the value."""
    if value.__class__ is dict:
        return 1 + len(value) + sum(map(_count, value.values()))
    return 1 + sum(map(_count, value)) if value.__class__ is list else 1


def from_events(data: bytes) -> list[object]:
    """The values of all documents, from events. Imported here, since PyYAML's import takes longer than a small run."""
    from renderer.yamlio import event_reader

    return event_reader.read(data)


# Most files are block style, line by line `key: value`, `key:`, `- value` or `- key: value`, and most lines occur in
# many files. So each distinct line is parsed once and cached, and only the indentation is followed for each file.
# Everything else, such as a tab, a `|` or a text over several lines, is an UncertainError and left to libyaml.
_LINE = re.compile(
    r"""
    (\ *) (-(?:\ +|$))?
    (?: (-{0,2}[A-Za-z0-9_./$][A-Za-z0-9_./$-]{0,200}|"[ !#-[\]-~]{0,200}") : (?:\ +|$) )?
    (?: (?P<flow> ["'\[{] [ -~]* )
      | (?P<plain> (?: [A-Za-z0-9_./+~$^();<=\\] | -(?=[!-~]) ) (?: [!-9;-~] | :(?=[!-~]) | \ +(?=[!-"$-~]) )* )
    )?
    (?: \ *$ | (?:\ +|(?<![!-~])) \# [ -~]* )
    """,
    re.VERBOSE,
)
_SIMPLE = re.compile(r"( *)(- )?([A-Za-z][A-Za-z0-9]{0,60}): ([A-Za-z][A-Za-z0-9_./-]*)")  # most lines
_START = re.compile(r"--- *(?: #[ -~]*)?")
_FLOW_DEPTH: Final = 5
_MOST_PARENTS: Final = MAX_DEPTH - _FLOW_DEPTH - 1  # of a container that another line opens


class Line(Struct, frozen=True):
    """A parsed line."""

    dash: int  # its column, -1 without one, -2 for the start of a document
    indentation: int  # the column of the key or value
    key: str | None = None
    value: object = None
    # Makes a copy of a flow collection, since each document gets its own.
    copy: Callable[[object], object] | None = None
    has_value: bool = False


DOCUMENT: Final = Line(-2, 0)  # the line `---`


def _parse_line(line: str) -> Line | None:
    """The parsed line, None for a blank or comment. UncertainError for one that depends on other lines."""
    if len(line) > _MAX_LINE_LENGTH:
        raise UncertainError(line)
    if match := _SIMPLE.fullmatch(line):
        indent, dash, key, plain = match.groups()
        column = len(indent)
        return Line(
            column if dash else -1,
            column + 2 if dash else column,
            KEYS[key],
            resolve_scalar(plain),
            has_value=True,
        )
    if line.startswith("---") and _START.fullmatch(line):
        return DOCUMENT
    match = _LINE.fullmatch(line)
    if match is None:
        raise UncertainError(line)
    indent, dash, key, flow, plain = match.groups()
    value: object = None
    if flow:
        value = _parse_flow(flow)
    elif plain:
        value = resolve_scalar(plain)  # without VALUES' cache, since lines are cached
    if dash is None and key is None:
        if flow or plain:
            raise UncertainError(line)
        return None
    if key is not None:
        key = key[1:-1] if key[0] == '"' else KEYS[key]
    has_value = bool(flow or plain)
    indentation = len(indent) + len(dash or "")
    return Line(len(indent) if dash else -1, indentation, key, value, _copy_function(value), has_value)


def _parse_flow(text: str) -> object:
    """The value of a flow collection or a quoted scalar."""
    try:
        return inline_values.read(text, _FLOW_DEPTH)
    except UncertainError:
        (value,) = from_events(text.encode())
    if value.__class__ is not {"[": list, "{": dict}.get(text[0], str) or _depth(value) > _FLOW_DEPTH:
        raise UncertainError(text)
    return value


def _depth(value: object) -> int:
    if value.__class__ is dict:
        return 1 + max(map(_depth, value.values()), default=0)
    return 1 + max(map(_depth, value), default=0) if value.__class__ is list else 0


def value_column(text: str) -> int:
    """The column, from 0, of the value in a line that has a key or dash; where there is none, the one behind these."""
    match = _LINE.fullmatch(text)
    if match is None:
        raise UncertainError(text)
    if match.lastgroup:
        return match.start(match.lastgroup)
    return match.end(3) + 1 if match[3] else match.start(2) + 1


def value_end(text: str) -> int:
    """The column, from 0, behind the value in a line as `value_column` has it."""
    match = _LINE.fullmatch(text)
    if match is None:
        raise UncertainError(text)
    if match.lastgroup == "flow":
        return inline_values.end(text, match.start("flow"), _FLOW_DEPTH)
    return match.end("plain") if match.lastgroup else value_column(text)


def key_end(text: str) -> int:
    """The column, from 0, behind the key of a line that has one."""
    match = _LINE.fullmatch(text)
    if match is None:
        raise UncertainError(text)
    return match.end(3)


def _copy_function(value: object) -> Callable[[Any], Any] | None:
    """The function that makes a deep copy of this value; None for a scalar."""
    depth = _depth(value)
    return None if not depth else _deep_copy if depth > 1 else dict.copy if value.__class__ is dict else list.copy


def _deep_copy(value: object) -> object:
    if value.__class__ is dict:
        return {key: _deep_copy(inner) for key, inner in value.items()}
    return [_deep_copy(inner) for inner in value] if value.__class__ is list else value


LINES = ScalarCache(_parse_line)
_CHUNK: Final = 1024 * 1024  # characters that are split into lines at a time


def _chunks(text: str) -> Iterator[list[str]]:
    """The lines of a text, in chunks."""
    start = 0
    while (end := text.find("\n", start + _CHUNK)) >= 0:
        yield text[start:end].split("\n")
        start = end + 1
    yield text[start:].split("\n")


def from_lines(text: str) -> list[object]:
    """The values of all documents of a file in plain block style; UncertainError for others."""
    lines = iter(text.split("\n") if len(text) <= _CHUNK else chain.from_iterable(_chunks(text)))
    documents: list[object] = []
    is_first, has_next = True, True
    while has_next:
        document, has_next = _read_document(lines)
        if document is not None or not is_first:  # a line `---` began the others, so they count even when empty
            documents.append(document)
        is_first = False
    return documents


def _read_document(lines: Iterator[str]) -> tuple[object, bool]:
    """The value of the next document of a file, and whether a line `---` ends it, behind which there is another one."""
    known_lines = LINES.known
    # `container` is the mapping or list that is being filled, its entries begin in `column`, `parents` are those around
    # it. `root` is a list whose only item is the document. `pending`: the value at `slot` has not come yet, and is None
    # unless a deeper line follows.
    root: list[object] = [None]
    container: Any = root
    column = -1
    parents: list[tuple[int, object]] = []
    slot: object = 0
    pending = True
    for line in lines:
        try:
            entry = known_lines[line]
        except KeyError:
            entry = LINES.compute(line)
        if entry is None:
            continue
        dash, indentation, key = entry.dash, entry.indentation, entry.key
        if dash == -1:
            if indentation > column:
                if not pending or len(parents) >= _MOST_PARENTS:
                    raise UncertainError(line)
                parents.append((column, container))
                container[slot] = container = {}
                column = indentation
            else:
                while indentation < column or container.__class__ is list:
                    column, container = parents.pop()
                if indentation != column or key in container:
                    raise UncertainError(line)
        elif dash >= 0:
            if dash > column or (pending and dash == column and container.__class__ is dict):
                if not pending or len(parents) >= _MOST_PARENTS:
                    raise UncertainError(line)
                parents.append((column, container))
                container[slot] = container = []
                column = dash
            else:
                while dash < column:
                    column, container = parents.pop()
                if dash != column or container.__class__ is not list:
                    raise UncertainError(line)
            if key is None:
                container.append(entry.copy(entry.value) if entry.copy else entry.value)
                slot = -1
                pending = not entry.has_value
                continue
            parents.append((column, container))
            inner: dict[str, object] = {}
            container.append(inner)
            container = inner
            column = indentation
        else:
            return root[0], True
        container[key] = entry.copy(entry.value) if entry.copy else entry.value
        slot = key
        pending = not entry.has_value
    return root[0], False
