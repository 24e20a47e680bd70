"""Writes routes as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from renderer.diagnostics import counted
from renderer.resolve import CHAT, PATHS
from renderer.routes.rows import RouteLeg, RouteRow, RouteTable
from renderer.routes.wording import MOST, describe_gateway, describe_replaced, describe_target, replicas
from renderer.text import escapes
from renderer.text.text_table import Column, align_columns, shorten, shown_columns


class TableLine(Struct, frozen=True):
    """A line for a leg and one model name that requests are sent on with."""

    row: RouteRow
    leg: RouteLeg | None  # None for a name that is only reserved
    called: str = ""  # the model name, '' if it is the public name or the OpenModel's
    weight: int = 0
    total: int = 0  # the sum of all weights that share the requests, 0 for a single one


class TableColumn(Column, frozen=True):
    """A column."""

    code: bool = True  # its cells are names
    whole: bool = False  # its cells hold for the whole public name


COLUMNS = (
    TableColumn("public name", whole=True),
    TableColumn("owner", whole=True),
    TableColumn("route", whole=True, spare=True),
    TableColumn("path", whole=True, spare=True),
    TableColumn("leads to"),
    TableColumn("model"),
    TableColumn("replicas", code=False),
    TableColumn("weight", code=False, spare=True),
    TableColumn("only for", code=False, whole=True, spare=True),
)


def table(routes: RouteTable) -> str:
    """A table for each Gateway, one line for each backend; '' without routes."""
    sections = (
        f"{escapes.line(describe_gateway(first))}\n\n{_format_table(rows)}" for first, rows in routes.by_gateway()
    )
    replaced = "".join(f"{line}\n" for line in describe_replaced(routes, escapes.line))
    return escapes.lines("\n".join([*sections, *([replaced] if replaced else ())]))


def summary(routes: RouteTable) -> str:
    """The numbers of public names, Gateways and apps without a route, in one line."""
    names, gateways = len(routes.rows), len({row.gateway for row in routes.rows})
    reserved = sum(not row.route for row in routes.rows)
    summary_line = f"{counted(names, 'public name')} on {counted(gateways, 'Gateway')}"
    summary_line += f", {reserved:,} only reserved" if reserved else ""
    why = ", ".join(sorted({app.why for app in routes.unrouted}))
    return summary_line + (
        f"; {counted(len(routes.unrouted), 'app')} without a route ({why})" if routes.unrouted else ""
    )


def table_lines(row: RouteRow) -> list[TableLine]:
    """The lines of a public name: one for each leg, or for each target model of a pool."""
    leg_lines = []
    for leg in row.legs:
        shares = [(name, 1 if weight is None else weight) for name, weight in leg.names]
        weights = [share[1] for share in shares] or [
            sibling.weight for sibling in row.legs if sibling.priority == leg.priority
        ]
        total = sum(weights) if len(weights) > 1 else 0
        for name, weight in shares or [(leg.override, leg.weight)]:
            leg_lines.append(TableLine(row, leg, "" if name in (row.name, *_model_names(leg)) else name, weight, total))
    return leg_lines or [TableLine(row, None)]


def _model_names(leg: RouteLeg) -> tuple[str, ...]:
    """The OpenModel's name and its spelling with dots, which the OpenModel writes as `--`."""
    return (leg.workload.model, leg.workload.model.replace("--", ".")) if leg.workload else ()


def columns(rows: Sequence[RouteRow]) -> tuple[list[TableColumn], list[list[str]]]:
    """The columns of a table of these rows, and the cells of every line. Cells that hold for the whole public name are
    only in its first line.
    """
    all_cells = [
        ["" if i and column.whole else cell for column, cell in zip(COLUMNS, line, strict=True)]
        for row in rows
        for i, line in enumerate(line_cells(row))
    ]
    shown = shown_columns(COLUMNS, all_cells)
    return [COLUMNS[i] for i in shown], [[line[i] for i in shown] for line in all_cells]


def line_cells(row: RouteRow) -> Iterator[list[str]]:
    """The cells of each line of a row, in the order of COLUMNS; '' for none."""
    for line in table_lines(row):
        leg = line.leg
        yield [
            row.name,
            f"{row.kind} {row.namespace}/{row.owner}",
            row.route if row.route != row.owner else "",
            row.path if row.path != PATHS[CHAT] else "",
            describe_target(leg) if leg else "nothing (reserved)",
            _model(line),
            replicas(leg) if leg else "",
            ", ".join(filter(None, (str(line.weight) if line.total else "", priority(line)))),
            ", ".join(row.allowed),
        ]


def priority(line: TableLine) -> str:
    """The priority of a leg if there are several; '' for legs of the first priority that show weights instead."""
    priorities = {leg.priority for leg in line.row.legs}
    if not line.leg or len(priorities) == 1 or (line.total and line.leg.priority == min(priorities)):
        return ""
    return f"priority {line.leg.priority}"


def _model(line: TableLine) -> str:
    """The OpenModel, with `as` and the requested name if that is another, and with an adapter before it; for a provider
    the model's name there.
    """
    leg = line.leg
    if leg and leg.provider:
        return line.called or line.row.name
    if leg and leg.workload and (adapter := leg.workload.adapters.get(line.called or line.row.name)):
        return f"{adapter} on {leg.workload.model}"
    return " as ".join(filter(None, (leg.workload.model if leg and leg.workload else "", line.called)))


def _format_table(rows: Sequence[RouteRow]) -> str:
    heads, table_rows = columns(rows)
    rows_with_head = [
        [head.head.upper() for head in heads],
        *([shorten(cell, MOST) for cell in line] for line in table_rows),
    ]
    return align_columns(rows_with_head)
