"""Foreign ResourceQuotas that refuse rendered pods, with those of the objects that are applied beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from renderer.check.foreign.objects import ForeignObject, OwnObjects
from renderer.check.pod_quotas import QUOTA, Surroundings, exceeded, quota_shares, surroundings
from renderer.diagnostics import Finding
from renderer.kubernetes import wellknown
from renderer.kubernetes.workloads import replicas


def exceeded_quotas(
    objects: Sequence[ForeignObject], rendered: OwnObjects, *, one_cluster: bool
) -> Iterator[tuple[ForeignObject, Finding]]:
    """A finding for each amount of a quota that is not enough for a namespace with rendered pods. One that is passed
    through counts these and what is passed through beside it; another one all objects of the tree, and is never more
    than a warning, since nobody says what it is applied with. `one_cluster`: the tree has no environments.
    """
    places = Counter(object_.key for object_ in objects)
    for is_passed in (True, False) if one_cluster else (True,):
        beside = [object_ for object_ in objects if object_.passed or not is_passed]
        quotas = [
            object_
            for object_ in beside
            if object_.key[0] == QUOTA and object_.passed == is_passed and object_.key[1] in rendered.namespaces
        ]
        if not quotas:
            continue
        known = _joined(rendered, surroundings((object_.key[0], object_.body) for object_ in beside))
        shares = [*rendered.quota_shares]
        shares += [share for object_ in beside for share in quota_shares(object_.body, replicas(object_.body))]
        for quota in quotas:
            namespace = quota.key[1]
            if not is_passed and any(count > 1 for key, count in places.items() if key[1] == namespace):
                continue  # objects of several clusters, of which it is not known which one is meant
            for finding in exceeded(quota.body, shares, known):
                yield quota, finding if is_passed else replace(finding, code="W930")


def _joined(rendered: OwnObjects, foreign: Surroundings) -> Surroundings:
    """What rendered and foreign objects decide."""
    bounds = {
        (target[1], target[0], target[2]): scaler.bounds
        for (kind, target), scaler in rendered.acting.items()
        if kind in wellknown.AUTOSCALERS
    }
    devices = {own.key[1:]: own.devices for own in rendered.objects.values() if own.devices}
    return Surroundings({**foreign.bounds, **bounds}, {**foreign.devices, **devices}, foreign.filled)
