"""Gateways by which anyone who reaches their address spends the key of a provider."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from renderer.diff.objects import Body, Items, ObjectItem, items
from renderer.diff.risks.access import AUTHENTICATION, OPEN_SERVICES
from renderer.diff.risks.kinds import ObjectPair, Risk, marked
from renderer.diff.traffic import RIGHTS, ROUTE
from renderer.kubernetes.json_values import map_at, maps_at, text_at
from renderer.output.manifest_files import OutputFile

_KEYS, _PROXY, _GATEWAY = "BackendSecurityPolicy", "EnvoyProxy", "Gateway"
_KINDS = (RIGHTS, ROUTE, _KEYS, _PROXY, _GATEWAY)
_Place = tuple[str, str]  # namespace and name


def exposed_keys(
    pairs: Sequence[ObjectPair], before: Items, after: Items, unchanged: Sequence[OutputFile]
) -> Iterator[Risk]:
    """A risk for each Gateway outside of the cluster without authentication that leads to a provider with a key, and
    did not before. `unchanged`: the files that are the same on both sides.
    """
    if not any(pair.key.kind in _KINDS for pair in pairs):
        return
    words = [f"kind: {kind}\n" for kind in (RIGHTS, _KEYS, _PROXY, _GATEWAY)]
    same = [file for file in unchanged if any(word in file.text for word in words)]
    others = items(same).values()
    old, new = (_exposed([*others, *side.values()]) for side in (before, after))
    for pair in pairs:
        place = (pair.key.namespace, pair.key.name)
        if pair.key.kind == _GATEWAY and place in new and place not in old:
            yield _risk(pair, new[place])
    changed = {(pair.key.namespace, pair.key.name) for pair in pairs if pair.key.kind == _GATEWAY}
    for place, route in new.items():
        for pair in pairs:
            is_route = pair.key.kind == ROUTE and (pair.key.namespace, pair.key.name) == route
            if is_route and place not in old and place not in changed:
                yield _risk(pair, route)


def _risk(pair: ObjectPair, route: _Place) -> Risk:
    message = f"anyone who reaches the address spends the key of the provider behind {marked('/'.join(route))}"
    return Risk("rights", pair.key, message, f"write {marked('gateway.auth')}, or serviceType: ClusterIP")


def _exposed(objects: Iterable[ObjectItem]) -> dict[_Place, _Place]:
    """The Gateways, each with the first route to a provider with a key."""
    of_kind: dict[str, list[tuple[_Place, Body]]] = {}
    for item in objects:
        of_kind.setdefault(item.key.kind, []).append(((item.key.namespace, item.key.name), item.body))
    open_proxies = {
        place
        for place, body in of_kind.get(_PROXY, ())
        if text_at(body, "spec", "provider", "kubernetes", "envoyService", "type") in OPEN_SERVICES
    }
    guarded = {
        (text_at(target, "kind"), place[0], text_at(target, "name"))
        for place, body in of_kind.get(RIGHTS, ())
        for target in maps_at(body, "spec", "targetRefs")
        if any(field in map_at(body, "spec") for field in AUTHENTICATION)
    }
    with_keys = {
        (place[0], text_at(target, "name"))
        for place, body in of_kind.get(_KEYS, ())
        for target in maps_at(body, "spec", "targetRefs")
    }
    gateways = {
        place
        for place, body in of_kind.get(_GATEWAY, ())
        if (place[0], text_at(body, "spec", "infrastructure", "parametersRef", "name")) in open_proxies
        and (_GATEWAY, *place) not in guarded
    }
    exposed: dict[_Place, _Place] = {}
    for place, body in of_kind.get(ROUTE, ()):
        if not {("HTTPRoute", *place), (ROUTE, *place)}.isdisjoint(guarded):
            continue
        backends = [backend for rule in maps_at(body, "spec", "rules") for backend in maps_at(rule, "backendRefs")]
        if any((place[0], text_at(backend, "name")) in with_keys for backend in backends):
            for parent in maps_at(body, "spec", "parentRefs"):
                gateway = (text_at(parent, "namespace") or place[0], text_at(parent, "name"))
                if gateway in gateways:
                    exposed.setdefault(gateway, place)
    return exposed
