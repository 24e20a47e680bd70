"""What a change leaves of quotas of accelerators: of those of a RenderPolicy, and of the tree's ResourceQuotas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from renderer.api import RenderPolicy
from renderer.check.graph.view import kind_in
from renderer.check.pod_quotas import DEVICES, QuotaBeside, QuotaShare, quota_beside, quota_shares, quota_sums
from renderer.diff.gpus import AcceleratorNames
from renderer.diff.models import ModelChange
from renderer.diff.objects import Body, Items, ObjectKey
from renderer.fleet.quotas import counted_accelerators
from renderer.kubernetes.pod_amounts import BILLION
from renderer.kubernetes.workloads import replicas
from renderer.plan import Figures

if TYPE_CHECKING:
    from renderer.check.foreign import JudgedQuota


class QuotaChange(Struct, frozen=True):
    """A quota, and how many accelerators count for it with the most replicas, before and after."""

    name: str  # of a ResourceQuota with its namespace, '' for a quota of the RenderPolicy
    what: str  # it counts, in words
    allowed: tuple[int | None, int]  # None where there was no such quota
    used: tuple[int | None, int]  # None where that is not known


def policy_quotas(
    policies: Sequence[RenderPolicy], models: Sequence[ModelChange], figures: tuple[Figures, Figures]
) -> Iterator[QuotaChange]:
    """The quotas of the policy that counts, that of the base where there is one, for which these models have more or
    fewer accelerators than before. `figures`: of the workloads of both sides.
    """
    old = [_place(model.was or model.key) for model in models if model.before]
    new = [_place(model.key) for model in models if model.after]
    is_known = all(place in figures[0] and figures[0][place].accelerators for place in old)
    for policy in policies[:1]:
        sides = (counted_accelerators(policy, side) for side in figures)
        for earlier, later in zip(*sides, strict=True):
            used = sum(later.numbers.values())
            gone = sum(earlier.numbers.get(place, 0) for place in old)
            come = sum(later.numbers.get(place, 0) for place in new)
            if gone != come:
                was = used - come + gone if is_known else None
                yield QuotaChange("", later.what, (later.allowed, later.allowed), (was, used))


def _place(key: ObjectKey) -> tuple[str, str]:
    return key.namespace, key.name


def resource_quotas(
    quotas: Sequence[JudgedQuota], old: Items, new: Items, names: AcceleratorNames
) -> Iterator[QuotaChange]:
    """The ResourceQuotas of the later side that allow more or fewer accelerators than before, or count more or fewer.
    `old`, `new`: the objects that differ, and those that belong to them.
    """
    sides = [_counted(side) for side in (old, new)] if quotas else []
    for judged in quotas:
        _, namespace, name = judged.quota.key
        key = ObjectKey("", "ResourceQuota", namespace, name)
        before, after = (
            {entry.key: entry.totals[1] for entry in quota_sums(judged.quota.body, *side)} for side in sides
        )
        limits = _limits(old[key].body if key in old else {}) if key in new else None
        for entry in judged.sums:
            if not names.counts(entry.key.removesuffix(DEVICES).removeprefix("requests.")):
                continue
            allowed, used = entry.allowed // BILLION, entry.totals[1] // BILLION
            was = used - (after.get(entry.key, 0) - before.get(entry.key, 0)) // BILLION
            was_allowed = allowed if limits is None else limits.get(entry.key)
            if (was_allowed, was) != (allowed, used):
                yield QuotaChange(f"{namespace}/{name}", entry.key, (was_allowed, allowed), (was, used))


def _counted(items: Items) -> tuple[list[QuotaShare], QuotaBeside]:
    """What quotas count of these objects, and what else decides it."""
    bodies = [(kind_in(*key.api_kind), item.body) for key, item in items.items()]
    shares = [share for _, body in bodies for share in quota_shares(body, replicas(body))]
    return shares, quota_beside(bodies)


def _limits(quota: Body) -> dict[str, int]:
    """What a quota allows, by its keys."""
    return {entry.key: entry.allowed // BILLION for entry in quota_sums(quota, (), quota_beside(()))}
