"""Kubernetes' functions about semantic versions, and the comparisons that quantities have too."""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from renderer.cel.carriers import QUANTITY, SEMVER, Carrier, carry, content, tag_of
from renderer.cel.compiler import Function
from renderer.cel.quantities import nanos

_NUMBER = r"0|[1-9][0-9]*"
_WORD = r"[0-9A-Za-z-]+"
_VERSION = re.compile(
    rf"({_NUMBER})\.({_NUMBER})\.({_NUMBER})(?:-({_WORD}(?:\.{_WORD})*))?(?:\+({_WORD}(?:\.{_WORD})*))?"
)
_Rank: TypeAlias = tuple[tuple[int, int, int], bool, tuple[tuple[bool, int, str], ...]]


def _rank(text: str) -> _Rank:
    """What versions are ordered by. Raises ValueError for no version."""
    match = _VERSION.fullmatch(text)
    if match is None:
        raise ValueError(_fault(text))
    words = match[4].split(".") if match[4] else []
    if any(word.isdigit() and len(word) > 1 and word[0] == "0" for word in words):
        raise ValueError(f'Numeric PreRelease version must not contain leading zeroes "{match[4]}"')
    order = tuple((not word.isdigit(), int(word) if word.isdigit() else 0, word) for word in words)
    return (int(match[1]), int(match[2]), int(match[3])), not words, order


def _fault(text: str) -> str:
    """Why a text is not a version, in the server's words."""
    if not text:
        return "Version string empty"
    parts = text.split(".", 2)
    if len(parts) != 3:
        return "No Major.Minor.Patch elements found"
    for name, part in zip(("major", "minor"), parts, strict=False):
        if not re.fullmatch(r"[0-9]+", part):
            return f'Invalid character(s) found in {name} number "{part}"'
        if len(part) > 1 and part[0] == "0":
            return f'{name.capitalize()} number must not contain leading zeroes "{part}"'
    patch = re.split("[-+]", parts[2])[0]
    if len(patch) > 1 and patch.isdigit() and patch[0] == "0":
        return f'Patch number must not contain leading zeroes "{patch}"'
    return f'Invalid character(s) found in patch number "{patch}"'


def _normal(text: str) -> str:
    """A version without a leading v and zeros, with the parts that it leaves out. Raises ValueError."""
    parts = text.removeprefix("v").split(".", 2)
    for index, part in enumerate(parts):
        if len(part) > 1:
            rest = part.lstrip("0")
            parts[index] = rest if rest[:1].isdigit() else f"0{rest}"
    if len(parts) < 3 and re.search("[-+]", parts[-1]):
        raise ValueError("short version cannot contain PreRelease/Build meta data")
    return ".".join([*parts, "0", "0"][: max(3, len(parts))])


def _semver(text: str, normalize: bool = False) -> Carrier:
    text = _normal(text) if normalize else text
    _rank(text)
    return carry(SEMVER, text.partition("+")[0])  # what follows a plus is not compared


def _is_semver(text: str, normalize: bool = False) -> bool:
    try:
        _semver(text, normalize)
    except ValueError:
        return False
    return True


def _number(index: int, value: object) -> int:
    return _rank(content(value, SEMVER))[0][index]


def _compare(one: object, other: object) -> int:
    if tag_of(one) == QUANTITY:
        amount, other_amount = nanos(one), nanos(other)
        return (amount > other_amount) - (amount < other_amount)
    rank, other_rank = _rank(content(one, SEMVER)), _rank(content(other, SEMVER))
    return (rank > other_rank) - (rank < other_rank)


def _both(result: str) -> tuple[tuple[str, str, str], ...]:
    return ("Quantity", "Quantity", result), ("Semver", "Semver", result)


FUNCTIONS: Final = (
    Function("semver", False, (("string", "Semver"), ("string", "bool", "Semver")), _semver),
    Function("isSemver", False, (("string", "bool"), ("string", "bool", "bool")), _is_semver),
    Function("major", True, (("Semver", "int"),), lambda value: _number(0, value)),
    Function("minor", True, (("Semver", "int"),), lambda value: _number(1, value)),
    Function("patch", True, (("Semver", "int"),), lambda value: _number(2, value)),
    Function("isGreaterThan", True, _both("bool"), lambda one, other: _compare(one, other) > 0),
    Function("isLessThan", True, _both("bool"), lambda one, other: _compare(one, other) < 0),
    Function("compareTo", True, _both("int"), _compare),
)
