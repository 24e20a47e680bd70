"""Backend and AIServiceBackend: the leaders of a workload, for Envoy Gateway and for the AI gateway."""

from __future__ import annotations

from renderer.build.metadata import name_origins, route_labels
from renderer.diagnostics import Origin, Path
from renderer.plan import Manifest, Plan


def backends(plan: Plan) -> list[Manifest]:
    """Backend and AIServiceBackend where a route leads to the workload. The Backend names the headless Service by its
    host name, so that Envoy balances per request; or the interceptor that holds requests while there is no replica.
    """
    if not plan.host:
        return []
    host, port = plan.host, plan.request_port.number
    if plan.interceptor:
        host, port = plan.interceptor.host, plan.interceptor.port
    metadata = {"name": plan.name, "namespace": plan.namespace, "labels": route_labels(plan)}
    backend = {
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": "Backend",
        "metadata": metadata,
        "spec": {"type": "Endpoints", "endpoints": [{"fqdn": {"hostname": host, "port": port}}]},
    }
    reference = {"group": "gateway.envoyproxy.io", "kind": "Backend", "name": plan.name}
    service_backend = {
        "apiVersion": "aigateway.envoyproxy.io/v1beta1",
        "kind": "AIServiceBackend",
        "metadata": metadata,
        "spec": {"schema": plan.schema, "backendRef": reference},
    }
    return [Manifest(body, lambda: _origins(plan)) for body in (backend, service_backend)]


def _origins(plan: Plan) -> dict[Path, Origin]:
    origins = name_origins(plan.origin)
    return {**origins, ("spec", "schema"): plan.task_origin} if plan.task_origin else origins
