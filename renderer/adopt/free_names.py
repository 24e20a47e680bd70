"""Names that no other has."""

from __future__ import annotations

from collections.abc import Iterable


class FreeNames:
    """Hands out names, each of them once. Names that differ in case only are one."""

    def __init__(self, others: Iterable[str] = ()) -> None:
        self._taken = {name.casefold() for name in others}
        self._numbers: dict[str, int] = {}  # the last one behind each name

    def take(self, name: str) -> str:
        """The name, with a number behind it where it is taken."""
        free, number = name, self._numbers.get(name, 1)
        while free.casefold() in self._taken:
            number += 1
            free = f"{name}-{number}"
        self._numbers[name] = number
        self._taken.add(free.casefold())
        return free
