"""HorizontalPodAutoscaler: scales the LeaderWorkerSet's groups through its scale subresource."""

from __future__ import annotations

from typing import Any

from renderer.plan import Body, Manifest, Plan, named
from renderer.problems import Origin, Path
from renderer.yamlio import form


def hpa(plan: Plan) -> list[Manifest]:
    """One when the Playground is elastic, none otherwise."""
    if not plan.scaler:
        return []
    labels = {**plan.labels, "app.kubernetes.io/component": "autoscaler"}
    low, high, metrics, behavior = plan.scaler
    body, filled = _scaling(plan.name, plan.namespace, labels, low, high, list(metrics), behavior or None)
    return [Manifest(body, lambda: _origins(plan), filled)]


@form
def _scaling(
    name: str, namespace: str, labels: Body, low: int, high: int, metrics: list[Body], behavior: Body | None = None
) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "scaleTargetRef": {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "name": name},
        "minReplicas": low,
        "maxReplicas": high,
        "metrics": metrics,
    }
    if behavior is not None:
        spec["behavior"] = behavior
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": spec,
    }


def _origins(plan: Plan) -> dict[Path, Origin]:
    made = plan.origins()
    elastic = made["elastic",]
    return {
        **named(plan),
        ("spec", "minReplicas"): elastic.at("minReplicas"),
        ("spec", "maxReplicas"): elastic.at("maxReplicas"),
        ("spec", "metrics"): made.get(("metrics",), elastic),
        ("spec", "behavior"): made.get(("behavior",), elastic),
    }
