"""Autoscalers that others have written into the tree: they own the number of replicas of the workload that they
target.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import map_at, text_at
from renderer.kubernetes.workloads import SCALE_TARGETS, scale_target
from renderer.plan import Body, Scaler

if TYPE_CHECKING:
    from renderer.api import App, Inputs
    from renderer.resolve.context import RunContext

_BOUNDS = {  # by kind: the fields of the bounds, and their defaults
    "HorizontalPodAutoscaler": (("minReplicas", 1), ("maxReplicas", 1)),
    "ScaledObject": (("minReplicaCount", 0), ("maxReplicaCount", 100)),
}


def foreign_scalers(inputs: Inputs) -> Mapping[tuple[str, str, str], Scaler]:
    """By kind, namespace and name of the workload that they target, the autoscalers of others, the first of each."""
    scalers: dict[tuple[str, str, str], Scaler] = {}
    for body in inputs.foreign_objects:
        if text_at(body, "kind") not in _BOUNDS:
            continue
        namespace, kind, name = scale_target(body)
        version = text_at(body, "spec", "scaleTargetRef", "apiVersion", default=SCALE_TARGETS[wellknown.DEPLOYMENT])
        if version.partition("/")[0] == SCALE_TARGETS.get(kind, "").partition("/")[0]:
            namespace = namespace or str(inputs.config.get("namespace") or "default")
            scalers.setdefault((kind, namespace, name), _scaler(body))
    return scalers


def _scaler(body: Body) -> Scaler:
    spec = map_at(body, "spec")
    low, high = (
        value if isinstance(value := spec.get(field), int) else default for field, default in _BOUNDS[str(body["kind"])]
    )
    return Scaler(low, max(low, high), (), owner=f"{body['kind']} '{text_at(body, 'metadata', 'name')}'")


def foreign_scaler(context: RunContext, app: App) -> Scaler | None:
    """The autoscaler of somebody else that targets the app's workload; none beside one of its own."""
    if not context.foreign_scalers or "elasticConfig" in app.spec:
        return None
    return context.foreign_scalers.get((app.scaled_kind, app.namespace, app.name))
