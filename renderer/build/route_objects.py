"""How the names of a route are shared out among AIGatewayRoutes, whose rules and matches the API limits."""

from __future__ import annotations

from msgspec import Struct

from renderer.plan import RouteName, RoutePlan

_MAX_RULES = 15  # of an AIGatewayRoute; the AI gateway adds a sixteenth
_MAX_MATCHES = 64  # of a rule of the HTTPRoute that it makes
_MAX_ROUTE_MATCHES = 127  # of that HTTPRoute, beside the one that the AI gateway adds


class RouteObject(Struct, frozen=True):
    """An AIGatewayRoute of a route."""

    name: str
    rules: tuple[tuple[RouteName, ...], ...]  # the public names of each, which lead to the same targets


def route_objects(route: RoutePlan) -> list[RouteObject]:
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
        objects.append(RouteObject(f"{route.name}-{i + 1}" if i else route.name, rules))
    return objects
