"""What makes one sequence another, in bounded time: that of difflib grows with the square of their lengths, or more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

MAX_PAIRS: Final = 1_000_000  # of items that difflib may have to compare, where both ends are not alike
Opcode = tuple[str, int, int, int, int]


def opcodes(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """As difflib.SequenceMatcher has them (without junk). Of very long sequences all between the first and the last
    difference counts as replaced.
    """
    from difflib import SequenceMatcher

    if len(old) * len(new) <= MAX_PAIRS:
        return [*SequenceMatcher(None, old, new, autojunk=False).get_opcodes()]
    head, tail = _ends(old, new)
    return [("equal", 0, head, 0, head), ("replace", head, len(old) - tail, head, len(new) - tail)]


def unified(
    old: Sequence[str], new: Sequence[str], before: str = "", after: str = "", ends: str = "\n"
) -> Iterator[str]:
    """The lines of a unified diff with three lines around each change, as difflib.unified_diff has them. Of very long
    texts all between the first and the last difference is one change. `ends`: of the lines that are added.
    """
    from difflib import unified_diff

    if len(old) * len(new) <= MAX_PAIRS:
        yield from unified_diff(old, new, before, after, lineterm=ends)
        return
    head, tail = _ends(old, new)
    if head == len(old) == len(new):
        return
    first, more = max(head - 3, 0), min(tail, 3)
    till, to = len(old) - tail, len(new) - tail
    yield f"--- {before}{ends}"
    yield f"+++ {after}{ends}"
    yield f"@@ -{first + 1},{till + more - first} +{first + 1},{to + more - first} @@{ends}"
    yield from (f" {line}" for line in old[first:head])
    yield from (f"-{line}" for line in old[head:till])
    yield from (f"+{line}" for line in new[head:to])
    yield from (f" {line}" for line in old[till : till + more])


def _ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many items both have in common at the beginning, and how many of the others at the end."""
    least = min(len(old), len(new))
    head = next((i for i in range(least) if old[i] != new[i]), least)
    tail = next((i for i in range(least - head) if old[-1 - i] != new[-1 - i]), least - head)
    return head, tail
