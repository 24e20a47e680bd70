"""Routes as a table for a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from renderer import escapes
from renderer.records import NamedTuple
from renderer.routes.rows import Leg, Routes, Row

_BROUGHT = {"apiKeys": "an API key", "jwt": "a token"}
_WIDEST = 48  # of a cell: a served name may have 4,096 bytes
# What the schemas of the AI gateway are called by those who make them.
_SPOKEN = {"AWSBedrock": "AWS Bedrock", "AWSAnthropic": "Anthropic on AWS", "AzureOpenAI": "Azure OpenAI"}


class Line(NamedTuple):
    """A leg by one of the names by which requests go on, `called`, empty for the public one and the OpenModel's; no leg
    for a name that is only reserved. `total`: the weights that it shares with, its own among them, 0 where it shares
    with nobody.
    """

    row: Row
    leg: Leg | None
    called: str = ""
    weight: int = 0
    total: int = 0


class Column(NamedTuple):
    """A column: whether its cells are names, and whether it stands only where some line has something to say there."""

    head: str
    code: bool = True
    spare: bool = False


_COLUMNS = (
    Column("public name"),
    Column("owner"),
    Column("route", spare=True),
    Column("leads to"),
    Column("model"),
    Column("replicas", code=False),
    Column("weight", code=False, spare=True),
    Column("only for", code=False, spare=True),
)


def table(found: Routes) -> str:
    """A table for each Gateway, a line a backend; '' without routes."""
    doors = (f"{escapes.line(door(first))}\n\n{_lined(rows)}" for first, rows in found.doors())
    return escapes.lines("\n".join(doors))


def summary(found: Routes) -> str:
    """How many there are, in a line."""
    names, gateways = len(found.rows), len({row.gateway for row in found.rows})
    kept = sum(not row.route for row in found.rows)
    said = f"{_count(names, 'public name')} on {_count(gateways, 'Gateway')}"
    said += f", {kept:,} only reserved" if kept else ""
    why = ", ".join(sorted({each[3] for each in found.apart}))
    return said + (f"; {_count(len(found.apart), 'app')} without a route ({why})" if found.apart else "")


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def door(row: Row) -> str:
    """What a public name is reached through, in a line."""
    hosts = f"on {', '.join(row.hostnames)}" if row.hostnames else "on any host"
    return f"Gateway {'/'.join(row.gateway)} {hosts}" + (f", {asks(row)}" if row.asked else "")


def asks(row: Row) -> str:
    """What a client has to bring; '' where nobody asks."""
    return f"asks for {' or '.join(_BROUGHT[each] for each in row.asked)}" if row.asked else ""


def lines(row: Row) -> list[Line]:
    """A line a leg, or one a name by which requests go on to a pool."""
    made = []
    for leg in row.legs:
        shares = [(name, 1 if weight is None else weight) for name, weight in leg.names]
        weights = [each[1] for each in shares] or [each.weight for each in row.legs if each.priority == leg.priority]
        total = sum(weights) if len(weights) > 1 else 0
        for name, weight in shares or [(leg.override, leg.weight)]:
            made.append(Line(row, leg, "" if name in (row.name, *_own(leg)) else name, weight, total))
    return made or [Line(row, None)]


def _own(leg: Leg) -> tuple[str, ...]:
    """Names that say no more than the OpenModel's own, which holds `--` for a dot."""
    return (leg.behind.model, leg.behind.model.replace("--", ".")) if leg.behind else ()


def columns(rows: Sequence[Row]) -> tuple[list[Column], list[list[str]]]:
    """What a table of these rows shows, and the cells of every line. Further lines of a name stand below it, without
    repeating what holds for all of them.
    """
    made = [line for row in rows for line in _cells(row)]
    shown = [i for i, each in enumerate(_COLUMNS) if not each.spare or any(line[i] for line in made)]
    return [_COLUMNS[i] for i in shown], [[line[i] for i in shown] for line in made]


def _cells(row: Row) -> Iterator[list[str]]:
    """What _COLUMNS name; empty where there is nothing to say."""
    for i, line in enumerate(lines(row)):
        leg = line.leg
        yield [
            row.name if i == 0 else "",
            f"{row.kind} {row.namespace}/{row.owner}" if i == 0 else "",
            row.route if i == 0 and row.route != row.owner else "",
            where(leg) if leg else "nothing (reserved)",
            _model(line),
            replicas(leg) if leg else "",
            ", ".join(filter(None, (str(line.weight) if line.total else "", priority(line)))),
            ", ".join(row.allowed) if i == 0 else "",
        ]


def priority(line: Line) -> str:
    """When a leg gets requests, where there are several priorities; those that share the first say their shares."""
    priorities = {each.priority for each in line.row.legs}
    if not line.leg or len(priorities) == 1 or (line.total and line.leg.priority == min(priorities)):
        return ""
    return f"priority {line.leg.priority}"


def _model(line: Line) -> str:
    """The OpenModel, and by which name it is asked for where that says more; of a provider its own name."""
    leg = line.leg
    if leg and leg.outer:
        return line.called or line.row.name
    return " as ".join(filter(None, (leg.behind.model if leg and leg.behind else "", line.called)))


def where(leg: Leg) -> str:
    """What stands behind a public name: a workload, a pool and who picks of it, or a provider and what it speaks."""
    if leg.outer:
        port = f":{leg.outer.port}" if leg.outer.port != 443 else ""
        return f"{leg.outer.hostname}{port} ({spoken(leg)})"
    if leg.pool:
        return f"pool {leg.to}" + (f" ({leg.behind.picker})" if leg.behind else "")
    return leg.to


def spoken(leg: Leg) -> str:
    """What a provider speaks."""
    name = dict(leg.outer.speaks)["name"] if leg.outer else ""
    return _SPOKEN.get(name, name)


def replicas(leg: Leg) -> str:
    """How many there are: one number, or from – to under an autoscaler; '' where nobody knows."""
    if not leg.behind:
        return ""
    low, high = leg.behind.low, leg.behind.high
    return str(low) if low == high else f"{low}–{high}"


def cut(text: str, most: int) -> str:
    """The text on one line, with `…` for what is more than that many characters."""
    shown = text if text.isprintable() and text == text.strip() else escapes.json_text(text)
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def _lined(rows: Sequence[Row]) -> str:
    heads, made = columns(rows)
    lined = [[each.head.upper() for each in heads], *([cut(cell, _WIDEST) for cell in line] for line in made)]
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
