"""Backend and AIServiceBackend: the leaders of a workload, as Envoy Gateway and the AI gateway know them."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.plan import Manifest, Plan, named
from renderer.yamlio import Shared

_SCHEMA = Shared({"name": "OpenAI"})


def backend(plan: Plan) -> Iterator[Manifest]:
    """One where a route leads to the workload: the headless Service by its name, so that Envoy balances per request."""
    if not plan.host:
        return
    endpoint = {"fqdn": {"hostname": plan.host, "port": plan.port.number}}
    yield Manifest(
        {
            "apiVersion": "gateway.envoyproxy.io/v1alpha1",
            "kind": "Backend",
            "metadata": {"name": plan.name, "namespace": plan.namespace, "labels": _labels(plan)},
            "spec": {"type": "Endpoints", "endpoints": [endpoint]},
        },
        lambda: named(plan),
    )


def ai_service_backend(plan: Plan) -> Iterator[Manifest]:
    """One where a route leads to the workload: what it speaks."""
    if not plan.host:
        return
    reference = {"group": "gateway.envoyproxy.io", "kind": "Backend", "name": plan.name}
    yield Manifest(
        {
            "apiVersion": "aigateway.envoyproxy.io/v1beta1",
            "kind": "AIServiceBackend",
            "metadata": {"name": plan.name, "namespace": plan.namespace, "labels": _labels(plan)},
            "spec": {"schema": _SCHEMA, "backendRef": reference},
        },
        lambda: named(plan),
    )


def _labels(plan: Plan) -> dict[str, str]:
    return {**plan.labels, "app.kubernetes.io/component": "route"}
