"""Service: `<name>-lb`, one address over the leaders."""

from __future__ import annotations

from functools import lru_cache

from renderer.plan import Body, Manifest, Plan, Port, named
from renderer.yamlio import SharedMap


def lb_service(plan: Plan) -> list[Manifest]:
    """One, always: `<name>` itself belongs to LWS.

    The port is the runner's, by its own name, on both sides (docs/deviations.md#bugs-of-the-operator, 32).
    """
    return [_service(plan, f"{plan.name}-lb", {})]


def leaders_service(plan: Plan) -> list[Manifest]:
    """One where a route leads to the workload: headless, so that the DNS knows every leader that is ready."""
    return [_service(plan, f"{plan.name}-leaders", {"clusterIP": "None"})] if plan.host else []


def _service(plan: Plan, name: str, spec: Body) -> Manifest:
    """A Service over the leaders of a workload."""
    selector = {
        "leaderworkerset.sigs.k8s.io/name": plan.name,
        "leaderworkerset.sigs.k8s.io/worker-index": "0",
    }
    body = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": plan.namespace, "labels": plan.labels},
        "spec": {**spec, "selector": selector, "ports": _ports(plan.port)},
    }
    return Manifest(body, lambda: named(plan))


@lru_cache(maxsize=256)
def _ports(port: Port) -> list[Body]:
    return [SharedMap({"name": port.name, "port": port.number, "targetPort": port.number, "protocol": "TCP"})]
