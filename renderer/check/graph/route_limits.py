"""How many routes and rules a Gateway takes."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.finding import IndexedFinding
from renderer.check.graph.route_matches import RouteMatch
from renderer.check.graph.view import Place
from renderer.diagnostics import Finding, Path
from renderer.kubernetes.gateway_limits import (
    MANY_ROUTES,
    MANY_WITH_KEYS,
    MAX_PACKED_ROUTE_RULES,
    MAX_RULES,
    MESSAGE_BYTES,
    RULE_BYTES,
)

_PACKED_RULES_PER_ROUTE = 5  # on average, from which routes count as packed


def validate_rule_count(
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
        yield last.index, Finding("E606", path, words)
    elif (
        max_rules <= MAX_PACKED_ROUTE_RULES
        and keys is not None
        and keys
        and (size := rules * (RULE_BYTES + 2 * keys)) > MESSAGE_BYTES
    ):
        max_keyed_rules = MESSAGE_BYTES // (RULE_BYTES + 2 * keys)
        yield last.index, Finding("E607", path, {**words, "size": f"{size / (1 << 20):.1f}", "most": max_keyed_rules})
    elif max_rules <= MAX_PACKED_ROUTE_RULES and keys is None and rules > MANY_WITH_KEYS:
        yield last.index, Finding("W583", path, words)
    if routes > MANY_ROUTES and rules <= max_rules:
        yield last.index, Finding("W582", path, {**words, "most": MANY_ROUTES})
