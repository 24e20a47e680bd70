"""What brackets and quotes within a line hold, where that is plain to see."""

from __future__ import annotations

import re
from typing import Any

from renderer.yamlio.scalars import KEYS, VALUES, UncertainError

# An opening bracket, or a scalar in which nothing is escaped and everything is plain to see.
_PART = re.compile(
    r"""
    ([\[{]) \ * | "([ !#-[\]-~]{0,200})" | '([ -&(-~]{0,200})'
    | (-{0,2} [A-Za-z0-9_./$~(]
        (?: [A-Za-z0-9_./$~()+=^;<>*@%'"\\-] | :(?=[A-Za-z0-9/]) | \ +(?=[A-Za-z0-9<>='"]) ){0,200})
    """,
    re.VERBOSE,
)
_COLON = re.compile(r" *: +")
_MARK = re.compile(r" *(?:(,) *|([\]}]))")
_COMMENT = re.compile(r" *(?: #[ -~]*)?")


def read(text: str, depth: int) -> Any:
    """The collection, at most so deep, or quoted scalar, with nothing but a comment after it; else Odd."""
    value, end = _value(text, 0, depth)
    if not _COMMENT.fullmatch(text, end):
        raise UncertainError(text)
    return value


def _value(text: str, at: int, depth: int) -> tuple[Any, int]:
    """What begins at `at`, and where it ends."""
    opening, double, single, plain, at = _part(text, at)
    if not opening:
        return VALUES[plain] if plain else double or single or "", at
    if not depth:
        raise UncertainError(text)
    closing = "}" if opening == "{" else "]"
    collection: Any = {} if opening == "{" else []
    if text.startswith(closing, at):
        return collection, at + 1
    mark: str | None = ","
    while mark:
        if opening == "{":
            bracket, double, single, plain, at = _part(text, at)
            key = KEYS[plain] if plain else double or single or ""
            colon = _COLON.match(text, at)
            if bracket or not colon or key in collection:
                raise UncertainError(text)
            collection[key], at = _value(text, colon.end(), depth - 1)
        else:
            item, at = _value(text, at, depth - 1)
            collection.append(item)
        match = _MARK.match(text, at)
        if not match or match[2] not in (None, closing):
            raise UncertainError(text)
        mark, at = match[1], match.end()
    return collection, at


def _part(text: str, at: int) -> tuple[str | None, str | None, str | None, str | None, int]:
    """A bracket, the text in double or in single quotes, or a plain scalar; and where it ends."""
    match = _PART.match(text, at)
    if not match:
        raise UncertainError(text)
    opening, double, single, plain = match.groups()
    return opening, double, single, plain, match.end()
