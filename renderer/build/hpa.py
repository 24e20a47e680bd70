"""HorizontalPodAutoscaler: scales the workload through its scale subresource."""

from __future__ import annotations

from renderer.build.metadata import name_origins
from renderer.build.scale_target import scale_target
from renderer.diagnostics import Origin, Path
from renderer.kubernetes import wellknown
from renderer.plan import Manifest, Plan


def hpa(plan: Plan) -> list[Manifest]:
    """One when the Playground is elastic and no KEDA scales it, none otherwise."""
    scaler = plan.scaler
    if not scaler or scaler.triggers or scaler.owner:
        return []
    labels = {**plan.labels, wellknown.COMPONENT: "autoscaler"}
    low, high, metrics, behavior = scaler.min_replicas, scaler.max_replicas, scaler.metrics, scaler.behavior
    spec: dict[str, object] = {
        "scaleTargetRef": scale_target(plan),
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
