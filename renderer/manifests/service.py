"""Service: `<name>-lb`, one address over the leaders."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from renderer.plan import Body, Manifest, Plan, Port, named
from renderer.yamlio import Shared, form


def lb_service(plan: Plan) -> list[Manifest]:
    """One, always: `<name>` itself belongs to LWS.

    The port is the runner's, by its own name, on both sides (bug 32).
    """
    body, filled = _over_leaders(f"{plan.name}-lb", plan.namespace, plan.labels, plan.name, _ports(plan.port))
    return [Manifest(body, lambda: named(plan), filled)]


def leaders_service(plan: Plan) -> list[Manifest]:
    """One where a route leads to the workload: headless, so that the DNS knows every leader that is ready."""
    if not plan.host:
        return []
    body, filled = _headless(f"{plan.name}-leaders", plan.namespace, plan.labels, plan.name, _ports(plan.port))
    return [Manifest(body, lambda: named(plan), filled)]


@form
def _over_leaders(name: str, namespace: str, labels: Body, leaders: str, ports: list[Body]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "selector": {
                "leaderworkerset.sigs.k8s.io/name": leaders,
                "leaderworkerset.sigs.k8s.io/worker-index": "0",
            },
            "ports": ports,
        },
    }


@form
def _headless(name: str, namespace: str, labels: Body, leaders: str, ports: list[Body]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "clusterIP": "None",
            "selector": {
                "leaderworkerset.sigs.k8s.io/name": leaders,
                "leaderworkerset.sigs.k8s.io/worker-index": "0",
            },
            "ports": ports,
        },
    }


@lru_cache(maxsize=256)
def _ports(port: Port) -> list[Body]:
    return [Shared({"name": port.name, "port": port.number, "targetPort": port.number, "protocol": "TCP"})]
