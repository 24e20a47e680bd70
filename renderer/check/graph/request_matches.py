"""What the rules of routes ask of a request, and which of two rules gets one that both match."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from renderer.check.finding import Body
from renderer.diagnostics import Path
from renderer.kubernetes.json_values import list_at, map_at, maps_at, text_at
from renderer.kubernetes.wellknown import MODEL_HEADER, MODEL_PATHS

EXACT, EXPRESSION, PREFIX = "Exact", "RegularExpression", "PathPrefix"
_PATH_TYPES = (PREFIX, EXPRESSION, EXACT)  # the last is chosen first
_PLAIN_START = r"(?a)\^?([-\w/]*)([?*{]?)"


class RequestMatch(Struct, frozen=True):
    """One match of a rule, as far as it decides which rule gets a request."""

    path_type: str = PREFIX
    path: str = "/"
    method: bool = False
    headers: int = 0  # how many are matched
    queries: int = 0

    @property
    def is_plain(self) -> bool:
        """Whether it matches every request."""
        return self.order == (0, 0, False, 0, 0)

    @property
    def order(self) -> tuple[int, int, bool, int, int]:
        """Gateway API's order: the larger gets the request; of equal ones that of the older route."""
        rank = _PATH_TYPES.index(self.path_type) if self.path_type in _PATH_TYPES else 1
        length = len(self.path) if (self.path_type, self.path) != (PREFIX, "/") else 0
        return rank, length, self.method, self.headers, self.queries

    def shares_path(self, other: RequestMatch) -> bool:
        """Whether a path may match both."""
        (own, own_open), (its, its_open) = _path_start(self), _path_start(other)
        return own == its or (own_open and its.startswith(own)) or (its_open and own.startswith(its))

    def shares_model_path(self, route: RequestMatch) -> bool:
        """Whether a path may match both it and a route to a model."""
        if (route.path_type, route.path) == (PREFIX, "/"):  # as all routes of the AI gateway have it
            return any(self.shares_path(RequestMatch(path=path)) for path in MODEL_PATHS)
        return self.shares_path(route)

    def __str__(self) -> str:
        if (self.path_type, self.path) != (PREFIX, "/"):
            return f"the path {self.path_type} '{self.path}'"
        return f"a match of {'the method' if self.method else 'headers' if self.headers else 'the query'}"


class LocatedMatch(Struct, frozen=True):
    """A match of a route."""

    path: Path  # in the object
    match: RequestMatch
    of_model: bool  # it names a model, or matches the header that does


def _path_start(match: RequestMatch) -> tuple[str, bool]:
    """How the paths of a match begin, and whether more may follow."""
    if match.path_type in (EXACT, PREFIX):
        return f"{match.path.rstrip('/')}/", match.path_type == PREFIX
    start = None if "|" in match.path else re.match(_PLAIN_START, match.path)
    return (start[1][: -1 if start[2] else None] if start else ""), True


def located_matches(kind: str, spec: Body) -> Iterator[LocatedMatch]:
    """The matches of a route of one of ROUTE_KINDS, in its order."""
    read = ROUTE_KINDS[kind]
    if kind == "MCPRoute":  # which has no rules
        yield LocatedMatch(("spec", "path"), read(spec), of_model=False)
        return
    for r, rule in enumerate(maps_at(spec, "rules")):
        for m, match in enumerate(maps_at(rule, "matches") or [{}]):
            names = [text_at(header, "name").lower() for header in maps_at(match, "headers")]
            of_model = kind == "AIGatewayRoute" or MODEL_HEADER in names
            yield LocatedMatch(("spec", "rules", r, "matches", m), read(match), of_model)


def _of_http_route(match: Body) -> RequestMatch:
    return RequestMatch(
        text_at(match, "path", "type", default=PREFIX),
        text_at(match, "path", "value") or "/",
        bool(match.get("method")),
        len(list_at(match, "headers")),
        len(list_at(match, "queryParams")),
    )


def _of_grpc_route(match: Body) -> RequestMatch:
    """A call of gRPC has the path `/service/method`. Envoy Gateway takes a method alone for a header."""
    call, headers = map_at(match, "method"), len(list_at(match, "headers"))
    service, method = text_at(call, "service"), text_at(call, "method")
    if text_at(call, "type") == EXPRESSION and (service or method):
        return RequestMatch(EXPRESSION, f"/{service or '.+'}/{method}", headers=headers)
    if service:
        path = f"/{service}/{method}" if method else f"/{service}"
        return RequestMatch(EXACT if method else PREFIX, path, headers=headers)
    return RequestMatch(headers=headers + bool(method))


def _of_model_route(match: Body) -> RequestMatch:
    """A route of the AI gateway is chosen by its rule without matches first, whose filter then finds out the model."""
    return RequestMatch()


def _of_mcp_route(spec: Body) -> RequestMatch:
    return RequestMatch(EXACT, text_at(spec, "path") or "/mcp", headers=len(list_at(spec, "headers")))


ROUTE_KINDS: Final[Mapping[str, Callable[[Body], RequestMatch]]] = {
    "AIGatewayRoute": _of_model_route,
    "HTTPRoute": _of_http_route,
    "GRPCRoute": _of_grpc_route,
    "MCPRoute": _of_mcp_route,
}
"""What reads a match, by the kinds of routes that share the listeners of HTTPRoutes."""
