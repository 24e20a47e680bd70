"""The labels that select the pods of an app, of a workload, and of a group."""

from __future__ import annotations

from renderer.kubernetes import disaggregated_sets, wellknown
from renderer.plan import Body, Plan


def app_selector(plan: Plan, *, of_leaders: bool = True) -> Body:
    """The labels that select the pods of all workloads of an app that answer requests."""
    labels = {key: plan.labels[key] for key in (wellknown.NAME, wellknown.COMPONENT)}
    if plan.kind == wellknown.DEPLOYMENT or not of_leaders:
        return labels
    return {**labels, wellknown.WORKER_INDEX: "0"}


def serving_selector(plan: Plan) -> Body:
    """The labels that select the pods of a workload that answer requests."""
    if plan.kind == wellknown.DEPLOYMENT:
        return {**app_selector(plan), wellknown.WORKLOAD: plan.name}
    if plan.all_serve:
        return group_selector(plan)
    return {**group_selector(plan), wellknown.WORKER_INDEX: "0"}


def lasting_selector(plan: Plan) -> Body:
    """The labels by which a Deployment and the Services over its pods find them: those of `spec.workload.selector`,
    which the pods had before llmaz rendered them, or else the same as above.
    """
    return plan.selector or serving_selector(plan)


def group_selector(plan: Plan) -> Body:
    """The labels that select all pods of a LeaderWorkerSet, or of a role of a DisaggregatedSet: of that one the name of
    its LeaderWorkerSet changes with every pod template.
    """
    if plan.role and plan.kind == disaggregated_sets.KIND:
        return {disaggregated_sets.SET: plan.shared_name, disaggregated_sets.ROLE: plan.role.name}
    return {wellknown.GROUPS: plan.name}
