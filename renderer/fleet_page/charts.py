"""Bars of a fleet by what workloads have in common."""

from __future__ import annotations

from decimal import Decimal

from msgspec import Struct

from renderer.diagnostics import counted
from renderer.fleet.prices import Bounds
from renderer.fleet.rows import Fleet
from renderer.fleet.sums import KEYS, FleetSum, sum_rows, sums_by
from renderer.fleet.table import amounts, gpus

WIDTH = 1000
"""Units of the longest bar."""
_MOST = 12  # bars; one more has the sum of all others


class Bar(Struct, frozen=True):
    """The workloads with one value."""

    name: str
    value: str | None  # by which its workloads are found, None for a sum of several
    amount: str  # what its length shows, in words
    rest: str  # its other figures
    low: int  # with the fewest replicas, in units of WIDTH
    high: int  # with the most
    share: str  # of all, with the most replicas; '' for nothing


class BarChart(Struct, frozen=True):
    """The bars of a key."""

    key: str
    measure: str  # what their length shows
    bars: tuple[Bar, ...]  # the longest first


def charts(fleet: Fleet) -> list[BarChart]:
    """A chart by accelerator, by owner, or by namespace where nobody says owners, and by environment if there are
    several.
    """
    keys = ["accelerator", "owner" if fleet.has_owners else "namespace"]
    if len({row.environment for row in fleet.rows}) > 1:
        keys.append("environment")
    return [_chart(fleet, key) for key in keys] if fleet.rows else []


def _chart(fleet: Fleet, key: str) -> BarChart:
    total = sum_rows(fleet.rows)
    is_priced = bool(total.hour.high)
    sums = sums_by(fleet.rows, key)
    names = sorted(sums, key=lambda name: (-_length(sums[name], is_priced).high, -sums[name].cards.high, name))
    shown = names if len(names) <= _MOST + 1 else names[:_MOST]
    groups = [sums[name] for name in shown]
    if others := set(names[len(shown) :]):
        groups.append(sum_rows(row for row in fleet.rows if KEYS[key](row) in others))
    lengths = [_length(group, is_priced) for group in groups]
    longest, whole = max(length.high for length in lengths), _length(total, is_priced).high
    bars = []
    for name, group, length in zip([*shown, None], groups, lengths, strict=False):
        low, high = (_share(amount, longest, WIDTH) for amount in (length.low, length.high))
        title = f"{len(others):,} others" if name is None else _title(key, name)
        amount, rest = _texts(group, fleet.currency, is_priced)
        share = f"{_share(length.high, whole, 100)} %" if length.high else ""
        bars.append(Bar(title, _value(key, name), amount, rest, low, high, share))
    price = f"{fleet.currency} a month" if fleet.currency else "price of a month"
    return BarChart(key, price if is_priced else "GPUs", tuple(bars))


def _title(key: str, name: str) -> str:
    return "no accelerator" if key == "accelerator" and name == "none" else name


def _value(key: str, name: str | None) -> str | None:
    """What the cells of these workloads hold."""
    return "" if key == "accelerator" and name == "none" else name


def _length(total: FleetSum, is_priced: bool) -> Bounds:
    """What the length of a bar shows: the price of a month, or where nothing has one the number of GPUs."""
    return total.hour.month if is_priced else Bounds(Decimal(total.cards.low), Decimal(total.cards.high))


def _share(amount: Decimal, whole: Decimal, units: int) -> int:
    return int((amount * units / whole).to_integral_value()) if whole else 0


def _texts(total: FleetSum, currency: str, is_priced: bool) -> tuple[str, str]:
    """What the length of a bar shows, and the other figures."""
    workloads = counted(total.workloads, "workload")
    return (_price(total, currency), f"{workloads} · {gpus(total)}") if is_priced else (gpus(total), workloads)


def _price(total: FleetSum, currency: str) -> str:
    """The price of a month, `at least` where some of the workloads have none; '' without accelerators."""
    if not total.hour.high:
        return "no price" if total.unpriced else ""
    return f"{'at least ' if total.unpriced else ''}{amounts(total.hour.month)} {currency}".rstrip()
