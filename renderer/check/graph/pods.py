"""Pods that controllers make of the workloads of a view, as selectors and ports see them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from renderer.check.finding import Body
from renderer.check.graph.view import ObjectView, kind_in
from renderer.kubernetes import wellknown
from renderer.kubernetes.component_versions import version_numbers
from renderer.kubernetes.json_values import as_number, as_text, map_at, maps_at, text_at
from renderer.kubernetes.wellknown import GROUPS
from renderer.kubernetes.workloads import (
    CONTROLLER_LABELS,
    WORKLOADS,
    MadePods,
    PodTemplate,
    Replica,
    added_labels,
    containers,
    replicas,
    selects,
    stays,
)

KINDS = {kind_in(*kind): workload for kind, workload in WORKLOADS.items()}
"""The kinds that run pods, by their names in Keys."""
_SLICES = (0, 10)  # the first LeaderWorkerSet that numbers slices, in names and labels


class WorkloadPods(Struct, frozen=True):
    """Pods that the controller of a workload makes of one template."""

    body: Body  # of the workload
    replica: Replica
    labels: Mapping[str, object]  # those that controllers add among them
    ports: frozenset[float | str]  # of their containers, by number and name
    spec: Body  # of the pods

    @property
    def workload(self) -> str:
        """Kind and name of the workload, such as Deployment 'chat'."""
        return f"{text_at(self.body, 'kind')} '{text_at(self.body, 'metadata', 'name')}'"


def view_replicas(view: ObjectView, body: Body) -> Sequence[Replica]:
    """The replicas that an object of the view makes, which several rules ask for. The view keeps the object, so no
    other one gets its id.
    """
    if (known := view.replicas.get(id(body))) is None:
        known = view.replicas[id(body)] = tuple(replicas(body))
    return known


def view_templates(view: ObjectView, body: Body) -> Iterator[PodTemplate]:
    """The pod templates of an object of the view, of which pods are made."""
    for replica in view_replicas(view, body):
        yield from replica.used_templates


def numbers_slices(view: ObjectView) -> Sequence[bool]:
    """Whether the controller of the targeted clusters numbers slices; both where no target is known."""
    targets = view.external.targets
    known = targets.versions.get("leaderWorkerSet") if targets else None
    return (version_numbers(known) >= _SLICES,) if known else (False, True)


def replica_labels(view: ObjectView, body: Body, replica: Replica) -> Iterator[Mapping[str, str]]:
    """The labels that controllers add to all pods of a replica, one map for each way that is possible."""
    return added_labels(body, replica, numbers_slices=numbers_slices(view))


def workload_pods(view: ObjectView, body: Body) -> Sequence[WorkloadPods]:
    """The pods that are made of a workload of the view; nothing of other objects."""
    return view.once(("pods", id(body)), lambda view: _workload_pods(view, body))


def _workload_pods(view: ObjectView, body: Body) -> list[WorkloadPods]:
    return [
        read_pods(body, replica, pods)
        for replica in view_replicas(view, body)
        for added in replica_labels(view, body, replica)
        for pods in replica.made(added)
    ]


def read_pods(body: Body, replica: Replica, pods: MadePods) -> WorkloadPods:
    """Some pods of a replica with the ports of their containers."""
    return WorkloadPods(body, replica, pods.labels, container_ports(pods.template.spec), pods.template.spec)


def container_ports(spec: Body) -> frozenset[float | str]:
    """The ports on which the containers of a pod listen while it runs, by number and name."""
    ports: set[float | str] = set()
    for path, container in containers(spec):
        for port in maps_at(container, "ports") if "ports" in container and stays(path, container) else ():
            ports.add(as_number(port.get("containerPort")))
            if isinstance(name := port.get("name"), str):
                ports.add(name)
    return frozenset(ports)


def selected_pods(view: ObjectView, namespace: str, selector: Body) -> list[WorkloadPods]:
    """The pods of a namespace that a selector with `matchLabels` selects, one for each template."""
    labels = map_at(selector, "matchLabels")
    if group := as_text(labels.get(GROUPS)):
        body = view.find(wellknown.LEADER_WORKER_SET, namespace, group)
        return [pods for pods in workload_pods(view, body) if selects(selector, pods.labels)] if body else []
    known = view.once("pods by label", _pods_by_label)
    candidates = min((known.get((namespace, *label), ()) for label in labels.items()), key=len)
    selected = [pods for pods in candidates if selects(selector, pods.labels)]
    others = view.external.others
    return selected if others is None else selected + selected_pods(others, namespace, selector)


def may_select(selector: Body, pods: WorkloadPods) -> bool:
    """Whether a selector selects these pods as far as their labels are known: one that a controller makes up for each
    pod may have any value.
    """
    labels = map_at(selector, "matchLabels")
    known = {key: labels[key] for key in labels if key in pods.labels or not key.startswith(CONTROLLER_LABELS)}
    return selects({**selector, "matchLabels": known}, pods.labels)


def pods_by_namespace(view: ObjectView) -> Mapping[str, Sequence[WorkloadPods]]:
    """The pods of all workloads of a set."""
    return view.once("pods of workloads", _pods_by_namespace)


def _pods_by_namespace(view: ObjectView) -> dict[str, list[WorkloadPods]]:
    pods: dict[str, list[WorkloadPods]] = {}
    for (kind, namespace, _), body in view.objects.items():
        if body and kind in KINDS:
            pods.setdefault(namespace, []).extend(workload_pods(view, body))
    return pods


def _pods_by_label(view: ObjectView) -> dict[tuple[str, str, object], list[WorkloadPods]]:
    """The same by namespace, and key and value of each label."""
    pods: dict[tuple[str, str, object], list[WorkloadPods]] = {}
    for namespace, entries in pods_by_namespace(view).items():
        for entry in entries:
            for key, value in entry.labels.items():
                pods.setdefault((namespace, key, value), []).append(entry)
    return pods
