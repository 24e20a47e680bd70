"""Foreign ResourceQuotas that refuse rendered pods, with those of the objects that are applied beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from renderer.check.foreign.objects import ForeignObject, OwnObjects
from renderer.check.pod_quotas import QUOTA, QuotaBeside, QuotaSum, exceeded, quota_beside, quota_shares, quota_sums
from renderer.diagnostics import Finding
from renderer.kubernetes import wellknown
from renderer.kubernetes.workloads import replicas


class JudgedQuota(Struct, frozen=True):
    """A foreign quota, and what it counts."""

    quota: ForeignObject
    sums: Sequence[QuotaSum]

    @property
    def findings(self) -> Iterator[Finding]:
        """What is not enough, never more than a warning where the quota is not passed through."""
        for finding in exceeded(self.quota.body, self.sums):
            yield finding if self.quota.passed else replace(finding, code="W930")


def judged_quotas(
    objects: Sequence[ForeignObject], rendered: OwnObjects, *, one_cluster: bool
) -> Iterator[JudgedQuota]:
    """What each quota counts. One that is passed through counts the rendered pods and what is passed through beside
    it; another one all objects of the tree, since nobody says what is applied with it, where the tree has no
    environments. `one_cluster`: it has none.
    """
    places = Counter(object_.key for object_ in objects)
    for is_passed in (True, False) if one_cluster else (True,):
        beside = [object_ for object_ in objects if object_.passed or not is_passed]
        quotas = [object_ for object_ in beside if object_.key[0] == QUOTA and object_.passed == is_passed]
        if not quotas:
            continue
        known = _joined(rendered, quota_beside((object_.key[0], object_.body) for object_ in beside))
        shares = [*rendered.quota_shares]
        shares += [share for object_ in beside for share in quota_shares(object_.body, replicas(object_.body))]
        for quota in quotas:
            namespace = quota.key[1]
            if not is_passed and any(count > 1 for key, count in places.items() if key[1] == namespace):
                continue  # objects of several clusters, of which it is not known which one is meant
            yield JudgedQuota(quota, [*quota_sums(quota.body, shares, known)])


def _joined(rendered: OwnObjects, foreign: QuotaBeside) -> QuotaBeside:
    """What rendered and foreign objects decide."""
    bounds = {
        (target[1], target[0], target[2]): scaler.bounds
        for (kind, target), scaler in rendered.acting.items()
        if kind in wellknown.AUTOSCALERS
    }
    devices = {own.key[1:]: own.devices for own in rendered.objects.values() if own.devices}
    return QuotaBeside({**foreign.bounds, **bounds}, {**foreign.devices, **devices}, foreign.filled)
