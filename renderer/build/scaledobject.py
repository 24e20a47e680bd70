"""ScaledObject: KEDA scales the LeaderWorkerSet's groups, by an HPA of its own."""

from __future__ import annotations

from renderer.build.metadata import name_origins
from renderer.build.scale_target import scale_target
from renderer.diagnostics import Origin, Path
from renderer.kubernetes import wellknown
from renderer.plan import Manifest, Plan, Scaler

_POLLING = 15  # seconds between two looks
_FAILURES = 3  # looks without an answer until the fallback acts
_RESOURCES = ("cpu", "memory")  # KEDA refuses a fallback where all triggers are of these types


def scaled_object(plan: Plan) -> list[Manifest]:
    """One when KEDA scales the Playground, none otherwise. What KEDA would fill in otherwise than wanted is written:
    minReplicaCount, whose default is 0, and the name of its HPA, by which it takes over one that exists.
    """
    scaler = plan.scaler
    if not scaler or not scaler.triggers:
        return []
    metadata = {
        "name": plan.name,
        "namespace": plan.namespace,
        "labels": {**plan.labels, wellknown.COMPONENT: "autoscaler"},
        "annotations": {wellknown.TRANSFERS_HPA: "true"},
    }
    body = {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": metadata, "spec": _spec(plan, scaler)}
    return [Manifest(body, lambda: _origins(plan, scaler))]


def _spec(plan: Plan, scaler: Scaler) -> dict[str, object]:
    hpa: dict[str, object] = {"name": plan.name}
    if scaler.behavior:
        hpa["behavior"] = scaler.behavior
    spec: dict[str, object] = {
        "scaleTargetRef": scale_target(plan),
        "pollingInterval": _POLLING,
    }
    if scaler.cooldown:
        spec["cooldownPeriod"] = scaler.cooldown.seconds
    spec |= {"minReplicaCount": scaler.min_replicas, "maxReplicaCount": scaler.max_replicas}
    if any(trigger.body["type"] not in _RESOURCES for trigger in scaler.triggers):
        # Where the metrics are lost, nothing that runs is taken away.
        spec["fallback"] = {
            "failureThreshold": _FAILURES,
            "replicas": max(1, scaler.min_replicas),
            "behavior": "currentReplicasIfHigher",
        }
    spec["advanced"] = {"horizontalPodAutoscalerConfig": hpa}
    spec["triggers"] = [trigger.body for trigger in scaler.triggers]
    return spec


def _origins(plan: Plan, scaler: Scaler) -> dict[Path, Origin]:
    elastic = plan.origin.at("spec", "elasticConfig")
    field_origins = {
        **name_origins(plan.origin),
        ("spec", "minReplicaCount"): elastic.at("minReplicas"),
        ("spec", "maxReplicaCount"): elastic.at("maxReplicas"),
        ("spec", "triggers"): elastic,
    }
    if scaler.cooldown:
        field_origins["spec", "cooldownPeriod"] = scaler.cooldown.origin
    if scaler.layers:
        origin = scaler.layers[-1].origin
        field_origins["spec", "triggers"] = origin.at("metrics")
        field_origins["spec", "advanced", "horizontalPodAutoscalerConfig", "behavior"] = origin.at("behavior")
    for i, trigger in enumerate(scaler.triggers):
        path: Path = ("spec", "triggers", i)
        field_origins[path] = trigger.origin
        if prometheus := trigger.prometheus:
            field_origins |= {(*path, "metadata", key): prometheus.at(key) for key in ("serverAddress", "authModes")}
            field_origins[*path, "authenticationRef"] = prometheus.at("authenticationRef")
            field_origins[*path, "metadata", "query"] = trigger.origin.at("metric")
            field_origins[*path, "metadata", "threshold"] = trigger.origin.at("target")
    return field_origins
