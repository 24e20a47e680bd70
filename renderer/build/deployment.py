"""Deployment: the workload of an app whose replicas are one pod each, where `spec.workload.kind` asks for it."""

from __future__ import annotations

from renderer import wellknown
from renderer.build.lws import pod_template
from renderer.diagnostics import Origin, Path
from renderer.plan import Manifest, Plan, leader_selector

_TEMPLATE: Path = ("spec", "template")


def deployment(plan: Plan) -> list[Manifest]:
    """One instead of a LeaderWorkerSet, with the same pods and the same rollout: one pod at a time, and none more."""
    if plan.kind != wellknown.DEPLOYMENT:
        return []
    metadata: dict[str, object] = {
        "name": plan.name,
        "namespace": plan.namespace,
        "labels": {**plan.labels, **plan.workload_labels},
    }
    if plan.annotations:
        metadata["annotations"] = plan.annotations
    spec: dict[str, object] = {} if plan.replicas is None else {"replicas": plan.replicas}
    if plan.progress_deadline is not None:
        spec["progressDeadlineSeconds"] = plan.progress_deadline
    spec["selector"] = {"matchLabels": leader_selector(plan)}
    rollout = {"maxUnavailable": plan.rollout.max_unavailable, "maxSurge": plan.rollout.max_surge}
    spec["strategy"] = {"type": "RollingUpdate", "rollingUpdate": rollout}
    spec["template"] = pod_template(plan.worker)
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}
    return [Manifest(body, lambda: _origins(plan))]


def _origins(plan: Plan) -> dict[Path, Origin]:
    """The origins by field of the object."""
    plan_origins = plan.origins()
    field_origins: dict[Path, Origin] = {
        (): plan_origins[()],
        ("metadata", "name"): plan_origins["name",],
        ("metadata", "namespace"): plan_origins["namespace",],
        ("spec", "replicas"): plan_origins["replicas",],
        ("kind",): plan_origins["workload", "kind"],
    }
    if origin := plan_origins.get(("leader",)) or plan_origins.get(("worker",)):
        field_origins[_TEMPLATE] = origin
    if origin := plan_origins.get(("rollout",)):
        field_origins["spec", "strategy", "rollingUpdate"] = origin
    for path, origin in plan_origins.items():
        if path == ("workload", "rollout"):
            field_origins["spec", "strategy", "rollingUpdate"] = origin
        elif path[:1] == ("workload",) and len(path) > 2:
            field_origins["metadata", *path[1:]] = origin
        elif path[:1] == ("template",):
            field_origins[*_TEMPLATE, *path[1:]] = origin
    return field_origins
