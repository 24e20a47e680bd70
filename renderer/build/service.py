"""Services over the pods of a workload that answer: `<name>-lb`, headless `<name>-leaders`, and one that an app asks
for.
"""

from __future__ import annotations

from functools import lru_cache

from renderer.build.metadata import name_origins
from renderer.build.selectors import app_selector, lasting_selector
from renderer.diagnostics import Origin, Path
from renderer.kubernetes import wellknown
from renderer.plan import Body, ClientService, Manifest, Plan, Port
from renderer.yamlio import SharedMap

_ANSWERING = "http-answering"  # of the container that answers for the engine, whose own port is called as the engine's


def lb_service(plan: Plan) -> list[Manifest]:
    """One, but for the role prefill, which clients do not ask; a LeaderWorkerSet has a Service `<name>` by itself.

    Name and number of the port are the runner's (docs/deviations.md#bugs-of-the-operator, 32). An interceptor asks it
    too, at the port of the container that answers for the engine where there is one.
    """
    if plan.role and plan.role.name == wellknown.PREFILL:
        return []
    asked_ports = [plan.answering_port] if plan.interceptor and plan.answering_port else []
    return [_service(plan, plan.shared_name + wellknown.LB_SERVICE, (plan.port, *asked_ports), {})]


def leaders_service(plan: Plan) -> list[Manifest]:
    """One where a route leads to the workload: headless, so that DNS answers with every ready leader. Not behind an
    interceptor, which asks `<name>-lb`.
    """
    if not plan.host or plan.interceptor:
        return []
    return [_service(plan, plan.name + wellknown.LEADERS_SERVICE, (plan.request_port,), {"clusterIP": "None"})]


def client_service(plan: Plan) -> list[Manifest]:
    """One where the app asks for it. In an app of several workloads it leads to all of them."""
    service = plan.service
    if not service:
        return []
    metadata: dict[str, object] = {
        "name": service.name,
        "namespace": plan.namespace,
        "labels": {**plan.labels, **service.labels},
    }
    if service.annotations:
        metadata["annotations"] = service.annotations
    port = plan.request_port
    ports = [{"name": port.name, "port": service.port or port.number, "targetPort": port.number, "protocol": "TCP"}]
    spec: dict[str, object] = {} if service.type == "ClusterIP" else {"type": service.type}
    alone = plan.role or plan.name == plan.app
    selector = lasting_selector(plan) if alone else app_selector(plan, of_leaders=service.of_leaders)
    spec |= {"selector": selector, "ports": ports}
    return [
        Manifest(
            {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec},
            lambda: _client_service_origins(plan, service),
        )
    ]


def _client_service_origins(plan: Plan, service: ClientService) -> dict[Path, Origin]:
    origin = plan.origin.at("spec", "service")
    return {
        **name_origins(plan.origin),
        **{("metadata", "labels", key): origin.at("labels", key) for key in service.labels},
        ("metadata", "name"): origin.at("name"),
        ("metadata", "annotations"): origin.at("annotations"),
        ("spec", "type"): origin.at("type"),
        ("spec", "ports", 0, "port"): origin.at("port"),
        ("spec", "ports", 0, "targetPort"): plan.origin.at("spec", "gateway", "port"),
    }


def _service(plan: Plan, name: str, ports: tuple[Port, ...], spec: Body) -> Manifest:
    """A Service over the pods of a workload that answer requests."""
    body = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": plan.namespace, "labels": plan.labels},
        "spec": {**spec, "selector": lasting_selector(plan), "ports": _ports(ports)},
    }
    return Manifest(body, lambda: name_origins(plan.origin))


@lru_cache(maxsize=256)
def _ports(ports: tuple[Port, ...]) -> list[Body]:
    """The ports of a Service. Those of one object have different names."""
    bodies: list[Body] = []
    for i, port in enumerate(ports):
        name = _ANSWERING if i and port.name == ports[0].name else port.name
        bodies.append(SharedMap({"name": name, "port": port.number, "targetPort": port.number, "protocol": "TCP"}))
    return bodies
