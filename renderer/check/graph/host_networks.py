"""Pods in the network of their nodes: two workloads that listen on one port cannot share a node."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from renderer.check.finding import Body
from renderer.check.graph.pods import KINDS, container_ports, view_templates
from renderer.check.graph.rules import workload_rules
from renderer.check.graph.view import ObjectView
from renderer.diagnostics import Finding
from renderer.kubernetes.json_values import map_at, text_at
from renderer.kubernetes.workloads import PodTemplate

_Listeners: TypeAlias = Mapping[tuple[str, float], Body]
"""By the nodes and a port, the first workload that listens there."""


@workload_rules.about(*KINDS)
def validate_host_network(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A warning for a workload whose pods listen on the nodes of another one's, on a port that those have."""
    for template in view_templates(view, body):
        for port in sorted(_host_ports(template)):
            other = view.once("listeners of nodes", _listeners)[_nodes(template), port]
            if other is not body:
                place = f"{text_at(other, 'metadata', 'namespace')}/{text_at(other, 'metadata', 'name')}"
                words = {"port": f"{port:g}", "kind": other["kind"], "other": place}
                yield Finding("W355", (*template.path, "spec", "hostNetwork"), words)
                return


def _listeners(view: ObjectView) -> _Listeners:
    listeners: dict[tuple[str, float], Body] = {}
    for key, body in view.objects.items():
        for template in view_templates(view, body) if key[0] in KINDS else ():
            for port in _host_ports(template):
                listeners.setdefault((_nodes(template), port), body)
    return listeners


def _host_ports(template: PodTemplate) -> list[float]:
    """The ports of the node on which pods listen."""
    if not template.spec.get("hostNetwork"):
        return []
    return [port for port in container_ports(template.spec) if isinstance(port, (int, float))]


def _nodes(template: PodTemplate) -> str:
    """The nodes on which pods run, as labels and terms say."""
    spec = template.spec
    required = map_at(spec, "affinity", "nodeAffinity").get("requiredDuringSchedulingIgnoredDuringExecution")
    return json.dumps([spec.get("nodeSelector") or None, required], sort_keys=True, default=str)
