"""Rows that cover the pairs of values which llmaz takes together, random trees, and how far rows cover them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tests.combinations.parameters import OF_PLAYGROUNDS, PARAMETERS, SERVICES
from tests.combinations.rows import Row

Pair = tuple[tuple[str, str], tuple[str, str]]
USUAL: Row = {name: next(iter(values)) for name, values in PARAMETERS.items()}
_CANDIDATES, _ADDITIONS = 6, 3  # rows of which the one is taken that covers most, and how often more is added to it
_MOST_CHANGES = 8  # values of an app of a tree that are not the usual ones


class Covering(NamedTuple):
    """The rows that rendered, the pairs that are refused whatever else is said, and those that no row has yet."""

    rows: list[dict[str, str]]
    refused: list[Pair]
    uncovered: list[Pair]

    @property
    def share(self) -> float:
        """Of the pairs that can stand together, how many stand in a row."""
        possible = sum(1 for _ in all_pairs()) - len(self.refused)
        return 1 - len(self.uncovered) / possible


class _Pairs(NamedTuple):
    """The pairs that no row has yet, and those that are refused."""

    uncovered: Mapping[Pair, None]
    refused: Mapping[Pair, None]

    def gain(self, row: Row) -> int:
        """How many pairs a row would cover; none that is surely refused."""
        pairs = [*itertools.combinations(row.items(), 2)]
        return -1 if any(pair in self.refused for pair in pairs) else sum(pair in self.uncovered for pair in pairs)


def cover(renders: Callable[[Row], bool], rows: int, seed: int = 0) -> Covering:
    """So many rows that render, each with a pair of values that none before has, as long as there are some. `renders`:
    whether a row does.
    """
    chance = random.Random(seed)
    pairs = [*all_pairs()]
    refused = dict.fromkeys(pair for pair in pairs if not _is_one_app(dict(pair)))
    uncovered = dict.fromkeys(pair for pair in pairs if pair not in refused)
    done: list[dict[str, str]] = []
    while len(done) < rows:
        pair = next(iter(uncovered), None)
        row = _fitting_row(renders, dict(pair) if pair else {}, _Pairs(uncovered, refused), chance)
        if row is None and pair:
            refused[pair] = None
            del uncovered[pair]
        elif row:
            done.append(row)
            for covered in itertools.combinations(row.items(), 2):
                uncovered.pop(covered, None)
    return Covering(done, [*refused], [*uncovered])


def all_pairs() -> Iterator[Pair]:
    """Every pair of values of two parameters."""
    for (name, values), (other, other_values) in itertools.combinations(PARAMETERS.items(), 2):
        yield from (((name, value), (other, another)) for value in values for another in other_values)


def random_rows(chance: random.Random, apps: int) -> list[dict[str, str]]:
    """Rows of the apps of a tree, which share the values that change its RenderConfig."""
    shared = _random_row(chance, {}, chance.randint(0, _MOST_CHANGES))
    common = {name: shared[name] for name in SHARED}
    return [_random_row(chance, common, chance.randint(0, _MOST_CHANGES)) for _ in range(apps)]


SHARED = ("layout", "targets", "images", "environment", "hardening", "gateway", "cache", "pods", "spread")
"""Parameters that change RenderConfig alone, or which values of several apps would contradict."""


def _random_row(chance: random.Random, common: Mapping[str, str], changes: int) -> dict[str, str]:
    """A row with these values and so many others that are chosen by chance."""
    free = [name for name in PARAMETERS if name not in common]
    row = {**USUAL, **common, **{name: chance.choice(list(PARAMETERS[name])) for name in chance.sample(free, changes)}}
    return {name: USUAL[name] if not _may_have(row, name) else row[name] for name in PARAMETERS}


def _is_one_app(values: Row) -> bool:
    """Whether the values may be of one app: a Service has not all that a Playground has."""
    return all(_may_have(values, name) or value == USUAL[name] for name, value in values.items())


def _may_have(row: Row, name: str) -> bool:
    return row.get("kind") not in SERVICES or name not in OF_PLAYGROUNDS


def _fitting_row(
    renders: Callable[[Row], bool], fixed: Row, pairs: _Pairs, chance: random.Random
) -> dict[str, str] | None:
    """A row with the fixed values that renders, with as many others as go with them, and of some by chance the one with
    the most pairs that are not covered; None where none renders.
    """
    gain = pairs.gain
    count = (len(PARAMETERS) - len(fixed)) * 2 // 5
    while True:
        row = max((_random_row(chance, fixed, count) for _ in range(_CANDIDATES if count else 1)), key=gain)
        if all(row[name] == value for name, value in fixed.items()) and renders(row):
            break
        if not count:
            return None
        count = count * 2 // 3
    for _ in range(_ADDITIONS):
        common = {name: value for name, value in row.items() if name in fixed or value != USUAL[name]}
        more = (len(PARAMETERS) - len(common)) // 3
        larger = max((_random_row(chance, common, more) for _ in range(_CANDIDATES)), key=gain)
        if common.items() <= larger.items() and gain(larger) > gain(row) and renders(larger):
            row = larger
    return row


def renderable_rows(
    renders: Callable[[Sequence[Row]], bool], trees: int, seed: int, apps: int = 5
) -> Iterator[list[dict[str, str]]]:
    """So many random trees of one app to several that render. `renders`: whether the rows of a tree do."""
    chance = random.Random(seed)
    done = 0
    while done < trees:
        tree = random_rows(chance, chance.randint(1, apps))
        while tree and not renders(tree):
            tree.pop(chance.randrange(len(tree)))  # what is refused is in one of them, most often
        if tree:
            done += 1
            yield tree
