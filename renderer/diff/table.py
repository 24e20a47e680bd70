"""Writes a difference for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from renderer.diff.comparison import ObjectChange, TreeDiff
from renderer.diff.models import ModelChange
from renderer.diff.risks import GUARD, Risk
from renderer.diff.wording import (
    RiskGroup,
    accelerators,
    arrow,
    differs,
    format_sides,
    group_risks,
    headline,
    per_replica,
    price_change,
    quota_left,
    replicas,
    roles,
    shorten,
    title,
)
from renderer.text.escapes import line, lines

_SIGNS = {"added": "+", "removed": "-", "changed": "~", "renamed": ">", "moved": "="}
_LONGEST = 160
_MANY = 12  # fields of one object, and objects of one risk, that are shown; the rest is counted


def table(diff: TreeDiff, environment: str = "") -> str:
    """Sections for risks, models, traffic, objects and notes, each only if it has lines; the headline last."""
    parts = [
        list(_risks((risk for risk in diff.risks if risk.kind == GUARD), is_whole=True)),
        list(_risks((risk for risk in diff.risks if risk.kind != GUARD), is_whole=False)),
        [text for model in diff.models for text in _model(model, diff.currency)],
        [line(f"  {change.place}: {roles(change)}") for change in diff.roles],
        [line(f"  {quota.name or 'RenderPolicy'}: {quota.what}: {quota_left(quota)}") for quota in diff.quotas],
        [
            line(f"  {traffic_input.name}: {traffic_input.aspect}: {arrow(traffic_input.before, traffic_input.after)}")
            for traffic_input in diff.traffic
        ],
        [text for change in diff.objects for text in _object(change)],
        [f"  {line(note)}" for note in diff.notes],
    ]
    heads = ("Guard", "Risks", "Models", "Roles", "Quotas", "Traffic", "Objects", "Notes")
    sections = [
        "\n".join([head, *(shorten(text, _LONGEST) for text in part)])
        for head, part in zip(heads, parts, strict=True)
        if part
    ]
    summary = f"{line(environment)}: {headline(diff)}" if environment else headline(diff)
    return lines("\n\n".join([*sections, summary]) + "\n")


def _risks(risks: Iterable[Risk], is_whole: bool) -> Iterator[str]:
    """A line for each risk, or as many as a whole one takes; below those with the same remedy a line of that."""
    for groups in group_risks(risks):
        for group in groups:
            text = _risk(group)
            width = _LONGEST - 10 if is_whole else len(text)
            for start in range(0, len(text), width):
                yield f"  {'    ' if start else ''}{text[start : start + width]}"
        yield f"      remedy: {line(groups[0].risk.remedy)}"


def _risk(group: RiskGroup) -> str:
    places = group.places
    more = f" and {len(places) - _MANY:,} more" if len(places) > _MANY else ""
    return f"{group.risk.title}: {line(', '.join(places[:_MANY]))}{more}: {line(group.risk.message)}"


def _model(change: ModelChange, currency: str) -> Iterator[str]:
    was = f", was {old.place}" if (old := change.renamed_from) else ""
    model = change.after or change.before
    model_name = f" ({model.name})" if model and model.name else ""
    gpu_changes = list(filter(differs, change.gpus))
    is_elsewhere = change.state == "changed" and not (change.facts or change.flags or gpu_changes or change.memory)
    where = " in other fields, which Objects lists" if is_elsewhere else ""
    yield line(f"  {_SIGNS[change.state]} {change.key.place}{model_name}: {change.state}{where}{was}")
    for fact in change.facts:
        yield line(f"      {fact.name}: {arrow(fact.before, fact.after)}")
    for flag in change.flags:
        yield f"      {'worker: ' if flag.of_workers else ''}option {line(str(flag))}"
    if change.state in ("added", "removed"):
        yield f"      replicas: {replicas(change)}"
    for gpus in gpu_changes:
        yield f"      {line(gpus.name)}: {per_replica(gpus)} a replica, {accelerators(gpus)} at most"
    if price := price_change(change, currency):
        yield f"      price: {price} a month at most"
    if change.memory:
        yield f"      GPU memory: {change.memory}"


def _object(object_change: ObjectChange) -> Iterator[str]:
    file = (
        object_change.after.file if object_change.after else object_change.before.file if object_change.before else ""
    )
    moved = (
        f", was {object_change.before.file}"
        if object_change.before and object_change.after and object_change.before.file != object_change.after.file
        else ""
    )
    yield line(f"  {_SIGNS[object_change.state]} {title(object_change)} [{file}{moved}]")
    if object_change.state not in ("changed", "renamed"):
        return
    for field_change in object_change.changes[:_MANY]:
        before, after = format_sides(field_change)
        yield f"      {line(field_change.field)}: {_format_change(before, after)}"
    if len(object_change.changes) > _MANY:
        rest = len(object_change.changes) - _MANY
        yield f"      and {rest:,} field{'' if rest == 1 else 's'} more"


def _format_change(before: str, after: str) -> str:
    """A change in one line: `+ new`, `- old`, or both with an arrow."""
    if not before:
        return f"+ {shorten(after, 60)}"
    if after and before != after and shorten(before, 60) == shorten(after, 60):  # they differ further behind
        pairs = zip(before, after, strict=False)
        alike = next((i for i, (old, new) in enumerate(pairs) if old != new), min(len(before), len(after)))
        start = max(before.rfind("\\n", alike - 40, alike) + 2, alike - 20)
        before, after = f"…{before[start:]}", f"…{after[start:]}"
    return f"{shorten(before, 60)} → {shorten(after, 60)}" if after else f"- {shorten(before, 60)}"
