"""Writes a fleet as tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from renderer.diagnostics import counted, quoted
from renderer.fleet.prices import Bounds, money
from renderer.fleet.rows import Fleet, FleetRow
from renderer.fleet.sums import FleetSum, sum_rows, sums_by
from renderer.text import escapes
from renderer.text.text_table import Column, align_columns, gpu_unit, number_range, shorten, shown_columns

_MOST = 48  # characters of a cell


class FleetColumn(Column, frozen=True):
    """A column."""

    number: bool = False  # its cells end at one place


COLUMNS = (
    FleetColumn("environment", spare=True),
    FleetColumn("workload"),
    FleetColumn("owner", spare=True),
    FleetColumn("model"),
    FleetColumn("engine", spare=True),
    FleetColumn("accelerators", spare=True),
    FleetColumn("pods", number=True),
    FleetColumn("GPUs", number=True),
    FleetColumn("an hour", number=True, spare=True),
    FleetColumn("a month at most", number=True, spare=True),
    FleetColumn("fit", spare=True),
)
_SUM_COLUMNS = (
    FleetColumn(""),  # what the sums are by
    FleetColumn("workloads", number=True),
    FleetColumn("pods", number=True),
    FleetColumn("GPUs", number=True),
    FleetColumn("parts of GPUs", number=True, spare=True),
    FleetColumn("an hour", number=True, spare=True),
    FleetColumn("a month at most", number=True, spare=True),
    FleetColumn("without a price", number=True, spare=True),
)


def table(fleet: Fleet, by: str = "") -> str:
    """A line for each workload, or for each sum of them `by` what they have in common; '' without workloads."""
    if not fleet.rows:
        return ""
    if by:
        head = (FleetColumn(by), *_SUM_COLUMNS[1:])
        return _format_table(head, [_sum_cells(key, total) for key, total in sums_by(fleet.rows, by).items()])
    return _format_table(COLUMNS, [row_cells(row, fleet) for row in fleet.rows])


def summary(fleet: Fleet) -> str:
    """The sum of all workloads, in one line."""
    total = sum_rows(fleet.rows)
    line = headline(total)
    if total.hour.high:
        bound = "at least " if total.unpriced else ""
        prices, month = amounts(total.hour), money(total.hour.month.high, fleet.currency)
        line += (
            f": {bound}{prices} {fleet.currency}".rstrip() + f" an hour, {bound}{month} a month with the most replicas"
        )
    if total.hour.high and total.unpriced:
        line += f"; no price for {counted(total.unpriced_workloads, 'workload')} on {quoted(total.unpriced)}"
    return escapes.line(line)


def headline(total: FleetSum) -> str:
    """`2 workloads on 3–6 GPUs`."""
    return f"{counted(total.workloads, 'workload')} on {gpus(total)}"


def gpus(total: FleetSum) -> str:
    """`3–6 GPUs and 1 part of a GPU`."""
    counts = ((total.cards, False), (total.parts, True))
    sizes = [
        f"{number_range(count.low, count.high)} {gpu_unit(count.high, part)}" for count, part in counts if count.high
    ]
    return " and ".join(sizes) or "no GPUs"


def row_cells(row: FleetRow, fleet: Fleet) -> list[str]:
    """The cells of a workload, in the order of COLUMNS; '' for nothing."""
    parts = (" part" if row.accelerators.high == 1 else " parts") if row.is_part else ""
    return [
        row.environment,
        f"{row.namespace}/{row.name}",
        row.owner if fleet.has_owners else "",
        row.model,
        " ".join(filter(None, (row.backend, row.version))),
        row.hardware,
        number_range(row.pods.low, row.pods.high),
        number_range(row.accelerators.low, row.accelerators.high) + parts,
        amounts(row.hour) if row.hour else "",
        money(row.hour.month.high, "") if row.hour else "",
        row.fit,
    ]


def _sum_cells(key: str, total: FleetSum) -> list[str]:
    priced = bool(total.hour.high)
    return [
        key,
        f"{total.workloads:,}",
        number_range(total.pods.low, total.pods.high),
        number_range(total.cards.low, total.cards.high),
        number_range(total.parts.low, total.parts.high) if total.parts.high else "",
        amounts(total.hour) if priced else "",
        f"{'at least ' if total.unpriced else ''}{money(total.hour.month.high, '')}" if priced else "",
        f"{total.unpriced_workloads:,}" if total.unpriced_workloads else "",
    ]


def amounts(bounds: Bounds) -> str:
    """`2.40`, or `2.40–9.60` where it depends on the replicas."""
    low, high = money(bounds.low, ""), money(bounds.high, "")
    return low if low == high else f"{low}–{high}"


def _format_table(head: Sequence[FleetColumn], rows: Sequence[Sequence[str]]) -> str:
    shown = shown_columns(head, rows)
    cells = [[head[i].head.upper() for i in shown], *([shorten(row[i], _MOST) for i in shown] for row in rows)]
    numbers = [place for place, i in enumerate(shown) if head[i].number]
    return escapes.lines(align_columns(cells, right=numbers))
