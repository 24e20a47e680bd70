"""Pods that templates of workloads make, as selectors and ports see them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from renderer.check.finding import Body
from renderer.kubernetes.json_values import as_map, as_maps, as_number, as_text, map_at, number_at
from renderer.kubernetes.wellknown import WORKER_INDEX

# Prefixes of labels whose values controllers make up for each pod.
POD_LABELS = ("leaderworkerset.sigs.k8s.io/", "apps.kubernetes.io/", "statefulset.kubernetes.io/")


class WorkloadPods(Struct, frozen=True):
    """The pods that a template of a workload makes: their labels, and the ports of their containers by
    number and name.
    """

    labels: Mapping[str, object]
    ports: frozenset[float | str]


def group_pods(body: Body, labels: Mapping[str, str]) -> Iterator[WorkloadPods]:
    """The leader and the workers of a group of a LeaderWorkerSet. `labels`: what controllers add to those of both."""
    template = map_at(body, "spec", "leaderWorkerTemplate")
    worker = as_map(template.get("workerTemplate"))
    yield template_pods(as_map(template.get("leaderTemplate")) or worker, {**labels, WORKER_INDEX: "0"})
    if number_at(template, "size", default=1) > 1:
        yield template_pods(worker, {**labels, WORKER_INDEX: "1"})


def template_pods(template: Body, labels: Mapping[str, str] = {}) -> WorkloadPods:
    """The pods of a template. `labels`: what controllers add to its own."""
    spec = as_map(template.get("spec"))
    ports: set[float | str] = set()
    for container in (*as_maps(spec.get("containers")), *as_maps(spec.get("initContainers"))):
        for port in as_maps(container.get("ports")):
            ports.add(as_number(port.get("containerPort")))
            if "name" in port:
                ports.add(as_text(port.get("name")))
    return WorkloadPods({**map_at(template, "metadata", "labels"), **labels}, frozenset(ports))
