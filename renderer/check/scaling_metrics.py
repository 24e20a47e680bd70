"""Resource metrics of an HPA or a ScaledObject: the container exists, and requests the resource that is measured."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from renderer.check.finding import Body
from renderer.check.kinds.keda import ASKED_KINDS
from renderer.diagnostics import Finding, suggestion
from renderer.kubernetes.json_values import as_map, as_text, map_at, maps_at, value_at
from renderer.kubernetes.workloads import PodTemplate

_SOURCES = {"Resource": "resource", "ContainerResource": "containerResource"}
_RESOURCE_METRICS = ("cpu", "memory")  # in Kubernetes' resource metrics


class ScaledWorkload(Struct, frozen=True):
    """What an HPA or ScaledObject scales."""

    kind: str
    name: str
    leader: PodTemplate  # of the pods that are measured


def needs_resource_metrics(scaler: Body) -> bool:
    """Whether an HPA or ScaledObject scales on resource metrics of the pods of its workload."""
    metrics, triggers = maps_at(scaler, "spec", "metrics"), maps_at(scaler, "spec", "triggers")
    return any(metric["type"] in _SOURCES for metric in metrics) or any(
        trigger["type"] in _RESOURCE_METRICS for trigger in triggers
    )


def validate_resource_metrics(scaler: Body, workload: ScaledWorkload) -> Iterator[Finding]:
    """Findings about resource metrics that can never be measured."""
    yield from _validate_metrics(scaler, workload)
    yield from _validate_triggers(scaler, workload)


def _validate_triggers(scaler: Body, workload: ScaledWorkload) -> Iterator[Finding]:
    """The webhook of KEDA 2.21 wants requests of a Deployment's or StatefulSet's containers, whatever the target is."""
    for i, trigger in enumerate(maps_at(scaler, "spec", "triggers")):
        resource, metadata = as_text(trigger["type"]), map_at(trigger, "metadata")
        if resource not in _RESOURCE_METRICS:
            continue
        if workload.kind not in ASKED_KINDS and trigger.get("metricType") != "Utilization":
            continue
        only = metadata.get("containerName")
        for container in maps_at(workload.leader.spec, "containers"):
            if only in (None, container["name"]) and not _has_request(container, resource):
                words = {"name": resource, "container": container["name"]}
                yield Finding("W555", ("spec", "triggers", i, "type"), words)
                break


def _validate_metrics(scaler: Body, workload: ScaledWorkload) -> Iterator[Finding]:
    for i, metric in enumerate(maps_at(scaler, "spec", "metrics")):
        if (key := _SOURCES.get(as_text(metric["type"]))) is None:
            continue
        source, containers = as_map(metric.get(key)), maps_at(workload.leader.spec, "containers")
        if "container" in source:
            name, names = as_text(source.get("container")), [as_text(container["name"]) for container in containers]
            containers = [container for container in containers if container["name"] == name]
            if not containers:
                words = {"kind": workload.kind, "name": workload.name, "container": name}
                yield Finding(
                    "E555", ("spec", "metrics", i, key, "container"), {**words, "hint": suggestion(name, names)}
                )
                continue
        if (resource := as_text(source["name"])) not in _RESOURCE_METRICS:
            yield Finding("W556", ("spec", "metrics", i, key, "name"), {"name": resource})
        elif value_at(source, "target", "type") == "Utilization":
            for container in containers:
                if not _has_request(container, resource):
                    words = {"name": resource, "container": as_text(container["name"])}
                    yield Finding("W555", ("spec", "metrics", i, key, "name"), words)
                    break


def _has_request(container: Body, resource: str) -> bool:
    """Whether the container has a request for the resource; a limit is also Kubernetes' default for the request."""
    return any(resource in map_at(container, "resources", side) for side in ("requests", "limits"))
