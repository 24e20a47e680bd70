"""HorizontalPodAutoscaler: scales the workload through its scale subresource."""

from __future__ import annotations

from renderer import wellknown
from renderer.diagnostics import Origin, Path
from renderer.plan import Manifest, Plan, name_origins

_API_VERSIONS = {wellknown.LEADER_WORKER_SET: "leaderworkerset.x-k8s.io/v1", wellknown.DEPLOYMENT: "apps/v1"}


def hpa(plan: Plan) -> list[Manifest]:
    """One when the Playground is elastic, none otherwise."""
    scaler = plan.scaler
    if not scaler:
        return []
    labels = {**plan.labels, wellknown.COMPONENT: "autoscaler"}
    low, high, metrics, behavior = scaler.min_replicas, scaler.max_replicas, scaler.metrics, scaler.behavior
    spec: dict[str, object] = {
        "scaleTargetRef": {"apiVersion": _API_VERSIONS[plan.kind], "kind": plan.kind, "name": plan.name},
        "minReplicas": low,
        "maxReplicas": high,
        "metrics": list(metrics),
    }
    if behavior:
        spec["behavior"] = behavior
    body = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": plan.name, "namespace": plan.namespace, "labels": labels},
        "spec": spec,
    }
    return [Manifest(body, lambda: _origins(plan))]


def _origins(plan: Plan) -> dict[Path, Origin]:
    origins = plan.origins()
    elastic = origins["elastic",]
    return {
        **name_origins(plan),
        ("spec", "minReplicas"): elastic.at("minReplicas"),
        ("spec", "maxReplicas"): elastic.at("maxReplicas"),
        ("spec", "metrics"): origins.get(("metrics",), elastic),
        ("spec", "behavior"): origins.get(("behavior",), elastic),
        **{("spec", *path): origin for path, origin in origins.items() if path[:1] == ("metrics",)},
    }
