"""Texts that all formats share: counts, arrows, values in one line, and an object's difference as YAML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from decimal import Decimal

from msgspec import Struct

from renderer import yamlio
from renderer.diagnostics import counted
from renderer.diff.comparison import ObjectChange, TreeDiff
from renderer.diff.disaggregation import RolesChange, describe_roles
from renderer.diff.fields import ABSENT, FieldChange
from renderer.diff.gpus import GpuChange, sum_gpus
from renderer.diff.models import ModelChange, ModelSummary
from renderer.diff.quotas import QuotaChange
from renderer.diff.risks import Risk
from renderer.fit.verdict import FAILS, TIGHT, UNKNOWN, outcome
from renderer.fleet.prices import money, per_month
from renderer.text import escapes
from renderer.text.differences import unified

STATES = ("added", "removed", "renamed", "changed", "moved")


def headline(diff: TreeDiff) -> str:
    """A summary of the difference in one line. Each of its figures stands in the comment too."""
    risks, objects = count_risks(diff.risks), count_states(diff.objects, "object") or "no object changes"
    if diff.objects:
        risks = risks or "no risks found"
    judged = [risks, summarize_fit(diff), summarize_price(diff)]
    return " · ".join(filter(None, [*judged, count_states(diff.models, "model"), summarize_gpus(diff), objects]))


def summarize_fit(diff: TreeDiff) -> str:
    """`fits`, or `1 of 3 does not fit, fit of 2 unknown` of the models of the later side on accelerators; '' where it
    is known of none.
    """
    fits = [outcome(model.after.fit) for model in diff.models if model.after and model.after.gpus]
    unknown, tight, failing = (fits.count(answer) for answer in (UNKNOWN, TIGHT, FAILS))
    if unknown == len(fits):
        return ""
    parts = [
        f"{failing:,} of {len(fits):,} {'does' if failing == 1 else 'do'} not fit" if failing else "",
        f"{tight:,} of {len(fits):,} tight" if tight else "",
        f"fit of {unknown:,} unknown" if unknown else "",
    ]
    return ", ".join(filter(None, parts)) or "fits"


def summarize_price(diff: TreeDiff) -> str:
    """`+4,380.00 USD a month at most`: what these models cost more than before with the most replicas, without those
    that have no price, and how many these are; '' where nothing is known or changes.
    """
    sides = [side for model in diff.models for side in (model.before, model.after) if side]
    if all(side.hour is None for side in sides):
        return ""
    unpriced = unpriced_count(diff)
    before, after = total_prices(diff)
    month = "a month of the others" if unpriced else "a month at most"
    change = f"{'+' if after > before else ''}{money(per_month(after - before), diff.currency)} {month}"
    unknown = f"price of {unpriced:,} unknown" if unpriced else ""
    return ", ".join(filter(None, [unknown, change if after != before else ""]))


def unpriced_count(diff: TreeDiff) -> int:
    """How many of these models have accelerators without a price, on either side."""
    return sum(any(side and side.unpriced for side in (model.before, model.after)) for model in diff.models)


def total_prices(diff: TreeDiff) -> tuple[Decimal, Decimal]:
    """What an hour of these models costs on both sides with the most replicas, less those without a price on a side."""
    before = after = Decimal(0)
    for model in diff.models:
        hours = [Decimal(0) if side is None or side.hour is None else side.hour for side in (model.before, model.after)]
        if not any(side and side.unpriced for side in (model.before, model.after)):
            before, after = before + hours[0], after + hours[1]
    return before, after


def price_change(model: ModelChange, currency: str) -> str:
    """`1,752.00 → 3,504.00 USD`: what a month costs with the most replicas; '' where it stays, or nobody knows."""
    before, after = (side.hour if side else None for side in (model.before, model.after))
    return "" if before == after else price_arrow(before, after, currency)


def price_arrow(before: Decimal | None, after: Decimal | None, currency: str) -> str:
    """Prices of an hour, None where there is none, as those of a month: `1,752.00 → 3,504.00 USD`."""
    last = currency if after is None else ""
    texts = ["" if hour is None else money(per_month(hour), unit) for hour, unit in ((before, last), (after, currency))]
    return arrow(*texts)


def count_risks(risks: Iterable[Risk]) -> str:
    """`2 risks`; '' without any. Risks of one kind with the same message count once."""
    number = sum(map(len, group_risks(risks)))
    return counted(number, "risk") if number else ""


def count_states(changes: Iterable[ModelChange | ObjectChange], word: str) -> str:
    """`2 models changed, 1 added`; '' without any."""
    states = Counter(change.state for change in changes)
    counts = [(state, states[state]) for state in STATES if states[state]]
    return ", ".join(
        f"{number:,} {'' if i else f'{word} ' if number == 1 else f'{word}s '}{state}"
        for i, (state, number) in enumerate(counts)
    )


def summarize_gpus(diff: TreeDiff) -> str:
    """`GPUs of these models 2 → 4 in total`; no figure where each model has as many as before. Parts of cards are
    counted apart: `GPUs unchanged · parts of GPUs 0 → 1`.
    """
    cards, parts = (_summary_of(diff, is_part) for is_part in (False, True))
    if not parts:
        return cards or ("GPUs unchanged" if diff.gpus else "")
    return f"{cards or 'GPUs unchanged'} · {parts}"


def _summary_of(diff: TreeDiff, is_part: bool) -> str:
    """The same of whole cards or of parts alone; '' where each model has as many as before."""
    if not any(gpu.is_part == is_part for _, gpu in changed_gpus(diff)):
        return ""
    total = _total_gpus(diff, is_part)
    figures = accelerators(total)
    if is_part:
        text = f"parts of GPUs {figures}"
    else:
        text = f"GPUs of this model {figures}" if len(diff.models) == 1 else f"GPUs of these models {figures} in total"
    if total.peak[0] != total.peak[1]:
        return text
    moved = any(gpu.peak[0] != gpu.peak[1] for gpu in diff.gpus if gpu.is_part == is_part)
    return f"{text}, of other kinds" if moved else f"{text}, as before"


def changed_gpus(diff: TreeDiff) -> list[tuple[ModelChange, GpuChange]]:
    """The accelerators of each kind of which a model has more or fewer than before."""
    return [(model, gpu) for model in diff.models for gpu in filter(differs, model.gpus)]


def differs(gpu: GpuChange) -> bool:
    """Whether there are more or fewer of these accelerators than before."""
    return gpu.replica[0] != gpu.replica[1] or gpu.peak[0] != gpu.peak[1]


def _total_gpus(diff: TreeDiff, is_part: bool) -> GpuChange:
    """The whole cards of all kinds together, or the parts of cards: those of the models that differ, not of all that
    there are.
    """
    return sum_gpus("all parts" if is_part else "all kinds", (gpu for gpu in diff.gpus if gpu.is_part == is_part))


def quota_left(change: QuotaChange) -> str:
    """`2 of 4 left → 0 of 4 left`, `1 of 4 left → 2 above 4`: what there is of a quota with the most replicas."""
    pairs = zip(change.allowed, change.used, strict=True)
    return arrow(*(_left(allowed, used) for allowed, used in pairs))


def _left(allowed: int | None, used: int | None) -> str:
    if allowed is None:
        return "no quota"
    if used is None:
        return f"not known of {allowed:,}"
    return f"{used - allowed:,} above {allowed:,}" if used > allowed else f"{allowed - used:,} of {allowed:,} left"


def arrow(before: str, after: str) -> str:
    """`2 → 4`, or `2` where both are equal."""
    return before if before == after else f"{before or 'none'} → {after or 'none'}"


def shorten(text: str, most: int) -> str:
    """The text, cut to at most so many characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def format_value(value: object) -> str:
    """A value in one line; '' for ABSENT."""
    if value is ABSENT:
        return ""
    return escapes.line(value) if isinstance(value, str) and value else escapes.json_text(value, default=str)


def format_sides(change: FieldChange) -> tuple[str, str]:
    """Both values of a field, each in one line."""
    return format_value(change.before), format_value(change.after)


def replicas(change: ModelChange) -> str:
    """`2`, `2 → 4`, `2 → 2–6`."""
    return arrow(_replicas(change.before), _replicas(change.after))


def _replicas(model: ModelSummary | None) -> str:
    return model.replicas if model else "0"


def roles(change: RolesChange) -> str:
    """`1 prefill × 8 GPUs, 1 decode × 8 → 2 prefill × 8 GPUs, 1 decode × 8`."""
    return arrow(describe_roles(change.before), describe_roles(change.after))


def accelerators(change: GpuChange) -> str:
    """`2 → 4`: accelerators at the most replicas."""
    return arrow(f"{change.peak[0]:,}", f"{change.peak[1]:,}")


def per_replica(change: GpuChange) -> str:
    """`1`, or `1 → 2`: accelerators of one replica."""
    return arrow(f"{change.replica[0]:,}", f"{change.replica[1]:,}")


class RiskGroup(Struct, frozen=True):
    """Risks of one kind with the same message."""

    risk: Risk  # the first of them
    places: list[str]  # of the objects of all


def group_risks(risks: Iterable[Risk]) -> list[list[RiskGroup]]:
    """The risks, those of one kind and class with the same remedy together, of these those with the same message."""
    grouped: dict[tuple[str, str, str], dict[str, RiskGroup]] = {}
    for risk in risks:
        groups = grouped.setdefault((risk.kind, risk.risk_class, risk.marked_remedy), {})
        groups.setdefault(risk.lead + risk.marked_text, RiskGroup(risk, [])).places.append(risk.key.place)
    return [list(groups.values()) for groups in grouped.values()]


def title(change: ObjectChange) -> str:
    """Kind and name, and the old name, or kind and name, if it was renamed."""
    if change.state != "renamed" or not change.before:
        return str(change.key)
    was = change.before.key
    return f"{change.key} (was {was.place if was.kind == change.key.kind else was})"


def yaml_diff(change: ObjectChange) -> list[str]:
    """The object's difference as lines of YAML, each with `+`, `-` or a blank before it."""
    before, after = change.before.body if change.before else None, change.after.body if change.after else None
    old = yamlio.dump(before).splitlines() if before is not None else []
    new = yamlio.dump(after).splitlines() if after is not None else []
    if not old or not new:
        sign = "+" if new else "-"
        return [sign + text for text in new or old]
    return [text.rstrip("\n") for text in unified(old, new, ends="")][2:]
