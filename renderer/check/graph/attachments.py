"""Where routes attach: on which listeners of which Gateways, and for which hosts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from renderer.check.finding import Body
from renderer.check.graph.listener_admission import host_exactness, hostnames_overlap, listener_admission
from renderer.check.graph.view import ObjectView, Place, kind_in, named_place
from renderer.kubernetes.json_values import map_at, maps_at, text_at, texts_at

GATEWAY_GROUP = "gateway.networking.k8s.io"
LISTENER_SETS = ("ListenerSet", "XListenerSet.gateway.networking.x-k8s.io")


class Attachment(Struct, frozen=True):
    """A route on one listener of a Gateway, or on those that are not known."""

    gateway: Place
    listener: str  # '' for any
    hosts: tuple[str, ...]  # as the listener narrows them; '' for any


def attachments(view: ObjectView, spec: Body, namespace: str) -> Iterator[tuple[int, Attachment]]:
    """Where a route attaches, each with the index of the parentRef that says so. A Gateway that the view does not hold
    is taken to admit it.
    """
    hostnames = texts_at(spec, "hostnames")
    for i, parent in enumerate(maps_at(spec, "parentRefs")):
        kind = kind_in(text_at(parent, "group", default=GATEWAY_GROUP), text_at(parent, "kind", default="Gateway"))
        place = named_place(parent, namespace)
        at_parent = []
        if kind == "Gateway":
            at_parent = [*_at_gateway(view, place, parent, namespace, hostnames)]
        elif kind in LISTENER_SETS and (body := view.find(kind, *place)):
            at_parent = [*_at_listener_set(body, place[0], parent, hostnames)]
        yield from ((i, attachment) for attachment in at_parent)


def _at_gateway(
    view: ObjectView, place: Place, parent: Body, namespace: str, hostnames: Sequence[str]
) -> Iterator[Attachment]:
    gateway = view.find("Gateway", *place)
    if not gateway:
        yield Attachment(place, text_at(parent, "sectionName"), tuple(hostnames) or ("",))
        return
    section_and_port = {key: parent[key] for key in ("sectionName", "port") if isinstance(parent.get(key), (str, int))}
    admission = listener_admission(view, gateway, place, section_and_port, namespace)
    for listener, host in zip(admission.listeners, admission.hosts, strict=True):
        if hosts := _narrowed(hostnames, host):
            yield Attachment(place, listener, hosts)


def _at_listener_set(body: Body, namespace: str, parent: Body, hostnames: Sequence[str]) -> Iterator[Attachment]:
    """Its listeners share the ports of the Gateway's own, so that the most exact host of them all gets a request."""
    gateway = named_place(map_at(body, "spec", "parentRef"), namespace)
    section = text_at(parent, "sectionName")
    for listener in maps_at(body, "spec", "listeners"):
        if section in ("", listener.get("name")) and (hosts := _narrowed(hostnames, text_at(listener, "hostname"))):
            yield Attachment(gateway, "", hosts)


def _narrowed(hostnames: Sequence[str], host: str) -> tuple[str, ...]:
    """The hosts of a route on a listener of this host; none where they have none in common."""
    if not hostnames:
        return (host,)
    common = [hostname for hostname in hostnames if not host or hostnames_overlap(hostname, host)]
    return tuple(max(hostname, host, key=host_exactness) for hostname in common)
