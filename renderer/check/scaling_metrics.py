"""Resource metrics of an HPA or a ScaledObject: the container exists, and requests the resource that is measured."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from renderer.check.finding import Body
from renderer.check.kinds.keda import ASKED_KINDS
from renderer.diagnostics import Finding, Path, suggestion
from renderer.engines.metric_targets import unreached_amount, unreached_utilization
from renderer.kubernetes.json_values import as_map, as_text, map_at, maps_at, value_at
from renderer.kubernetes.pod_amounts import container_amounts
from renderer.kubernetes.quantity import nanos
from renderer.kubernetes.workloads import PodTemplate, containers, stays

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
        only = as_text(metadata.get("containerName"))
        if container := _unmeasured_container(workload.leader.spec, resource, only):
            yield Finding("W555", ("spec", "triggers", i, "type"), {"name": resource, "container": container})
        elif trigger.get("metricType") == "Utilization":
            path = ("spec", "triggers", i, "metadata", "value")
            yield from _unreached(workload.leader.spec, resource, only, metadata.get("value"), path)


def _validate_metrics(scaler: Body, workload: ScaledWorkload) -> Iterator[Finding]:
    for i, metric in enumerate(maps_at(scaler, "spec", "metrics")):
        if (key := _SOURCES.get(as_text(metric["type"]))) is None:
            continue
        source, only = as_map(metric.get(key)), ""
        if "container" in source:
            only = name = as_text(source.get("container"))
            names = [as_text(container["name"]) for container in _lasting_containers(workload.leader.spec)]
            if name not in names:
                words = {"kind": workload.kind, "name": workload.name, "container": name}
                yield Finding(
                    "E555", ("spec", "metrics", i, key, "container"), {**words, "hint": suggestion(name, names)}
                )
                continue
        if (resource := as_text(source["name"])) not in _RESOURCE_METRICS:
            yield Finding("W556", ("spec", "metrics", i, key, "name"), {"name": resource})
        elif value_at(source, "target", "type") == "Utilization":
            if container := _unmeasured_container(workload.leader.spec, resource, only):
                yield Finding("W555", ("spec", "metrics", i, key, "name"), {"name": resource, "container": container})
            path: Path = ("spec", "metrics", i, key, "target", "averageUtilization")
            yield from _unreached(
                workload.leader.spec, resource, only, value_at(source, "target", "averageUtilization"), path
            )
        elif (aim := value_at(source, "target", "averageValue")) is not None:
            path = ("spec", "metrics", i, key, "target", "averageValue")
            yield from _unreached_amount(workload.leader.spec, resource, only, aim, path)


def _unreached_amount(spec: Body, resource: str, only: str, aim: object, path: Path) -> Iterator[Finding]:
    """A finding where limits keep the containers that are measured below the amount that is aimed at."""
    measured = _measured_containers(spec, only)
    try:
        limit = _limit(spec, measured, resource)
        words = unreached_amount(resource, aim, limit) if limit is not None else {}
    except ValueError:
        return  # which is told as such
    if words:
        yield Finding("W558", path, words)


def _unreached(spec: Body, resource: str, only: str, aim: object, path: Path) -> Iterator[Finding]:
    """A finding where limits keep the containers that are measured below the percentage of their requests that is
    aimed at.
    """
    percent, measured = int(str(aim)) if str(aim).isdecimal() else 0, _measured_containers(spec, only)
    try:
        limit = _limit(spec, measured, resource)
        if not percent or limit is None:
            return
        requested = sum(nanos(container_amounts(container)[resource]) for container in measured)
    except ValueError:
        return  # which is told as such
    if requested and (words := unreached_utilization(resource, percent, 100 * limit // requested)):
        yield Finding("W558", path, words)


def _measured_containers(spec: Body, only: str) -> list[Body]:
    """The containers of a pod whose use is measured: the one that is named alone; all for ''."""
    return [container for container in _lasting_containers(spec) if only in ("", container["name"])]


def _limit(spec: Body, measured: list[Body], resource: str) -> int | None:
    """What containers may use together, in billionths; None where one has no limit, or the pod as a whole may.
    Raises ValueError for a limit that is no quantity.
    """
    limits = [map_at(container, "resources", "limits").get(resource) for container in measured]
    return None if None in limits or "resources" in spec else sum(map(nanos, limits))


def _unmeasured_container(spec: Body, resource: str, only: str) -> str:
    """The first container of a pod that has no request for the resource, '' where each has one. `only`: the container
    that alone is measured, '' for all, of which the pod as a whole may have a request (calculateRequests of
    Kubernetes' podautoscaler, and KEDA's webhook).
    """
    if not only and resource in container_amounts(spec):
        return ""
    names = (
        as_text(container["name"])
        for container in _measured_containers(spec, only)
        if resource not in container_amounts(container)
    )
    return next(names, "")


def _lasting_containers(spec: Body) -> Iterator[Body]:
    """The containers of a pod that run as long as it does: sidecars among the init containers, too."""
    for path, container in containers(spec):
        if path[0] != "ephemeralContainers" and stays(path, container):
            yield container
