"""The public names that AIGatewayRoutes match, by Gateway and host."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from renderer.check.finding import Body
from renderer.check.graph.listener_admission import host_exactness, hostnames_overlap, listener_admission
from renderer.check.graph.view import ObjectView, Place, named_place
from renderer.diagnostics import Path
from renderer.kubernetes.json_values import as_maps, as_text, as_texts, map_at
from renderer.kubernetes.wellknown import (
    MODEL_HEADER,
)


class RouteMatch(Struct, frozen=True):
    """One match of one rule of a route on one parent."""

    gateway: Place
    section: str  # the listener, '' for all
    hostnames: tuple[str, ...]  # as the listeners narrow them
    model: str  # '' without an exact match
    other_headers: str  # the other headers that are matched
    route: str  # namespace/name
    parent: int  # its index in the route
    rule: int  # its index in the route
    path: Path  # of the model's name
    index: int  # of the route among the objects
    has_hostnames: bool = True  # the route itself has hostnames


def route_matches(view: ObjectView, kinds: Collection[str] = ("AIGatewayRoute",)) -> list[RouteMatch]:
    """The matches of all routes of these kinds in a set, in its order."""
    matches = []
    for index, (kind, namespace, name) in enumerate(view.keys):
        if kind not in kinds:
            continue
        spec = map_at(view.objects[kind, namespace, name], "spec")
        hostnames = tuple(as_texts(spec.get("hostnames")))
        for p, parent in enumerate(as_maps(spec.get("parentRefs"))):
            gateway, section = named_place(parent, namespace), as_text(parent.get("sectionName"))
            hosts = _effective_hosts(view, hostnames, gateway, parent, namespace)
            for r, rule in enumerate(as_maps(spec.get("rules"))):
                for m, match in enumerate(as_maps(rule.get("matches")) or [{}]):
                    model, also = "", ""
                    path: Path = ("spec", "rules", r, "matches", m)
                    headers = as_maps(match.get("headers"))
                    for h, header in enumerate(headers):
                        header_name = as_text(header.get("name")).lower()
                        if header_name == MODEL_HEADER and header.get("type", "Exact") == "Exact":
                            model, path = as_text(header.get("value")), (*path, "headers", h, "value")
                        elif len(headers) > 1:
                            also += f"{header_name}={header['value']};"
                    route = f"{namespace}/{name}" if namespace else name
                    matches.append(
                        RouteMatch(
                            gateway=gateway,
                            section=section,
                            hostnames=hosts,
                            model=model,
                            other_headers=also,
                            route=route,
                            parent=p,
                            rule=r,
                            path=path,
                            index=index,
                            has_hostnames=bool(hostnames),
                        )
                    )
    return matches


def _effective_hosts(
    view: ObjectView, hostnames: tuple[str, ...], gateway: Place, parent: Body, namespace: str
) -> tuple[str, ...]:
    """The hostnames that Envoy sees: wildcards narrowed by the listeners of the Gateway, and none replaced by those of
    the listeners, where each has one.
    """
    if hostnames and not any(hostname.startswith("*") for hostname in hostnames):
        return hostnames
    gateway_body = view.find("Gateway", *gateway)
    served = listener_admission(view, gateway_body, gateway, parent, namespace).hosts if gateway_body else ()
    if not hostnames:
        return () if "" in served else tuple(dict.fromkeys(served))
    hosts = [
        max(hostname, host, key=host_exactness)
        for hostname in hostnames
        for host in served
        if not host or hostnames_overlap(hostname, host)
    ]
    return tuple(dict.fromkeys(hosts)) or hostnames
