"""The items of a run: what is rendered or checked one by one."""

from __future__ import annotations

from itertools import zip_longest

from renderer.api import App, BackendRuntime, Inputs, OpenModel, TrafficInput

Item = App | TrafficInput | OpenModel | BackendRuntime


def items(inputs: Inputs) -> list[Item]:
    """The items below PATHS. Traffic follows its first app, whose cached results it uses; models and runtimes are mixed
    in, so that every process gets a share of each kind.
    """
    routes: dict[tuple[str, str], list[TrafficInput]] = {}  # by namespace and name of the first app
    for route in inputs.rendered_traffic:
        routes.setdefault((route.namespace, next(route.apps, "")), []).append(route)
    rendered: list[App | TrafficInput] = []
    for app in inputs.apps:
        rendered += [app, *routes.pop((app.namespace, app.name), ())]
    for rest in routes.values():
        rendered += rest
    return [item for pair in zip_longest(rendered, inputs.definitions) for item in pair if item]
