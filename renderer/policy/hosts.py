"""The hosts outside of the cluster that providers, Backends, Services and redirects lead to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from renderer.api import RenderPolicy
from renderer.check.graph import Place
from renderer.check.graph.attachments import GATEWAY_GROUP
from renderer.check.graph.view import named_place
from renderer.diagnostics import Path
from renderer.kubernetes.json_values import as_map, list_at, map_at, maps_at, text_at, texts_at
from renderer.kubernetes.workloads import Kind
from renderer.plan import Body
from renderer.policy.denial import Denial, quoted_globs
from renderer.policy.globs import NameGlobs, name_globs
from renderer.policy.known_objects import AI_GROUP, BACKEND, KnownObjects
from renderer.policy.objects import JudgedObject

HOSTS: Final = ("providers", "hosts")
# Names of Services as every cluster has them. Another domain of a cluster is a setting of the tree, so a policy has to
# list it.
_IN_CLUSTER = (".svc", ".svc.cluster.local")
_ANY = "*"
_REFERRING: tuple[Kind, ...] = (
    (AI_GROUP, "AIServiceBackend"),
    *((GATEWAY_GROUP, kind) for kind in ("HTTPRoute", "GRPCRoute", "TCPRoute", "TLSRoute", "UDPRoute")),
)
LocatedHosts = Iterator[tuple[Path, str]]


def judge_hosts(policy: RenderPolicy, judged: JudgedObject) -> Iterator[Denial]:
    """A denial of each host that the policy does not list."""
    yield from _denials(policy, judged, KINDS[judged.kind](judged.body))


def judge_referenced_hosts(policy: RenderPolicy, judged: JudgedObject, known: KnownObjects) -> Iterator[Denial]:
    """A denial of each host of a Backend to which a route leads, or which it mirrors to, where the Backend is not
    judged itself.
    """
    if judged.kind in _REFERRING:
        yield from _denials(policy, judged, _referenced_hosts(judged, known.unjudged_backends))


def _denials(policy: RenderPolicy, judged: JudgedObject, hosts: LocatedHosts) -> Iterator[Denial]:
    allowed = name_globs(policy, *HOSTS)
    for path, host in hosts if allowed else ():
        if allowed and not _fits(allowed, host.rstrip(".").lower()):
            words = {"host": host, "allowed": quoted_globs(allowed.globs)}
            yield Denial("E816", judged.origin(path), HOSTS, words)


def _fits(allowed: NameGlobs, host: str) -> bool:
    return host.endswith(_IN_CLUSTER) or (_ANY in allowed.globs if host == _ANY else allowed.fit(host))


def _of_service(body: Body) -> LocatedHosts:
    spec = as_map(body.get("spec"))
    if spec.get("type") == "ExternalName":
        yield ("spec", "externalName"), text_at(spec, "externalName")
    if "externalIPs" in spec:  # nodes send what is meant for these addresses to the Service's pods
        yield from _texts(body, "spec", "externalIPs")


def _of_endpoints(body: Body) -> LocatedHosts:
    """Addresses that somebody wrote are no pods that a selector found, wherever they lie."""
    for i, subset in enumerate(maps_at(body, "subsets")):
        for field in ("addresses", "notReadyAddresses"):
            for j, address in enumerate(maps_at(subset, field)):
                yield ("subsets", i, field, j, "ip"), text_at(address, "ip")


def _of_endpoint_slice(body: Body) -> LocatedHosts:
    for i, _ in enumerate(list_at(body, "endpoints")):
        yield from _texts(body, "endpoints", i, "addresses")


def _of_backend(body: Body) -> LocatedHosts:
    """The hosts of a Backend; `*` where clients choose one."""
    if text_at(body, "spec", "type") == "DynamicResolver":
        yield ("spec", "type"), _ANY
    for i, endpoint in enumerate(maps_at(body, "spec", "endpoints")):
        for field in (("fqdn", "hostname"), ("ip", "address")):
            if host := text_at(endpoint, *field):
                yield ("spec", "endpoints", i, *field), host


def _of_http_route(body: Body) -> LocatedHosts:
    """The hosts to which clients are sent, with the key that they called with."""
    for path, entry in _filters(body):
        if host := text_at(entry, "requestRedirect", "hostname"):
            yield (*path, "requestRedirect", "hostname"), host


KINDS: Final[Mapping[Kind, Callable[[Body], LocatedHosts]]] = {
    BACKEND: _of_backend,
    ("", "Service"): _of_service,
    ("", "Endpoints"): _of_endpoints,
    ("discovery.k8s.io", "EndpointSlice"): _of_endpoint_slice,
    (GATEWAY_GROUP, "HTTPRoute"): _of_http_route,
}
"""What reads the hosts, with their paths, of each kind that names some."""


def _texts(body: Body, *path: str | int) -> LocatedHosts:
    for i, text in enumerate(texts_at(body, *path)):
        yield (*path, i), text


def _filters(body: Body) -> Iterator[tuple[Path, Body]]:
    """The filters of a route's rules and of their backendRefs."""
    for r, rule in enumerate(maps_at(body, "spec", "rules")):
        holders: Iterable[tuple[Path, Body]] = [
            (("spec", "rules", r), rule),
            *((("spec", "rules", r, "backendRefs", b), ref) for b, ref in enumerate(maps_at(rule, "backendRefs"))),
        ]
        for path, holder in holders:
            for f, entry in enumerate(maps_at(holder, "filters")):
                yield (*path, "filters", f), entry


def _references(body: Body) -> Iterator[tuple[Path, Body]]:
    """What a route, or an AIServiceBackend, leads and mirrors to."""
    yield ("spec", "backendRef"), map_at(body, "spec", "backendRef")
    for r, rule in enumerate(maps_at(body, "spec", "rules")):
        for b, reference in enumerate(maps_at(rule, "backendRefs")):
            yield ("spec", "rules", r, "backendRefs", b), reference
    for path, entry in _filters(body):
        yield (*path, "requestMirror", "backendRef"), map_at(entry, "requestMirror", "backendRef")


def _referenced_hosts(judged: JudgedObject, backends: Mapping[Place, Body]) -> LocatedHosts:
    for path, reference in _references(judged.body):
        place = named_place(reference, judged.namespace)
        if (text_at(reference, "group"), text_at(reference, "kind")) == BACKEND and place in backends:
            for _, host in _of_backend(backends[place]):
                yield (*path, "name"), host
