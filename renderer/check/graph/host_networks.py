"""Pods in the network of their nodes: two workloads that listen on one port cannot share a node, and names of Services
are looked up where nobody knows them.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from renderer.check.finding import Body
from renderer.check.graph.pods import KINDS, container_ports, view_templates
from renderer.check.graph.rules import workload_rules
from renderer.check.graph.view import ObjectView
from renderer.diagnostics import Finding, Path
from renderer.kubernetes.json_values import list_at, map_at, maps_at, text_at
from renderer.kubernetes.workloads import PodTemplate, containers

_Listeners: TypeAlias = Mapping[tuple[str, float], Body]
"""By the nodes and a port, the first workload that listens there."""

_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_OF_CLUSTER = rf"(?<![\w.-]){_LABEL}(?:\.{_LABEL})+\.svc(?![\w-])"
"""The name of a Service that no other DNS than the cluster's has, such as chat.llm.svc."""
_HOST = rf"(?:^|//|@|=)({_LABEL})(?::\d+|(?=/))"
"""A short name with a port, or in an address."""
_OWN_DNS = ("ClusterFirstWithHostNet", "None")


@workload_rules.about(*KINDS)
def validate_host_names(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A warning for pods in the network of their node whose arguments or variables name a Service: without a DNS policy
    for it they ask the DNS of the node (kubernetes.io/docs/concepts/services-networking/dns-pod-service).
    """
    for template in view_templates(view, body):
        spec = template.spec
        if not spec.get("hostNetwork") or spec.get("dnsPolicy") in _OWN_DNS or spec.get("dnsConfig"):
            continue
        services = view.once("names of Services", _services).get(namespace, frozenset())
        for path, text in _texts(template):
            full_name = re.search(_OF_CLUSTER, text)
            named = full_name[0] if full_name else next(filter(services.__contains__, re.findall(_HOST, text)), "")
            if named:
                yield Finding("W329", (*template.path, "spec", *path), {"name": named})
                break


def _services(view: ObjectView) -> Mapping[str, frozenset[str]]:
    """The names of the Services of each namespace."""
    places = sorted((namespace, name) for kind, namespace, name in view.objects if kind == "Service")
    groups = itertools.groupby(places, key=lambda place: place[0])
    return {namespace: frozenset(name for _, name in group) for namespace, group in groups}


def _texts(template: PodTemplate) -> Iterator[tuple[Path, str]]:
    """The words of the command lines of a pod and the values of its variables, and where they stand."""
    for path, container in containers(template.spec):
        for field in ("command", "args"):
            for i, word in enumerate(list_at(container, field)):
                yield (*path, field, i), str(word)
        for i, variable in enumerate(maps_at(container, "env")):
            yield (*path, "env", i, "value"), text_at(variable, "value")


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
