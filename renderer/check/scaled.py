"""What an autoscaler measures of a workload's pods: that the container is there, and asks for what is measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from renderer.check.finding import Body, Finding
from renderer.problems import guess

_SOURCES = {"Resource": "resource", "ContainerResource": "containerResource"}
_MEASURED = ("cpu", "memory")  # what Kubernetes' resource metrics hold


def asking(scaler: Body) -> bool:
    """Whether an HPA asks for what the pods of its workload use."""
    return any(metric["type"] in _SOURCES for metric in scaler["spec"].get("metrics") or ())


def measured(scaler: Body, workload: Body) -> Iterator[Finding]:
    """What keeps an HPA from ever knowing one of its metrics. `workload`: what it scales."""
    for i, metric in enumerate(scaler["spec"].get("metrics") or ()):
        if (key := _SOURCES.get(metric["type"])) is None:
            continue
        source, containers = metric[key], _containers(workload)
        if "container" in source:
            name, names = source["container"], [each["name"] for each in containers]
            containers = [each for each in containers if each["name"] == name]
            if not containers:
                words = {"kind": workload["kind"], "name": workload["metadata"]["name"], "container": name}
                yield "E555", ("spec", "metrics", i, key, "container"), {**words, "hint": guess(name, names)}
                continue
        if source["name"] not in _MEASURED:
            yield "W556", ("spec", "metrics", i, key, "name"), {"name": source["name"]}
        elif source["target"]["type"] == "Utilization":
            for each in containers:
                if not _asks(each, source["name"]):
                    words = {"name": source["name"], "container": each["name"]}
                    yield "W555", ("spec", "metrics", i, key, "name"), words
                    break


def _asks(container: Body, resource: str) -> bool:
    """Whether it has a request, which Kubernetes takes from a limit too."""
    sides = container.get("resources") or {}
    return any(resource in (sides.get(side) or {}) for side in ("requests", "limits"))


def _containers(workload: Body) -> Sequence[Body]:
    """The containers of the pods that count: of a LeaderWorkerSet its leaders."""
    spec = workload["spec"]
    groups = spec.get("leaderWorkerTemplate")
    template = (groups.get("leaderTemplate") or groups["workerTemplate"]) if groups else spec["template"]
    found: Sequence[Body] = template["spec"]["containers"]
    return found
