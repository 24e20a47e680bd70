"""Quotes, words and commands in a text that a shell may run: which part of it is a value, and which part is code."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator

from msgspec import Struct

_TOKEN = re.compile(r"\\.|['\"\n]|(?<![^\s;&|(])#[^\n]*|<<-?[ \t]*\\?([\"']?)(\w+)\1", re.DOTALL)
_END_OF_DOUBLE = re.compile(r'(?:[^"\\]|\\.)*"', re.DOTALL)
_MARK = re.compile(r"\\?[\"']")
WORD = re.compile(r"(?:\\[^\n\"']|(?!\$\()[^\s,;&|()<>\"'\\`])+")
"""The part of an unquoted word of a shell that is not code. It ends at a comma too, as in `a=1,b=2`."""
QUOTED = {
    '"': re.compile(r'(?:\\.|[^"\\\n])+'),
    "'": re.compile(r"[^'\n]+"),
    '\\"': re.compile(r'(?:\\(?!")|[^"\\\n])+'),
    "\\'": re.compile(r"(?:\\(?!')|[^'\\\n])+"),
}
"""What stands behind an opening quote, by its mark: with a backslash where a text around this one has quotes itself."""
_CODE = re.compile(r"\$\(|[<>]\(|[#@]\{|`")
_OPERATOR = re.compile(r"[;&|<>`\n]|\$\(")
_NEW_LINE = re.compile(r"\n")
_ONE_WORD = re.compile(r"^[ \t]*(\w+)$", re.MULTILINE)
_PARENTHESES, _BRACES = re.compile(r"[()]"), re.compile(r"[{}]")
_LINE_START = re.compile(r"[ \t]*(?:-[ \t]+)?[\"']?")


class Span(Struct, frozen=True, order=True):
    """A part of a text."""

    begin: int  # the first index
    end: int  # the index behind the last


class _Region(Struct, frozen=True):
    """A quoted part of a text: the places of its quotes."""

    begin: int
    end: int
    mark: str


class _Quotes:
    """The quoted parts of a text, as a shell reads it: comments and here-documents have none."""

    def __init__(self, text: str) -> None:
        self._regions = list(_regions(text))
        self._begins = [region.begin for region in self._regions]

    def around(self, position: int) -> _Region | None:
        """The quoted part that holds a position, its quotes included."""
        index = bisect_right(self._begins, position) - 1
        region = self._regions[index] if index >= 0 else None
        return region if region and position <= region.end else None


def _regions(text: str) -> Iterator[_Region]:
    position, delimiters = 0, deque[str]()
    ends: dict[str, list[int]] = {}
    while match := _TOKEN.search(text, position):
        position, mark = match.end(), match[0]
        if match[2]:
            delimiters.append(match[2])
            ends = ends or _line_ends(text)
        elif mark == "\n" and delimiters:
            places = ends.get(delimiters.popleft(), ())
            index = bisect_left(places, position)
            position = places[index] if index < len(places) else position
        elif mark in ("'", '"'):
            end = _end_of_quote(text, match.start(), mark)
            yield _Region(match.start(), end, mark)
            position = end + 1


def _end_of_quote(text: str, begin: int, mark: str) -> int:
    """The place of the closing quote; the length of the text where there is none."""
    if mark == "'":
        end = text.find("'", begin + 1)
        return end if end >= 0 else len(text)
    match = _END_OF_DOUBLE.match(text, begin + 1)
    return match.end() - 1 if match else len(text)


def _line_ends(text: str) -> dict[str, list[int]]:
    """The ends of lines of one word, by that word: it may be the end of a here-document."""
    ends: dict[str, list[int]] = {}
    for match in _ONE_WORD.finditer(text):
        ends.setdefault(match[1], []).append(match.end())
    return ends


class ShellText:
    """A text, and where its quotes open."""

    def __init__(self, text: str, *, script: bool) -> None:
        self.text = text
        # Whether a shell may run it as a whole; else each line is read alone, as in a file of settings.
        self.script = script
        self._marks: dict[str, list[int]] | None = None
        self._whole: _Quotes | None = None
        self._lines: dict[int, _Quotes] = {}
        self._starts: list[int] = []

    def opens(self, position: int, mark: str) -> bool:
        """Whether the quote `mark` at a position opens a quoted part, and does not close one."""
        start = self._line_start(position)
        if not self._opens(self._line(start), position, mark, start, start):
            return False
        if not self.script:
            return True
        if self._whole is None:
            self._whole = _Quotes(self.text)
        return self._opens(self._whole, position, mark, 0, start)

    def starts_line(self, position: int) -> bool:
        """Whether nothing but blanks, a dash or an opening quote stands before a position on its line, which does not
        go on with the line before.
        """
        start = self._line_start(position)
        if start > 1 and self.text[start - 2] == "\\":
            return False
        return position - start < 1_000 and bool(_LINE_START.fullmatch(self.text, start, position))

    def follows_quote(self, position: int) -> bool:
        """Whether an opening quote stands directly before a position."""
        mark = self.text[position - 1 : position]
        if mark not in ("'", '"') or not mark:
            return False
        if self.text[position - 2 : position - 1] == "\\":
            return self.opens(position - 2, f"\\{mark}")
        return self.opens(position - 1, mark)

    def _line_start(self, position: int) -> int:
        if not self._starts:
            self._starts = [0, *(match.end() for match in _NEW_LINE.finditer(self.text))]
        return self._starts[bisect_right(self._starts, position) - 1]

    def _line(self, start: int) -> _Quotes:
        if start not in self._lines:
            end = self.text.find("\n", start)
            self._lines[start] = _Quotes(self.text[start : end if end >= 0 else len(self.text)])
        return self._lines[start]

    def _opens(self, quotes: _Quotes, position: int, mark: str, offset: int, line: int) -> bool:
        region = quotes.around(position - offset)
        if region is None:
            return self._count(mark, line, position) % 2 == 0
        if len(mark) == 1 and position - offset in (region.begin, region.end):
            return position - offset == region.begin
        return self._count(mark, region.begin + offset + 1, position) % 2 == 0

    def _count(self, mark: str, begin: int, end: int) -> int:
        """How many of these quotes stand between two positions."""
        if self._marks is None:
            self._marks = {}
            for match in _MARK.finditer(self.text):
                self._marks.setdefault(match[0], []).append(match.start())
        places = self._marks.get(mark, ())
        return bisect_left(places, end) - bisect_left(places, begin)


def without_code(text: str, span: Span, *, quoted: bool) -> Iterator[Span]:
    """The parts of a span that no shell would run: without `$(…)`, backquotes and the like, and where it is not quoted
    only what stands before the first operator.
    """
    begin, end = span.begin, span.end
    if not quoted and (operator := _OPERATOR.search(text, begin, end)):
        end = begin + len(text[begin : operator.start()].rstrip())
    while code := _CODE.search(text, begin, end):
        if begin < code.start():
            yield Span(begin, code.start())
        closing = _end_of_code(text, code, end)
        if closing < 0:
            return
        begin = closing
    if begin < end:
        yield Span(begin, end)


def _end_of_code(text: str, code: re.Match[str], limit: int) -> int:
    """The end of a command in a text; -1 where it does not end before `limit`."""
    if code[0] == "`":
        return text.find("`", code.end(), limit) + 1 or -1
    depth, brackets = 1, _BRACES if code[0].endswith("{") else _PARENTHESES
    for match in brackets.finditer(text, code.end(), limit):
        depth += 1 if match[0] in "({" else -1
        if not depth:
            return match.end()
    return -1


def first_word(text: str) -> str:
    """The first word of a text as far as it is a value, with its quotes; '' where the text begins with code."""
    mark = text[:1]
    if mark in ("'", '"') and (quoted := QUOTED[mark].match(text, 1)):
        return text[: quoted.end() + 1]
    match = WORD.match(text)
    return match[0] if match else ""
