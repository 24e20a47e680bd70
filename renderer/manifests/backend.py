"""Backend and AIServiceBackend: the leaders of a workload, as Envoy Gateway and the AI gateway know them."""

from __future__ import annotations

from typing import Any

from renderer.plan import Body, Manifest, Plan, named, of_route
from renderer.yamlio import Shared, form

_SCHEMA = Shared({"name": "OpenAI"})


def backends(plan: Plan) -> list[Manifest]:
    """One of each where a route leads to the workload: the headless Service by its name, so that Envoy balances per
    request; and what it speaks.
    """
    if not plan.host:
        return []
    labels = of_route(plan)
    leaders, filled = _leaders(plan.name, plan.namespace, labels, plan.host, plan.port.number)
    speaking, filled_too = _speaking(plan.name, plan.namespace, labels)
    return [Manifest(leaders, lambda: named(plan), filled), Manifest(speaking, lambda: named(plan), filled_too)]


@form
def _leaders(name: str, namespace: str, labels: Body, host: str, port: int) -> dict[str, Any]:
    return {
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": "Backend",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"type": "Endpoints", "endpoints": [{"fqdn": {"hostname": host, "port": port}}]},
    }


@form
def _speaking(name: str, namespace: str, labels: Body) -> dict[str, Any]:
    reference = {"group": "gateway.envoyproxy.io", "kind": "Backend", "name": name}
    return {
        "apiVersion": "aigateway.envoyproxy.io/v1beta1",
        "kind": "AIServiceBackend",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"schema": _SCHEMA, "backendRef": reference},
    }
