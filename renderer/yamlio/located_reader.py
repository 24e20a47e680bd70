"""Reads any file, slowly: with the place of every key and value, and a message for every problem."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain, islice
from typing import Any, Final, NamedTuple, NoReturn

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from renderer.diagnostics import Diagnostic, Origin, Path, make_diagnostic
from renderer.yamlio import event_parser
from renderer.yamlio.limits import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_EXPANDED,
    MAX_EXPANDED_TEXT,
    MAX_KEY,
    MAX_LINE,
    MAX_PROBLEMS,
    MAX_VALUES,
    long_line,
)
from renderer.yamlio.scalars import VALUES, UncertainError


class LocatedNode:
    """A value with its place."""

    __slots__ = (
        "anchored",
        "children",
        "end_mark",
        "height",
        "is_merge_key",
        "length",
        "open",
        "place",
        "raw",
        "size",
        "value",
    )

    def __init__(self, event: Any, value: Any, raw: str | None = None) -> None:
        mark = event.start_mark
        self.place: tuple[int, int] = (mark.line + 1, mark.column + 1)
        self.end_mark: Any = event.end_mark  # None for a block over several lines, which ends with what is last in it
        self.anchored = False  # others may be aliases of it
        self.value = value
        self.raw = raw  # the text of a scalar, None for a mapping or list
        # The nodes of a list; in a mapping the nodes of each key and its value, by key.
        self.children: Any = {} if value.__class__ is dict else []
        self.size = 1  # values in here with all aliases written out
        self.length = 0 if raw is None else len(raw)  # characters in these
        self.height = 0 if raw is not None else 1  # levels of nesting in here, likewise
        self.open = False  # its end has not been read
        self.is_merge_key = False  # a plain `<<`

    @property
    def end(self) -> tuple[int, int]:
        """The place behind it, which for a text in a block is in a line below."""
        node = self
        while node.end_mark is None:
            values = node.children
            own = values if isinstance(values, list) else [value for _, value in values.values()]
            below = [child for child in own if child.place >= node.place]  # not merged from above
            if not below:
                return node.place
            node = max(below, key=lambda child: child.place)
        return node.end_mark.line + 1, node.end_mark.column + 1

    def child_at(self, part: str | int) -> tuple[LocatedNode, LocatedNode] | None:
        """The nodes of the key (a list has none: of the item) and of the value at `part`."""
        if isinstance(self.children, dict):
            entry: tuple[LocatedNode, LocatedNode] | None = self.children.get(part)
            return entry
        if isinstance(part, int) and 0 <= part < len(self.children):
            item: LocatedNode = self.children[part]
            return item, item
        return None

    def nearest(self, path: Path, *, key: bool) -> LocatedNode:
        """The value (or key) at `path` in here, else its nearest parent."""
        key_node = node = self
        for part in path:
            child = node.child_at(part)
            if child is None:
                break
            key_node, node = child
        return key_node if key else node

    def locate(self, path: Path, *, key: bool) -> tuple[int, int]:
        """The place of the value (or key) at `path` in here, else of its nearest parent."""
        return self.nearest(path, key=key).place


class _Frame:
    """A mapping or list whose end has not been read."""

    __slots__ = ("is_flow", "key", "merged", "node")

    def __init__(self, node: LocatedNode, *, is_flow: bool) -> None:
        self.node = node
        self.is_flow = is_flow  # in brackets
        self.key: LocatedNode | None = None  # the key that waits for its value
        self.merged: list[LocatedNode] = []


class _StopReading(Exception):
    """The rest of the file cannot be read."""


class _FilePlace:
    """A place in a file, as a Source."""

    def __init__(self, name: str, place: tuple[int, int]) -> None:
        self.name = name
        self.place = place

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        return self.place


_MERGE: Final = "tag:yaml.org,2002:merge"  # that yq writes before the key `<<`, which is nothing else without it
_LIBYAMLS_DEPTH = "maximum nesting depth"  # of newer ones, which look further ahead than our own limit lies
_MAX_SHOWN: Final = 200  # characters of a name in a message
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
YAML_BREAK: Final = re.compile("\r\n|[\r\n\x85\u2028\u2029]")  # line breaks as libyaml counts them


class LocatedReader:
    """Reads a file: `read()` returns its documents as nodes."""

    def __init__(
        self, name: str, data: bytes, parser: event_parser.EventParser | None = None, *, disputes: bool = False
    ) -> None:
        self.name = name
        self.data = data
        # Whether a key that a mapping has before it merges another one with that key is a problem, since some readers
        # take the one and some the other; the same for two merge keys.
        self.disputes = disputes
        self.parser = parser or event_parser.Parser  # makes events of bytes
        self.problems: list[Diagnostic] = []  # of the YAML, complete after `read()`
        self.frames: list[_Frame] = []
        self.anchors: dict[str, LocatedNode] = {}
        self.expanded = 0
        self.expanded_text = 0
        self.values = 0

    def read(self) -> list[LocatedNode | None]:
        """A node for each document before the first syntax error; None for a document without content."""
        documents: list[LocatedNode | None] = []
        with suppress(_StopReading):
            try:
                self.check_bytes()
                for node in self.read_documents():
                    documents.append(node)
            except _StopReading:
                raise
            except Exception as error:  # noqa: BLE001 - libyaml and PyYAML promise nothing about what they raise
                if self.parser is not event_parser.PureParser and _LIBYAMLS_DEPTH in str(error):
                    reader = LocatedReader(self.name, self.data, event_parser.PureParser, disputes=self.disputes)
                    documents, self.problems = reader.read(), reader.problems
                elif isinstance(error, yaml.MarkedYAMLError) and (error.problem_mark or error.context_mark):
                    self.report_syntax(error)
                else:
                    self.report("E101", (1, 1), what=f"the YAML cannot be read: {error}", fix="")
        if any(problem.code in _UNREADABLE for problem in self.problems):
            self.name_other_text()
        return documents

    def name_other_text(self) -> None:
        """Puts what the text is in place of its problems, where it is not meant to be YAML."""
        text = self.data.decode("utf-8", "replace")
        for rule in _OTHER_TEXTS:
            if (start := rule.start(text)) >= 0:
                self.problems.clear()
                self.report("E101", _place_after(text[:start]), what=rule.what, fix=rule.fix)
                return

    def report(self, code: str, place: tuple[int, int], path: Path = (), /, **words: object) -> None:
        self.problems.append(make_diagnostic(code, Origin(_FilePlace(self.name, place), path), **words))
        if len(self.problems) == MAX_PROBLEMS:
            self.problems.append(make_diagnostic("E115", Origin(_FilePlace(self.name, place)), limit=MAX_PROBLEMS))
            raise _StopReading

    def stop(self, code: str, place: tuple[int, int], path: Path = (), /, **words: object) -> NoReturn:
        self.report(code, place, path, **words)
        raise _StopReading

    def check_bytes(self) -> None:
        if len(self.data) > MAX_BYTES:
            self.stop("E106", (1, 1), size=len(self.data), limit=MAX_BYTES)
        try:
            text = self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            place = _place_after(self.data[: error.start].decode("utf-8"))
            self.stop("E108", place, byte=f"0x{self.data[error.start]:02x}")
        if (start := long_line(self.data)) >= 0:
            end = self.data.find(b"\n", start)
            place = _place_after(self.data[:start].decode("utf-8"))
            self.stop("E111", place, length=(end if end >= 0 else len(self.data)) - start, limit=MAX_LINE)
        if match := _FORBIDDEN.search(text):
            self.stop("E109", _place_after(text[: match.start()]), char=f"U+{ord(match[0]):04X}")

    def read_documents(self) -> Iterator[LocatedNode | None]:
        next_event = self.parser(self.data).get_event
        while not isinstance(event := next_event(), StreamEndEvent):
            if isinstance(event, DocumentStartEvent):
                self.anchors.clear()
                root = self.read_root(next_event)
                next_event()  # the end of the document, or a syntax error
                yield None if root.value is None else root

    def read_root(self, next_event: Callable[[], object]) -> LocatedNode:
        while True:
            event = next_event()
            kind = event.__class__
            if kind is ScalarEvent:
                node = self.read_scalar(event)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                self.begin_collection(event)
                continue
            elif kind is AliasEvent:
                node = self.read_alias(event)
            else:
                node = self.end_collection(event)
            if not self.frames:
                return node
            self.add(node)

    def path(self) -> Path:
        """The path of the value that is being read."""
        parts: list[str | int] = []
        for frame in self.frames:
            if isinstance(frame.node.children, list):
                parts.append(len(frame.node.children))
            elif frame.key is not None:
                parts.append(str(frame.key.raw))
        return tuple(parts)

    def count(self, node: LocatedNode) -> None:
        self.values += 1
        if self.values > MAX_VALUES:
            self.stop("E112", node.place, limit=MAX_VALUES)

    def check_properties(self, event: Any, node: LocatedNode) -> LocatedNode:
        if event.tag is not None and not (event.tag == _MERGE and node.is_merge_key):
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")[:_MAX_SHOWN]
            self.report("E107", node.place, self.path(), tag=tag)
        if event.anchor is not None:
            node.anchored = True
            self.anchors[event.anchor] = node
        return node

    def begin_collection(self, event: Any) -> None:
        node = LocatedNode(event, {} if event.__class__ is MappingStartEvent else [])
        node.end_mark = None
        node.open = True
        self.count(node)
        self.frames.append(_Frame(self.check_properties(event, node), is_flow=bool(event.flow_style)))
        if len(self.frames) > MAX_DEPTH:
            self.stop("E105", node.place, limit=MAX_DEPTH)

    def end_collection(self, event: Any) -> LocatedNode:
        frame = self.frames.pop()
        node = frame.node
        node.open = False
        if frame.is_flow:  # a block has no sign for its end
            node.end_mark = event.end_mark
        for merged in frame.merged:
            for name, entry in merged.children.items():
                if name not in node.children:
                    node.children[name] = entry
                    node.value[name] = entry[1].value
                    self.add_size(node, entry[1])
        return node

    def read_scalar(self, event: Any) -> LocatedNode:
        text = event.value
        node = LocatedNode(event, text, text)
        self.count(node)
        if _SURROGATE.search(text):
            self.stop("E101", node.place, what=_NO_CHARACTER.what, fix=_NO_CHARACTER.fix)  # PyYAML lets it pass
        if not event.style:
            node.is_merge_key = text == "<<"
            try:
                node.value = VALUES[text]
            except UncertainError:
                self.report("E110", node.place, self.path(), value=text)
        return self.check_properties(event, node)

    def read_alias(self, event: Any) -> LocatedNode:
        place = (event.start_mark.line + 1, event.start_mark.column + 1)
        target = self.anchors.get(event.anchor)
        if target is None:
            self.stop(
                "E101",
                place,
                self.path(),
                what=f"there is no anchor '&{event.anchor[:_MAX_SHOWN]}' above this alias",
                fix="put a text that begins with '*' in quotes",
            )
        if target.open:
            self.stop(
                "E101",
                place,
                self.path(),
                what=f"the alias '*{event.anchor[:_MAX_SHOWN]}' is inside its own anchor",
                fix="write the value out",
            )
        node = LocatedNode(event, target.value, target.raw)
        self.count(node)
        self.expanded += target.size
        if self.expanded > MAX_EXPANDED:
            self.stop("E104", place, self.path(), limit=MAX_EXPANDED)
        self.expanded_text += target.length
        if self.expanded_text > MAX_EXPANDED_TEXT:
            self.stop("E114", place, self.path(), limit=MAX_EXPANDED_TEXT)
        if len(self.frames) + target.height > MAX_DEPTH:
            self.stop("E105", place, self.path(), limit=MAX_DEPTH)
        node.children, node.size, node.height, node.length = target.children, target.size, target.height, target.length
        return node

    def add_size(self, node: LocatedNode, child: LocatedNode) -> None:
        node.size += child.size
        node.length += child.length
        if child.height >= node.height:
            node.height = child.height + 1

    def add(self, child: LocatedNode) -> None:
        frame = self.frames[-1]
        node = frame.node
        if node.children.__class__ is list:
            node.children.append(child)
            node.value.append(child.value)
            self.add_size(node, child)
        elif frame.key is None:
            if child.raw is not None and len(child.raw) > MAX_KEY:
                self.stop("E113", child.place, self.path(), length=len(child.raw), limit=MAX_KEY)
            frame.key = child
        elif frame.key.is_merge_key:
            self.merge(frame, child)
            frame.key = None
        else:
            self.add_pair(node, frame.key, child)
            frame.key = None

    def add_pair(self, node: LocatedNode, key: LocatedNode, child: LocatedNode) -> None:
        name = key.value
        if not isinstance(name, str):
            self.report("E103", key.place, self.path()[:-1], **_key_words(key))
        elif first := node.children.get(name):
            self.report("E102", key.place, self.path(), key=name, line=first[0].place[0])
        else:
            node.children[name] = (key, child)
            node.value[name] = child.value
            self.add_size(node, child)

    def merge(self, frame: _Frame, child: LocatedNode) -> None:
        mappings = child.children if isinstance(child.value, list) else [child]
        for mapping in mappings:
            if not isinstance(mapping.value, dict):
                what = "'<<' merges a mapping or a list of mappings, nothing else"
                self.stop("E101", mapping.place, self.path()[:-1], what=what, fix="")
            if self.disputes:
                self.report_disputed(frame, mapping)
        frame.merged += mappings

    def report_disputed(self, frame: _Frame, mapping: LocatedNode) -> None:
        key = frame.key or mapping
        if frame.merged:
            self.report("E102", key.place, self.path(), key="<<", line=frame.merged[0].place[0])
        for name in mapping.children:
            if first := frame.node.children.get(name):
                self.report("E102", key.place, self.path(), key=name, line=first[0].place[0])

    def line(self, index: int) -> str:
        """The line with that index, from 0, as libyaml counts lines."""
        text = self.data.decode("utf-8").removeprefix("\ufeff")
        starts = chain((0,), (match.end() for match in YAML_BREAK.finditer(text)))
        start = next(islice(starts, index, None), len(text))
        end = YAML_BREAK.search(text, start)
        return text[start : end.start() if end else len(text)]

    def report_syntax(self, error: yaml.MarkedYAMLError) -> None:
        """Reports a syntax error of PyYAML or libyaml, in our words and at the place where a person would look."""
        message = f"{error.problem or ''}; {error.context or ''}"
        rule = next((rule for rule in _SYNTAX if re.search(rule.pattern, message)), None)
        if rule is None:
            rule = _SyntaxRule("", False, message.strip("; ").replace("{", "{{").replace("}", "}}"), "")
        begin: Any = error.context_mark or error.problem_mark
        mark: Any = begin if rule.at_begin else error.problem_mark or begin
        if is_tag := re.search("scanning a tag|tag handle", message):
            mark = begin
        rest = self.line(mark.line)[mark.column :]
        place = (mark.line + 1, mark.column + 1)
        if is_tag:
            self.report("E107", place, tag=re.split("[ ,\\]}]", rest)[0][:_MAX_SHOWN])
        elif rest[:1] == "\t" and "cannot start" in message:
            self.report("E101", place, what=_TAB.what, fix=_TAB.fix)
        else:
            self.report("E101", place, what=rule.what.format(char=rest[:1], begin=begin.line + 1), fix=rule.fix)


def _place_after(text: str) -> tuple[int, int]:
    """The line and column of the character after `text`, a prefix of the file."""
    text = text.removeprefix("\ufeff")
    breaks = text.count("\n") + text.count("\r") - text.count("\r\n")
    return breaks + 1, len(text) - max(text.rfind("\n"), text.rfind("\r"))


def _key_words(key: LocatedNode) -> dict[str, str]:
    if isinstance(key.value, (dict, list)):
        shown, kind = ("{…}", "a mapping") if isinstance(key.value, dict) else ("[…]", "a list")
        return {"key": f"'{shown}'", "kind": kind, "fix": f"put text that begins with '{shown[0]}' in quotes"}
    if key.value is None:
        return {"key": f"'{key.raw}'", "kind": "null", "fix": "write a name before the ':'"}
    kind = "a boolean" if isinstance(key.value, bool) else "a number"
    return {"key": f"'{key.raw}'", "kind": kind, "fix": f'write "{key.raw}" in quotes'}


_INDENT = "check the indentation of this line and of the one above"
_QUOTE = "put the text in quotes"


class _SyntaxRule(NamedTuple):
    """Words of ours for a message of libyaml or PyYAML."""

    pattern: str  # of the message (problem; context)
    at_begin: bool  # points at the beginning of the context
    what: str  # our message
    fix: str  # what to do about it


_NO_CHARACTER = _SyntaxRule(
    "hex|Unicode character escape", False, "this escape names no character", "double the backslash"
)
_TAB = _SyntaxRule("found a tab", False, "a tab cannot indent YAML", "indent with spaces")
_UNREADABLE: Final = ("E101", "E103")  # of what is no YAML, or no mapping with names


class _OtherText(NamedTuple):
    """What a text is that is no YAML."""

    patterns: tuple[str, ...]  # of what stands in it, one behind the other; the first tells where
    what: str
    fix: str

    def start(self, text: str) -> int:
        """Where it begins; -1 for another text."""
        position, start = 0, -1
        for pattern in self.patterns:
            if not (match := re.compile(pattern, re.MULTILINE).search(text, position)):
                return -1
            position, start = match.end(), match.end(1) if start < 0 else start
        return start


_OTHER_TEXTS: Final = [
    _OtherText(
        (r"^()<{7}(?: .*)?$", r"^={7}$", r"^>{7}(?: .*)?$"),
        "this line is a marker of git: a merge conflict is not resolved",
        "keep what one side says, and delete the three lines that begin with <<<<<<<, ======= and >>>>>>>",
    ),
    _OtherText(
        (
            r"^([^#\n]*?)\{\{-?\s*(?:\.(?:Values|Release|Chart|Files|Capabilities|Template)\b"
            r"|(?:if|else|end|range|with|define|include|template|block|tpl|toYaml|required|default)\b|/\*)",
        ),
        "this is a template of Helm, not YAML",
        "render it first (helm template), or write the values, and what differs between clusters in environments of "
        "RenderConfig",
    ),
    _OtherText(
        (r"^([^#\n]*?)\{%-?\s*(?:if|for|set|include|end\w+|else)\b",),
        "this is a template of Jinja, not YAML",
        "render it first, or write the values, and what differs between clusters in environments of RenderConfig",
    ),
]
_SYNTAX: Final = [
    _SyntaxRule(*row)
    for row in (
        _TAB,
        ("cannot start any token", False, "a value cannot begin with '{char}'", _QUOTE),
        ("mapping values are not allowed", False, "a ':' is not allowed here", f"{_INDENT}, or {_QUOTE}"),
        ("could not find expected ':'", True, "no ':' follows this key", f"write 'key: value', or {_QUOTE}"),
        ("unknown escape", False, "double quotes have no such escape", "double the backslash, or use single quotes"),
        _NO_CHARACTER,
        ("quoted scalar", True, "the quote that begins here is never closed", "close it, or double a quote inside it"),
        ("sequence entries are not allowed", False, "a list item is not allowed here", "begin the list below its key"),
        (
            "expected (key|<block end>).*mapping",
            False,
            "expected a key of the mapping that begins in line {begin}",
            _INDENT,
        ),
        ("expected ('-'|<block end>)", False, "expected a list item like line {begin}", _INDENT),
        ("expected ',' or '}'", False, "',' or '}}' is missing in the braces that begin in line {begin}", "close them"),
        (
            "expected ',' or ']'",
            False,
            "',' or ']' is missing in the brackets that begin in line {begin}",
            "close them",
        ),
        ("node content", False, "a value is missing here", f"close all brackets, or {_QUOTE}"),
        ("scanning an (alias|anchor)", True, "no name follows the '{char}'", _QUOTE),
        ("scanning a block scalar", False, "only - + 1 to 9 can follow '|' or '>'", "begin the text in the next line"),
        ("document start", False, "the document ended above, only '---' can follow", "put '---' before the next one"),
        ("directive", False, "YAML has no such directive", f"remove the line that begins with '%', or {_QUOTE}"),
        ("incompatible", False, "only YAML 1.1 and 1.2 are known", "remove the line that begins with '%'"),
    )
]
