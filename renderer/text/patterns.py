"""Patterns that users write, matched in time that is linear in the text: a hostile one can be refused, and no more.

Regular expressions run in RE2 (https://github.com/google/re2/wiki/Syntax), which has no backreferences and no
look-around; it is imported when the first one is compiled, since most runs have none.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, Protocol

MAX_PATTERN: Final = 1_000  # characters of a pattern
_MAX_MEMORY: Final = 1 << 20  # bytes that RE2 may use for one expression; beyond it is slower, never wrong


class PatternError(ValueError):
    """Why a text is not a pattern, in RE2's words."""


class Match(Protocol):
    """What one expression found in a text."""

    def group(self, number: int, /) -> str | None: ...
    def end(self, number: int, /) -> int: ...


class Expression(Protocol):
    """A compiled regular expression. A text of bytes is UTF-8."""

    @property
    def groups(self) -> int: ...  # how many it captures
    def search(self, text: str | bytes, /) -> Match | None: ...
    def fullmatch(self, text: str | bytes, /) -> Match | None: ...
    def finditer(self, text: str | bytes, /) -> Iterator[Match]: ...


def expression(pattern: str) -> Expression:
    """The regular expression, compiled by RE2. Raises PatternError, also above MAX_PATTERN characters.

    The memory of one is bounded at compile time too: `((a{100}){100}){100}` is an error.
    """
    if len(pattern) > MAX_PATTERN:
        raise PatternError(f"it has {len(pattern):,} characters, at most {MAX_PATTERN:,} are allowed")
    return compiled(pattern)


@lru_cache(maxsize=64)
def compiled(pattern: str) -> Expression:
    """The same without a bound of its own on the length. Raises PatternError."""
    import re2  # type: ignore[import-untyped]

    options = re2.Options()
    options.log_errors = False  # it would print to stderr
    options.max_mem = _MAX_MEMORY
    try:
        compiled_expression: Expression = re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else error
        raise PatternError(reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)) from None
    return compiled_expression


def fits(text: str, glob: str) -> bool:
    """Whether the whole text is like the glob, as fnmatch.fnmatchcase has it; never above MAX_PATTERN characters of
    either, where its time would grow with the product of both.
    """
    return len(text) <= MAX_PATTERN >= len(glob) and fnmatch.fnmatchcase(text, glob)


def fits_any(text: str, globs: Iterable[str]) -> bool:
    """Whether a short text `fits` one of many globs, none of which is compiled: that takes a hundred times as long as
    to compare them.
    """
    return any(len(text) <= MAX_PATTERN >= len(glob) and _fits_once(text, glob) for glob in globs)


def _fits_once(text: str, glob: str) -> bool:
    plain = _PLAIN.match(glob)
    start = plain.end() if plain else 0
    return text.startswith(glob[:start]) and _fits_signs(text, start, _SIGN.findall(glob, start))


_PLAIN = re.compile(r"[^*?\[]+")
_SIGN = re.compile(r"\*+|\[!?+\]?+[^\]]*+\]|.", re.DOTALL)


def _fits_signs(text: str, start: int, signs: Sequence[str]) -> bool:
    """Whether the text from `start` on is like the signs, each a character, `?`, a class in brackets, or stars. After
    a star all that is before it has been matched for good.
    """
    at, i = start, 0
    star, resumed = -1, 0  # the index of the last star, and where the signs behind it were tried last
    while at < len(text) or i < len(signs):
        if i < len(signs) and signs[i][0] == "*":
            star, resumed, i = i, at, i + 1
        elif i < len(signs) and at < len(text) and _fits_sign(text[at], signs[i]):
            at, i = at + 1, i + 1
        elif star >= 0 and resumed < len(text):
            resumed += 1
            at, i = resumed, star + 1
        else:
            return False
    return True


def _fits_sign(character: str, sign: str) -> bool:
    if len(sign) == 1:
        return sign in ("?", character)
    inside = sign[1:-1]
    excluded = inside[0] == "!"
    return _in_class(character, inside[1:] if excluded else inside) != excluded


def _in_class(character: str, inside: str) -> bool:
    """Whether a class has the character. `inside`: characters and ranges, such as `a-z_`."""
    i = 0
    while i < len(inside):
        if inside[i + 1 : i + 2] == "-" and i + 2 < len(inside):
            if inside[i] <= character <= inside[i + 2]:
                return True
            i += 3
        elif inside[i] == character:
            return True
        else:
            i += 1
    return False
