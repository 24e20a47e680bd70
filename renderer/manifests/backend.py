"""Backend and AIServiceBackend: the leaders of a workload, as Envoy Gateway and the AI gateway know them."""

from __future__ import annotations

from renderer.plan import Body, Manifest, Plan, named
from renderer.yamlio import Shared

_SCHEMA = Shared({"name": "OpenAI"})


def backends(plan: Plan) -> list[Manifest]:
    """One of each where a route leads to the workload: the headless Service by its name, so that Envoy balances per
    request; and what it speaks.
    """
    if not plan.host:
        return []
    metadata = {"name": plan.name, "namespace": plan.namespace, "labels": _labels(plan)}
    endpoint = {"fqdn": {"hostname": plan.host, "port": plan.port.number}}
    leaders = {
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": "Backend",
        "metadata": metadata,
        "spec": {"type": "Endpoints", "endpoints": [endpoint]},
    }
    reference = {"group": "gateway.envoyproxy.io", "kind": "Backend", "name": plan.name}
    speaking = {
        "apiVersion": "aigateway.envoyproxy.io/v1beta1",
        "kind": "AIServiceBackend",
        "metadata": {**metadata},
        "spec": {"schema": _SCHEMA, "backendRef": reference},
    }
    return [Manifest(leaders, lambda: named(plan)), Manifest(speaking, lambda: named(plan))]


def _labels(plan: Plan) -> Body:
    """Those of the app's route, where they are the same: the text of that map is kept."""
    made = {**plan.labels, "app.kubernetes.io/component": "route"}
    return plan.route.labels if plan.route and plan.route.labels == made else made
