"""Writes a fleet as JSON."""

from __future__ import annotations

from renderer.fleet.prices import HOURS, Bounds, cents
from renderer.fleet.rows import Count, Fleet, FleetRow
from renderer.fleet.sums import FleetSum, sum_rows, sums_by
from renderer.text import escapes


def to_json(fleet: Fleet, by: str = "") -> str:
    """The workloads and their sum as JSON, with `by` the sums by what they have in common. Prices are texts with two
    decimals, null where they are not known.
    """
    document: dict[str, object] = {"currency": fleet.currency or None, "hoursOfMonth": HOURS}
    if by:
        document["by"] = by
        document["sums"] = [{"value": key, **_sum(total)} for key, total in sums_by(fleet.rows, by).items()]
    else:
        document["workloads"] = [_row(row, fleet) for row in fleet.rows]
    document["total"] = _sum(sum_rows(fleet.rows))
    return escapes.json_text(document, indent=2) + "\n"


def _row(row: FleetRow, fleet: Fleet) -> dict[str, object]:
    return {
        "environment": row.environment or None,
        "namespace": row.namespace,
        "name": row.name,
        "app": {"kind": row.kind, "name": row.app},
        "file": row.file,
        "owner": row.owner if fleet.has_owners else None,
        "model": row.model,
        "backend": row.backend or None,
        "version": row.version or None,
        "flavors": row.flavors,
        "acceleratorTypes": row.types,
        "resource": row.resource or None,
        "parts": row.is_part,
        "pods": _count(row.pods),
        "accelerators": _count(row.accelerators),
        "price": _price(row.hour),
        "fit": row.fit or None,
    }


def _count(count: Count) -> dict[str, int]:
    return {"min": count.low, "max": count.high, "surge": count.surge}


def _price(hour: Bounds | None) -> dict[str, dict[str, str]] | None:
    if hour is None:
        return None
    periods = {"hour": hour, "month": hour.month}
    return {period: {"min": cents(bounds.low), "max": cents(bounds.high)} for period, bounds in periods.items()}


def _sum(total: FleetSum) -> dict[str, object]:
    return {
        "workloads": total.workloads,
        "pods": _count(total.pods),
        "cards": _count(total.cards),
        "parts": _count(total.parts),
        "price": _price(total.hour) if total.hour.high else None,
        "withoutPrice": {"workloads": total.unpriced_workloads, "hardware": total.unpriced},
    }
