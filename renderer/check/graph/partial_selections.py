"""Groups of several pods: Services, pools and PodDisruptionBudgets that select a part of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from msgspec import Struct

from renderer.check.finding import Body
from renderer.check.graph.backends import host_place
from renderer.check.graph.pods import KINDS, WorkloadPods, read_pods, replica_labels, view_replicas
from renderer.check.graph.rules import reference_rules
from renderer.check.graph.view import ObjectView, Place
from renderer.diagnostics import Finding, Path
from renderer.kubernetes.json_values import as_map, as_number, as_text, map_at, maps_at, text_at
from renderer.kubernetes.workloads import Replica, pod_selector, selects

_RECREATED = "RecreateGroupOnPodRestart"
_MOST_RANKS = 8  # ports of a pool
_GROUPED = tuple(kind for kind, workload in KINDS.items() if workload.has_groups)


class _Group(Struct, frozen=True):
    """The pods of a LeaderWorkerSet, or of a role of a DisaggregatedSet, whose groups have several pods."""

    name: str  # of the LeaderWorkerSet, or of the set and the role
    selector: Mapping[str, str]  # labels that all of its pods have
    leader: WorkloadPods
    worker: WorkloadPods
    # The ports of a pod's data parallel ranks, by the port of the first.
    ranks: Mapping[float, Sequence[float]]
    recreated: bool  # the end of one pod ends its group


class _Selection(Struct, frozen=True):
    """A Service or pool: the pods that it selects, and their ports that it leads to."""

    kind: str
    name: str
    selector: Mapping[str, object]
    ports: Sequence[float | str]

    def has(self, pods: WorkloadPods) -> bool:
        """Whether it selects these pods."""
        return selects({"matchLabels": self.selector}, pods.labels)


@reference_rules.about("Service")
def validate_service_groups(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Warnings about a Service that leads to workers that do not listen, or to leaders where another leads to all
    pods. A headless one may be for names alone; it counts where a Backend asks it.
    """
    if _groups_of(view, namespace) and (selection := _service_selection(view, body, namespace, name)):
        yield from _validate_selection(view, selection, namespace, ("spec", "selector"))


@reference_rules.about("InferencePool")
def validate_pool_groups(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Warnings about an InferencePool, as about a Service; and about one that has only some of the ranks' ports."""
    selection = _pool_selection(body, name)
    yield from _validate_selection(view, selection, namespace, ("spec", "selector", "matchLabels"))
    for group in _groups_of(view, namespace):
        ranks = next((ranks for first, ranks in group.ranks.items() if first in selection.ports), ())
        known = [port for port in ranks if port in selection.ports]
        if len(known) < len(ranks) and selection.selector and selection.has(group.leader):
            words = {"name": name, "count": len(known), "workload": group.name}
            yield Finding("W538", ("spec", "targetPorts"), {**words, "ports": ", ".join(f"{port:g}" for port in ranks)})


@reference_rules.about("PodDisruptionBudget.policy")
def validate_budget_groups(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A warning about a PodDisruptionBudget that counts the leaders, or the workers, of groups that end as a whole."""
    selector = map_at(body, "spec", "selector")
    for group in _groups_of(view, namespace) if selector else ():
        leaders, workers = selects(selector, group.leader.labels), selects(selector, group.worker.labels)
        if leaders != workers and group.recreated:
            selector_text = ", ".join(f"{key}: {value}" for key, value in group.selector.items())
            words = {"name": name, "half": "leaders" if leaders else "workers", "workload": group.name}
            words["selector"] = selector_text
            yield Finding("W539", ("spec", "selector"), words)


def _validate_selection(view: ObjectView, selection: _Selection, namespace: str, path: Path) -> Iterator[Finding]:
    selected = [group for group in _groups_of(view, namespace) if selection.selector and selection.has(group.leader)]
    silent = {group.name: port for group in selected if (port := _leaders_port(group, selection.ports)) is not None}
    for group in selected:
        words = {"kind": selection.kind, "name": selection.name, "workload": group.name}
        if selection.has(group.worker):
            if group.name in silent:
                yield Finding("W536", path, {**words, "port": silent[group.name]})
        elif not silent and (other := _selection_of_all(view, namespace, group, selection.ports)):
            yield Finding("W537", path, {**words, "other": f"the {other.kind} '{other.name}'"})


def _leaders_port(group: _Group, ports: Sequence[float | str]) -> float | str | None:
    """The first of these ports on which leaders listen and workers do not; None without one."""
    return next((port for port in ports if port in group.leader.ports and port not in group.worker.ports), None)


def _selection_of_all(
    view: ObjectView, namespace: str, group: _Group, ports: Sequence[float | str]
) -> _Selection | None:
    """What leads to such a port of all pods of a group; None where nothing does, or where workers do not listen."""
    for other in view.once("selections", _selections).get(namespace, ()):
        if other.has(group.leader) and other.has(group.worker):
            common = [port for port in ports if port in other.ports and port in group.worker.ports]
            if common:
                return other
    return None


def _selections(view: ObjectView) -> dict[str, list[_Selection]]:
    """By namespace, the Services and pools that lead to pods."""
    selections: dict[str, list[_Selection]] = {}
    for namespace, name, body in view.all("Service"):
        if selection := _service_selection(view, body, namespace, name):
            selections.setdefault(namespace, []).append(selection)
    for namespace, name, body in view.all("InferencePool"):
        selections.setdefault(namespace, []).append(_pool_selection(body, name))
    return {
        namespace: [selection for selection in all_of_it if selection.selector]
        for namespace, all_of_it in selections.items()
    }


def _service_selection(view: ObjectView, body: Body, namespace: str, name: str) -> _Selection | None:
    """What a Service leads to; None for a headless one that no Backend asks."""
    spec = as_map(body.get("spec"))
    if spec.get("clusterIP") == "None" and (namespace, name) not in view.once("asked", _asked_services):
        return None
    targets = [port.get("targetPort", port.get("port")) for port in maps_at(spec, "ports")]
    ports = [target for target in targets if isinstance(target, (int, float, str))]
    return _Selection("Service", name, map_at(spec, "selector"), ports)


def _pool_selection(body: Body, name: str) -> _Selection:
    spec = map_at(body, "spec")
    ports = [as_number(port.get("number")) for port in maps_at(spec, "targetPorts")]
    return _Selection("InferencePool", name, map_at(spec, "selector", "matchLabels"), ports)


def _asked_services(view: ObjectView) -> set[Place]:
    """The Services that a Backend names."""
    hosts = [
        text_at(endpoint, "fqdn", "hostname")
        for _, _, body in view.all("Backend")
        for endpoint in maps_at(body, "spec", "endpoints")
    ]
    return {place for host in hosts if host and (place := host_place(view, host))}


def _groups_of(view: ObjectView, namespace: str) -> Sequence[_Group]:
    return view.once("groups of several pods", _groups).get(namespace, ())


def _groups(view: ObjectView) -> dict[str, list[_Group]]:
    """By namespace, the LeaderWorkerSets and roles of DisaggregatedSets whose groups are of several pods."""
    groups: dict[str, list[_Group]] = {}
    for kind in _GROUPED:
        for namespace, _, body in view.all(kind):
            for replica in view_replicas(view, body):
                if replica.size > 1:
                    groups.setdefault(namespace, []).append(_group(view, body, replica))
    return groups


def _group(view: ObjectView, body: Body, replica: Replica) -> _Group:
    """The pods of a replica that has several."""
    leader, worker = replica.made(next(replica_labels(view, body, replica)))
    role, name = replica.set_role, text_at(body, "metadata", "name")
    return _Group(
        role.scaler if role else name,
        pod_selector(body, replica),
        read_pods(body, replica, leader),
        read_pods(body, replica, worker),
        ranks=_rank_ports(replica.leader.spec),
        recreated=text_at(body, *replica.leader.path[:-1], "restartPolicy") in ("", _RECREATED),
    )


def _rank_ports(pod: Body) -> dict[float, Sequence[float]]:
    """The ports of data parallel ranks, by that of the first, whose name the others of its container have with their
    number.
    """
    ranks: dict[float, Sequence[float]] = {}
    for container in maps_at(pod, "containers"):
        ports = [port for port in maps_at(container, "ports") if "name" in port]
        numbers = {as_text(port.get("name")): as_number(port.get("containerPort")) for port in ports}
        for name, first in numbers.items():
            others = takewhile(numbers.__contains__, (f"{name}-{rank}" for rank in range(1, _MOST_RANKS)))
            if rest := [numbers[other] for other in others]:
                ranks[first] = [first, *rest]
    return ranks
