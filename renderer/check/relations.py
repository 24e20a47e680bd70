"""Rules between objects: one autoscaler for each workload, with metrics that can be measured; Services with a port of
the leaders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import TypeAlias

from renderer.check.finding import Body, IndexedFinding
from renderer.check.graph.backends import format_ports
from renderer.check.graph.pods import container_ports
from renderer.check.scaling_metrics import ScaledWorkload, needs_resource_metrics, validate_resource_metrics
from renderer.check.shared_volumes import CLAIM, shared_claims
from renderer.diagnostics import Finding
from renderer.kubernetes import wellknown
from renderer.kubernetes.disaggregated_sets import ROLE, ROLE_SCALER, SET
from renderer.kubernetes.json_values import as_map, as_maps
from renderer.kubernetes.workloads import (
    DISAGGREGATED_SET,
    LEADER_WORKER_SET,
    WORKLOADS,
    Replica,
    pod_selector,
    replicas,
    scale_target,
)

_Key: TypeAlias = tuple[str, str, str]  # namespace, kind and name
_SCALABLE = frozenset(kind for (_, kind), workload in WORKLOADS.items() if workload.is_scalable)


def validate_relations(
    bodies: Sequence[Body], replicas_of: Callable[[Body], Iterable[Replica]] = replicas
) -> Iterator[IndexedFinding]:
    """Findings between objects: two autoscalers for a workload, one that cannot measure it, replicas beside one,
    Services that miss the leaders' port. `replicas_of`: the replicas of an object, where somebody knows them already.
    """
    leaders = _leaders(bodies, replicas_of)
    scalable: Mapping[_Key, int] = {}  # filled when first needed, too
    workloads: Mapping[_Key, ScaledWorkload] = {}  # filled when first needed
    scalers: dict[_Key, int] = {}
    has_claims = False
    for i, body in enumerate(bodies):
        kind = body["kind"]
        has_claims |= kind == CLAIM
        if kind in wellknown.AUTOSCALERS:
            scalable = scalable or {_key(body): i for i, body in enumerate(bodies) if body["kind"] in _SCALABLE}
            yield from _validate_target(bodies, i, scalable, scalers)
            if needs_resource_metrics(body):
                workloads = workloads or _workloads(bodies, replicas_of)
                workload = workloads.get(scale_target(body))
                for finding in validate_resource_metrics(body, workload) if workload else ():
                    yield i, finding
        elif kind == "Service" and body["apiVersion"] == "v1" and leaders:
            namespace, _, name = _key(body)
            if (namespace, name) in leaders:
                yield i, Finding("E552", ("metadata", "name"), {"name": name, "hint": _other_name(bodies, i)})
            spec = as_map(body["spec"])
            selector = as_map(spec.get("selector"))
            leader_ports = leaders.get((namespace, selector.get(wellknown.GROUPS)))
            if leader_ports is None:
                leader_ports = leaders.get((namespace, selector.get(SET), selector.get(ROLE)))
            if leader_ports is not None and selector.get(wellknown.WORKER_INDEX) == "0":
                yield from _validate_ports(i, spec, leader_ports)
    yield from shared_claims(bodies) if has_claims else ()


def _other_name(bodies: Sequence[Body], i: int) -> str:
    """What to call a Service that has the name of a LeaderWorkerSet."""
    namespace, kind, name = _key(bodies[i])
    others = (body for body in bodies if _key(body) == (namespace, kind, f"{name}-lb"))
    return (
        f"call this one '{name}-lb'"
        if next(others, None) is None
        else f"rename it, or leave it out: '{name}-lb' is there"
    )


def _leaders(
    bodies: Sequence[Body], replicas_of: Callable[[Body], Iterable[Replica]]
) -> dict[tuple[object, ...], Set[float | str]]:
    """The ports of the leaders of LeaderWorkerSets and of roles of DisaggregatedSets, by namespace and the values of
    the labels by which these are selected.
    """
    return {
        (_key(body)[0], *pod_selector(body, replica).values()): container_ports(replica.leader.spec)
        for body in bodies
        if body["kind"] in (LEADER_WORKER_SET[1], DISAGGREGATED_SET[1])
        for replica in replicas_of(body)
    }


def _workloads(bodies: Sequence[Body], replicas_of: Callable[[Body], Iterable[Replica]]) -> dict[_Key, ScaledWorkload]:
    """What an autoscaler may scale, by namespace, kind and name."""
    workloads = {}
    for body in bodies:
        namespace, kind, name = _key(body)
        for replica in replicas_of(body):
            if role := replica.set_role:
                kind, name = ROLE_SCALER, role.scaler
            workloads[namespace, kind, name] = ScaledWorkload(kind, name, replica.leader)
    return workloads


def _validate_target(
    bodies: Sequence[Body],
    index: int,
    scalable: Mapping[_Key, int],
    scalers: dict[_Key, int],
) -> Iterator[IndexedFinding]:
    """Findings about what an autoscaler scales: that another one does so too, or that it has replicas of its own. Adds
    the autoscaler to `scalers`, by what each scales.
    """
    body = bodies[index]
    key = scale_target(body)
    if (first := scalers.setdefault(key, index)) != index:
        other = f"{bodies[first]['kind']} {_key(bodies[first])[2]}"
        yield index, Finding("E550", ("spec", "scaleTargetRef", "name"), {"name": key[2], "other": other})
    target_index = scalable.get(key)
    if target_index is not None and "replicas" in as_map(bodies[target_index]["spec"]):
        params = {"name": _key(body)[2], "kind": body["kind"]}
        yield target_index, Finding("E551", ("spec", "replicas"), params)


def _validate_ports(index: int, spec: Body, leader_ports: Set[float | str]) -> Iterator[IndexedFinding]:
    """Findings about the ports of a Service that leads to leaders with these ports."""
    for i, port in enumerate(as_maps(spec.get("ports"))):
        number = port["port"]
        target_port = port.get("targetPort", number)
        if spec.get("clusterIP") == "None" and isinstance(target_port, int) and target_port != number:
            params = {"port": number, "target": target_port}
            yield index, Finding("E554", ("spec", "ports", i, "targetPort"), params)
        if leader_ports and target_port not in leader_ports:
            params = {"port": target_port, "ports": format_ports(leader_ports)}
            yield index, Finding("E553", ("spec", "ports", i), params)


def _key(body: Body) -> _Key:
    metadata = as_map(body["metadata"])
    namespace, kind, name = metadata.get("namespace"), body["kind"], metadata.get("name")
    return (
        namespace if isinstance(namespace, str) else "",  # faster than as_text, for every object
        kind if isinstance(kind, str) else "",
        name if isinstance(name, str) else "",
    )
