"""One valid object of each kind that runs pods, and where a fault can be planted in it."""

from __future__ import annotations

import copy
import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

Path = tuple[str | int, ...]
Body = dict[str, Any]

NAME, NAMESPACE = "chat", "llm"
ALL_SORTS = ("container", "sidecar", "init container")
"""The sorts of containers: a sidecar is an init container with restartPolicy Always."""
STAYING = ALL_SORTS[:2]
"""Those that run as long as the pod; others have neither probes nor hooks."""
_CONTAINERS: Mapping[str, Path] = {
    "container": ("spec", "containers", 1),
    "sidecar": ("spec", "initContainers", 1),
    "init container": ("spec", "initContainers", 0),
}
# What a kind needs beside its pod templates, each template as a word in braces.
_SELECTOR: Body = {"matchLabels": {"model": NAME}}
_PODS: Mapping[str, tuple[str, Body]] = {
    "Pod": ("v1", {"*": "{pods}"}),
    "PodTemplate": ("v1", {"template": "{pods}"}),
    "ReplicationController": ("v1", {"spec": {"selector": {"model": NAME}, "template": "{pods}"}}),
    "Deployment": ("apps/v1", {"spec": {"selector": _SELECTOR, "template": "{pods}"}}),
    "ReplicaSet": ("apps/v1", {"spec": {"selector": _SELECTOR, "template": "{pods}"}}),
    "StatefulSet": ("apps/v1", {"spec": {"serviceName": NAME, "selector": _SELECTOR, "template": "{pods}"}}),
    "DaemonSet": ("apps/v1", {"spec": {"selector": _SELECTOR, "template": "{pods}"}}),
    "Job": ("batch/v1", {"spec": {"template": "{pods}"}}),
    "CronJob": ("batch/v1", {"spec": {"schedule": "@daily", "jobTemplate": {"spec": {"template": "{pods}"}}}}),
    "ScaledJob": (
        "keda.sh/v1alpha1",
        {"spec": {"jobTargetRef": {"template": "{pods}"}, "triggers": [{"type": "cron", "metadata": {"start": "0"}}]}},
    ),
    "LeaderWorkerSet": (
        "leaderworkerset.x-k8s.io/v1",
        {"spec": {"leaderWorkerTemplate": {"size": 1, "workerTemplate": "{pods}"}}},
    ),
    "LeaderWorkerSet of groups": (
        "leaderworkerset.x-k8s.io/v1",
        {"spec": {"leaderWorkerTemplate": {"size": 2, "leaderTemplate": "{leader}", "workerTemplate": "{worker}"}}},
    ),
    "DisaggregatedSet": (
        "disaggregatedset.x-k8s.io/v1",
        {
            "spec": {
                "roles": [
                    {
                        "name": role,
                        "spec": {"leaderWorkerTemplate": {"size": 1, "workerTemplate": f"{{{role}}}"}},
                    }
                    for role in ("prefill", "decode")
                ]
            }
        },
    ),
    "DisaggregatedSet of groups": (
        "disaggregatedset.x-k8s.io/v1",
        {
            "spec": {
                "roles": [
                    {
                        "name": role,
                        "spec": {
                            "leaderWorkerTemplate": {
                                "size": 2,
                                "leaderTemplate": f"{{{role} leader}}",
                                "workerTemplate": f"{{{role} worker}}",
                            }
                        },
                    }
                    for role in ("prefill", "decode")
                ]
            }
        },
    ),
}
_CLUSTER: Body = {
    "headGroupSpec": {"rayStartParams": {}, "template": "{head}"},
    "workerGroupSpecs": [{"groupName": "gpus", "replicas": 1, "rayStartParams": {}, "template": "{workers}"}],
}
_RAY: Mapping[str, tuple[str, Body]] = {
    "RayCluster": ("ray.io/v1", {"spec": _CLUSTER}),
    "RayService": ("ray.io/v1", {"spec": {"rayClusterConfig": _CLUSTER}}),
    "RayJob": ("ray.io/v1", {"spec": {"rayClusterSpec": _CLUSTER, "submitterPodTemplate": "{submitter}"}}),
    "RayCronJob": (
        "ray.io/v1",
        {
            "spec": {
                "schedule": "@daily",
                "jobTemplate": {"rayClusterSpec": _CLUSTER, "submitterPodTemplate": "{submitter}"},
            }
        },
    ),
}
SHAPES: Mapping[str, tuple[str, Body]] = {**_PODS, **_RAY}
"""By name the apiVersion and what stands in the object; kinds with groups have two shapes."""


_COUNTS: Mapping[str, Path] = {
    **dict.fromkeys(
        ("Deployment", "LeaderWorkerSet", "ReplicaSet", "ReplicationController", "StatefulSet"), ("spec", "replicas")
    ),
    "Job": ("spec", "parallelism"),
    "CronJob": ("spec", "jobTemplate", "spec", "parallelism"),
    "ScaledJob": ("spec", "jobTargetRef", "parallelism"),
}


class Spot(NamedTuple):
    """A place in an object where a fault can be planted: a pod template, and a container of it."""

    shape: str  # of the object, one of SHAPES
    body: Body
    template_path: Path  # of the map with `metadata` and `spec` of the pods
    role: str  # of the template among those of the object, such as `leader`
    sort: str  # of the container, one of ALL_SORTS

    @property
    def template(self) -> Body:
        """The template."""
        template: Body = at(self.body, self.template_path)
        return template

    @property
    def spec(self) -> Body:
        """The spec of its pods."""
        spec: Body = at(self.body, (*self.template_path, "spec"))
        return spec

    @property
    def labels(self) -> Body:
        """The labels of its pods."""
        labels: Body = at(self.body, (*self.template_path, "metadata", "labels"))
        return labels

    @property
    def container_path(self) -> Path:
        """The path of the container in the object."""
        return (*self.template_path, *_CONTAINERS[self.sort])

    @property
    def container(self) -> Body:
        """The container."""
        container: Body = at(self.body, self.container_path)
        return container

    @property
    def kind(self) -> str:
        """The kind of the object."""
        return str(self.body["kind"])

    @property
    def count_path(self) -> Path:
        """The path of the number of pods, or of groups of them; () where the object has none."""
        if self.kind == "DisaggregatedSet":
            return (*self.template_path[:3], "spec", "replicas")
        if "workerGroupSpecs" in self.template_path:
            return (*self.template_path[:-1], "replicas")
        return _COUNTS.get(self.kind, ())

    @property
    def address(self) -> str:
        """What the reasoned exceptions of a test match: shape, role and sort of the container."""
        return f"{self.shape}/{self.role}/{self.sort}"


def at(body: Any, path: Path) -> Any:
    """What stands at a path."""
    for part in path:
        body = body[part]
    return body


def kind_of(shape: str) -> tuple[str, str]:
    """API group and kind of a shape."""
    version = SHAPES[shape][0]
    return (version.rpartition("/")[0], shape.partition(" ")[0])


def workload(shape: str, name: str = NAME, namespace: str = NAMESPACE) -> tuple[Body, dict[str, Path]]:
    """A valid object, and the paths of its pod templates by their roles."""
    version, content = SHAPES[shape]
    content = copy.deepcopy(content)
    body: Body = {"apiVersion": version, "kind": shape.partition(" ")[0]}
    body["metadata"] = {"name": name, "namespace": namespace}
    if "*" in content:
        body["metadata"]["labels"] = _template("pods", shape)["metadata"]["labels"]
        return {**body, "spec": _template("pods", shape)["spec"]}, {"pods": ()}
    templates = {word.strip("{}"): path for path, word in _words(content, ())}
    for role, path in templates.items():
        at(content, path[:-1])[path[-1]] = _template(role, shape)
    return {**body, **content}, templates


def _words(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if isinstance(item, str) and item.startswith("{"):
            yield (*path, key), item
        yield from _words(item, (*path, key))


def _template(role: str, shape: str) -> Body:
    """A pod of two containers, an init container and a sidecar."""
    spec: Body = {
        "initContainers": [
            {"name": "setup", "image": "registry.example/setup:v1"},
            {"name": "proxy", "image": "registry.example/proxy:v1", "restartPolicy": "Always"},
        ],
        "containers": [
            {"name": "main", "image": "registry.example/main:v1", "ports": [{"name": "http", "containerPort": 8000}]},
            {"name": "helper", "image": "registry.example/helper:v1"},
        ],
    }
    if shape in ("Job", "CronJob", "ScaledJob"):
        spec["restartPolicy"] = "Never"
    return {"metadata": {"labels": {"model": NAME, "team": "a", "part": role.replace(" ", "-")}}, "spec": spec}


def spots(shape: str, sorts: tuple[str, ...] = ALL_SORTS[:1]) -> Iterator[Spot]:
    """A spot of its own object in each template of a shape, for each of these sorts of containers."""
    for role in workload(shape)[1]:
        for sort in sorts:
            body, templates = workload(shape)
            yield Spot(shape, body, templates[role], role, sort)


def containers(spec: Body) -> Iterator[tuple[Path, Body]]:
    """The containers of a pod, with their paths in its spec."""
    for field in ("containers", "initContainers"):
        yield from (((field, i), container) for i, container in enumerate(spec[field]))


def role_spots(spot: Spot) -> list[Spot]:
    """The spots in the templates of the same group of pods, that of leaders first; where there are no groups itself."""
    templates = workload(spot.shape)[1]
    if not spot.shape.endswith("of groups"):
        return [spot]
    first = spot.role.removesuffix("leader").removesuffix("worker")
    return [spot._replace(role=role, template_path=templates[role]) for role in (f"{first}leader", f"{first}worker")]


class Excepted(NamedTuple):
    """Faults that are not told at some spots, and why."""

    faults: Sequence[str]  # globs of their names
    spots: Sequence[str]  # globs of their addresses
    reason: str


def excepted(rows: Sequence[Excepted], fault: str, spot: Spot) -> list[Excepted]:
    """The rows that except a fault at a spot."""
    return [row for row in rows if _fits(fault, row.faults) and _fits(spot.address, row.spots)]


def _fits(name: str, globs: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, glob) for glob in globs)
