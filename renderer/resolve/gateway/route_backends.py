"""The route backends of apps and their weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from renderer.plan import Plan, RouteTarget

if TYPE_CHECKING:
    from fractions import Fraction

_MAX_WEIGHT = 1_000_000  # of a backend (Gateway API)


def workload_targets(plans: Sequence[Plan]) -> list[RouteTarget]:
    """The route backends of an app: its variants, weighted by their replicas, or by 1 where they are autoscaled."""
    if len(plans) == 1:
        return [RouteTarget(plans[0].name, 1, plans[0].name_in_engine)]
    sizes = [1 if plan.replicas is None else plan.replicas for plan in plans]
    return [
        RouteTarget(plan.name, size if any(sizes) else 1, plan.name_in_engine)
        for plan, size in zip(plans, sizes, strict=True)
    ]


def load_seconds(plans: Sequence[Plan]) -> int:
    """How long a request may wait until the server of one of these has loaded its model."""
    return max((plan.load_seconds for plan in plans), default=0)


def wake_seconds(plans: Sequence[Plan]) -> int:
    """How long the slowest of these workloads may take to start from zero; 0 where each always has a replica."""
    return max((plan.scaler.wake_seconds for plan in plans if plan.scaler), default=0)


class BackendShare(Struct, frozen=True):
    """The route backends of one app among several, with the weight and priority that they share."""

    targets: Sequence[RouteTarget]
    weight: int
    priority: int = 0


def split_weights(parts: Sequence[BackendShare]) -> list[RouteTarget]:
    """All route backends with their weights: each app gets its weight within its priority and divides it among its
    variants. Weights are the smallest whole numbers; where no app has several variants, those that the user wrote.
    """
    if all(len(part.targets) == 1 and part.weight <= _MAX_WEIGHT for part in parts):
        return [replace(part.targets[0], weight=part.weight, priority=part.priority) for part in parts]
    from fractions import Fraction  # few runs need it

    shares: dict[int, list[Fraction]] = {}
    for part in parts:
        total = sum(target.weight for target in part.targets) if len(part.targets) > 1 else 1
        shares.setdefault(part.priority, []).extend(
            Fraction(part.weight * (target.weight if len(part.targets) > 1 else 1), total) for target in part.targets
        )
    split_priorities = {part.priority for part in parts if len(part.targets) > 1}
    weights = {
        priority: iter(_whole_numbers(portions, smallest=priority in split_priorities))
        for priority, portions in shares.items()
    }
    return [
        replace(target, weight=next(weights[part.priority]), priority=part.priority)
        for part in parts
        for target in part.targets
    ]


def _whole_numbers(shares: Sequence[Fraction], *, smallest: bool) -> list[int]:
    """Whole numbers in these proportions, within Gateway API's limit; `smallest`: the smallest such numbers."""
    scale = math.lcm(*(share.denominator for share in shares))
    numbers = [int(share * scale) for share in shares]
    if smallest and (common := math.gcd(*numbers)):
        numbers = [number // common for number in numbers]
    if (largest := max(numbers)) > _MAX_WEIGHT:
        numbers = [max(1, round(number * _MAX_WEIGHT / largest)) if number else 0 for number in numbers]
    return numbers
