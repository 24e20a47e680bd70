"""How clients reach the workloads of an app: `spec.service`, and the port of `spec.gateway.port`."""

from __future__ import annotations

from msgspec.structs import replace

from renderer.api import App
from renderer.diagnostics import Collector, quoted
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import text_at
from renderer.kubernetes.wellknown import RUNNER
from renderer.plan import ClientService, Plan, Pod, Port
from renderer.resolve import pod_defaults
from renderer.resolve.pod.containers import running_containers


def with_clients(app: App, plans: list[Plan], diagnostics: Collector) -> list[Plan]:
    """The plans of an app with what it says of its clients; the last one has its Service."""
    gateway = app.spec.get("gateway") or {}
    if "port" in gateway:
        number = gateway["port"]
        plans = [_with_answering_port(app, plan, number, diagnostics) for plan in plans]
    if name := service_name(app):
        if any(plan.name == name and plan.kind == wellknown.LEADER_WORKER_SET for plan in plans):
            diagnostics.add("E330", app.origin("spec", "service", "name"), name=name)
        service = replace(_client_service(app, diagnostics), of_leaders=_leads_to_leaders(app, plans, diagnostics))
        plans[-1] = replace(plans[-1], service=service)
        if len(ports := plans[-1].pool_ports) > 1:
            origin = app.origin("spec", "service", key=True)
            diagnostics.add("W337", origin, port=ports[0].number, ranks=len(ports))
    return plans


def service_name(app: App) -> str:
    """The name of the Service that an app asks for; '' where it asks for none."""
    return (app.spec.get("service") or {}).get("name", "")


def _with_answering_port(app: App, plan: Plan, number: int, diagnostics: Collector) -> Plan:
    """The plan with the port of the container that answers for the engine. Workers of a leader that alone answers
    requests have no such container.
    """
    port = _answering_port(app, plan, number, diagnostics)
    if port and plan.rank_ports:
        ranks = ", ".join(str(rank.number) for rank in plan.rank_ports)
        words = {"port": number, "ranks": len(plan.rank_ports), "ports": ranks}
        diagnostics.add("W336", app.origin("spec", "gateway", "port"), **words)
    worker = _without_listener(plan.worker, number) if plan.leader and app.kind == "Playground" else plan.worker
    return replace(plan, answering_port=port, worker=worker)


def _leads_to_leaders(app: App, plans: list[Plan], diagnostics: Collector) -> bool:
    """Whether the one Service of these workloads has to leave out workers, since those of some do not answer; a warning
    where those of others do.
    """
    serving = [plan.name for plan in plans if plan.all_serve]
    headless = [plan.name for plan in plans if plan.leader]
    if serving and headless:
        origin = app.origin("spec", "service", key=True)
        diagnostics.add("W338", origin, headless=quoted(headless), serving=quoted(serving))
    return bool(headless) or not serving


def _without_listener(pod: Pod, number: int) -> Pod:
    """The pod without the containers beside the runner that listen on this port."""
    listeners = {
        container.name
        for _, container in running_containers(pod)
        if container.name != RUNNER and any(port.get("containerPort") == number for port in container.ports)
    }
    return replace(
        pod,
        containers=tuple(container for container in pod.containers if container.name not in listeners),
        init_containers=tuple(container for container in pod.init_containers if container.name not in listeners),
    )


def _client_service(app: App, diagnostics: Collector) -> ClientService:
    spec, origin = app.spec["service"], app.origin("spec", "service")
    labels, annotations = spec.get("labels") or {}, spec.get("annotations") or {}
    diagnostics.problems += pod_defaults.reserved_metadata(spec, origin)
    service_type = spec.get("type", "ClusterIP")
    if service_type != "ClusterIP" and (app.spec.get("gateway") or {}).get("allow"):
        diagnostics.add("W330", origin.at("type"), type=service_type)
    return ClientService(spec["name"], spec.get("port", 0), service_type, labels, annotations)


def _answering_port(app: App, plan: Plan, number: int, diagnostics: Collector) -> Port | None:
    """The port of the container that listens on it; None for the engine's own port, or after an error."""
    pod, origin = plan.leader or plan.worker, app.origin("spec", "gateway", "port")
    listeners = [
        (container, port)
        for _, container in running_containers(pod)
        for port in container.ports
        if "containerPort" in port
    ]
    for container, port in listeners:
        if port["containerPort"] != number or port.get("protocol", "TCP") != "TCP":
            continue
        if container.name == RUNNER:
            return None if number == plan.port.number else Port(text_at(port, "name") or "http", number)
        if container in pod.containers and "preStop" not in container.lifecycle:
            diagnostics.add("W331", origin, name=container.name)
        return Port(text_at(port, "name") or plan.port.name, number)
    ports = [f"{port['containerPort']} of {container.name}" for container, port in listeners]
    diagnostics.add("E332", origin, port=number, ports=", ".join(ports) or f"{plan.port.number} of {RUNNER}")
    return None
