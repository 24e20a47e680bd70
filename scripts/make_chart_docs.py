"""Makes what charts/llmaz says of its own values, from the comments of values.yaml.

    python scripts/make_chart_docs.py            # writes README.md's tables and files/defaults.yaml
    python scripts/make_chart_docs.py --check    # says what is not as it would be written, exit code 1

A comment `# -- …` above a key, with the lines that follow it, says what the key is for. Every key that is not a map has
to have one. The tables stand between `<!-- values -->` and `<!-- /values -->`. files/defaults.yaml repeats the
components that upstream's chart knows by another name, since a template cannot ask what a value was before the user's
came.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

CHART = Path(__file__).resolve().parent.parent / "charts" / "llmaz"
ALIASED = ("envoyGateway", "envoyAIGateway", "openWebUI", "inftyaiScheduler")
START, END = "<!-- values -->", "<!-- /values -->"


class Row(NamedTuple):
    """A key of values.yaml: its whole path, its default as it is written, and what the comment says."""

    path: str
    default: str
    text: str


def rows(text: str) -> Iterator[Row]:
    """The documented keys, in their order; ValueError for a key without words, which is not a map of such keys."""
    values = yaml.safe_load(text)
    path: list[tuple[int, str]] = []
    comment: list[str] = []
    covered = -1
    for number, line in enumerate(text.splitlines(), start=1):
        if match := re.match(r"( *)# ?(.*)", line):
            words = match[2]
            if words.startswith("-- "):
                comment = [words[3:]]
            elif comment:
                comment.append(words)
            continue
        match = re.match(r"( *)([A-Za-z][\w-]*):(.*)", line)
        if not match:
            comment = [] if not line.strip() else comment
            continue
        indent = len(match[1])
        if 0 <= covered < indent:
            continue  # below a key that was documented as a whole
        covered = -1
        path = [parent for parent in path if parent[0] < indent] + [(indent, match[2])]
        names = [name for _, name in path]
        value: Any = values
        for name in names:
            value = value[name]
        if comment:
            yield Row(".".join(names), json.dumps(value, ensure_ascii=False), " ".join(comment))
            covered = indent
        elif not isinstance(value, dict) or not value:
            raise ValueError(f"values.yaml:{number}: {'.'.join(names)} has no comment")
        comment = []


def table(documented: list[Row]) -> str:
    """The tables in Markdown, one for each key at the top that has several, before it those that stand alone."""
    tables: list[str] = []
    alone = [row for row in documented if "." not in row.path]
    groups: dict[str, list[Row]] = {}
    for row in documented:
        if "." in row.path:
            groups.setdefault(row.path.partition(".")[0], []).append(row)
    for title, members in (("Top", alone), *groups.items()):
        head = "### At the top" if title == "Top" else f"### {title}"
        lines = [f"| `{row.path}` | {_cell(row.default)} | {row.text.replace('|', chr(92) + '|')} |" for row in members]
        tables.append("\n".join([head, "", "| key | default | what it says |", "|---|---|---|", *lines]))
    return "\n\n".join(tables)


def _cell(default: str) -> str:
    escaped = default.replace("|", "\\|")
    return f"`{escaped}`"


def readme(text: str, values: str) -> str:
    """README.md with the tables of these values."""
    before, rest = text.split(START)
    after = rest.split(END)[1]
    return f"{before}{START}\n\n{table(list(rows(values)))}\n\n{END}{after}"


def defaults(values: str) -> str:
    """files/defaults.yaml."""
    loaded = yaml.safe_load(values)
    head = "# Made by scripts/make_chart_docs.py from values.yaml: what a component is when nobody says anything.\n"
    return head + yaml.safe_dump({name: loaded[name] for name in ALIASED}, sort_keys=False)


def make_texts() -> dict[Path, str]:
    """What is written, by file."""
    values = (CHART / "values.yaml").read_text("utf-8")
    page = CHART / "README.md"
    return {page: readme(page.read_text("utf-8"), values), CHART / "files" / "defaults.yaml": defaults(values)}


def main() -> None:
    """Writes, or checks."""
    differ = [path for path, text in make_texts().items() if not path.exists() or path.read_text("utf-8") != text]
    if "--check" in sys.argv[1:]:
        for path in differ:
            print(f"{path} is not what scripts/make_chart_docs.py makes of values.yaml")
        sys.exit(bool(differ))
    for path in differ:
        path.write_text(make_texts()[path], "utf-8")
        print(path)


if __name__ == "__main__":
    main()
