"""A difference for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from renderer.diff.comparing import Altered, Diff
from renderer.diff.models import ModelChange
from renderer.diff.risks import KINDS, Risk
from renderer.diff.words import accelerators, arrow, cut, headline, per_replica, replicas, sides, title, together
from renderer.escapes import line, lines

_SIGNS = {"added": "+", "removed": "-", "changed": "~", "renamed": ">", "moved": "="}
_LONGEST = 160
_MANY = 12  # fields of one object, and objects of one risk, that are said; the rest is counted


def table(diff: Diff, environment: str = "") -> str:
    """Models, traffic, risks and objects, each where there is something to say; the headline last."""
    parts = [
        [text for each in diff.models for text in _model(each)],
        [_risk(*each) for each in together(diff.risks)],
        [line(f"  {each.name}: {each.what}: {arrow(each.before, each.after)}") for each in diff.traffic],
        [text for each in diff.objects for text in _object(each)],
        [f"  {line(each)}" for each in diff.notes],
    ]
    heads = ("Models", "Risks", "Traffic", "Objects", "Notes")
    made = [
        "\n".join([head, *(cut(text, _LONGEST) for text in part)])
        for head, part in zip(heads, parts, strict=True)
        if part
    ]
    said = f"{line(environment)}: {headline(diff)}" if environment else headline(diff)
    return lines("\n\n".join([*made, said]) + "\n")


def _risk(risk: Risk, places: Sequence[str]) -> str:
    more = f" and {len(places) - _MANY:,} more" if len(places) > _MANY else ""
    return f"  {KINDS[risk.kind]}: {line(', '.join(places[:_MANY]))}{more}: {line(risk.what)}"


def _model(each: ModelChange) -> Iterator[str]:
    was = f", was {each.was.place}" if each.was else ""
    known = each.after or each.before
    of = f" ({known.name})" if known and known.name else ""
    yield line(f"  {_SIGNS[each.state]} {each.key.place}{of}: {each.state}{was}")
    for fact in each.facts:
        yield line(f"      {fact.what}: {arrow(fact.before, fact.after)}")
    for flag in each.flags:
        yield f"      option {line(str(flag))}"
    if each.state in ("added", "removed"):
        yield f"      replicas: {replicas(each)}"
    for gpus in each.gpus:
        yield f"      {line(gpus.name)}: {per_replica(gpus)} a replica, {accelerators(gpus)} at most"


def _object(each: Altered) -> Iterator[str]:
    file = each.after.file if each.after else each.before.file if each.before else ""
    moved = f", was {each.before.file}" if each.before and each.after and each.before.file != each.after.file else ""
    yield line(f"  {_SIGNS[each.state]} {title(each)} [{file}{moved}]")
    if each.state not in ("changed", "renamed"):
        return
    for change in each.changes[:_MANY]:
        before, after = sides(change)
        yield f"      {line(change.field)}: {_sign(before, after)}"
    if len(each.changes) > _MANY:
        yield f"      and {len(each.changes) - _MANY} fields more"


def _sign(before: str, after: str) -> str:
    """A change in a line: what is new, what is gone, or both with an arrow."""
    if not before:
        return f"+ {cut(after, 60)}"
    return f"{cut(before, 60)} → {cut(after, 60)}" if after else f"- {cut(before, 60)}"
