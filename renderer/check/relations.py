"""Rules between objects: one autoscaler for each workload, with metrics that can be measured; Services with a port of
the leaders.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from renderer.check.finding import Body, IndexedFinding
from renderer.check.scaling_metrics import needs_resource_metrics, validate_resource_metrics

_NAME_LABEL = "leaderworkerset.sigs.k8s.io/name"
_INDEX_LABEL = "leaderworkerset.sigs.k8s.io/worker-index"
_SCALABLE = frozenset({"LeaderWorkerSet", "Deployment", "StatefulSet", "ReplicaSet"})


def validate_relations(bodies: Sequence[Body]) -> Iterator[IndexedFinding]:
    """Findings between objects: two autoscalers for a workload, one that cannot measure it, replicas beside one,
    Services that miss the leaders' port.
    """
    sets = {_key(body): i for i, body in enumerate(bodies) if body["kind"] == "LeaderWorkerSet"}
    workloads: dict[tuple[str, str, str], Body] = {}  # filled when first needed
    scalers: dict[tuple[str, str, str], int] = {}
    ports: dict[int, set[int | str]] = {}  # of leaders, by the index of their set
    for i, body in enumerate(bodies):
        kind = body["kind"]
        if kind in ("HorizontalPodAutoscaler", "ScaledObject"):
            namespace, name = _key(body)
            target = body["spec"]["scaleTargetRef"]
            key = (namespace, target.get("kind", "Deployment"), target["name"])
            if (first := scalers.setdefault(key, i)) != i:
                yield IndexedFinding(
                    i,
                    "E550",
                    ("spec", "scaleTargetRef", "name"),
                    {"name": target["name"], "other": f"{bodies[first]['kind']} {_key(bodies[first])[1]}"},
                )
            target_index = sets.get((namespace, target["name"])) if key[1] == "LeaderWorkerSet" else None
            if target_index is not None and "replicas" in bodies[target_index]["spec"]:
                yield IndexedFinding(target_index, "E551", ("spec", "replicas"), {"name": name, "kind": kind})
            if kind == "HorizontalPodAutoscaler" and needs_resource_metrics(body):
                workloads = workloads or _workloads(bodies)
                for finding in validate_resource_metrics(body, workloads[key]) if key in workloads else ():
                    yield IndexedFinding(i, *finding)
        elif kind == "Service" and body["apiVersion"] == "v1" and sets:
            namespace, name = _key(body)
            if (namespace, name) in sets:
                yield IndexedFinding(i, "E552", ("metadata", "name"), {"name": name})
            selector = body["spec"].get("selector") or {}
            leader = sets.get((namespace, selector.get(_NAME_LABEL, "")))
            if leader is not None and selector.get(_INDEX_LABEL) == "0":
                if leader not in ports:
                    ports[leader] = _leader_ports(bodies[leader])
                leader_ports = ports[leader]
                for j, port in enumerate(body["spec"].get("ports") or ()):
                    target = port.get("targetPort", port["port"])
                    if body["spec"].get("clusterIP") == "None" and isinstance(target, int) and target != port["port"]:
                        yield IndexedFinding(
                            i, "E554", ("spec", "ports", j, "targetPort"), {"port": port["port"], "target": target}
                        )
                    if leader_ports and target not in leader_ports:
                        yield IndexedFinding(
                            i,
                            "E553",
                            ("spec", "ports", j),
                            {"port": target, "ports": ", ".join(sorted(map(str, leader_ports)))},
                        )


def _workloads(bodies: Sequence[Body]) -> dict[tuple[str, str, str], Body]:
    """The objects that an autoscaler may scale, by namespace, kind and name."""
    return {(_key(body)[0], body["kind"], _key(body)[1]): body for body in bodies if body["kind"] in _SCALABLE}


def _key(body: Body) -> tuple[str, str]:
    metadata = body["metadata"]
    return metadata.get("namespace", ""), metadata.get("name", "")


def _leader_ports(body: Body) -> set[int | str]:
    template = body["spec"]["leaderWorkerTemplate"]
    spec = (template.get("leaderTemplate") or template["workerTemplate"])["spec"]
    return {
        port[field]
        for container in spec["containers"]
        for port in container.get("ports") or ()
        for field in ("containerPort", "name")
        if field in port
    }
