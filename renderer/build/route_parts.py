"""What AIGatewayRoutes and their policies share: the parts of a route with many names, the keys of token costs."""

from __future__ import annotations

from msgspec import Struct

from renderer.plan import RouteName, RoutePlan

_MAX_RULES = 15  # of an AIGatewayRoute; the AI gateway adds a sixteenth
_MAX_MATCHES = 64  # of a rule of the HTTPRoute that it makes
_MAX_ROUTE_MATCHES = 127  # of that HTTPRoute, beside the one that the AI gateway adds

# The metadata keys under which the AI gateway counts the tokens of a request, by their kind.
TOKEN_COST_KEYS = {
    "TotalToken": "llm_total_token",
    "InputToken": "llm_input_token",
    "OutputToken": "llm_output_token",
    "CachedInputToken": "llm_cached_input_token",
    "ReasoningToken": "llm_reasoning_token",
}


class RoutePart(Struct, frozen=True):
    """An AIGatewayRoute of a route."""

    name: str
    rules: tuple[tuple[RouteName, ...], ...]  # the public names of each, which lead to the same targets


def route_parts(route: RoutePlan) -> list[RoutePart]:
    """The AIGatewayRoutes that hold the names of a route: one, or as many as the limits of the API ask for. A pool's
    names share a rule.
    """
    names = (RouteName(route.model, route.targets, route.model_origin), *route.others)
    pool = route.targets[0].pool
    most, rule_size = (_MAX_ROUTE_MATCHES, _MAX_MATCHES) if pool else (_MAX_RULES, 1)
    objects = []
    for i, start in enumerate(range(0, len(names), most)):
        part = names[start : start + most]
        rules = tuple([part[first : first + rule_size] for first in range(0, len(part), rule_size)])
        objects.append(RoutePart(f"{route.name}-{i + 1}" if i else route.name, rules))
    return objects
