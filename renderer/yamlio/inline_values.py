"""Parses flow collections and quoted scalars within a line, in their simple forms."""

from __future__ import annotations

import re
from typing import Any

from renderer.yamlio.scalars import KEYS, VALUES, UncertainError

# An opening bracket, or a scalar of plain ASCII without escapes.
_PART = re.compile(
    r"""
    ([\[{]) \ * | "([ !#-[\]-~]{0,200})" | '([ -&(-~]{0,200})'
    | (-{0,2} [A-Za-z0-9_./$~(]
        (?: [A-Za-z0-9_./$~()+=^;<>*@%'"\\-] | :(?=[A-Za-z0-9/]) | \ +(?=[A-Za-z0-9<>='"]) ){0,200})
    """,
    re.VERBOSE,
)
# What most of them hold, each in one match: a pair or an item of plain scalars without blanks, and what ends it.
_PLAIN = r"(-{0,2}[A-Za-z0-9_./][A-Za-z0-9_./-]{0,100})"
_PAIR = re.compile(rf"([A-Za-z][A-Za-z0-9_./-]{{0,60}}): +{_PLAIN}(?:, *|(\}}))")
_ITEM = re.compile(rf"{_PLAIN}(?:, *|(\]))")
_COLON = re.compile(r" *: +")
_MARK = re.compile(r" *(?:(,) *|([\]}]))")
_COMMENT = re.compile(r" *(?: #[ -~]*)?")


def read(text: str, depth: int) -> object:
    """The collection of at most `depth` levels or quoted scalar, before at most a comment; else UncertainError."""
    value, end = _value(text, 0, depth)
    if not _COMMENT.fullmatch(text, end):
        raise UncertainError(text)
    return value


def end(text: str, start: int, depth: int) -> int:
    """Where the collection or quoted scalar at `start` ends; UncertainError for one that `read` cannot read."""
    position = _value(text, start, depth)[1]
    if not _COMMENT.fullmatch(text, position):
        raise UncertainError(text)
    return position


def _value(text: str, position: int, depth: int) -> tuple[object, int]:
    """The value that begins at `position`, and its end."""
    part = _part(text, position)
    opening, double, single, plain = part.groups()
    position = part.end()
    if not opening:
        return VALUES[plain] if plain else double or single or "", position
    if not depth:
        raise UncertainError(text)
    closing = "}" if opening == "{" else "]"
    collection: Any = {} if opening == "{" else []
    if text.startswith(closing, position):
        return collection, position + 1
    mark: str | None = ","
    while mark:
        if opening == "{":
            while pair := _PAIR.match(text, position):
                word, plain, end = pair.groups()
                key, position = KEYS[word], pair.end()
                if key in collection:
                    raise UncertainError(text)
                collection[key] = VALUES[plain]
                if end:
                    return collection, position
            part = _part(text, position)
            bracket, double, single, plain = part.groups()
            position = part.end()
            key = KEYS[plain] if plain else double or single or ""
            colon = _COLON.match(text, position)
            if bracket or not colon or key in collection:
                raise UncertainError(text)
            collection[key], position = _value(text, colon.end(), depth - 1)
        else:
            while scalar := _ITEM.match(text, position):
                plain, end = scalar.groups()
                position = scalar.end()
                collection.append(VALUES[plain])
                if end:
                    return collection, position
            item, position = _value(text, position, depth - 1)
            collection.append(item)
        match = _MARK.match(text, position)
        if not match or match[2] not in (None, closing):
            raise UncertainError(text)
        mark, position = match[1], match.end()
    return collection, position


def _part(text: str, position: int) -> re.Match[str]:
    """The next part; its groups: an opening bracket, the text in double or single quotes, a plain scalar."""
    match = _PART.match(text, position)
    if not match:
        raise UncertainError(text)
    return match
