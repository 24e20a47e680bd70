"""What a run works on, one by one."""

from __future__ import annotations

from itertools import zip_longest

from renderer.api import App, BackendRuntime, Inputs, OpenModel, TrafficInput

Item = App | TrafficInput | OpenModel | BackendRuntime


def items(inputs: Inputs) -> list[Item]:
    """Everything below PATHS: apps with what leads to them, which asks for what was worked out of the first of its
    apps, mixed with models and runtimes, so that every process gets its share of each kind.
    """
    routes: dict[tuple[str, str], list[TrafficInput]] = {}  # by namespace and name of the first app
    for route in inputs.ways:
        routes.setdefault((route.namespace, next(route.apps, "")), []).append(route)
    rendered: list[App | TrafficInput] = []
    for app in inputs.apps:
        rendered += [app, *routes.pop((app.namespace, app.name), ())]
    for others in routes.values():
        rendered += others
    return [item for pair in zip_longest(rendered, inputs.own) for item in pair if item]
