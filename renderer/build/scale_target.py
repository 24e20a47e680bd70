"""What an autoscaler scales."""

from __future__ import annotations

from renderer.kubernetes import disaggregated_sets
from renderer.kubernetes.workloads import SCALE_TARGETS
from renderer.plan import Body, Plan


def scale_target(plan: Plan) -> Body:
    """The reference of an autoscaler to the workload."""
    kind = disaggregated_sets.ROLE_SCALER if plan.kind == disaggregated_sets.KIND else plan.kind
    return {"apiVersion": SCALE_TARGETS[kind], "kind": kind, "name": plan.name}
