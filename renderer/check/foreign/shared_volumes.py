"""Foreign claims for volumes that more rendered pods mount than their access modes let."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.foreign.objects import ForeignObject, OwnObjects
from renderer.check.shared_volumes import CLAIM, claim_finding
from renderer.diagnostics import Finding
from renderer.kubernetes import wellknown


def validate_claim(foreign: ForeignObject, rendered: OwnObjects) -> Iterator[Finding]:
    """A finding for each rendered workload whose pods cannot all mount a claim."""
    _, namespace, name = foreign.key
    for workload, claim in rendered.mounted if foreign.kind == CLAIM else ():
        if claim.name != name or workload.key[1] != namespace:
            continue
        scalers = (rendered.acting.get((scaler, workload.key)) for scaler in wellknown.AUTOSCALERS)
        most = max((scaler.bounds[1] for scaler in scalers if scaler), default=0)
        if finding := claim_finding(foreign.body, claim, rendered.owner(workload), most):
            yield finding
