"""ServiceMonitors and PodMonitors that scrape nothing of the workloads that they are about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from renderer.check.finding import Body
from renderer.check.graph.pods import pods_by_namespace
from renderer.check.graph.rules import side_rules
from renderer.check.graph.view import ObjectView
from renderer.diagnostics import Finding, Path, quoted
from renderer.kubernetes.json_values import as_text, map_at, maps_at, text_at, texts_at
from renderer.kubernetes.workloads import is_rendered, selects

_PODS, _SERVICES = "PodMonitor.monitoring.coreos.com", "ServiceMonitor.monitoring.coreos.com"


@side_rules.about(_SERVICES)
def validate_service_monitor(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding where no Service has the labels, and one has the name that is among them; or where none of those that
    are selected has the port.
    """
    spaces = _namespaces(body, namespace)
    services = [
        (service, service_body) for space, service, service_body in view.all("Service") if spaces and space in spaces
    ]
    selector = map_at(body, "spec", "selector")
    words: dict[str, object] = {"kind": "ServiceMonitor", "name": name}
    selected = [
        (service, service_body)
        for service, service_body in services
        if selects(selector, map_at(service_body, "metadata", "labels"))
    ]
    if not selected:
        yield from _unselected(services, selector, words)
        return
    ports = {text_at(port, "name") for _, service in selected for port in maps_at(service, "spec", "ports")}
    yield from _unnamed_ports(body, "endpoints", ports, f"Service '{selected[0][0]}'", words)


def _unselected(services: Sequence[tuple[str, Body]], selector: Body, words: dict[str, object]) -> Iterator[Finding]:
    """A finding where a label of the selector names the workload of a rendered Service, which has the name in another
    label.
    """
    labels = map_at(selector, "matchLabels")
    for service, body in services if len(labels) == 1 else ():
        own = map_at(body, "metadata", "labels")
        key, value = next(iter(labels.items()))
        same = [label for label, other in own.items() if other == value]
        if is_rendered(body) and same:
            what = f"Service '{service}' has no label {key}: {value}"
            path: Path = ("spec", "selector", "matchLabels", key)
            yield Finding("W586", path, {**words, "what": what, "hint": f"write {same[0]}: {value}"})
            return


@side_rules.about(_PODS)
def validate_pod_monitor(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding where none of the pods that are selected has the port."""
    if is_rendered(body):
        return
    selector = map_at(body, "spec", "selector")
    by_namespace = pods_by_namespace(view)
    pods = [pods for space in _namespaces(body, namespace) for pods in by_namespace.get(space, ())]
    selected = [entry for entry in pods if selects(selector, entry.labels)]
    ports = {as_text(port) for entry in selected for port in entry.ports}
    if selected:
        words: dict[str, object] = {"kind": "PodMonitor", "name": name}
        where = f"the pods of {selected[0].workload}"
        yield from _unnamed_ports(body, "podMetricsEndpoints", ports, where, words)


def _unnamed_ports(body: Body, field: str, ports: set[str], where: str, words: dict[str, object]) -> Iterator[Finding]:
    """A finding for each endpoint whose port has a name that none of the ports has."""
    known = sorted(filter(None, ports))
    for i, endpoint in enumerate(maps_at(body, "spec", field)):
        port = text_at(endpoint, "port")
        if port and port not in ports:
            what = f"no port of {where} is called '{port}'"
            hint = f"write port: {known[0]}" if len(known) == 1 else f"it has {quoted(known) or 'none with a name'}"
            yield Finding("W586", ("spec", field, i, "port"), {**words, "what": what, "hint": hint})


def _namespaces(body: Body, namespace: str) -> list[str]:
    """The namespaces that a monitor looks at, where it names them."""
    spec = map_at(body, "spec", "namespaceSelector")
    if spec.get("any") is True:
        return []
    return texts_at(spec, "matchNames") or [namespace]
