"""Service: `<name>-lb`, one address over the leaders."""

from __future__ import annotations

from renderer.plan import Manifest, Plan, named
from renderer.yamlio import Shared


def lb_service(plan: Plan) -> list[Manifest]:
    """One, always: `<name>` itself belongs to LWS.

    The port is the runner's, by its own name, on both sides (bug 32).
    """
    body = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": f"{plan.name}-lb", "namespace": plan.namespace, "labels": plan.labels},
        "spec": {
            "selector": {
                "leaderworkerset.sigs.k8s.io/name": plan.name,
                "leaderworkerset.sigs.k8s.io/worker-index": "0",
            },
            "ports": [_port(plan.port.name, plan.port.number)],
        },
    }
    return [Manifest(body, lambda: named(plan))]


def leaders_service(plan: Plan) -> list[Manifest]:
    """One where a route leads to the workload: headless, so that the DNS knows every leader that is ready."""
    if not plan.host:
        return []
    body = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": f"{plan.name}-leaders", "namespace": plan.namespace, "labels": plan.labels},
        "spec": {
            "clusterIP": "None",
            "selector": {
                "leaderworkerset.sigs.k8s.io/name": plan.name,
                "leaderworkerset.sigs.k8s.io/worker-index": "0",
            },
            "ports": [_port(plan.port.name, plan.port.number)],
        },
    }
    return [Manifest(body, lambda: named(plan))]


_PORTS: dict[tuple[str, int], Shared] = {}


def _port(name: str, number: int) -> Shared:
    if (name, number) not in _PORTS:
        _PORTS[name, number] = Shared({"name": name, "port": number, "targetPort": number, "protocol": "TCP"})
    return _PORTS[name, number]
