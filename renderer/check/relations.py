"""Rules between objects: one autoscaler for each workload, with metrics that can be measured; Services with a port of
the leaders.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from renderer.check.finding import Body, IndexedFinding
from renderer.check.graph.backends import format_ports
from renderer.check.scaling_metrics import needs_resource_metrics, validate_resource_metrics
from renderer.check.shared_volumes import CLAIM, shared_claims
from renderer.kubernetes import wellknown
from renderer.kubernetes.disaggregated_sets import KIND, ROLE, ROLE_SCALER, SET, set_roles
from renderer.kubernetes.json_values import as_map, as_maps, map_at

_SCALABLE = frozenset({"LeaderWorkerSet", "Deployment", "StatefulSet", "ReplicaSet"})


def validate_relations(bodies: Sequence[Body]) -> Iterator[IndexedFinding]:
    """Findings between objects: two autoscalers for a workload, one that cannot measure it, replicas beside one,
    Services that miss the leaders' port.
    """
    sets = {_key(body): i for i, body in enumerate(bodies) if body["kind"] == "LeaderWorkerSet"}
    scalable: dict[tuple[object, ...], int] = {
        (*_key(body), body["kind"]): i for i, body in enumerate(bodies) if body["kind"] in _SCALABLE
    }
    roles = _roles(bodies)
    workloads: dict[tuple[object, ...], Body] = {}  # filled when first needed
    scalers: dict[tuple[object, ...], int] = {}
    ports: dict[int, set[object]] = {}  # of leaders, by the identity of their set
    has_claims = False
    for i, body in enumerate(bodies):
        kind = body["kind"]
        has_claims |= kind == CLAIM
        if kind in wellknown.AUTOSCALERS:
            yield from _validate_target(bodies, i, scalable, scalers)
            if needs_resource_metrics(body):
                workloads = workloads or {**_workloads(bodies), **_scalable_roles(roles)}
                key = _target_key(body)
                for finding in validate_resource_metrics(body, workloads[key]) if key in workloads else ():
                    yield IndexedFinding(i, *finding)
        elif kind == "Service" and body["apiVersion"] == "v1" and (sets or roles):
            namespace, name = _key(body)
            if (namespace, name) in sets:
                yield IndexedFinding(i, "E552", ("metadata", "name"), {"name": name})
            spec = as_map(body["spec"])
            selector = as_map(spec.get("selector"))
            index = sets.get((namespace, selector.get(wellknown.GROUPS, "")))
            workload = _selected_role(roles, namespace, selector) if index is None else bodies[index]
            if workload is not None and selector.get(wellknown.WORKER_INDEX) == "0":
                if id(workload) not in ports:
                    ports[id(workload)] = _leader_ports(workload)
                yield from _validate_ports(i, spec, ports[id(workload)])
    yield from shared_claims(bodies) if has_claims else ()


def _target_key(scaler: Body) -> tuple[object, ...]:
    """Namespace, kind and name of what an autoscaler scales."""
    target = map_at(scaler, "spec", "scaleTargetRef")
    return _key(scaler)[0], target.get("kind", "Deployment"), target["name"]


def _validate_target(
    bodies: Sequence[Body],
    index: int,
    scalable: Mapping[tuple[object, ...], int],
    scalers: dict[tuple[object, ...], int],
) -> Iterator[IndexedFinding]:
    """Findings about what an autoscaler scales: that another one does so too, or that it has replicas of its own. Adds
    the autoscaler to `scalers`, by what each scales.
    """
    body = bodies[index]
    key = namespace, kind, target_name = _target_key(body)
    if (first := scalers.setdefault(key, index)) != index:
        other = f"{bodies[first]['kind']} {_key(bodies[first])[1]}"
        yield IndexedFinding(index, "E550", ("spec", "scaleTargetRef", "name"), {"name": target_name, "other": other})
    target_index = scalable.get((namespace, target_name, kind))
    if target_index is not None and "replicas" in as_map(bodies[target_index]["spec"]):
        params = {"name": _key(body)[1], "kind": body["kind"]}
        yield IndexedFinding(target_index, "E551", ("spec", "replicas"), params)


def _validate_ports(index: int, spec: Body, leader_ports: Set[object]) -> Iterator[IndexedFinding]:
    """Findings about the ports of a Service that leads to leaders with these ports."""
    for i, port in enumerate(as_maps(spec.get("ports"))):
        number = port["port"]
        target_port = port.get("targetPort", number)
        if spec.get("clusterIP") == "None" and isinstance(target_port, int) and target_port != number:
            params = {"port": number, "target": target_port}
            yield IndexedFinding(index, "E554", ("spec", "ports", i, "targetPort"), params)
        if leader_ports and target_port not in leader_ports:
            params = {"port": target_port, "ports": format_ports(leader_ports)}
            yield IndexedFinding(index, "E553", ("spec", "ports", i), params)


def _workloads(bodies: Sequence[Body]) -> dict[tuple[object, ...], Body]:
    """The objects that an autoscaler may scale, by namespace, kind and name."""
    return {(_key(body)[0], body["kind"], _key(body)[1]): body for body in bodies if body["kind"] in _SCALABLE}


def _roles(bodies: Sequence[Body]) -> dict[tuple[object, ...], Body]:
    """The roles of DisaggregatedSets, by namespace, set and role, as what an autoscaler scales."""
    return {
        (*_key(body), role.name): {"kind": ROLE_SCALER, "metadata": {"name": role.scaler}, "spec": role.spec}
        for body in bodies
        if body["kind"] == KIND
        for role in set_roles(body)
    }


def _scalable_roles(roles: Mapping[tuple[object, ...], Body]) -> dict[tuple[object, ...], Body]:
    """The same by namespace, kind and name of the target that an autoscaler has for each."""
    return {(key[0], ROLE_SCALER, f"{key[1]}-{key[2]}"): body for key, body in roles.items()}


def _selected_role(
    roles: Mapping[tuple[object, ...], Body], namespace: object, selector: Mapping[str, object]
) -> Body | None:
    """The role that a selector names."""
    return roles.get((namespace, selector.get(SET), selector.get(ROLE))) if roles else None


def _key(body: Body) -> tuple[object, object]:
    metadata = as_map(body["metadata"])
    return metadata.get("namespace", ""), metadata.get("name", "")


def _leader_ports(body: Body) -> set[object]:
    groups = as_map(as_map(body["spec"])["leaderWorkerTemplate"])
    template = as_map(groups.get("leaderTemplate") or groups["workerTemplate"])
    return {
        port[field]
        for group in ("containers", "initContainers")  # a sidecar may be an init container
        for container in as_maps(as_map(template["spec"]).get(group))
        for port in as_maps(container.get("ports"))
        for field in ("containerPort", "name")
        if field in port
    }
