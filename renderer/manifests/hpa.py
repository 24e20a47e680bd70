"""HorizontalPodAutoscaler: scales the LeaderWorkerSet's groups through its scale subresource."""

from __future__ import annotations

from typing import Any

from renderer.plan import Manifest, Plan, named
from renderer.problems import Origin, Path


def hpa(plan: Plan) -> list[Manifest]:
    """One when the Playground is elastic, none otherwise."""
    if not plan.scaler:
        return []
    spec: dict[str, Any] = {
        "scaleTargetRef": {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "name": plan.name},
        "minReplicas": plan.scaler.min_replicas,
        "maxReplicas": plan.scaler.max_replicas,
        "metrics": list(plan.scaler.metrics),
    }
    if plan.scaler.behavior:
        spec["behavior"] = plan.scaler.behavior
    body = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {
            "name": plan.name,
            "namespace": plan.namespace,
            "labels": {**plan.labels, "app.kubernetes.io/component": "autoscaler"},
        },
        "spec": spec,
    }
    return [Manifest(body, lambda: _origins(plan))]


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
