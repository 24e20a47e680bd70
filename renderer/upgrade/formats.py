"""Writes an upgrade for a terminal, as Markdown for a pull request, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from renderer.diagnostics.formats import as_json
from renderer.diff.json_format import to_json
from renderer.diff.markdown import MOST, fit_list, markdown
from renderer.diff.table import table
from renderer.text import escapes
from renderer.upgrade.engine_upgrade import Break, EngineUpgrade
from renderer.upgrade.version_places import VersionPlace
from renderer.upgrade.wording import (
    change_of,
    grouped_defaults,
    mending_of,
    owners_of,
    summary,
    title,
)

_MANY = 6  # workloads of one default that are named
_ROOM = 8_000  # characters of a section of the Markdown
_END = 2_000  # characters for what says that there is more, and for letters that count twice


def text(upgrade: EngineUpgrade) -> str:
    """Sections for versions, what stays, breaks and defaults, each only if it has lines; then the difference of each
    environment.
    """
    sections = {
        "Versions": [f"  {p.place}: {change_of(p)} ({owners_of(p)})" for p in upgrade.changed],
        "Left as they are": [f"  {p.place}: {_stays(p)}" for p in upgrade.left],
        "Breaks": [line for broken in upgrade.certain for line in _break_lines(broken)],
        "May break": [line for broken in upgrade.possible for line in _break_lines(broken)],
    }
    shown = [f"{title(upgrade)}: {summary(upgrade)}"]
    shown += ["\n".join([head, *map(escapes.line, lines)]) for head, lines in sections.items() if lines]
    for environment in upgrade.environments:
        head = "Defaults that moved" + (f" in {environment.name}" if environment.name else "")
        moved = [
            f"  {option} {before} → {after}: {_named(apps)}"
            for (option, before, after), apps in grouped_defaults(environment.defaults)
        ]
        shown += ["\n".join([head, *map(escapes.line, moved)])] if moved else []
    for environment in upgrade.environments:
        shown.append(table(environment.diff, environment.name).rstrip("\n"))
    return escapes.lines("\n\n".join(shown) + "\n")


def _stays(place: VersionPlace) -> str:
    what = f"{place.text}: " if place.text else ""
    return f"{what}{place.reason} ({owners_of(place)})"


def _break_lines(broken: Break) -> Iterator[str]:
    problem = broken.problem
    kind = "" if problem.severity == "error" else f"{problem.severity}: "
    yield f"  {problem.place}: {kind}{problem.text} [{problem.code}]"
    if problem.hint:
        yield f"      hint: {problem.hint}"
    if mending := mending_of(broken):
        yield f"      mended by {mending}"


def _named(apps: Sequence[str]) -> str:
    more = f" and {len(apps) - _MANY:,} more" if len(apps) > _MANY else ""
    return ", ".join(apps[:_MANY]) + more


def as_markdown(upgrade: EngineUpgrade) -> str:
    """The text of a pull request, with the same sections."""
    code = escapes.markdown_code
    parts = [f"### {escapes.markdown_text(title(upgrade))}: {summary(upgrade)}\n"]
    for head, breaks in (("Breaks", upgrade.certain), ("May break", upgrade.possible)):
        rows = []
        for broken in breaks:
            problem, mending = broken.problem, mending_of(broken)
            hint = f"<br>{code(problem.hint)}" if problem.hint else ""
            done = f"<br>Here it is mended by {code(mending)}" if mending else ""
            rows.append(f"* {code(problem.place)}: {code(problem.text)} ({code(problem.code)}){hint}{done}")
        parts.append(_section(head, rows))
    for environment in upgrade.environments:
        head = "Defaults that moved" + (f" in {code(environment.name)}" if environment.name else "")
        moved = [
            f"* {code(option)} {code(before)} → {code(after)}: {code(_named(apps))}"
            for (option, before, after), apps in grouped_defaults(environment.defaults)
        ]
        parts.append(_section(head, moved))
    changed = [
        f"* {code(p.place)}: {code(p.text)} → {code(p.new_text)} ({code(owners_of(p))})" for p in upgrade.changed
    ]
    stays = [f"* {code(p.place)}: {code(_stays(p))}" for p in upgrade.left]
    parts += [_section("Versions", changed), _section("Left as they are", stays)]
    for i, environment in enumerate(upgrade.environments):
        room = MOST - _END - sum(map(len, parts))
        shown = "\n" + markdown(environment.diff, environment.name, room // (len(upgrade.environments) - i))
        if len(shown) > room:
            parts.append(
                "\nThe rest is not shown, since a pull request's text has an end: `llmaz upgrade` shows all.\n"
            )
            break
        parts.append(shown)
    return "".join(parts)


def _section(head: str, rows: Sequence[str]) -> str:
    return f"\n**{head}**\n\n{fit_list(rows, _ROOM)}" if rows else ""


def to_json_text(upgrade: EngineUpgrade) -> str:
    """The upgrade as JSON: engine, version, changed and left places, breaks, and the difference of each environment."""
    problems = json.loads(as_json([broken.problem for broken in upgrade.breaks]))
    document = {
        "engine": upgrade.target.name,
        "version": upgrade.target.version,
        "changed": [_place(place) | {"after": place.new_text} for place in upgrade.changed],
        "left": [_place(place) | {"reason": place.reason} for place in upgrade.left],
        "breaks": [
            problem | {"mended": broken.is_mended} for problem, broken in zip(problems, upgrade.breaks, strict=True)
        ],
        "earlierErrors": upgrade.earlier_errors,
        "environments": [
            {
                "environment": environment.name or None,
                "movedDefaults": [
                    {"workload": d.workload, "option": d.option, "before": d.before, "after": d.after}
                    for d in environment.defaults
                ],
                "diff": json.loads(to_json(environment.diff, environment.name)),
            }
            for environment in upgrade.environments
        ],
    }
    return escapes.json_text(document, indent=2) + "\n"


def _place(place: VersionPlace) -> dict[str, object]:
    return {
        "file": place.file,
        "line": place.line,
        "column": place.column,
        "owners": list(place.owners),
        "before": place.text or None,
    }


FORMS: Mapping[str, Callable[[EngineUpgrade], str]] = {
    "text": text,
    "markdown": as_markdown,
    "json": to_json_text,
}
