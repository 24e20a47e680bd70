"""InferencePools: their pods, and who picks one of them."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.chain.backends import listed, listening, view_pods
from renderer.check.chain.view import View
from renderer.check.finding import Body, Finding
from renderer.problems import Path

OLD = "InferencePool.inference.networking.x-k8s.io"


def pool(view: View, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """It has a picker whose Service is there and has the port, and pods that listen."""
    spec = body["spec"]
    picker = spec.get("endpointPickerRef")
    if not picker:
        yield "E598", ("spec",), {"name": name}
    elif picker.get("kind", "Service") == "Service" and not picker.get("group"):
        yield from _picked(view, picker, namespace)
    selector = spec["selector"]["matchLabels"]
    pods = view_pods(view, namespace, selector) if selector else []
    if not pods:
        yield "N582", ("spec", "selector", "matchLabels"), {"name": name}
        return
    listened = listening(pods)
    for i, port in enumerate(spec["targetPorts"]):
        if listened and port["number"] not in listened:
            words = {"what": f"InferencePool '{name}'", "port": port["number"], "ports": listed(listened)}
            yield "E592", ("spec", "targetPorts", i, "number"), words


def _picked(view: View, picker: Body, namespace: str) -> Iterator[Finding]:
    path: Path = ("spec", "endpointPickerRef")
    name = picker["name"]
    if picker.get("failureMode") == "FailOpen":
        yield "W580", (*path, "failureMode"), {}
    service = view.find("Service", namespace, name)
    if service is None:
        yield view.missing("Service", namespace, name, (*path, "name"))
    elif service and "port" in picker:
        number = picker["port"]["number"]
        ports = [each["port"] for each in service["spec"].get("ports") or ()]
        if number not in ports:
            known = ", ".join(map(str, ports)) or "none"
            yield "E591", (*path, "port", "number"), {"name": name, "port": number, "ports": known}


def referred(view: View, reference: Body, namespace: str, path: Path) -> Iterator[Finding]:
    """A route's reference to a pool: looked for in the route's own namespace, whatever it says."""
    name = reference["name"]
    if (said := reference.get("namespace")) and said != namespace:
        yield "E596", (*path, "namespace"), {"name": name, "namespace": namespace}
    elif view.find("InferencePool", namespace, name) is None and view.find(OLD, namespace, name) is None:
        yield view.missing("InferencePool", namespace, name, (*path, "name"))


def old_pool(view: View, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A pool of the group that is gone: no route can name it."""
    yield "E597", ("apiVersion",), {"name": name}
