"""Writes a fleet as CSV, for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from renderer.fleet.prices import Bounds, cents
from renderer.fleet.rows import Count, Fleet, FleetRow
from renderer.fleet.sums import FleetSum, sums_by

_PRICES = ("hour_min", "hour_max", "month_min", "month_max")
_SIZES = ("pods_min", "pods_max", "pods_surge")
_HEAD = (
    *("environment", "namespace", "name", "kind", "app", "file", "owner", "model", "backend", "version", "hardware"),
    *("parts", *_SIZES, "gpus_min", "gpus_max", "gpus_surge", *_PRICES, "currency", "fit"),
)
_SUM_HEAD = (
    *("workloads", *_SIZES, "gpus_min", "gpus_max", "gpus_surge", "parts_min", "parts_max", "parts_surge"),
    *(*_PRICES, "currency", "without_price"),
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what makes a spreadsheet compute a cell


def to_csv(fleet: Fleet, by: str = "") -> str:
    """A head and a line for each workload, or for each sum of them `by` what they have in common. Cells that a
    spreadsheet would compute begin with an apostrophe.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if by:
        writer.writerow((by, *_SUM_HEAD))
        writer.writerows(_line((key, *_sum_cells(total, fleet))) for key, total in sums_by(fleet.rows, by).items())
    else:
        writer.writerow(_HEAD)
        writer.writerows(_line(tuple(_cells(row, fleet))) for row in fleet.rows)
    return text.getvalue()


def _line(cells: Sequence[object]) -> list[str]:
    texts = [str(cell) for cell in cells]
    return [f"'{text}" if text.startswith(_FORMULA) else text for text in texts]


def _cells(row: FleetRow, fleet: Fleet) -> Iterator[object]:
    yield from (row.environment, row.namespace, row.name, row.kind, row.app, row.file)
    yield from (row.owner if fleet.has_owners else "", row.model, row.backend, row.version, row.hardware)
    yield from ("true" if row.is_part else "false", *_counts(row.pods), *_counts(row.accelerators))
    yield from (*_prices(row.hour), fleet.currency if row.hour else "", row.fit)


def _sum_cells(total: FleetSum, fleet: Fleet) -> Iterator[object]:
    priced = total.hour if total.hour.high else None
    yield from (total.workloads, *_counts(total.pods), *_counts(total.cards), *_counts(total.parts))
    yield from (*_prices(priced), fleet.currency if priced else "", total.unpriced_workloads)


def _counts(count: Count) -> tuple[int, int, int]:
    return count.low, count.high, count.surge


def _prices(hour: Bounds | None) -> tuple[str, ...]:
    if hour is None:
        return ("",) * len(_PRICES)
    return tuple(cents(amount) for bounds in (hour, hour.month) for amount in (bounds.low, bounds.high))
