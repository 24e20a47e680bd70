"""Writes a comparison of a running cluster with the tree, as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

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
from renderer.text.folding import folded

_LONGEST = 160
_EXPLAINED: Final = (EQUAL, ADDS)
_TOLD_OF_EACH: Final = tuple(kind for kind in CLASSES if kind not in _EXPLAINED)


def live_text(report: LiveReport, *, show_values: bool = False, brief: bool = False) -> str:
    """For each object what is lost, unexplained, equal in effect and added; at the end the counts. `show_values`: also
    those that may be secrets; `brief`: of what a rule explains the rule alone, once for all objects of which the same
    holds.
    """
    objects = [item for item in report.objects if item.state != ADDED]
    blocks = _brief_blocks(objects, show_values) if brief else [_block(item, show_values) for item in objects]
    if added := [item for item in report.objects if item.state == ADDED]:
        blocks.append(["Ours adds these objects", *_added_lines(added, brief)])
    blocks.append([*_summary(report)])
    return escapes.lines("\n\n".join("\n".join(lines) for lines in blocks) + "\n")


def _added_lines(added: Sequence[LiveObject], brief: bool) -> Iterator[str]:
    """The objects that ours adds; `brief`: the first of each kind, and how many more there are."""
    for item, others in folded(added, lambda item: item.kind if brief else None):
        yield f"  {item.title}"
        if others:
            yield f"    and {others:,} more of this kind: -v"


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


def _block(item: LiveObject, show_values: bool, brief: bool = False) -> list[str]:
    """All lines about an object."""
    lines = [*_head(item), *_class_lines(item, CLASSES, show_values, brief)]
    return [*lines, f"  same: {counted(item.same, 'field')}"] if item.state == COMPARED else lines


def _brief_blocks(objects: Sequence[LiveObject], show_values: bool) -> list[list[str]]:
    """The lines about the objects, of what rules explain once for all of which the same holds. What is lost,
    unexplained or immutable, and who owns an object, is told of each.
    """
    blocks: list[list[str]] = []
    firsts: dict[tuple[str, ...], tuple[LiveObject, list[str]]] = {}  # by what is explained, and the lines about it
    others: Counter[tuple[str, ...]] = Counter()
    for item in objects:
        explained = (item.kind, *_class_lines(item, _EXPLAINED, show_values, brief=True))
        own = [*_head(item), *_class_lines(item, _TOLD_OF_EACH, show_values, brief=True)]
        if item.state == COMPARED and explained in firsts:
            if len(own) > 1:
                blocks.append([*own, f"  all else as for {firsts[explained][0].theirs}"])
            else:
                others[explained] += 1
            continue
        blocks.append(_block(item, show_values, brief=True))
        if item.state == COMPARED:
            firsts[explained] = item, blocks[-1]
    for explained, count in others.items():
        firsts[explained][1].append(f"  and {count:,} more like it: -v")
    return blocks


def _head(item: LiveObject) -> Iterator[str]:
    yield escapes.line(f"{item.title}{'' if item.state == COMPARED else f': {NOT_RENDERED}'}")
    for owner in item.owners:
        yield escapes.line(f"  owned by {owner}")


def _class_lines(item: LiveObject, classes: Sequence[str], show_values: bool, brief: bool) -> Iterator[str]:
    """The differences of some classes."""
    for kind in classes:
        rules: dict[str, list[Difference]] = {}
        for difference in item.of_kind(kind):
            rules.setdefault(difference.rule, []).append(difference)
        for name, differences in rules.items():
            yield f"  {kind}{_reason(name, differences[0].deviation)}"
            for difference in differences if not (brief and name) else ():
                yield shorten(escapes.line(f"    {_line(difference, show_values)}"), _LONGEST)


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
