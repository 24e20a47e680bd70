"""YAML in, with the place of every key and value; YAML out that Go and Python read alike.

A file is read in one of three ways, and each leaves to the next what it cannot vouch for: line by line, for plain block
style, which is nearly every file and takes a sixth of the time; from libyaml's events, for all of YAML but tags and
anchors; carefully, with the place of every key and value and words for every problem. The careful way also answers
where a field stands: nearly every file is fine, and nobody asks.

Plain scalars mean what Kubernetes' Go tools read in them, not what PyYAML does: `y` and `off` are booleans, `010` is 8,
`1e3` is 1000, `1:30` and dates are strings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NoReturn

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner

from renderer.problems import Origin, Path, Problem, problem

MAX_BYTES = 32 * 1024 * 1024
MAX_DEPTH = 100
MAX_EXPANDED = 100_000


class Document:
    """One YAML document: `value` in JSON terms, `index` its position in the file, from 0. It is a problems.Source."""

    __slots__ = ("_file", "index", "value")

    _file: _File
    index: int
    value: Any

    def __init__(self, file: _File, index: int, value: Any) -> None:
        put = object.__setattr__
        put(self, "_file", file)
        put(self, "index", index)
        put(self, "value", value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Document is frozen: {name}")

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


class _File:
    """What the documents of one file share: its bytes and, once asked for, the place of everything in it."""

    __slots__ = ("_nodes", "data", "name")

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.data = data
        self._nodes: list[_Node | None] | None = None

    def nodes(self) -> list[_Node | None]:
        if self._nodes is None:
            self._nodes = _Careful(self.name, self.data).read()
        return self._nodes


def parse(name: str, data: bytes) -> tuple[list[Document], list[Problem]]:
    """The documents of a file that is called `name` in messages, and what is wrong with its YAML. Never raises.

    Documents without content are left out, but count in `index`. With problems, the documents are those that are whole
    before the first syntax error, so that more can be said about them.
    """
    file = _File(name, data)
    try:
        values = _quick(data)
        problems: list[Problem] = []
    except Exception:  # noqa: BLE001 - whatever it was, the careful way has words for it
        careful = _Careful(name, data)
        values = [node and node.value for node in careful.read()]
        problems = careful.problems
    return [Document(file, index, value) for index, value in enumerate(values) if value is not None], problems


def documents(name: str, data: bytes, values: Iterable[tuple[int, Any]]) -> list[Document]:
    """Documents whose values (with their index) another process parsed out of `data`."""
    file = _File(name, data)
    return [Document(file, index, value) for index, value in values]


# --- scalars ----------------------------------------------------------------------------------------------------------

_WORDS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
_NO_JSON = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_INT = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[oO]?([0-7]+)|0[bB]([01]+)|(0|[1-9][0-9]*))")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_GO_FLOAT = re.compile(r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?")
_SMALL: Final = 1e21  # from here on Go writes a float into JSON with an exponent, so that it is no integer any more


class _Odd(Exception):
    """This way of reading cannot vouch for the file."""


def _resolved(text: str) -> str | int | float | bool | None:
    """What a plain scalar means to go-yaml, in JSON terms. _Odd for infinities and what is not a number."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "0123456789+-.":
        return text
    if _NO_JSON.fullmatch(text):
        raise _Odd(text)
    if text[0] == "." and not _GO_FLOAT.fullmatch(text):
        return text
    digits = text.replace("_", "")
    if found := _INT.fullmatch(digits):
        sign, *numbers, decimal = found.groups()
        if decimal and float(decimal) - float(decimal) == 0:
            return int(digits)
        for base, number in zip((16, 8, 2), numbers, strict=True):
            if number:
                value = -int(number, base) if sign == "-" else int(number, base)
                if -(1 << 63) <= value < 1 << (63 if sign else 64):
                    return value
    if _FLOAT.fullmatch(digits):
        real = float(digits)
        if abs(real) < _SMALL and real.is_integer():
            return int(real)
        if real - real == 0:  # else it is infinite: what no float can hold is a string
            return real
    return text


class _Memo(dict[str, Any]):
    """`memo[text]` is `make(text)`, remembered for short texts, up to a bound."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[str], Any]) -> None:
        self.make = make

    def __missing__(self, text: Any) -> Any:
        made = self.make(text)
        if text.__class__ is int or len(text) <= 200:
            if len(self) >= 4_000:  # more does not fit into the processor's cache, and most texts come only once
                self.clear()
            self[text] = made
        return made


def _plain_key(text: str) -> str:
    if text == "<<" or not isinstance(_resolved(text), str):
        raise _Odd(text)
    return text


_VALUES = _Memo(_resolved)
_KEYS = _Memo(_plain_key)


# --- quickly ----------------------------------------------------------------------------------------------------------


class _PureParser(Reader, Scanner, Parser):
    """PyYAML's event parser without libyaml."""

    def __init__(self, data: bytes) -> None:
        Reader.__init__(self, data)
        Scanner.__init__(self)
        Parser.__init__(self)


_Parser: Callable[[bytes], Any] = _PureParser
try:
    from yaml._yaml import CParser
except ImportError:  # PyYAML was built without libyaml: the same events, fifteen times slower
    pass
else:
    _Parser = CParser


def _quick(data: bytes) -> list[Any]:
    """The values of all documents. Raises whatever it likes on a file that is not simply fine."""
    if len(data) > MAX_BYTES:
        raise _Odd
    try:
        return _from_lines(data.decode("utf-8"))
    except (_Odd, IndexError, yaml.YAMLError):  # IndexError: a line would close the document itself
        return _from_events(data)


# Most files are block style, line by line `key: value`, `key:`, `- value` or `- key: value`, and across ten thousand of
# them the same lines come again and again. So a line is understood once and remembered, and what remains to be done is
# to follow the indentation. Everything else, down to a tab, a `|` or a text that goes on in the next line, is _Odd and
# left to libyaml.
_LINE = re.compile(
    r"""
    (\ *) (-(?:\ +|$))?
    (?: ([A-Za-z0-9_./$][A-Za-z0-9_./$-]{0,200}|"[ !#-[\]-~]{0,200}") : (?:\ +|$) )?
    (?: (?P<flow> ["'\[{] [ -~]* )
      | (?P<plain> (?: [A-Za-z0-9_./+~$^();<=\\] | -(?=[!-~]) ) (?: [!-9;-~] | :(?=[!-~]) | \ +(?=[!-"$-~]) )* )
    )?
    (?: \ *$ | (?:\ +|(?<![!-~])) \# [ -~]* )
    """,
    re.VERBOSE,
)
_START = re.compile(r"--- *(?: #[ -~]*)?")
_TAG_OR_ANCHOR = re.compile(rb"(?<![0-9A-Za-z])[!&]")
_FLOW_DEPTH: Final = 5

# Where the dash stands (-1: no dash), where the key or value stands, the key, the value, whether the value is a flow
# collection, of which each document gets its own, and whether there is a value at all.
_Line = tuple[int, int, str | None, Any, bool, bool]
_DOCUMENT: Final[_Line] = (-2, 0, None, None, False, False)


def _understood(line: str) -> _Line | None:
    """What a line says, None when nothing. _Odd: other lines are needed to understand it."""
    if _START.fullmatch(line):
        return _DOCUMENT
    found = _LINE.fullmatch(line)
    if found is None:
        raise _Odd(line)
    indent, dash, key, flow, plain = found.groups()
    value: Any = None
    if flow:
        (value,) = _from_events(flow.encode())
        if value.__class__ is not {"[": list, "{": dict}.get(flow[0], str) or _depth(value) > _FLOW_DEPTH:
            raise _Odd(line)
    elif plain:
        value = _VALUES[plain]
    if dash is None and key is None:
        if flow or plain:
            raise _Odd(line)
        return None
    if key is not None:
        key = key[1:-1] if key[0] == '"' else _KEYS[key]
    there = bool(flow or plain)
    at = len(indent) + len(dash or "")
    return (len(indent) if dash else -1, at, key, value, value.__class__ in (list, dict), there)


def _depth(value: Any) -> int:
    if value.__class__ is dict:
        return 1 + max(map(_depth, value.values()), default=0)
    return 1 + max(map(_depth, value), default=0) if value.__class__ is list else 0


def _fresh(value: Any) -> Any:
    """A copy down to the leaves."""
    if value.__class__ is dict:
        return {key: _fresh(inner) for key, inner in value.items()}
    return [_fresh(inner) for inner in value] if value.__class__ is list else value


_LINES = _Memo(_understood)


def _from_lines(text: str) -> list[Any]:
    """The values of all documents of a file in plain block style, else _Odd."""
    lines = _LINES
    documents: list[Any] = []
    # `within` is the mapping or list that is being filled, its entries begin in `column`, `above` are those around it.
    # `root` stands for the document: a list around the only item. `pending`: the value at `slot` is not there yet, and
    # is None unless a deeper line follows.
    root: list[Any] = [None]
    within: Any = root
    column = -1
    above: list[tuple[int, Any]] = []
    slot: Any = 0
    pending = True
    begun = False
    for line in text.split("\n"):
        entry = lines[line]
        if entry is None:
            continue
        dash, at, key, value, flow, there = entry
        if dash == -1:
            if at > column:
                if not pending:
                    raise _Odd(line)
                above.append((column, within))
                within[slot] = within = {}
                column = at
                if len(above) >= MAX_DEPTH - _FLOW_DEPTH:
                    raise _Odd(line)
            else:
                while at < column or within.__class__ is list:
                    column, within = above.pop()
                if at != column or within.__class__ is not dict or key in within:
                    raise _Odd(line)
        elif dash >= 0:
            if dash > column or (pending and dash == column and within.__class__ is dict):
                if not pending:
                    raise _Odd(line)
                above.append((column, within))
                within[slot] = within = []
                column = dash
                if len(above) >= MAX_DEPTH - _FLOW_DEPTH:
                    raise _Odd(line)
            else:
                while dash < column:
                    column, within = above.pop()
                if dash != column or within.__class__ is not list:
                    raise _Odd(line)
            if key is None:
                within.append(_fresh(value) if flow else value)
                slot = -1
                pending = not there
                begun = True
                continue
            above.append((column, within))
            inner: dict[str, Any] = {}
            within.append(inner)
            within = inner
            column = at
        else:
            if begun:
                documents.append(root[0])
            root = [None]
            within, column, slot, pending, begun = root, -1, 0, True, True
            above.clear()
            continue
        begun = True
        within[key] = _fresh(value) if flow else value
        slot = key
        pending = not there
    if begun:
        documents.append(root[0])
    return documents


def _from_events(data: bytes) -> list[Any]:
    """The values of all documents of any file without tags and anchors; _Odd or PyYAML's own errors otherwise."""
    if _TAG_OR_ANCHOR.search(data) or data[:1] in (b"\xff", b"\xfe"):  # the latter begin UTF-16, which libyaml reads
        raise _Odd
    if _Parser is _PureParser and b"\\" in data:  # it makes half surrogates of escapes
        raise _Odd
    event_of: Callable[[], Any] = _Parser(data).get_event
    keys, plain = _KEYS, _VALUES
    documents: list[Any] = []
    event_of()  # the start of the stream
    while event_of().__class__ is DocumentStartEvent:
        # Below, `within` is the mapping or list that is being filled, and `above` are those around it. The document
        # itself is the only item of a list that no event opened, so that the first container is nothing special.
        root: list[Any] = []
        within: Any = root
        above: list[Any] = []
        while True:
            event = event_of()
            kind = event.__class__
            if within.__class__ is dict:
                if kind is ScalarEvent:
                    key = event.value if event.style else keys[event.value]
                    if key in within:
                        raise _Odd(key)
                    event = event_of()
                    kind = event.__class__
                    if kind is ScalarEvent:
                        within[key] = event.value if event.style else plain[event.value]
                        continue
                    above.append(within)
                    if kind is MappingStartEvent:
                        within[key] = within = {}
                    elif kind is SequenceStartEvent:
                        within[key] = within = []
                    else:
                        raise _Odd
                    if len(above) > MAX_DEPTH:
                        raise _Odd
                    continue
                if kind is not MappingEndEvent:
                    raise _Odd
                within = above.pop()
            elif kind is ScalarEvent:
                within.append(event.value if event.style else plain[event.value])
            elif kind is SequenceEndEvent:
                within = above.pop()
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                above.append(within)
                inner: Any = {} if kind is MappingStartEvent else []
                within.append(inner)
                within = inner
                if len(above) > MAX_DEPTH:
                    raise _Odd
            elif not above and root:
                break  # the end of the document
            else:
                raise _Odd
        documents.append(root[0])
    return documents


# --- carefully --------------------------------------------------------------------------------------------------------


class _Node:
    """A value with its place. `raw`: a scalar's text. `inner`: a list's nodes, or by key the key's place and node."""

    __slots__ = ("height", "inner", "merges", "open", "place", "raw", "size", "value")

    def __init__(self, mark: Any, value: Any, raw: str | None = None) -> None:
        self.place: tuple[int, int] = (mark.line + 1, mark.column + 1)
        self.value = value
        self.raw = raw
        self.inner: Any = {} if value.__class__ is dict else []
        self.size = 1  # values in here with all aliases written out
        self.height = 0 if raw is not None else 1  # levels of nesting in here, likewise
        self.open = False  # its end has not been read
        self.merges = False  # a plain `<<`

    def below(self, part: str | int) -> tuple[tuple[int, int], _Node] | None:
        """The place of the key (a list has none: of the item) and the node at `part`."""
        if isinstance(self.inner, dict):
            found: tuple[tuple[int, int], _Node] | None = self.inner.get(part)
            return found
        if isinstance(part, int) and 0 <= part < len(self.inner):
            item: _Node = self.inner[part]
            return item.place, item
        return None


class _Frame:
    """A mapping or list whose end has not been read. `key` is the key that waits for its value."""

    __slots__ = ("key", "merged", "node")

    def __init__(self, node: _Node) -> None:
        self.node = node
        self.key: _Node | None = None
        self.merged: list[_Node] = []


class _Stop(Exception):
    """Nothing after this can be understood."""


class _Spot:
    """A place in a file, as a problems.Source."""

    def __init__(self, name: str, place: tuple[int, int]) -> None:
        self.name = name
        self.place = place

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        return self.place


_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BREAK = re.compile("\r\n|\r|\n")
_YAML_BREAK = re.compile("\r\n|[\r\n\x85\u2028\u2029]")  # what libyaml counts


class _Careful:
    """Reads a file again, slowly: `read()` gives its documents as nodes, then `problems` is what is wrong with it."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.data = data
        self.problems: list[Problem] = []
        self.frames: list[_Frame] = []
        self.anchors: dict[str, _Node] = {}
        self.expanded = 0

    def read(self) -> list[_Node | None]:
        """One node a document; None for a document without content. Ends before the first syntax error."""
        documents: list[_Node | None] = []
        try:
            self.check_bytes()
            for node in self.documents():
                documents.append(node)
        except _Stop:
            pass
        except Exception as error:  # noqa: BLE001 - libyaml and PyYAML promise nothing about what they raise
            if isinstance(error, yaml.MarkedYAMLError) and (error.problem_mark or error.context_mark):
                self.report_syntax(error)
            else:
                self.report("E101", (1, 1), what=f"the YAML cannot be read: {error}", fix="")
        return documents

    def report(self, code: str, place: tuple[int, int], path: Path = (), /, **words: Any) -> None:
        self.problems.append(problem(code, Origin(_Spot(self.name, place), path), **words))

    def stop(self, code: str, place: tuple[int, int], path: Path = (), /, **words: Any) -> NoReturn:
        self.report(code, place, path, **words)
        raise _Stop

    def check_bytes(self) -> None:
        if len(self.data) > MAX_BYTES:
            self.stop("E106", (1, 1), size=len(self.data), limit=MAX_BYTES)
        try:
            text = self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            place = _place_after(self.data[: error.start].decode("utf-8"))
            self.stop("E108", place, byte=f"0x{self.data[error.start]:02x}")
        if found := _FORBIDDEN.search(text):
            self.stop("E109", _place_after(text[: found.start()]), char=f"U+{ord(found[0]):04X}")

    def documents(self) -> Iterator[_Node | None]:
        event_of = _Parser(self.data).get_event
        while not isinstance(event := event_of(), StreamEndEvent):
            if isinstance(event, DocumentStartEvent):
                self.anchors.clear()
                root = self.root(event_of)
                event_of()  # the end of the document, or of all understanding
                yield None if root.value is None else root

    def root(self, event_of: Callable[[], Any]) -> _Node:
        while True:
            event = event_of()
            if isinstance(event, (MappingStartEvent, SequenceStartEvent)):
                self.begin(event)
                continue
            if isinstance(event, ScalarEvent):
                node = self.scalar(event)
            elif isinstance(event, AliasEvent):
                node = self.alias(event)
            else:
                node = self.end()
            if not self.frames:
                return node
            self.add(node)

    def path(self) -> Path:
        """The path of the value that is being read."""
        parts: list[str | int] = []
        for frame in self.frames:
            if isinstance(frame.node.inner, list):
                parts.append(len(frame.node.inner))
            elif frame.key is not None:
                parts.append(str(frame.key.raw))
        return tuple(parts)

    def started(self, event: Any, node: _Node) -> _Node:
        if event.tag is not None:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            self.report("E107", node.place, self.path(), tag=tag)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        return node

    def begin(self, event: Any) -> None:
        node = _Node(event.start_mark, {} if isinstance(event, MappingStartEvent) else [])
        node.open = True
        self.frames.append(_Frame(self.started(event, node)))
        if len(self.frames) > MAX_DEPTH:
            self.stop("E105", node.place, limit=MAX_DEPTH)

    def end(self) -> _Node:
        frame = self.frames.pop()
        node = frame.node
        node.open = False
        for other in frame.merged:
            for name, below in other.inner.items():
                if name not in node.inner:
                    node.inner[name] = below
                    node.value[name] = below[1].value
                    self.grow(node, below[1])
        return node

    def scalar(self, event: Any) -> _Node:
        text = event.value
        node = _Node(event.start_mark, text, text)
        if _SURROGATE.search(text):
            self.stop("E101", node.place, what=_NO_CHARACTER[2], fix=_NO_CHARACTER[3])  # PyYAML lets it pass
        if not event.style:
            node.merges = text == "<<"
            try:
                node.value = _resolved(text)
            except _Odd:
                self.report("E110", node.place, self.path(), value=text)
        return self.started(event, node)

    def alias(self, event: Any) -> _Node:
        place = (event.start_mark.line + 1, event.start_mark.column + 1)
        target = self.anchors.get(event.anchor)
        if target is None:
            self.stop(
                "E101",
                place,
                self.path(),
                what=f"no anchor '&{event.anchor}' stands above this alias",
                fix="put a text that begins with '*' in quotes",
            )
        if target.open:
            self.stop(
                "E101",
                place,
                self.path(),
                what=f"the alias '*{event.anchor}' stands inside its own anchor",
                fix="write the value out",
            )
        self.expanded += target.size
        if self.expanded > MAX_EXPANDED:
            self.stop("E104", place, self.path(), limit=MAX_EXPANDED)
        if len(self.frames) + target.height > MAX_DEPTH:
            self.stop("E105", place, self.path(), limit=MAX_DEPTH)
        node = _Node(event.start_mark, target.value, target.raw)
        node.inner, node.size, node.height = target.inner, target.size, target.height
        return node

    def grow(self, node: _Node, child: _Node) -> None:
        node.size += child.size
        node.height = max(node.height, child.height + 1)

    def add(self, child: _Node) -> None:
        frame = self.frames[-1]
        node = frame.node
        if isinstance(node.inner, list):
            node.inner.append(child)
            node.value.append(child.value)
            self.grow(node, child)
        elif frame.key is None:
            frame.key = child
        elif frame.key.merges:
            self.merge(frame, child)
            frame.key = None
        else:
            self.pair(node, frame.key, child)
            frame.key = None

    def pair(self, node: _Node, key: _Node, child: _Node) -> None:
        name = key.value
        if not isinstance(name, str):
            self.report("E103", key.place, self.path()[:-1], **_key_words(key))
        elif first := node.inner.get(name):
            self.report("E102", key.place, self.path(), key=name, line=first[0][0])
        else:
            node.inner[name] = (key.place, child)
            node.value[name] = child.value
            self.grow(node, child)

    def merge(self, frame: _Frame, child: _Node) -> None:
        others = child.inner if isinstance(child.value, list) else [child]
        for other in others:
            if not isinstance(other.value, dict):
                what = "'<<' merges a mapping or a list of mappings, nothing else"
                self.stop("E101", other.place, self.path()[:-1], what=what, fix="")
        frame.merged += others

    def report_syntax(self, error: yaml.MarkedYAMLError) -> None:
        """Says in our words what PyYAML or libyaml stumbled over, where a person would look for it."""
        said = f"{error.problem or ''}; {error.context or ''}"
        words = next((words for words in _SYNTAX if re.search(words[0], said)), None)
        _, at_begin, what, fix = words or ("", False, said.strip("; ").replace("{", "{{").replace("}", "}}"), "")
        begin: Any = error.context_mark or error.problem_mark
        mark: Any = begin if at_begin else error.problem_mark or begin
        if is_tag := re.search("scanning a tag|tag handle", said):
            mark = begin
        lines = _YAML_BREAK.split(self.data.decode("utf-8").removeprefix("\ufeff"))
        rest = lines[mark.line][mark.column :] if mark.line < len(lines) else ""
        place = (mark.line + 1, mark.column + 1)
        if is_tag:
            self.report("E107", place, tag=re.split("[ ,\\]}]", rest)[0])
        elif rest[:1] == "\t" and "cannot start" in said:
            self.report("E101", place, what=_TAB[2], fix=_TAB[3])
        else:
            self.report("E101", place, what=what.format(char=rest[:1], begin=begin.line + 1), fix=fix)


def _place_after(text: str) -> tuple[int, int]:
    """The line and column of the character behind `text`, with which the file begins."""
    lines = _BREAK.split(text.removeprefix("\ufeff"))
    return len(lines), len(lines[-1]) + 1


def _key_words(key: _Node) -> dict[str, str]:
    if isinstance(key.value, (dict, list)):
        shown, kind = ("{…}", "a mapping") if isinstance(key.value, dict) else ("[…]", "a list")
        return {"key": f"'{shown}'", "kind": kind, "fix": f"put text that begins with '{shown[0]}' in quotes"}
    if key.value is None:
        return {"key": f"'{key.raw}'", "kind": "null", "fix": "write a name before the ':'"}
    kind = "a boolean" if isinstance(key.value, bool) else "a number"
    return {"key": f"'{key.raw}'", "kind": kind, "fix": f'write "{key.raw}" in quotes'}


_INDENT = "check the indentation of this line and of the one above"
_QUOTE = "put the text in quotes"
_NO_CHARACTER = ("hex|Unicode character escape", False, "this escape names no character", "double the backslash")
_TAB = ("found a tab", False, "a tab cannot indent YAML", "indent with spaces")
# What libyaml or PyYAML's own parser says (problem; context), whether its beginning is the better place, what we say,
# what helps.
_SYNTAX: Final = (
    _TAB,
    ("cannot start any token", False, "a value cannot begin with '{char}'", _QUOTE),
    ("mapping values are not allowed", False, "a ':' cannot stand here", f"{_INDENT}, or {_QUOTE}"),
    ("could not find expected ':'", True, "no ':' follows this key", f"write 'key: value', or {_QUOTE}"),
    ("unknown escape", False, "double quotes know no such escape", "double the backslash, or use single quotes"),
    _NO_CHARACTER,
    ("quoted scalar", True, "the quote that begins here is never closed", "close it, or double a quote inside it"),
    ("sequence entries are not allowed", False, "a list item cannot stand here", "begin the list below its key"),
    ("expected (key|<block end>).*mapping", False, "this is no key of the mapping of line {begin}", _INDENT),
    ("expected ('-'|<block end>)", False, "this is no item of the list of line {begin}", _INDENT),
    ("expected ',' or '}'", False, "',' or '}}' is missing in the braces that begin in line {begin}", "close them"),
    ("expected ',' or ']'", False, "',' or ']' is missing in the brackets that begin in line {begin}", "close them"),
    ("node content", False, "a value should stand here", f"close all brackets, or {_QUOTE}"),
    ("scanning an (alias|anchor)", True, "no name follows the '{char}'", _QUOTE),
    ("scanning a block scalar", False, "only - + 1 to 9 can follow '|' or '>'", "begin the text in the next line"),
    ("document start", False, "the document ended above, only '---' can follow", "put '---' before the next one"),
    ("directive", False, "YAML has no such directive", f"remove the line that begins with '%', or {_QUOTE}"),
    ("incompatible", False, "only YAML 1.1 and 1.2 are known", "remove the line that begins with '%'"),
)


# --- out --------------------------------------------------------------------------------------------------------------

# Strings that YAML 1.1, YAML 1.2, PyYAML, go-yaml or Psych reads, or once read, as something else. Three numbers with
# dots are a string to all of them; they are quoted so that the versions 0.9 and 0.9.1 look alike.
_NO_STRING = re.compile(
    r"""
    | ~ | = | << | \.+
    | (?i: y | n | yes | no | on | off | true | false | null )
    | [-+]? (?i: \.inf ) | (?i: \.nan )
    | (?: [-+] _* )? 0 _* [xXoObB] [-+0-9a-fA-F_]+
    | (?: [-+] _* )? (?: [0-9][0-9_]* (?: \.[0-9_]* )? | \.[0-9_]+ ) (?: [eE] _* [-+]? [0-9_]+ )?
    | (?: [-+] _* )? [0-9][0-9_]* (?: :[0-5]?[0-9] )+ (?: \.[0-9_]* )?
    | [0-9]+ \. [0-9]+ \. [0-9]+
    | [0-9]{4} - [0-9]{1,2} - [0-9]{1,2} (?: [Tt\ ] .* )?
    """,
    re.VERBOSE,
)
# A letter, digit or harmless sign, or an indicator that its neighbour makes harmless; then nothing that ends a plain
# scalar, no tab, and nothing invisible.
_INVISIBLE = (
    "\\x00-\\x08\\x0b-\\x1f\\x7f-\\xa0\\xad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f"
    "\\ud800-\\uf8ff\\ufeff\\ufff0-\\uffff\\U000e0000-\\U0010ffff"
)
_PLAIN = re.compile(
    rf"""(?! --- | \.\.\. )
    (?: [^\s\-?:,\[\]{{}}\#&*!|>'"%@`{_INVISIBLE}] | [-?:] (?=[^\s]) )
    (?: [^\s:\#{_INVISIBLE}] | : (?=[^\s]) | \# (?<=[^\s]\#) | \x20 (?=[^\s\#]|\x20) )*""",
    re.VERBOSE,
)
_ESCAPED = re.compile(rf"""[\\"\t\n{_INVISIBLE}]""")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_SIMPLE = re.compile(r"[A-Za-z/][A-Za-z0-9_./-]*")
_SIMPLE_BUT = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_NO_BLOCK = re.compile(rf"^\t|\A\s*\Z|[{_INVISIBLE}]", re.MULTILINE)


class _Block(Exception):
    """A string of several lines: how it is written depends on where."""


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    return _ESCAPES.get(char) or (f"\\u{ord(char):04x}" if char <= "\uffff" else f"\\U{ord(char):08x}")


def _on_one_line(text: str) -> str:
    """The string as YAML, plain if every reader takes it for this string, else in double quotes."""
    if _SIMPLE.fullmatch(text):
        plain = text.lower() not in _SIMPLE_BUT
    else:
        plain = bool(_PLAIN.fullmatch(text)) and not _NO_STRING.fullmatch(text)
    return text if plain else f'"{_ESCAPED.sub(_escape, text)}"'


# Every text below begins with the character that parts it from what stands before (an end of line, or the blank behind
# a key or dash), and ends with its last visible character.


def _key_text(lead: str, key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"the key {key!r} is not a string")
    text = _on_one_line(key)
    if len(text) > 1000:  # readers look no further for the colon
        return f"\n{lead}? {text}\n{' ' * len(lead)}:"
    return f"\n{lead}{text}:"


def _scalar_text(value: str | int) -> str:
    if isinstance(value, int):
        return f" {value}"
    if "\n" in value and not _NO_BLOCK.search(value):
        raise _Block
    return f" {_on_one_line(value)}"


def _block_text(text: str, pad: str) -> str:
    """A literal block whose lines begin with `pad`."""
    body = text.rstrip("\n")
    ends = len(text) - len(body)
    indent = "2" if text[0] in " \n" else ""
    lines = "".join(f"\n{pad}{line}" if line else "\n" for line in body.split("\n"))
    return f" |{indent}{('-', '', '+')[min(ends, 2)]}{lines}" + "\n" * (ends - 1)


def _other_text(value: object) -> str:
    """What is neither str nor int nor filled."""
    if value is None:
        return " null"
    if isinstance(value, bool):
        return " true" if value else " false"
    if isinstance(value, float):
        if value - value != 0:
            raise ValueError(f"{value} is not a number that JSON knows")
        text = repr(value)
        return f" {text if '.' in text else text.replace('e', '.0e')}"  # to YAML 1.1 a float has a dot
    if isinstance(value, (dict, list)) and not value:
        return " {}" if isinstance(value, dict) else " []"
    raise TypeError(f"{type(value).__name__} is not for YAML")


class _Level:
    """The beginnings of the lines of one level: of keys, of the first keys of list items, and all of scalar items."""

    __slots__ = ("below", "first_keys", "items", "keys", "pad")

    def __init__(self, pad: str) -> None:
        self.pad = pad
        self.keys = _Memo(lambda key: _key_text(pad, key))
        self.first_keys = _Memo(lambda key: _key_text(f"{pad[2:]}- ", key))
        self.items = _Memo(lambda value: f"\n{pad}-{_scalar_text(value)}")
        self.below: _Level | None = None

    def deeper(self) -> _Level:
        self.below = _Level(f"{self.pad}  ")
        return self.below


class Shared(dict[str, Any]):
    """A mapping that many bodies hold and nobody changes any more: `dump` keeps its text. A copy is a plain dict."""

    __slots__ = ("texts",)

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__(body)
        self.texts: dict[tuple[_Level, bool], str] = {}

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)


_TOP = _Level("")
_SCALARS = _Memo(_scalar_text)


def dump(body: object) -> str:
    """One YAML document in block style, with two blanks a level and an end of line, without `---`.

    Takes dict, list, str, int, float, bool and None; another type is a TypeError, an infinity a ValueError.
    """
    parts: list[str] = []
    if isinstance(body, dict) and body:
        _put_mapping(body, _TOP, _TOP.keys, parts.append)
    elif isinstance(body, list) and body:
        _put_list(body, _TOP, parts.append)
    elif isinstance(body, str) and "\n" in body and not _NO_BLOCK.search(body):
        parts.append(_block_text(body, "  "))
    else:
        parts.append(_scalar_text(body) if body.__class__ in (str, int) else _other_text(body))
    parts.append("\n")
    return "".join(parts)[1:]


def _put_mapping(body: dict[str, Any], level: _Level, keys: _Memo, put: Callable[[str], None]) -> None:
    """Puts the lines of a mapping that is not empty. `keys`: how its first line begins."""
    scalars, later_keys = _SCALARS, level.keys
    for key, value in body.items():
        kind = value.__class__
        if kind is str or kind is int:
            try:
                put(keys[key] + scalars[value])
            except _Block:
                put(keys[key] + _block_text(value, f"{level.pad}  "))
        elif kind is dict and value:
            put(keys[key])
            below = level.below or level.deeper()
            _put_mapping(value, below, below.keys, put)
        elif kind is list and value:
            put(keys[key])
            _put_list(value, level.below or level.deeper(), put)
        elif kind is Shared and value:
            put(keys[key])
            below = level.below or level.deeper()
            put(_shared_text(value, below, below.keys))
        else:
            put(keys[key] + _other_text(value))
        keys = later_keys


def _put_list(body: list[Any], level: _Level, put: Callable[[str], None]) -> None:
    """Puts the lines of a list that is not empty."""
    items = level.items
    below = level.below or level.deeper()
    for item in body:
        kind = item.__class__
        if kind is dict and item:
            _put_mapping(item, below, below.first_keys, put)
        elif kind is str or kind is int:
            try:
                put(items[item])
            except _Block:
                put(f"\n{level.pad}-{_block_text(item, below.pad)}")
        elif kind is list and item:
            inner: list[str] = []
            _put_list(item, below, inner.append)
            put(f"\n{level.pad}- {''.join(inner)[len(below.pad) + 1 :]}")
        elif kind is Shared and item:
            put(_shared_text(item, below, below.first_keys))
        else:
            put(f"\n{level.pad}-{_other_text(item)}")


def _shared_text(body: Shared, level: _Level, keys: _Memo) -> str:
    place = (level, keys is level.first_keys)
    text = body.texts.get(place)
    if text is None:
        parts: list[str] = []
        _put_mapping(body, level, keys, parts.append)
        text = body.texts[place] = "".join(parts)
    return text
