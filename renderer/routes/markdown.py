"""Routes in Markdown: a table, and the same as Mermaid flowcharts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from renderer.routes.rows import Routes, Row
from renderer.routes.table import HEADS, cells, cut, door, replicas

# One chart of 500 edges or 50,000 characters is more than Mermaid draws by default, and more than anybody reads.
_LEGS = 25
_LONGEST = 80
_PLAIN = re.compile(r"[\w./:@+ –-]+")
_SPECIAL = re.compile(r"[^\w .:/@+,–…-]|_|\.(?= )")  # "1. " would begin a list


def markdown(found: Routes) -> str:
    """For each Gateway a table and its charts."""
    parts = [_gateway(first, rows) for first, rows in found.doors()]
    return "# Routes\n\n" + ("\n".join(parts) or "No model is routed.\n")


def _gateway(first: Row, rows: Sequence[Row]) -> str:
    lines = [f"| {' | '.join(HEADS)} |", "|---" * len(HEADS) + "|"]
    lines += [f"| {' | '.join(_cells(cells(row, leg)))} |" for row in rows for leg in row.legs]
    return "\n".join([f"## {_text(door(first))}", "", *lines, "", *_charts(rows)])


def _cells(said: Sequence[str]) -> list[str]:
    """Names as code, numbers and people as they are."""
    return [_cell(text) if i < 5 else _text(text) for i, text in enumerate(said)]


def _charts(rows: Sequence[Row]) -> Iterator[str]:
    parts: list[list[Row]] = [[]]
    for row in rows:
        if parts[-1] and sum(len(each.legs) for each in [*parts[-1], row]) > _LEGS:
            parts.append([])
        parts[-1].append(row)
    for part in parts:
        if len(parts) > 1:
            yield f"From {_cell(part[0].name)} to {_cell(part[-1].name)}:\n"
        yield f"```mermaid\n{chart(part)}```\n"


def chart(rows: Sequence[Row]) -> str:
    """A flowchart of the routes of one Gateway: public names → workloads → models.

    Objects are known by their names, not by a number, so that a model more is a few lines more.
    """
    made = ["flowchart LR", '  clients(["clients"]) --> gateway']
    made.append(f"  subgraph gateway[{_label(door(rows[0]))}]")
    for row in rows:
        only = [f"only {', '.join(row.allowed)}"] if row.allowed else []
        said = _label(row.name, f"route {row.namespace}/{row.route}", *only)
        made.append(f"    {_id('name', row.namespace, row.owner)}([{said}])")
    made.append("  end")
    models: dict[str, None] = {}
    for row in rows:
        total = sum(leg.weight for leg in row.legs)
        for leg in row.legs:
            backend = _id("backend", row.namespace, leg.backend)
            share = f'|"{leg.weight} of {total}"|' if len(row.legs) > 1 else ""
            count = f"{replicas(leg)} {'replica' if leg.high == 1 else 'replicas'}"
            said = _label(leg.backend, f"{leg.kind} {row.namespace}/{leg.app}", count)
            made.append(f"  {_id('name', row.namespace, row.owner)} -->{share} {backend}[{said}]")
            made.append(f"  {backend} --> {_id('model', leg.model)}")
            models[leg.model] = None
    made += [f"  {_id('model', model)}[({_label(model)})]" for model in sorted(models)]
    return "\n".join(made) + "\n"


def _id(*words: str) -> str:
    """A node's own word. Names of objects hold no `_`, so no two of them come to the same."""
    return ".".join(word.replace("-", "_") for word in words)


def _label(*lines: str) -> str:
    """A quoted label; characters that mean something to Mermaid, HTML or Markdown stand as numbers."""
    return '"' + "<br>".join(_SPECIAL.sub(_numbered, cut(line, _LONGEST)) for line in lines) + '"'


def _numbered(found: re.Match[str]) -> str:
    # Mermaid breaks the line at a backslash and an n, unless something stands between them that nobody sees.
    return f"#{ord(found[0])};" + ("#8203;" if found[0] == "\\" else "")


def _cell(text: str) -> str:
    """A cell of a table as code, whatever it holds."""
    shown = cut(text, 4096)
    return f"`{shown}`" if _PLAIN.fullmatch(shown) else f"<code>{_text(shown)}</code>"


def _text(text: str) -> str:
    """Text that Markdown takes as it is: what may mean something to it stands as a number."""
    return re.sub(r"[^\w ./:,@+–…-]|_", lambda found: f"&#{ord(found[0])};", text)
