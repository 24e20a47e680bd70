"""Routes in Markdown: a table, and the same as Mermaid flowcharts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from renderer.escapes import markdown_code, markdown_text, mermaid_label
from renderer.routes.rows import Leg, Routes, Row
from renderer.routes.table import Line, columns, cut, door, lines, priority, replicas, spoken

# One chart of 500 edges or 50,000 characters is more than Mermaid draws by default, and more than anybody reads.
_LEGS = 25
_LONGEST = 80


def markdown(found: Routes) -> str:
    """For each Gateway a table and its charts."""
    parts = [_gateway(first, rows) for first, rows in found.doors()]
    return "# Routes\n\n" + ("\n".join(parts) or "No model is routed.\n")


def _gateway(first: Row, rows: Sequence[Row]) -> str:
    heads, made = columns(rows)
    lined = [f"| {' | '.join(each.head for each in heads)} |", "|---" * len(heads) + "|"]
    for line in made:
        cells = [_cell(text) if head.code else markdown_text(text) for head, text in zip(heads, line, strict=True)]
        lined.append(f"| {' | '.join(cells)} |")
    return "\n".join([f"## {markdown_text(door(first))}", "", *lined, "", *_charts(rows)])


def _charts(rows: Sequence[Row]) -> Iterator[str]:
    parts: list[list[Row]] = [[]]
    for row in rows:
        if parts[-1] and sum(len(lines(each)) for each in [*parts[-1], row]) > _LEGS:
            parts.append([])
        parts[-1].append(row)
    for part in parts:
        if len(parts) > 1:
            yield f"From {_cell(part[0].name)} to {_cell(part[-1].name)}:\n"
        yield f"```mermaid\n{chart(part)}```\n"


def chart(rows: Sequence[Row]) -> str:
    """A flowchart of the routes of one Gateway: public names → workloads, pools and providers → models.

    Objects are known by their names, not by a number, so that a model more is a few lines more.
    """
    made = ["flowchart LR", '  clients(["clients"]) --> gateway']
    made.append(f"  subgraph gateway[{_label(door(rows[0]))}]")
    made += [f"    {_name(row)}([{_said(row)}])" for row in rows]
    made.append("  end")
    every = [line for row in rows for line in lines(row)]
    made += [_edge(line, line.leg) for line in every if line.leg]
    # Several names may lead to one of these, so each is said once, apart from what leads there.
    ends = {_end(line.row, line.leg): (line.row, line.leg) for line in every if line.leg}
    made += [f"  {end}{_shape(row, leg)}" for end, (row, leg) in ends.items()]
    models = {line.leg.behind.model for line in every if line.leg and line.leg.behind}
    made += [f"  {_id('model', model)}[({_label(model)})]" for model in sorted(models)]
    return "\n".join(made) + "\n"


def _name(row: Row) -> str:
    """A name's node: an app and what leads to apps may be called alike."""
    apps = ("Playground", "Service")
    return _id("name" if row.kind in apps else row.kind.lower(), row.namespace, row.owner)


def _said(row: Row) -> str:
    """Who has a name: an app stands behind its route anyway."""
    own = f"route {row.namespace}/{row.route}" if row.kind in ("Playground", "Service") else ""
    more = [f"only {', '.join(row.allowed)}"] if row.allowed else []
    more += [] if row.route else ["only reserved"]
    return _label(row.name, own or f"{row.kind} {row.namespace}/{row.owner}", *more)


def _edge(line: Line, leg: Leg) -> str:
    """What part of the requests goes there, when, and by which name."""
    row = line.row
    told = (
        f"{line.weight} of {line.total}" if line.total else "",
        priority(line),
        f"as {line.called}" if line.called else "",
    )
    said = [each for each in told if each]
    share = f"|{_label(*said)}|" if said else ""
    return f"  {_name(row)} -->{share} {_end(row, leg)}"


def _end(row: Row, leg: Leg) -> str:
    return _id("provider" if leg.outer else "pool" if leg.pool else "backend", row.namespace, leg.to)


def _shape(row: Row, leg: Leg) -> str:
    """The label of what a name leads to, and the way on to the model."""
    if leg.outer:
        return f"[/{_label(leg.outer.hostname, f'speaks {spoken(leg)}')}/]"
    if not leg.behind:
        return f"[{_label(f'pool {row.namespace}/{leg.to}')}]"
    count = f"{replicas(leg)} {'replica' if leg.behind.high == 1 else 'replicas'}"
    named = [f"pool {leg.to}", f"picker {leg.behind.picker}"] if leg.pool else [leg.to]
    said = _label(*named, f"{leg.behind.kind} {row.namespace}/{leg.behind.app}", count)
    return f"[{said}] --> {_id('model', leg.behind.model)}"


def _id(*words: str) -> str:
    """A node's own word. Names of objects hold no `_`, so no two of them come to the same."""
    return ".".join(word.replace("-", "_") for word in words)


def _label(*lines: str) -> str:
    return mermaid_label(*(cut(line, _LONGEST) for line in lines))


def _cell(text: str) -> str:
    """A cell of a table as code, whatever it holds."""
    return markdown_code(cut(text, 4096)) if text else ""
