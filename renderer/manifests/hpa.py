"""HorizontalPodAutoscaler: scales the LeaderWorkerSet's groups through its scale subresource."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from renderer.plan import Manifest, Plan


def hpa(plan: Plan) -> Iterator[Manifest]:
    """One when the Playground is elastic, none otherwise."""
    if not plan.scaler:
        return
    spec: dict[str, Any] = {
        "scaleTargetRef": {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "name": plan.name},
        "minReplicas": plan.scaler.min_replicas,
        "maxReplicas": plan.scaler.max_replicas,
        "metrics": list(plan.scaler.metrics),
    }
    if plan.scaler.behavior:
        spec["behavior"] = plan.scaler.behavior
    origins = plan.origins
    elastic = origins["elastic",]
    yield Manifest(
        {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {
                "name": plan.name,
                "namespace": plan.namespace,
                "labels": {**plan.labels, "app.kubernetes.io/component": "autoscaler"},
            },
            "spec": spec,
        },
        {
            (): origins[()],
            ("metadata", "name"): origins["name",],
            ("metadata", "namespace"): origins["namespace",],
            ("spec", "minReplicas"): elastic.at("minReplicas"),
            ("spec", "maxReplicas"): elastic.at("maxReplicas"),
            ("spec", "metrics"): origins.get(("metrics",), elastic),
            ("spec", "behavior"): origins.get(("behavior",), elastic),
        },
    )
