"""Writes a fleet as one page of HTML, which loads nothing and needs no script for its figures."""

from __future__ import annotations

import base64
import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from renderer import template
from renderer.diagnostics import counted, listed
from renderer.fit.verdict import FAILS, FITS, TIGHT, UNKNOWN, outcome
from renderer.fleet.prices import money
from renderer.fleet.rows import FleetRow
from renderer.fleet.sums import FleetSum, sum_rows
from renderer.fleet.table import COLUMNS, amounts, headline, row_cells
from renderer.fleet_page.charts import WIDTH, charts
from renderer.fleet_page.contents import FleetContents
from renderer.fleet_page.source_links import source_link
from renderer.routes.table import COLUMNS as ROUTE_COLUMNS
from renderer.routes.table import line_cells
from renderer.routes.table import summary as summarize_routes
from renderer.routes.wording import describe_gateway, describe_replaced
from renderer.text.text_table import gpu_unit, number_range, shown_columns

MARK = "<!doctype html><!-- Written by llmaz fleet. Do not edit. -->"
"""How the page begins: what does not is not overwritten."""
_FILES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "files")
_FILTERS = {head: head for head in ("environment", "owner", "engine", "fit")} | {"accelerators": "accelerator"}
"""Columns among whose values a reader may choose, with the keys of charts."""
_CLASSES = {FITS: "fits", TIGHT: "tight", FAILS: "fails", UNKNOWN: "unknown"}


class Tile(Struct, frozen=True):
    """A figure of the whole fleet."""

    label: str
    value: str
    notes: tuple[str, ...] = ()
    before: str = ""  # in front of the value
    unit: str = ""  # behind it
    style: str = ""  # a class of page.css


class PageColumn(Struct, frozen=True):
    """A column of a table."""

    head: str
    number: bool = False
    filter: str = ""  # the key of its filter


class PageTable(Struct, frozen=True):
    """A table."""

    name: str
    columns: tuple[PageColumn, ...]
    rows: tuple[PageRow, ...]


class PageRow(Struct, frozen=True):
    """A row; its first cell may be a link, its last one a verdict."""

    cells: tuple[str, ...]
    link: str = ""
    verdict: str = ""


class OutcomeShare(Struct, frozen=True):
    """How many workloads have one outcome."""

    name: str
    style: str
    count: int
    start: int  # of its part of a bar, in units of WIDTH
    width: int


def to_html(contents: FleetContents, source_url: str = "") -> str:
    """The page: totals, bars, all workloads and public names. `source_url`: where the lines of input files can be read,
    with {file} and {line}.
    """
    fleet = contents.fleet
    total = sum_rows(fleet.rows)
    tables = (_workloads(contents, source_url), _public_names(contents))
    style = _read("page.css") + "".join(map(_column_labels, tables))
    script = _read("page.js")
    words = {
        "mark": MARK,
        "policy": _policy(style, script),
        "style": style,
        "script": script,
        "headline": headline(total),
        "tiles": list(_tiles(contents, total)),
        "verdicts": _verdicts(fleet.rows),
        "charts": charts(fleet),
        "width": WIDTH,
        "workloads": tables[0],
        "names": tables[1],
        "route_lines": list(_route_lines(contents)),
        "is_linked": bool(source_url),
        "is_priced": bool(total.hour.high),
    }
    return template.fill_page(_read("page.html"), words)


def _read(name: str) -> str:
    with open(os.path.join(_FILES, name), encoding="utf-8") as file:
        return file.read()


def _policy(style: str, script: str) -> str:
    """The Content-Security-Policy: this style, this script, and nothing else."""
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _column_labels(table: PageTable) -> str:
    """The heads of a table's columns before its cells, for screens on which each row is a card; and numbers at the
    right on others.
    """
    rules = []
    for i, column in enumerate(table.columns, 1):
        cell = f"#{table.name} td:nth-child({i})"
        rules.append(f'{cell}::before {{ content: "{column.head}" }}\n')
        if column.number:
            rules.append(f"{cell} {{ text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }}\n")
    return "".join(rules)


def _head(text: str) -> str:
    return text[:1].upper() + text[1:]


def _tiles(contents: FleetContents, total: FleetSum) -> Iterator[Tile]:
    fleet = contents.fleet
    if total.hour.high:
        bound = "at least" if total.unpriced else ""
        notes = [f"{amounts(total.hour)} an hour"]
        if total.hour.low != total.hour.high:
            notes.insert(0, f"{money(total.hour.month.low, '')} with the fewest replicas")
        if total.unpriced:
            notes.append(f"no price for {counted(total.unpriced_workloads, 'workload')} on {listed(total.unpriced)}")
        month = money(total.hour.month.high, "")
        label = "A month with the most replicas" if total.unpriced else "A month at most"
        yield Tile(label, month, tuple(notes), bound, unit=fleet.currency, style="wide")
    notes = [f"{number_range(total.pods.low, total.pods.high)} {'pod' if total.pods.high == 1 else 'pods'}"]
    if total.parts.high:
        notes.insert(0, f"and {number_range(total.parts.low, total.parts.high)} {gpu_unit(total.parts.high, True)}")
    if total.cards.surge > total.cards.high:
        notes.append(f"{total.cards.surge:,} GPUs while rollouts replace pods")
    yield Tile("GPUs", number_range(total.cards.low, total.cards.high), tuple(notes), style="long")
    kinds = {
        "model": {row.model for row in fleet.rows},
        "environment": {row.environment for row in fleet.rows if row.environment},
        "owner": {row.owner for row in fleet.rows} if fleet.has_owners else set(),
    }
    counts = [counted(len(values), kind) for kind, values in kinds.items() if values]
    yield Tile("Workloads", f"{total.workloads:,}", tuple(counts))
    names = sum(len(table.rows) for table in contents.routes.values())
    unrouted = sum(len(table.unrouted) for table in contents.routes.values())
    yield Tile("Public names", f"{names:,}", (f"{counted(unrouted, 'app')} without a route",) if unrouted else ())


def _verdicts(rows: Sequence[FleetRow]) -> list[OutcomeShare]:
    """The outcomes of all workloads with accelerators."""
    counts = Counter(outcome(row.fit) for row in rows if row.accelerators.high)
    before, start, verdicts = 0, 0, []
    for name, style in _CLASSES.items():
        if count := counts[name]:
            before += count
            end = before * WIDTH // counts.total()
            verdicts.append(OutcomeShare(name, style, count, start, end - start))
            start = end
    return verdicts


def _workloads(contents: FleetContents, source_url: str) -> PageTable:
    fleet = contents.fleet
    is_priced = any(row.hour for row in fleet.rows)
    cells = [_cells(row, row_cells(row, fleet), is_priced) for row in fleet.rows]
    # The workload is what a row is about: it comes first.
    order = sorted(shown_columns(COLUMNS, cells), key=lambda i: COLUMNS[i].head != "workload")
    columns = [COLUMNS[i] for i in order]
    rows = [
        PageRow(
            tuple([of_row[i] for i in order]),
            source_link(source_url, row.file, contents.lines[row]),
            _CLASSES[outcome(row.fit)] if of_row[-1] else "",
        )
        for row, of_row in zip(fleet.rows, cells, strict=True)
    ]
    heads = [PageColumn(_head(c.head), c.number, _FILTERS.get(c.head, "")) for c in columns]
    return PageTable("workloads", tuple(heads), tuple(rows))


def _cells(row: FleetRow, cells: list[str], is_priced: bool) -> list[str]:
    """The cells of a workload, with what is not known in words."""
    by_head = {column.head: i for i, column in enumerate(COLUMNS)}
    if is_priced and row.is_unpriced:
        cells[by_head["an hour"]] = "no price"
    if row.accelerators.high and not row.fit:
        cells[by_head["fit"]] = UNKNOWN
    return cells


def _public_names(contents: FleetContents) -> PageTable:
    """A row for each public name and target. Cells that are alike in all rows are left out where the text says them."""
    routed = [(name, row) for name, table in contents.routes.items() for row in table.rows]
    lines = [(environment, describe_gateway(row), cells) for environment, row in routed for cells in line_cells(row)]
    shown = shown_columns(ROUTE_COLUMNS, [cells for _, _, cells in lines])
    has_environments = any(environment for environment, _ in routed)
    has_gateways = len({gateway for _, gateway, _ in lines}) > 1
    columns = [PageColumn(_head(ROUTE_COLUMNS[i].head)) for i in shown]
    rows = [[cells[i] for i in shown] for _, _, cells in lines]
    if has_environments:
        columns.insert(1, PageColumn("Environment", filter="environment"))
        for row, (environment, _, _) in zip(rows, lines, strict=True):
            row.insert(1, environment)
    if has_gateways:
        columns.append(PageColumn("Gateway"))
        for row, (_, gateway, _) in zip(rows, lines, strict=True):
            row.append(gateway)
    return PageTable("names", tuple(columns), tuple([PageRow(tuple(row)) for row in rows]))


def _route_lines(contents: FleetContents) -> Iterator[str]:
    """What is to be said of the routes of each environment beside their table."""
    gateways = {describe_gateway(row) for table in contents.routes.values() for row in table.rows}
    if len(gateways) == 1:
        yield from gateways
    for name, table in contents.routes.items():
        before = f"{name}: " if name else ""
        yield f"{before}{summarize_routes(table)}"
        yield from (f"{before}{line}" for line in describe_replaced(table, str))
