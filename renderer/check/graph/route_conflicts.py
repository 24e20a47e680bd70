"""Rules over all routes: duplicate models, hosts that hide models, more rules than one message holds.

RouteMatches are small and plain, so that they can be gathered from several processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from renderer.check.finding import IndexedFinding
from renderer.check.graph.hostnames import mixed_hostnames, shadowed_wildcards
from renderer.check.graph.listener_admission import hostnames_overlap
from renderer.check.graph.route_limits import validate_rule_count
from renderer.check.graph.route_matches import RouteMatch
from renderer.check.graph.view import ExternalObjects, Place
from renderer.diagnostics import Finding


def find_route_conflicts(
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
                    "so this one gets no requests" if same_hosts else "and for a common host only one gets requests"
                )
                words = {"model": fact.model, "other": other.route, "gateway": fact.gateway[1], "so": consequence}
                yield fact.index, Finding("E585", fact.path, words)
                break
        else:
            rivals.append(fact)
    for gateway, matches in by_gateway.items():
        yield from mixed_hostnames(gateway, matches)
        yield from shadowed_wildcards(gateway, matches)
        yield from validate_rule_count(gateway, matches, external.limits.get(gateway, 0), keys.get(gateway, 0))


def _overlap(first: RouteMatch, other: RouteMatch) -> bool:
    """Whether a request can match both: they have a listener and a host in common."""
    if first.section and other.section and first.section != other.section:
        return False
    if first.hostnames == other.hostnames:
        return True
    return any(hostnames_overlap(host, other_host) for host in first.hostnames for other_host in other.hostnames)
