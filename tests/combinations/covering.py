"""Rows that cover every pair of values which llmaz takes together, and random ones behind them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from tests.combinations.parameters import PARAMETERS
from tests.combinations.rows import Row

Pair = tuple[tuple[str, str], tuple[str, str]]
USUAL: Row = {name: next(iter(values)) for name, values in PARAMETERS.items()}


class Covering(NamedTuple):
    """The rows that rendered, and the pairs that are refused whatever else is said."""

    rows: list[dict[str, str]]
    refused: list[Pair]


def cover(renders: Callable[[Row], bool], rows: int, seed: int = 0) -> Covering:
    """At least so many rows that render, all pairs of values among them but for those that are refused. `renders`:
    whether a row does.
    """
    chance = random.Random(seed)
    uncovered = dict.fromkeys(all_pairs())
    done: list[dict[str, str]] = []
    refused: list[Pair] = []
    while uncovered or len(done) < rows:
        pair = next(iter(uncovered), None)
        row = _fitting_row(renders, dict(pair) if pair else {}, chance)
        if row is None and pair:
            refused.append(pair)
            del uncovered[pair]
        elif row:
            done.append(row)
            for covered in itertools.combinations(row.items(), 2):
                uncovered.pop(covered, None)
    return Covering(done, refused)


def all_pairs() -> Iterator[Pair]:
    """Every pair of values of two parameters."""
    for (name, values), (other, other_values) in itertools.combinations(PARAMETERS.items(), 2):
        yield from (((name, value), (other, another)) for value in values for another in other_values)


def _fitting_row(
    renders: Callable[[Row], bool], fixed: Mapping[str, str], chance: random.Random
) -> dict[str, str] | None:
    """A row with the fixed values that renders, and as many random ones as go with them; None where none does."""
    others = [name for name in PARAMETERS if name not in fixed]
    count = len(others)
    while True:
        chosen = chance.sample(others, count)
        row = {**USUAL, **fixed, **{name: chance.choice(list(PARAMETERS[name])) for name in chosen}}
        row = {name: row[name] for name in PARAMETERS}
        if renders(row):
            return row
        if not count:
            return None
        count = count * 2 // 3
