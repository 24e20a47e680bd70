"""The workloads of a fleet in all, and by what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal

from msgspec import Struct

from renderer.fleet.prices import Bounds
from renderer.fleet.rows import Count, FleetRow

KEYS: Mapping[str, Callable[[FleetRow], str]] = {
    "owner": lambda row: row.owner,
    "namespace": lambda row: row.namespace,
    "accelerator": lambda row: row.hardware or "none",
    "environment": lambda row: row.environment or "none",
}
"""What workloads are summed by, in the words of `--by`."""


class FleetSum(Struct, frozen=True):
    """What several workloads come to."""

    workloads: int
    pods: Count
    cards: Count  # whole accelerators
    parts: Count  # of accelerators that others have parts of
    hour: Bounds  # of those that have a price
    unpriced: tuple[str, ...]  # the hardware of those that have none, each once
    unpriced_workloads: int


def sum_rows(rows: Iterable[FleetRow]) -> FleetSum:
    """The sum of these workloads."""
    listed, pods, cards, parts, hour = list(rows), Count(), Count(), Count(), Bounds(Decimal(0), Decimal(0))
    for row in listed:
        pods += row.pods
        cards += Count() if row.is_part else row.accelerators
        parts += row.accelerators if row.is_part else Count()
        hour += row.hour or Bounds(Decimal(0), Decimal(0))
    unpriced = [row.hardware for row in listed if row.is_unpriced]
    return FleetSum(len(listed), pods, cards, parts, hour, tuple(dict.fromkeys(unpriced)), len(unpriced))


def sums_by(rows: Iterable[FleetRow], by: str) -> dict[str, FleetSum]:
    """The sum of the workloads with the same value of one of KEYS, by that value in alphabetical order."""
    groups: dict[str, list[FleetRow]] = {}
    for row in rows:
        groups.setdefault(KEYS[by](row), []).append(row)
    return {value: sum_rows(groups[value]) for value in sorted(groups)}
