"""Rules over all routes: duplicate models, hosts that hide models, more rules than one message holds.

RouteMatches are small and plain, so that they can be gathered from several processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from renderer.check.finding import Body, IndexedFinding
from renderer.check.graph.gateways import hostnames_overlap, listener_admission
from renderer.check.graph.view import ExternalObjects, ObjectView, Place, named_place
from renderer.diagnostics import Path
from renderer.json_values import as_maps, as_text, as_texts, map_at
from renderer.plan import (
    MANY_ROUTES,
    MANY_WITH_KEYS,
    MAX_PACKED_ROUTE_RULES,
    MAX_RULES,
    MESSAGE_BYTES,
    MODEL_HEADER,
    RULE_BYTES,
)

_PACKED_RULES_PER_ROUTE = 5  # on average, from which routes count as packed


class RouteMatch(Struct, frozen=True):
    """One match of one rule of an AIGatewayRoute on one parent.

    `section`: the listener, '' for all; `hostnames`: as the listeners narrow them; `model`: '' without an exact match;
    `other_headers`: the other headers that are matched; `route`: namespace/name; `path`: of the model's name; `index`:
    the route's index among the objects; `has_hostnames`: whether the route itself has hostnames.
    """

    gateway: Place
    section: str
    hostnames: tuple[str, ...]
    model: str
    other_headers: str
    route: str
    parent: int
    rule: int
    path: Path
    index: int
    has_hostnames: bool = True


def route_matches(view: ObjectView) -> list[RouteMatch]:
    """The matches of all AIGatewayRoutes of a set, in its order."""
    matches = []
    for index, (kind, namespace, name) in enumerate(view.keys):
        if kind != "AIGatewayRoute":
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
        max(hostname, host, key=_exactness)
        for hostname in hostnames
        for host in served
        if not host or hostnames_overlap(hostname, host)
    ]
    return tuple(dict.fromkeys(hosts)) or hostnames


def _exactness(host: str) -> tuple[bool, int]:
    """A sort key that grows with how exact a host is: hosts without a wildcard last, then by length."""
    return bool(host) and not host.startswith("*"), len(host)


def validate_fleet(
    facts: Iterable[RouteMatch], external: ExternalObjects, keys: Mapping[Place, int | None] = {}
) -> Iterator[IndexedFinding]:
    """Findings between routes: the index of the route that has to change, a code, the path in it, the words of the
    message.

    `keys`: by Gateway with API keys, the bytes of its keys, None where they are not known.
    """
    by_gateway: dict[Place, list[RouteMatch]] = {}
    first: dict[tuple[Place, str, str], list[RouteMatch]] = {}
    for fact in facts:
        by_gateway.setdefault(fact.gateway, []).append(fact)
        if not fact.model:
            continue
        rivals = first.setdefault((fact.gateway, fact.model, fact.other_headers), [])
        for other in rivals:
            if (other.route, other.rule) != (fact.route, fact.rule) and _overlap(fact, other):
                same_hosts = not {*fact.hostnames}.isdisjoint(other.hostnames) or fact.hostnames == other.hostnames
                consequence = (
                    "so nothing comes here" if same_hosts else "and a host that both take leads to one of them only"
                )
                words = {"model": fact.model, "other": other.route, "gateway": fact.gateway[1], "so": consequence}
                yield IndexedFinding(fact.index, "E585", fact.path, words)
                break
        else:
            rivals.append(fact)
    for gateway, matches in by_gateway.items():
        yield from _mixed_hostnames(gateway, matches)
        yield from _shadowed_wildcards(gateway, matches)
        yield from _validate_rule_count(gateway, matches, external.limits.get(gateway, 0), keys.get(gateway, 0))


def _overlap(first: RouteMatch, other: RouteMatch) -> bool:
    """Whether a request can match both: they have a listener and a host in common."""
    if first.section and other.section and first.section != other.section:
        return False
    if first.hostnames == other.hostnames:
        return True
    return any(hostnames_overlap(host, other_host) for host in first.hostnames for other_host in other.hostnames)


def _mixed_hostnames(gateway: Place, matches: list[RouteMatch]) -> Iterator[IndexedFinding]:
    """Findings where one listener has routes with and without hostnames: the fewer of them have to change."""
    with_hosts = {(fact.index, fact.section): fact for fact in matches if fact.hostnames}
    without_hosts = {(fact.index, fact.section): fact for fact in matches if not fact.hostnames} if with_hosts else {}
    fewer, more = sorted((without_hosts, with_hosts), key=len)
    if not fewer:
        return
    first = next(iter(more.values()))
    by_section: dict[str, RouteMatch] = {}
    for fact in more.values():
        by_section.setdefault(fact.section, fact)
    for fact in fewer.values():
        other = by_section.get(fact.section) or (by_section.get("") if fact.section else first)
        if other:
            path: Path = ("spec", "hostnames") if fact.hostnames else ("spec",)
            own_hosts, other_hosts = ("hostnames", "none") if fact.hostnames else ("no hostnames", "some")
            hint = "give all routes of a listener hostnames, or none of them"
            words = {"own": own_hosts, "its": other_hosts, "other": other.route, "gateway": gateway[1]}
            yield IndexedFinding(fact.index, "E584", path, {**words, "hosts": "the hosts that are named", "hint": hint})


def _shadowed_wildcards(gateway: Place, matches: list[RouteMatch]) -> Iterator[IndexedFinding]:
    """Findings about routes with a wildcard beside routes with a host that matches it: Envoy looks for that host only
    among the latter.
    """
    with_wildcard = [fact for fact in matches if any(host.startswith("*") for host in fact.hostnames)]
    if not with_wildcard:
        return
    exact: dict[tuple[str, str], RouteMatch] = {}
    for fact in matches:
        for host in fact.hostnames:
            exact.setdefault((host, fact.section), fact)
    models = {(host, fact.section, fact.model) for fact in matches for host in fact.hostnames}
    reported = set()
    for fact in with_wildcard:
        for (host, section), other in exact.items():
            if host in fact.hostnames or (section and fact.section and section != fact.section):
                continue
            if fact.index in reported or (host, section, fact.model) in models:  # a model that is there too is E585
                continue
            wildcard = next(
                (hostname for hostname in fact.hostnames if hostname.startswith("*") and host.endswith(hostname[1:])),
                None,
            )
            if wildcard:
                own_hosts = (
                    f"'{wildcard}'" if fact.has_hostnames else f"no hostnames, which means its listener's '{wildcard}'"
                )
                words = {"own": own_hosts, "its": f"'{host}'", "other": other.route, "gateway": gateway[1]}
                hint = f"name '{host}' here too, or a host that is not below '{wildcard}' there"
                path: Path = ("spec", "hostnames") if fact.has_hostnames else ("spec",)
                yield IndexedFinding(fact.index, "E584", path, {**words, "hosts": f"'{host}'", "hint": hint})
                reported.add(fact.index)


def _validate_rule_count(
    gateway: Place, matches: list[RouteMatch], limit: int, keys: int | None
) -> Iterator[IndexedFinding]:
    """Findings about a Gateway with more rules or routes than one message of the control plane holds."""
    routes = len({fact.route for fact in matches})
    rules = len({(fact.route, fact.rule) for fact in matches}) if len(matches) > MANY_WITH_KEYS or keys else 0
    max_rules = limit or (MAX_PACKED_ROUTE_RULES if rules >= _PACKED_RULES_PER_ROUTE * routes else MAX_RULES)
    last = matches[-1]
    path: Path = ("spec", "parentRefs", last.parent, "name")
    words = {"gateway": "/".join(gateway), "routes": routes, "rules": rules, "most": max_rules}
    if rules > max_rules:
        yield IndexedFinding(last.index, "E606", path, words)
    elif (
        max_rules <= MAX_PACKED_ROUTE_RULES
        and keys is not None
        and keys
        and (size := rules * (RULE_BYTES + 2 * keys)) > MESSAGE_BYTES
    ):
        max_keyed_rules = MESSAGE_BYTES // (RULE_BYTES + 2 * keys)
        yield IndexedFinding(
            last.index, "E607", path, {**words, "size": f"{size / (1 << 20):.1f}", "most": max_keyed_rules}
        )
    elif max_rules <= MAX_PACKED_ROUTE_RULES and keys is None and rules > MANY_WITH_KEYS:
        yield IndexedFinding(last.index, "W583", path, words)
    if routes > MANY_ROUTES and rules <= max_rules:
        yield IndexedFinding(last.index, "W582", path, {**words, "most": MANY_ROUTES})
