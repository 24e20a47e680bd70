"""Lists for people, in which items that are alike are one with the number of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Final, TypeVar

_Item = TypeVar("_Item")
_LEAST: Final = 3  # alike: the number of the others takes a line too


def folded(
    items: Sequence[_Item], group: Callable[[_Item], Hashable], *, least: int = _LEAST
) -> Iterator[tuple[_Item, int]]:
    """The items, but of `least` or more of one group only the first, with how many others there are. `group`: None for
    an item that is told whatever others say.
    """
    groups = [group(item) for item in items]
    counts = Counter(groups)
    known: set[Hashable] = set()
    for item, name in zip(items, groups, strict=True):
        if name is None or counts[name] < least:
            yield item, 0
        elif name not in known:
            known.add(name)
            yield item, counts[name] - 1
