"""Services and workloads of apps/v1: rules for one object beside the schema."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.finding import Body, Finding
from renderer.check.kinds.pods import validate_pod


def validate_service(body: Body) -> Iterator[Finding]:
    """Findings about a Service: ports need unique names and numbers, and an empty clusterIP would drift."""
    spec = body["spec"]
    ports = spec.get("ports") or ()
    for i, port in enumerate(ports[1:], 1):
        if any(
            (port.get("name") == other.get("name") and port.get("name"))
            or (port["port"], port.get("protocol", "TCP")) == (other["port"], other.get("protocol", "TCP"))
            for other in ports[:i]
        ):
            yield "E540", ("spec", "ports", i), {"what": "the port's name or number is already there"}
    if spec.get("clusterIP") == "":
        yield "E540", ("spec", "clusterIP"), {"what": "clusterIP '' drifts for ever; leave it out"}


def validate_workload(body: Body) -> Iterator[Finding]:
    """Findings about a workload: its selector must match its own pods, and its pod template must be consistent."""
    spec = body["spec"]
    labels = (spec["template"].get("metadata") or {}).get("labels") or {}
    match_labels = (spec.get("selector") or {}).get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in match_labels.items()):
        yield "E542", ("spec", "selector", "matchLabels"), {}
    for code, path, words in validate_pod(spec["template"]["spec"]):
        yield code, ("spec", "template", "spec", *path), words
