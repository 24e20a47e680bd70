"""Public names of apps that no route leads to, since a ModelRoute replaces the route of the app."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from renderer.api import Inputs
from renderer.resolve import claims
from renderer.resolve.traffic.model_route_records import leads_to_main


class ReplacedName(Struct, frozen=True, order=True):
    """A public name without a route."""

    namespace: str
    route: str  # the ModelRoute
    name: str
    kind: str  # of the app
    app: str


def replaced_names(inputs: Inputs) -> list[ReplacedName]:
    """All such names, as far as the namespace is concerned; whether the ModelRoute makes a route, and whether another
    namespace has the name at the Gateway, is for the caller to see.
    """
    return sorted(_replaced_names(inputs))


def _replaced_names(inputs: Inputs) -> Iterator[ReplacedName]:
    route_names = {(item.namespace, item.spec["modelName"]) for item in inputs.traffic}
    routes = [item for item in inputs.traffic if item.kind == "ModelRoute"]
    for app in (*inputs.apps, *inputs.outside_apps) if routes else ():
        over_app = (item for item in routes if item.namespace == app.namespace and leads_to_main(item, app))
        route, model = next(over_app, None), claims.main_model(inputs, app)
        name = claims.public_name(model, app) if model else ""
        if route and name and (app.namespace, name) not in route_names:
            yield ReplacedName(app.namespace, route.name, name, app.kind, app.name)
