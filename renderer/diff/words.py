"""What all forms say alike: counts, arrows, values in one line, and an object's difference as YAML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from renderer import escapes, yamlio
from renderer.diff.comparing import Altered, Diff
from renderer.diff.fields import ABSENT, Change
from renderer.diff.gpus import Gpus
from renderer.diff.models import Model, ModelChange
from renderer.diff.risks import Risk
from renderer.differences import unified

STATES = ("added", "removed", "renamed", "changed", "moved")


def headline(diff: Diff) -> str:
    """How much differs, in a line."""
    parts = [counted(Counter(each.state for each in diff.models), "model")]
    before, after = (sum(each.most[i] for each in diff.gpus) for i in (0, 1))
    if before != after:
        parts.append(f"GPUs {before:,} → {after:,}")
    elif before:
        moved = any(each.most[0] != each.most[1] for each in diff.gpus)
        parts.append(f"GPUs {before:,}, of other kinds" if moved else f"GPUs {before:,} (unchanged)")
    parts.append(counted(Counter(each.state for each in diff.objects), "object"))
    return " · ".join(filter(None, parts)) or "no object changes"


def counted(states: Counter[str], word: str) -> str:
    """`2 models changed, 1 added`; '' without any."""
    said = [(state, states[state]) for state in STATES if states[state]]
    return ", ".join(
        f"{number:,} {'' if i else f'{word} ' if number == 1 else f'{word}s '}{state}"
        for i, (state, number) in enumerate(said)
    )


def plural(number: int, word: str) -> str:
    """`1 model`, `2 models`."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def arrow(before: str, after: str) -> str:
    """`2 → 4`, or `2` where both are one."""
    return before if before == after else f"{before or 'none'} → {after or 'none'}"


def cut(text: str, most: int) -> str:
    """The text, or its beginning."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def value(given: Any) -> str:
    """A value in one line; '' for one that is not there."""
    if given is ABSENT:
        return ""
    return escapes.line(given) if isinstance(given, str) and given else escapes.json_text(given, default=str)


def sides(change: Change) -> tuple[str, str]:
    """Both values of a field."""
    return value(change.before), value(change.after)


def replicas(each: ModelChange) -> str:
    """`2`, `2 → 4`, `2 → 2–6`."""
    return arrow(_replicas(each.before), _replicas(each.after))


def _replicas(model: Model | None) -> str:
    return model.replicas if model else "0"


def accelerators(each: Gpus) -> str:
    """`2 → 4`, of as many replicas as there may be."""
    return arrow(f"{each.most[0]:,}", f"{each.most[1]:,}")


def per_replica(each: Gpus) -> str:
    """`1`, or `1 → 2`, of one replica."""
    return arrow(f"{each.replica[0]:,}", f"{each.replica[1]:,}")


def together(risks: Iterable[Risk]) -> list[tuple[Risk, list[str]]]:
    """Risks of one kind with the same words as one, and the objects."""
    found: dict[tuple[str, str], tuple[Risk, list[str]]] = {}
    for each in risks:
        found.setdefault((each.kind, each.said), (each, []))[1].append(each.key.place)
    return list(found.values())


def title(each: Altered) -> str:
    """Kind and name, and what it was before."""
    was = f" (was {each.before.key.place})" if each.state == "renamed" and each.before else ""
    return f"{each.key}{was}"


def yaml_diff(each: Altered) -> list[str]:
    """The object's difference as YAML, line by line, each beginning with what happens to it."""
    before, after = each.before.body if each.before else None, each.after.body if each.after else None
    old = yamlio.dump(before).splitlines() if before is not None else []
    new = yamlio.dump(after).splitlines() if after is not None else []
    if not old or not new:
        sign = "+" if new else "-"
        return [sign + text for text in new or old]
    return [text.rstrip("\n") for text in unified(old, new, ends="")][2:]
