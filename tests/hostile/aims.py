"""What a trial aims at: an input of one command, and how far into the command it gets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeAlias

from tests.hostile.listeners import Listeners

CHECKED = re.compile(r"^[1-9][\d,]* objects? checked|^\[$|^\[\]$|^\{$|^::", re.MULTILINE)
REFUSED = re.compile(r"\bE56[2345]\b|\bW565\b|\bE121\b|not checked, no schema: v1/List")


class Ended(NamedTuple):
    """How a command ended."""

    code: object  # its exit status
    text: str  # all that it printed
    folder: Path  # in which it ran


Faults: TypeAlias = Iterator[tuple[str, str]]  # kind and detail of each


class Attempt(NamedTuple):
    """A command line for an input that was written."""

    arguments: tuple[str, ...]
    reaches: Callable[[Ended], bool]  # whether its last stage saw the input
    faults: Callable[[Ended], Faults] = lambda ended: iter(())  # what should not have come of it, beside what never may
    statuses: tuple[int, ...] = (0, 2)
    output: tuple[str, ...] = ("rendered", "chart", "made")  # the folders into which it may write


class Aim(NamedTuple):
    """A command with the last stage that its inputs are to reach."""

    name: str
    weight: float  # how many of the trials, beside the others
    stage: str  # the last one, in words
    attempt: Callable[[Path, Random, Listeners], Attempt]  # writes an input into a repository


def succeeds(ended: Ended) -> bool:
    """Whether the exit status is 0."""
    return ended.code == 0


def has_checked(ended: Ended) -> bool:
    """Whether objects were checked, and no program was kept from making them."""
    return bool(CHECKED.search(ended.text)) and not REFUSED.search(ended.text)
