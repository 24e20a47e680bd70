"""Routes as a table for a terminal."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence

from renderer.routes.rows import Leg, Routes, Row

HEADS = ("public name", "route", "backend", "app", "model", "replicas", "weight", "may call")
_BROUGHT = {"apiKeys": "an API key", "jwt": "a token"}
_WIDEST = 48  # of a cell: a served name may have 4,096 bytes


def table(found: Routes) -> str:
    """A table for each Gateway, a line a backend; '' without routes."""
    return "\n".join(f"{door(first)}\n\n{_lines(rows)}" for first, rows in found.doors())


def door(row: Row) -> str:
    """What a public name is reached through, in a line."""
    hosts = f"on {', '.join(row.hostnames)}" if row.hostnames else "on any host"
    return f"Gateway {'/'.join(row.gateway)} {hosts}" + (f", {asks(row)}" if row.asked else "")


def asks(row: Row) -> str:
    """What a client has to bring; '' where nobody asks."""
    return f"asks for {' or '.join(_BROUGHT[each] for each in row.asked)}" if row.asked else ""


def cells(row: Row, leg: Leg) -> tuple[str, ...]:
    """What HEADS name."""
    return (
        row.name,
        f"{row.namespace}/{row.route}",
        leg.backend,
        f"{leg.kind} {row.namespace}/{leg.app}",
        leg.model,
        replicas(leg),
        str(leg.weight),
        ", ".join(row.allowed) or "all",
    )


def replicas(leg: Leg) -> str:
    """How many there are: one number, or from – to under an autoscaler."""
    return str(leg.low) if leg.low == leg.high else f"{leg.low}–{leg.high}"


def cut(text: str, most: int) -> str:
    """The text on one line, with `…` for what is more than that many characters."""
    shown = text if text.isprintable() and text == text.strip() else json.dumps(text, ensure_ascii=False)
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def _lines(rows: Sequence[Row]) -> str:
    lined = [tuple(head.upper() for head in HEADS)]
    for row in rows:
        for i, leg in enumerate(row.legs):
            said = cells(row, leg)
            # Further backends of a name stand below it, without repeating what holds for all of them.
            lined.append(tuple("" if i and k in (0, 1, 7) else cut(cell, _WIDEST) for k, cell in enumerate(said)))
    widths = [max(_width(cell) for cell in column) for column in zip(*lined, strict=True)]
    return "".join(
        "  ".join(cell + " " * (width - _width(cell)) for cell, width in zip(line, widths, strict=True)).rstrip() + "\n"
        for line in lined
    )


def _width(text: str) -> int:
    """Columns of a terminal: East Asian letters take two, accents of their own none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text
    )
