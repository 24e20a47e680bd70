"""Host names of the routes on one listener that hide each other."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.finding import IndexedFinding
from renderer.check.graph.route_matches import RouteMatch
from renderer.check.graph.view import Place
from renderer.diagnostics import Finding, Path


def mixed_hostnames(gateway: Place, matches: list[RouteMatch]) -> Iterator[IndexedFinding]:
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
            yield fact.index, Finding("E584", path, {**words, "hosts": "the hosts that are named", "hint": hint})


def shadowed_wildcards(gateway: Place, matches: list[RouteMatch]) -> Iterator[IndexedFinding]:
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
                yield fact.index, Finding("E584", path, {**words, "hosts": f"'{host}'", "hint": hint})
                reported.add(fact.index)
