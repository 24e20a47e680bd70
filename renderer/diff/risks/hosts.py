"""Hosts outside of the cluster to which requests go that did not go there before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from renderer.diff.objects import Body, Items, items
from renderer.diff.risks.kinds import ObjectPair, Risk, marked
from renderer.diff.traffic import PROVIDER
from renderer.kubernetes.json_values import map_at, maps_at, text_at, value_at
from renderer.output.manifest_files import OutputFile

_INSIDE = (".svc", ".svc.cluster.local")
_SERVICE = ".svc."
_ANY_HOST = "DynamicResolver"  # the type of a Backend that asks whatever host a request names


def provider_risks(pairs: Sequence[ObjectPair], before: Items, unchanged: Sequence[OutputFile]) -> Iterator[Risk]:
    """Hosts outside of the cluster that no Backend or Service led to. `unchanged`: the files that are the same on both
    sides, of which those are parsed that hold a host in question.
    """
    known = {host for item in before.values() for host in _hosts(item.key.kind, item.body)}
    for pair in pairs:
        kind = pair.key.kind
        if kind == PROVIDER and _is_open(pair.after) and not _is_open(pair.before):
            yield Risk("provider-host", pair.key, f"type {marked(_ANY_HOST)}: leads to any host that a request names")
        own = _hosts(kind, pair.before)
        for host in dict.fromkeys(_hosts(kind, pair.after)):
            if host not in own and not _is_inside(host) and not _is_known(host, known, unchanged):
                yield Risk("provider-host", pair.key, f"leads to {marked(host)}, outside the cluster")


def _hosts(kind: str, body: Body) -> list[str]:
    """The hosts and addresses that a Backend, or a Service of type ExternalName, leads to, as DNS compares them."""
    hosts: list[str] = []
    if kind == PROVIDER:
        for endpoint in maps_at(body, "spec", "endpoints"):
            hosts += [text_at(endpoint, "fqdn", "hostname"), text_at(endpoint, "ip", "address")]
    elif kind == "Service" and value_at(body, "spec", "type") == "ExternalName":
        hosts.append(text_at(body, "spec", "externalName"))
    return [host.lower().rstrip(".") for host in hosts if host]


def _is_open(body: Body) -> bool:
    return map_at(body, "spec").get("type") == _ANY_HOST


def _is_inside(host: str) -> bool:
    return host.endswith(_INSIDE)


def _is_known(host: str, known: set[str], unchanged: Sequence[OutputFile]) -> bool:
    """Whether something led to the host before; for a Service, to another one of the same cluster domain."""
    _, service, domain = host.partition(_SERVICE)
    ending = f"{service}{domain}"
    if any(other == host or (service and other.endswith(ending)) for other in known):
        return True
    for file in unchanged:
        if ending in file.text if service else host in file.text:
            hosts = [other for item in items([file]).values() for other in _hosts(item.key.kind, item.body)]
            if any(other == host or (service and other.endswith(ending)) for other in hosts):
                return True
    return False
