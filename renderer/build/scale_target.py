"""What an autoscaler scales."""

from __future__ import annotations

from renderer.kubernetes import disaggregated_sets, wellknown
from renderer.plan import Body, Plan


def scale_target(plan: Plan) -> Body:
    """The reference of an autoscaler to the workload."""
    if plan.kind == disaggregated_sets.KIND:
        version, kind = f"{disaggregated_sets.GROUP}/v1", disaggregated_sets.ROLE_SCALER
        return {"apiVersion": version, "kind": kind, "name": plan.name}
    return {"apiVersion": wellknown.WORKLOAD_VERSIONS[plan.kind], "kind": plan.kind, "name": plan.name}
