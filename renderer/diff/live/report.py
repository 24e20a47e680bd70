"""Writes a comparison of a running cluster with the tree, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.diagnostics import counted
from renderer.diff.fields import ABSENT
from renderer.diff.live.records import (
    ADDED,
    ADDS,
    CLASSES,
    COMPARED,
    EQUAL,
    IMMUTABLE,
    LOST,
    NOT_RENDERED,
    UNEXPLAINED,
    Difference,
    LiveObject,
    LiveReport,
)
from renderer.diff.live.rules import RULES
from renderer.diff.objects import ObjectKey
from renderer.diff.wording import format_value, shorten
from renderer.text import escapes

_LONGEST = 160


def live_text(report: LiveReport, *, show_values: bool = False, brief: bool = False) -> str:
    """For each object what is lost, unexplained, equal in effect and added; at the end the counts. `show_values`: also
    those that may be secrets; `brief`: of what a rule explains the rule alone.
    """
    parts = ["\n".join(_object(item, show_values, brief)) for item in report.objects if item.state != ADDED]
    added = [f"  {item.title}" for item in report.objects if item.state == ADDED]
    if added:
        parts.append("\n".join(["Ours adds these objects", *added]))
    return escapes.lines("\n\n".join([*parts, "\n".join(_summary(report))]) + "\n")


def live_json(report: LiveReport, *, show_values: bool = False) -> str:
    """The same as JSON. A value is null on a side that does not have it."""
    document = {
        "lost": report.lost,
        "unexplained": report.unexplained,
        "immutable": report.count(IMMUTABLE),
        "equalInEffect": report.count(EQUAL),
        "oursAdds": report.count(ADDS),
        "same": report.same,
        "deviations": report.deviations,
        "skipped": dict(report.skipped),
        "objects": [
            {
                "state": item.state,
                "theirs": _key(item.theirs),
                "ours": _key(item.ours),
                "file": item.file or None,
                "owners": list(item.owners),
                "same": item.same,
                "differences": [_difference(difference, show_values) for difference in item.differences],
            }
            for item in report.objects
        ],
    }
    return escapes.json_text(document, indent=2, default=str) + "\n"


def _key(key: ObjectKey | None) -> dict[str, object] | None:
    if key is None:
        return None
    return {"group": key.group, "kind": key.kind, "namespace": key.namespace or None, "name": key.name}


def _difference(difference: Difference, show_values: bool) -> dict[str, object]:
    theirs, ours = _sides(difference, show_values)
    return {
        "path": difference.path,
        "class": difference.kind,
        "theirs": None if theirs is ABSENT else theirs,
        "ours": None if ours is ABSENT else ours,
        "rule": difference.rule or None,
        "deviation": difference.deviation or None,
    }


def _sides(difference: Difference, show_values: bool) -> tuple[object, object]:
    return (difference.theirs, difference.ours) if show_values else difference.hide_secrets()


def _object(item: LiveObject, show_values: bool, brief: bool) -> Iterator[str]:
    yield escapes.line(f"{item.title}{'' if item.state == COMPARED else f': {NOT_RENDERED}'}")
    for owner in item.owners:
        yield escapes.line(f"  owned by {owner}")
    for kind in CLASSES:
        rules: dict[str, list[Difference]] = {}
        for difference in item.of_kind(kind):
            rules.setdefault(difference.rule, []).append(difference)
        for name, differences in rules.items():
            yield f"  {kind}{_reason(name, differences[0].deviation)}"
            for difference in differences if not (brief and name) else ():
                yield shorten(escapes.line(f"    {_line(difference, show_values)}"), _LONGEST)
    if item.state == COMPARED:
        yield f"  same: {counted(item.same, 'field')}"


def _reason(name: str, deviation: int) -> str:
    number = f", deviation {deviation}" if deviation else ""
    return f" ({name}{number}): {RULES[name].sentence}" if name else ""


def _line(difference: Difference, show_values: bool) -> str:
    theirs, ours = _sides(difference, show_values)
    if theirs is ABSENT:
        return f"{difference.path}: {format_value(ours)}"
    if ours is ABSENT:
        return f"{difference.path}: {format_value(theirs)}"
    return f"{difference.path}: {format_value(theirs)} → {format_value(ours)}"


def _summary(report: LiveReport) -> Iterator[str]:
    if report.skipped:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in report.skipped.items())
        yield escapes.line(f"not compared: {kinds}")
    compared = sum(item.state == COMPARED for item in report.objects)
    words = {LOST: "lost", UNEXPLAINED: "unexplained", IMMUTABLE: "immutable", EQUAL: "equal in effect", ADDS: "added"}
    counts = ", ".join(f"{report.count(kind):,} {words[kind]}" for kind in CLASSES)
    yield f"{counted(compared, 'object')} compared: {counts}, {report.same:,} the same"
