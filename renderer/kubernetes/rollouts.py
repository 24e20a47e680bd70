"""How many replicas a rollout takes away, or adds, at once."""

from __future__ import annotations


def bound_count(bound: object, replicas: float, *, up: bool) -> int:
    """The replicas that a bound of a rollout comes to: its number, or its percentage of the replicas, rounded up (as
    maxSurge is) or down (as maxUnavailable is); 0 for anything else.
    """
    if isinstance(bound, (int, float)):
        return int(bound)  # 1.0 is a whole number too
    percent = bound.removesuffix("%") if isinstance(bound, str) else ""
    if not (percent.isascii() and percent.isdigit()):
        return 0
    return int(-(-int(percent) * replicas // 100) if up else int(percent) * replicas // 100)
