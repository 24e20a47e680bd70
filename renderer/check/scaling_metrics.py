"""Resource metrics of an HPA: the container exists, and requests the resource that is measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from renderer.check.finding import Body, Finding
from renderer.diagnostics import suggestion

_SOURCES = {"Resource": "resource", "ContainerResource": "containerResource"}
_RESOURCE_METRICS = ("cpu", "memory")  # in Kubernetes' resource metrics


def needs_resource_metrics(scaler: Body) -> bool:
    """Whether an HPA scales on resource metrics of the pods of its workload."""
    return any(metric["type"] in _SOURCES for metric in scaler["spec"].get("metrics") or ())


def validate_resource_metrics(scaler: Body, workload: Body) -> Iterator[Finding]:
    """Findings about resource metrics of an HPA that can never be measured. `workload`: what it scales."""
    for i, metric in enumerate(scaler["spec"].get("metrics") or ()):
        if (key := _SOURCES.get(metric["type"])) is None:
            continue
        source, containers = metric[key], _scaled_containers(workload)
        if "container" in source:
            name, names = source["container"], [container["name"] for container in containers]
            containers = [container for container in containers if container["name"] == name]
            if not containers:
                words = {"kind": workload["kind"], "name": workload["metadata"]["name"], "container": name}
                yield "E555", ("spec", "metrics", i, key, "container"), {**words, "hint": suggestion(name, names)}
                continue
        if source["name"] not in _RESOURCE_METRICS:
            yield "W556", ("spec", "metrics", i, key, "name"), {"name": source["name"]}
        elif source["target"]["type"] == "Utilization":
            for container in containers:
                if not _has_request(container, source["name"]):
                    words = {"name": source["name"], "container": container["name"]}
                    yield "W555", ("spec", "metrics", i, key, "name"), words
                    break


def _has_request(container: Body, resource: str) -> bool:
    """Whether the container has a request for the resource; a limit is also Kubernetes' default for the request."""
    sides = container.get("resources") or {}
    return any(resource in (sides.get(side) or {}) for side in ("requests", "limits"))


def _scaled_containers(workload: Body) -> Sequence[Body]:
    """The containers of the pods that are measured: for a LeaderWorkerSet those of its leaders."""
    spec = workload["spec"]
    groups = spec.get("leaderWorkerTemplate")
    template = (groups.get("leaderTemplate") or groups["workerTemplate"]) if groups else spec["template"]
    containers: Sequence[Body] = template["spec"]["containers"]
    return containers
