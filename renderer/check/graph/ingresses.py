"""Services that Ingresses lead to."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.finding import Body
from renderer.check.graph.backends import portless_service, validate_service_port
from renderer.check.graph.rules import side_rules
from renderer.check.graph.view import ObjectView
from renderer.diagnostics import Finding, Path, quoted
from renderer.kubernetes.json_values import map_at, maps_at, text_at


@side_rules.about("Ingress.networking.k8s.io")
def validate_ingress(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding for each backend whose Service, where the set has it, lacks the port."""
    for path, service in _services(body):
        place = namespace, text_at(service, "name")
        service_body = view.find("Service", *place)
        if service_body is None:
            yield from portless_service(view, *place, (*path, "name"))
        elif service_body:
            yield from _validate_port(view, service_body, namespace, map_at(service, "port"), (*path, "port"))


def _services(body: Body) -> Iterator[tuple[Path, Body]]:
    """The Services of an Ingress, with their paths."""
    spec = map_at(body, "spec")
    places: list[Path] = [("defaultBackend",)]
    for r, rule in enumerate(maps_at(spec, "rules")):
        places += [("rules", r, "http", "paths", p, "backend") for p, _ in enumerate(maps_at(rule, "http", "paths"))]
    for place in places:
        if service := map_at(spec, *place, "service"):
            yield ("spec", *place, "service"), service


def _validate_port(view: ObjectView, service: Body, namespace: str, port: Body, path: Path) -> Iterator[Finding]:
    if "number" in port:
        yield from validate_service_port(view, service, namespace, port["number"], (*path, "number"), by_name=False)
    elif name := text_at(port, "name"):
        names = [text_at(entry, "name") for entry in maps_at(service, "spec", "ports")]
        if name not in names and text_at(service, "spec", "type") != "ExternalName":
            words = {"name": text_at(service, "metadata", "name"), "port": f"'{name}'"}
            yield Finding(
                "E591", (*path, "name"), {**words, "ports": quoted(filter(None, names)) or "none with a name"}
            )
