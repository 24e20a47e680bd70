"""What apps need together, by kind: each process plans some of the apps, and sends their needs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from renderer import plan
from renderer.plan import SharedNeed

Need = TypeVar(
    "Need",
    plan.ModelNeed,
    plan.CacheNeed,
    plan.MonitorNeed,
    plan.PickerMonitorNeed,
    plan.GatewayNeed,
    plan.GrantNeed,
    plan.PackedRule,
    plan.NameClaim,
    plan.RewriteClaim,
    plan.HeldName,
)


def needs_of(kind: type[Need], needs: Iterable[SharedNeed]) -> list[Need]:
    """The needs of one kind, sorted."""
    return sorted([need for need in needs if isinstance(need, kind)])
