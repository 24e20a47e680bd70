"""Services and workloads of apps/v1: rules for one object beside the schema."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.finding import Body
from renderer.check.kind_rules import object_rules
from renderer.diagnostics import Finding
from renderer.kubernetes.json_values import as_map, as_maps, map_at
from renderer.kubernetes.workloads import WORKLOADS, kind_of


@object_rules.about("output/core/service_v1")
def validate_service(body: Body) -> Iterator[Finding]:
    """Findings about a Service: ports need unique names and numbers, and an empty clusterIP would drift."""
    spec = as_map(body["spec"])
    known: set[tuple[object, ...]] = set()
    for i, port in enumerate(as_maps(spec.get("ports"))):
        own = {(port["port"], port.get("protocol", "TCP")), *({(port["name"],)} if port.get("name") else ())}
        if known & own:
            yield Finding("E540", ("spec", "ports", i), {"what": "the port's name or number already exists"})
        known |= own
    if spec.get("clusterIP") == "":
        yield Finding("E540", ("spec", "clusterIP"), {"what": "clusterIP '' drifts permanently; leave it out"})


@object_rules.about(
    "output/apps/deployment_v1", "output/apps/statefulset_v1", "output/apps/daemonset_v1", "output/apps/replicaset_v1"
)
def validate_workload(body: Body) -> Iterator[Finding]:
    """Findings about a workload: its selector must name labels of its own pods, and a rollout must be possible."""
    spec = as_map(body["spec"])
    labels = map_at(spec, "template", "metadata", "labels")
    selector = as_map(spec["selector"])
    match_labels = as_map(selector.get("matchLabels"))
    if not any(selector.values()):
        yield Finding("E540", ("spec", "selector"), {"what": "the selector is empty: name a label of the pods"})
    elif any(labels.get(key) != value for key, value in match_labels.items()):
        yield Finding("E542", ("spec", "selector", "matchLabels"), {})
    rollout = WORKLOADS[kind_of(body)].rollout
    bounds = map_at(spec, *rollout) if rollout else {}
    if bounds and all(bounds.get(key) in (0, "0%") for key in ("maxUnavailable", "maxSurge")):
        yield Finding("E513", ("spec", *rollout), {"replicas": spec.get("replicas", 1)})
