"""The values of a file that is simply fine: line by line, else from libyaml's events; Odd for every other file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, Final

from renderer.yamlio import inline_values
from renderer.yamlio.limits import MAX_BYTES, MAX_DEPTH, MAX_LINE, MAX_VALUES, long_line
from renderer.yamlio.scalars import KEYS, ScalarCache, UncertainError, resolved


def read_fast(data: bytes) -> list[Any]:
    """The values of all documents. Raises whatever it likes on a file that is not simply fine."""
    if len(data) > MAX_LINE and _excessive(data):  # every limit is above this one, in bytes
        raise UncertainError
    try:
        values = from_lines(data.decode("utf-8"))
    except (UncertainError, IndexError):  # IndexError: a line would close the document itself
        values = from_events(data)
    if len(data) > MAX_VALUES and sum(map(_count, values)) > MAX_VALUES:
        raise UncertainError
    return values


_MANY: Final = 4 * MAX_VALUES  # signs with which values begin; a text may hold as many
_LONG: Final = 2_000  # characters of a line: from here on the expressions below take much memory


def _excessive(data: bytes) -> bool:
    """Whether the file has to be read carefully, since it may be beyond a limit."""
    signs = sum(map(data.count, (b":", b":", b",", b"-", b"[", b"{", b"?")))
    return len(data) > MAX_BYTES or signs > _MANY or long_line(data) >= 0


def _count(value: Any) -> int:
    """How many values this is."""
    if value.__class__ is dict:
        return 1 + len(value) + sum(map(_count, value.values()))
    return 1 + sum(map(_count, value)) if value.__class__ is list else 1


def from_events(data: bytes) -> list[Any]:
    """The same from events: imported when first needed, since PyYAML's import takes longer than a small run reads."""
    from renderer.yamlio import event_reader

    return event_reader.read(data)


# Most files are block style, line by line `key: value`, `key:`, `- value` or `- key: value`, and across ten thousand of
# them the same lines come again and again. So a line is understood once and remembered, and what remains to be done is
# to follow the indentation. Everything else, down to a tab, a `|` or a text that goes on in the next line, is Odd and
# left to libyaml.
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

# Where the dash stands (-1: no dash), where the key or value stands, the key, the value, what copies the value where
# that is a flow collection, of which each document gets its own, and whether there is a value at all.
_Line = tuple[int, int, str | None, Any, Callable[[Any], Any] | None, bool]
_DOCUMENT: Final[_Line] = (-2, 0, None, None, None, False)


def _understood(line: str) -> _Line | None:
    """What a line says, None when nothing. Odd: other lines are needed to understand it."""
    if len(line) > _LONG:
        raise UncertainError(line)
    if match := _SIMPLE.fullmatch(line):
        indent, dash, key, plain = match.groups()
        column = len(indent)
        return (column if dash else -1, column + 2 if dash else column, KEYS[key], resolved(plain), None, True)
    if line.startswith("---") and _START.fullmatch(line):
        return _DOCUMENT
    match = _LINE.fullmatch(line)
    if match is None:
        raise UncertainError(line)
    indent, dash, key, flow, plain = match.groups()
    value: Any = None
    if flow:
        value = _of_flow(flow)
    elif plain:
        value = resolved(plain)  # lines are remembered, so values need not be
    if dash is None and key is None:
        if flow or plain:
            raise UncertainError(line)
        return None
    if key is not None:
        key = key[1:-1] if key[0] == '"' else KEYS[key]
    there = bool(flow or plain)
    at = len(indent) + len(dash or "")
    return (len(indent) if dash else -1, at, key, value, _copier(value), there)


def _of_flow(text: str) -> Any:
    """What brackets or quotes hold."""
    try:
        return inline_values.read(text, _FLOW_DEPTH)
    except UncertainError:
        (value,) = from_events(text.encode())
    if value.__class__ is not {"[": list, "{": dict}.get(text[0], str) or _depth(value) > _FLOW_DEPTH:
        raise UncertainError(text)
    return value


def _depth(value: Any) -> int:
    if value.__class__ is dict:
        return 1 + max(map(_depth, value.values()), default=0)
    return 1 + max(map(_depth, value), default=0) if value.__class__ is list else 0


def _copier(value: Any) -> Callable[[Any], Any] | None:
    """What copies this value down to the leaves; None for a leaf."""
    depth = _depth(value)
    return None if not depth else _deep if depth > 1 else dict.copy if value.__class__ is dict else list.copy


def _deep(value: Any) -> Any:
    if value.__class__ is dict:
        return {key: _deep(inner) for key, inner in value.items()}
    return [_deep(inner) for inner in value] if value.__class__ is list else value


LINES = ScalarCache(_understood)
_CHUNK: Final = 1024 * 1024  # characters that are taken apart into lines at a time


def _chunks(text: str) -> Iterator[list[str]]:
    """The lines of a text, those of some part of it at a time."""
    start = 0
    while (end := text.find("\n", start + _CHUNK)) >= 0:
        yield text[start:end].split("\n")
        start = end + 1
    yield text[start:].split("\n")


def from_lines(text: str) -> list[Any]:
    """The values of all documents of a file in plain block style, else Odd."""
    lines = LINES.known
    documents: list[Any] = []
    # `within` is the mapping or list that is being filled, its entries begin in `column`, `above` are those around it.
    # `root` stands for the document: a list around the only item. `pending`: the value at `slot` is not there yet, and
    # is None unless a deeper line follows. `begun`: a line `---` did, so it is a document though nothing may follow.
    root: list[Any] = [None]
    within: Any = root
    column = -1
    above: list[tuple[int, Any]] = []
    slot: Any = 0
    pending = True
    begun = False
    for line in text.split("\n") if len(text) <= _CHUNK else chain.from_iterable(_chunks(text)):
        try:
            entry = lines[line]
        except KeyError:
            entry = LINES.new(line)
        if entry is None:
            continue
        dash, at, key, value, copy, there = entry
        if dash == -1:
            if at > column:
                if not pending:
                    raise UncertainError(line)
                above.append((column, within))
                within[slot] = within = {}
                column = at
                if len(above) >= MAX_DEPTH - _FLOW_DEPTH:
                    raise UncertainError(line)
            else:
                while at < column or within.__class__ is list:
                    column, within = above.pop()
                if at != column or key in within:
                    raise UncertainError(line)
        elif dash >= 0:
            if dash > column or (pending and dash == column and within.__class__ is dict):
                if not pending:
                    raise UncertainError(line)
                above.append((column, within))
                within[slot] = within = []
                column = dash
                if len(above) >= MAX_DEPTH - _FLOW_DEPTH:
                    raise UncertainError(line)
            else:
                while dash < column:
                    column, within = above.pop()
                if dash != column or within.__class__ is not list:
                    raise UncertainError(line)
            if key is None:
                within.append(copy(value) if copy else value)
                slot = -1
                pending = not there
                continue
            above.append((column, within))
            inner: dict[str, Any] = {}
            within.append(inner)
            within = inner
            column = at
        else:
            if begun or root[0] is not None:
                documents.append(root[0])
            root = [None]
            within, column, slot, pending, begun = root, -1, 0, True, True
            above.clear()
            continue
        within[key] = copy(value) if copy else value
        slot = key
        pending = not there
    if begun or root[0] is not None:
        documents.append(root[0])
    return documents
