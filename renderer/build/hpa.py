"""HorizontalPodAutoscaler: scales the workload through its scale subresource."""

from __future__ import annotations

from renderer.build.metadata import name_origins
from renderer.build.scale_target import scale_target
from renderer.diagnostics import Origin, Path
from renderer.kubernetes import wellknown
from renderer.plan import Manifest, Plan, Scaler


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
    return [Manifest(body, lambda: _origins(plan, scaler))]


def _origins(plan: Plan, scaler: Scaler) -> dict[Path, Origin]:
    elastic, trigger = plan.origin.at("spec", "elasticConfig"), scaler.layers[-1]
    field_origins = {
        **name_origins(plan.origin),
        ("spec", "minReplicas"): elastic.at("minReplicas"),
        ("spec", "maxReplicas"): elastic.at("maxReplicas"),
        ("spec", "metrics"): trigger.origin.at("metrics"),
        ("spec", "behavior"): trigger.origin.at("behavior"),
    }
    if trigger.of_engine:
        field_origins["spec", "metrics", 0, "pods", "target", "averageValue"] = trigger.origin.at("target")
    return field_origins
