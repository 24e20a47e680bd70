"""Pods in the network of their nodes: two workloads that listen on one port cannot share a node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from renderer.check.finding import Body, Finding
from renderer.check.graph.pods import template_pods
from renderer.check.graph.view import Key, ObjectView
from renderer.diagnostics import Path
from renderer.kubernetes.json_values import as_map, map_at

_TEMPLATES: tuple[Path, ...] = (
    ("spec", "leaderWorkerTemplate", "leaderTemplate"),
    ("spec", "leaderWorkerTemplate", "workerTemplate"),
    ("spec", "template"),
)
_Listeners: TypeAlias = Mapping[tuple[frozenset[tuple[str, object]], float], Key]
"""By the labels of nodes and a port, the first workload that listens there."""


def validate_host_network(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A warning for a workload whose pods listen on the nodes of another one's, on a port that those have."""
    for path in _TEMPLATES:
        template = map_at(body, *path)
        if not map_at(template, "spec").get("hostNetwork"):
            continue
        listeners = view.once("listeners of nodes", _listeners)
        nodes = _node_labels(template)
        for port in sorted(port for port in template_pods(template).ports if isinstance(port, (int, float))):
            kind, other_namespace, other = listeners[nodes, port]
            if (other_namespace, other) != (namespace, name):
                place = (*path, "spec", "hostNetwork")
                yield "W355", place, {"port": f"{port:g}", "kind": kind, "other": f"{other_namespace}/{other}"}
                return


def _listeners(view: ObjectView) -> _Listeners:
    listeners: dict[tuple[frozenset[tuple[str, object]], float], Key] = {}
    for (kind, namespace, name), body in view.objects.items():
        for path in _TEMPLATES if kind in ("LeaderWorkerSet", "Deployment") and body else ():
            template = map_at(body, *path)
            if map_at(template, "spec").get("hostNetwork"):
                for port in template_pods(template).ports:
                    if isinstance(port, (int, float)):
                        listeners.setdefault((_node_labels(template), port), (kind, namespace, name))
    return listeners


def _node_labels(template: Body) -> frozenset[tuple[str, object]]:
    return frozenset(as_map(map_at(template, "spec").get("nodeSelector")).items())
