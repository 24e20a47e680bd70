"""The order of an engine's versions, as 0.11.0.post1 after 0.11.0, and ranges of them in words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any


def describe_versions(versions: Sequence[str]) -> str:
    """A text for messages: the number of versions, the first and the last."""
    return f"{len(versions)} versions, {versions[0]} to {versions[-1]}" if len(versions) > 1 else "".join(versions)


# The order of suffixes: 1.2.dev3, 1.2rc1, 1.2, 1.2.post1, 1.2.1.
_RANKS = {"dev": 0, "rc": 1, "end": 2, "post": 3, "": 4}


@lru_cache(maxsize=4096)
def version_key(version: str) -> tuple[tuple[int, int, str], ...]:
    """A sort key of versions: the numbers in them, of any length; trailing zeros make no difference."""
    parts: list[tuple[int, int, str]] = []
    for word, digits in [*re.findall(r"(dev|rc|post)?([0-9]+)", version), ("end", "")]:
        while word and parts and parts[-1] == (_RANKS[""], 0, ""):
            parts.pop()
        number = digits.lstrip("0")
        parts.append((_RANKS[word], len(number), number))
    return tuple(parts)


def in_range(entry: Mapping[str, Any], version: str) -> bool:
    """Whether the range of an entry contains a version: from `since`, up to but without `until`."""
    since, until = entry.get("since"), entry.get("until")
    key = version_key(version)
    return (not since or version_key(str(since)) <= key) and (not until or key < version_key(str(until)))
