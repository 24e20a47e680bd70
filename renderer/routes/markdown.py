"""Writes routes as Markdown: tables, and the same as Mermaid flowcharts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from renderer.routes.rows import RouteLeg, RouteRow, RouteTable
from renderer.routes.table import TableLine, columns, priority, table_lines
from renderer.routes.wording import api_name, describe_gateway, describe_replaced, replicas
from renderer.text.escapes import markdown_code, markdown_text, mermaid_label
from renderer.text.text_table import shorten

# One chart of 500 edges or 50,000 characters is more than Mermaid draws by default, and more than anybody reads.
_LEGS = 25
_LONGEST = 80


def markdown(table: RouteTable) -> str:
    """A table and flowcharts for each Gateway."""
    parts = [_gateway_section(first, rows) for first, rows in table.by_gateway()]
    replaced = [f"{line}\n" for line in describe_replaced(table, markdown_code)]
    return "# Routes\n\n" + ("\n".join([*parts, *replaced]) or "No model is routed.\n")


def _gateway_section(first: RouteRow, rows: Sequence[RouteRow]) -> str:
    heads, table_rows = columns(rows)
    markdown_rows = [f"| {' | '.join(head.head for head in heads)} |", "|---" * len(heads) + "|"]
    for table_row in table_rows:
        cells = [_cell(text) if head.code else markdown_text(text) for head, text in zip(heads, table_row, strict=True)]
        markdown_rows.append(f"| {' | '.join(cells)} |")
    return "\n".join([f"## {markdown_text(describe_gateway(first))}", "", *markdown_rows, "", *_charts(rows)])


def _charts(rows: Sequence[RouteRow]) -> Iterator[str]:
    parts: list[list[RouteRow]] = [[]]
    for row in rows:
        if parts[-1] and sum(len(table_lines(row_of_chart)) for row_of_chart in [*parts[-1], row]) > _LEGS:
            parts.append([])
        parts[-1].append(row)
    for part in parts:
        if len(parts) > 1:
            yield f"From {_cell(part[0].name)} to {_cell(part[-1].name)}:\n"
        yield f"```mermaid\n{chart(part)}```\n"


def chart(rows: Sequence[RouteRow]) -> str:
    """A flowchart of the routes of one Gateway: public names → workloads, pools and providers → models.

    Node ids are made of names, not of numbers, so that one more model changes only a few lines.
    """
    chart_lines = ["flowchart LR", '  clients(["clients"]) --> gateway']
    chart_lines.append(f"  subgraph gateway[{_label(describe_gateway(rows[0]))}]")
    chart_lines += [f"    {_name_id(row)}([{_name_label(row)}])" for row in rows]
    chart_lines.append("  end")
    all_lines = [line for row in rows for line in table_lines(row)]
    chart_lines += [_chart_edge(line, line.leg) for line in all_lines if line.leg]
    # Several public names may lead to one target, so each target is written once.
    ends = {_target_id(line.row, line.leg): (line.row, line.leg) for line in all_lines if line.leg}
    chart_lines += [f"  {end}{_target_node(row, leg)}" for end, (row, leg) in ends.items()]
    served = {
        (_target_id(line.row, line.leg), line.leg.workload.model)
        for line in all_lines
        if line.leg and line.leg.workload
    }
    of_nodes = {(end, leg.workload.model) for end, (_, leg) in ends.items() if leg.workload}
    chart_lines += [f"  {end} --> {_node_id('model', model)}" for end, model in sorted(served - of_nodes)]
    chart_lines += [f"  {_node_id('model', model)}[({_label(model)})]" for model in sorted({it[1] for it in served})]
    return "\n".join(chart_lines) + "\n"


def _name_id(row: RouteRow) -> str:
    """The node id of a public name; the kind is part of it, since an app and a ModelRoute may have the same name,
    and an adapter or further main model, since its app has a name too.
    """
    apps = ("Playground", "Service")
    entry = [row.entry] if row.entry else []
    return _node_id("name" if row.kind in apps else row.kind.lower(), row.namespace, row.owner, *entry)


def _name_label(row: RouteRow) -> str:
    """The node label of a public name: the name, its route or owner, who may call, and whether it is only reserved."""
    route = f"route {row.namespace}/{row.route}" if row.kind in ("Playground", "Service") else ""
    more = [f"only {', '.join(row.allowed)}"] if row.allowed else []
    more += [] if row.route else ["only reserved"]
    return _label(row.name, route or f"{row.kind} {row.namespace}/{row.owner}", *more)


def _chart_edge(line: TableLine, leg: RouteLeg) -> str:
    """The edge from a public name to a target, labelled with share, priority and the model's name there."""
    row = line.row
    candidates = (
        f"{line.weight} of {line.total}" if line.total else "",
        priority(line),
        _asked(line, leg),
    )
    edge_labels = [text for text in candidates if text]
    share = f"|{_label(*edge_labels)}|" if edge_labels else ""
    return f"  {_name_id(row)} -->{share} {_target_id(row, leg)}"


def _asked(line: TableLine, leg: RouteLeg) -> str:
    """By which name, or for which adapter, requests ask a target; '' for its model itself."""
    if leg.workload and (adapter := leg.workload.adapters.get(line.called or line.row.name)):
        return f"adapter {adapter}"
    return f"as {line.called}" if line.called else ""


def _target_id(row: RouteRow, leg: RouteLeg) -> str:
    return _node_id("provider" if leg.provider else "pool" if leg.pool else "backend", row.namespace, leg.to)


def _target_node(row: RouteRow, leg: RouteLeg) -> str:
    """The node of a target, and for a workload the edge to its model."""
    if leg.provider:
        return f"[/{_label(leg.provider.hostname, f'speaks {api_name(leg)}')}/]"
    if not leg.workload:
        return f"[{_label(f'pool {row.namespace}/{leg.to}')}]"
    count = f"{replicas(leg)} {'replica' if leg.workload.high == 1 and not leg.workload.prefill else 'replicas'}"
    names = [f"pool {leg.to}", f"picker {leg.workload.picker}"] if leg.pool else [leg.to]
    label = _label(*names, f"{leg.workload.kind} {row.namespace}/{leg.workload.app}", count)
    return f"[{label}] --> {_node_id('model', leg.workload.model)}"


def _node_id(*words: str) -> str:
    """A node id. Names of objects contain no `_`, so ids are unique."""
    return ".".join(word.replace("-", "_") for word in words)


def _label(*lines: str) -> str:
    return mermaid_label(*(shorten(line, _LONGEST) for line in lines))


def _cell(text: str) -> str:
    """A cell of a table as code, safe for any content."""
    return markdown_code(shorten(text, 4096)) if text else ""
