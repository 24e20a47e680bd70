"""Kubernetes' functions about regular expressions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from renderer.cel.compiler import Function
from renderer.text import patterns


def _matches(text: str, pattern: str) -> Iterator[str]:
    """All matches from left to right, as Go finds them. Raises ValueError for no pattern."""
    try:
        expression = patterns.compiled(pattern)
    except patterns.PatternError as error:
        raise ValueError(f"Illegal regex: error parsing regexp: {error}") from None
    for match in expression.finditer(text):
        yield match.group(0) or ""


def _find(text: str, pattern: str) -> str:
    return next(_matches(text, pattern), "")


def _find_all(text: str, pattern: str, count: int = -1) -> list[str]:
    matches: list[str] = []
    for match in _matches(text, pattern):
        if 0 <= count <= len(matches):
            break
        matches.append(match)
    return matches


_FOUND: Final = "list<string>"
FUNCTIONS: Final = (
    Function("find", True, (("string", "string", "string"),), _find),
    Function("findAll", True, (("string", "string", _FOUND), ("string", "string", "int", _FOUND)), _find_all),
)
