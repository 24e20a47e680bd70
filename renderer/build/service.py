"""Services over the leaders of a workload: `<name>-lb`, and headless `<name>-leaders`."""

from __future__ import annotations

from functools import lru_cache

from renderer import wellknown
from renderer.plan import Body, Manifest, Plan, Port, leader_selector, name_origins
from renderer.yamlio import SharedMap


def lb_service(plan: Plan) -> list[Manifest]:
    """One, always; LeaderWorkerSet creates a Service called `<name>` itself.

    Name and number of the port are the runner's (docs/deviations.md#bugs-of-the-operator, 32).
    """
    return [_service(plan, plan.name + wellknown.LB_SERVICE, {})]


def leaders_service(plan: Plan) -> list[Manifest]:
    """One where a route leads to the workload: headless, so that DNS answers with every ready leader. Not behind an
    interceptor, which asks `<name>-lb`.
    """
    if not plan.host or plan.interceptor:
        return []
    return [_service(plan, plan.name + wellknown.LEADERS_SERVICE, {"clusterIP": "None"})]


def _service(plan: Plan, name: str, spec: Body) -> Manifest:
    """A Service over the leaders of a workload."""
    body = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": plan.namespace, "labels": plan.labels},
        "spec": {**spec, "selector": leader_selector(plan), "ports": _ports(plan.port)},
    }
    return Manifest(body, lambda: name_origins(plan))


@lru_cache(maxsize=256)
def _ports(port: Port) -> list[Body]:
    return [SharedMap({"name": port.name, "port": port.number, "targetPort": port.number, "protocol": "TCP"})]
