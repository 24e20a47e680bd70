"""How clients reach the workloads of an app: `spec.service`, and the port of `spec.gateway.port`."""

from __future__ import annotations

from msgspec.structs import replace

from renderer import wellknown
from renderer.api import App
from renderer.diagnostics import Collector
from renderer.json_values import text_at
from renderer.plan import ClientService, Plan, Port
from renderer.resolve import pod_defaults
from renderer.resolve.pod import pods


def with_clients(app: App, plans: list[Plan], diagnostics: Collector) -> list[Plan]:
    """The plans of an app with what it says of its clients; the last one has its Service."""
    gateway = app.spec.get("gateway") or {}
    if "port" in gateway:
        number = gateway["port"]
        plans = [replace(plan, answering_port=_answering_port(app, plan, number, diagnostics)) for plan in plans]
    if "service" in app.spec:
        name = app.spec["service"]["name"]
        if any(plan.name == name and plan.kind == wellknown.LEADER_WORKER_SET for plan in plans):
            diagnostics.add("E330", app.origin("spec", "service", "name"), name=name)
        plans[-1] = replace(plans[-1], service=_client_service(app, diagnostics))
    return plans


def _client_service(app: App, diagnostics: Collector) -> ClientService:
    spec, origin = app.spec["service"], app.origin("spec", "service")
    labels, annotations = spec.get("labels") or {}, spec.get("annotations") or {}
    pod_defaults.validate_object_metadata(spec, origin, diagnostics)
    service_type = spec.get("type", "ClusterIP")
    if service_type != "ClusterIP" and (app.spec.get("gateway") or {}).get("allow"):
        diagnostics.add("W330", origin.at("type"), type=service_type)
    return ClientService(spec["name"], spec.get("port", 0), service_type, labels, annotations)


def _answering_port(app: App, plan: Plan, number: int, diagnostics: Collector) -> Port | None:
    """The port of the container that listens on it; None for the engine's own port, or after an error."""
    pod, origin = plan.leader or plan.worker, app.origin("spec", "gateway", "port")
    listeners = [
        (container, port)
        for _, container in pods.running_containers(pod)
        for port in container.ports
        if "containerPort" in port
    ]
    for container, port in listeners:
        if port["containerPort"] != number or port.get("protocol", "TCP") != "TCP":
            continue
        if container.name == pods.RUNNER:
            return None if number == plan.port.number else Port(text_at(port, "name") or "http", number)
        if container in pod.containers and "preStop" not in container.lifecycle:
            diagnostics.add("W331", origin, name=container.name)
        return Port(text_at(port, "name") or plan.port.name, number)
    ports = [f"{port['containerPort']} of {container.name}" for container, port in listeners]
    diagnostics.add("E332", origin, port=number, ports=", ".join(ports) or f"{plan.port.number} of {pods.RUNNER}")
    return None
