"""What a page of a fleet shows: the workloads, their places in the input, and the routes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from renderer import resolve
from renderer.api import App, RenderOptions, Scope, TrafficInput
from renderer.diagnostics import Diagnostic
from renderer.fleet.rows import Fleet, FleetRow, fleet_of, item_rows
from renderer.plan import Plan, TrafficPlan
from renderer.planning import plan_environments
from renderer.routes.rows import ItemRoutes, RouteTable, item_routes, route_table


class _Answer(Struct, frozen=True):
    """What is asked of the plans of an item."""

    rows: list[FleetRow]
    routes: ItemRoutes
    line: int  # of the item in its file


class FleetContents(Struct, frozen=True):
    """A fleet, and what else its page shows."""

    fleet: Fleet
    lines: Mapping[FleetRow, int]  # where the app of a workload begins in its file
    routes: Mapping[str, RouteTable]  # by environment
    scope: Scope  # of one of the environments


def read_contents(options: RenderOptions) -> tuple[FleetContents, list[Diagnostic]]:
    """The fleet with its routes, planned once, and the diagnostics of the input, as of `fleet`. Raises RenderError."""
    trees, problems = plan_environments(options, _ask)
    fleet_trees = {
        name: replace(planned, answers=[answer.rows for answer in planned.answers]) for name, planned in trees.items()
    }
    routes = {
        name: route_table(replace(planned, answers=[answer.routes for answer in planned.answers]))
        for name, planned in trees.items()
    }
    lines = {
        replace(row, environment=name): answer.line
        for name, planned in trees.items()
        for answer in planned.answers
        for row in answer.rows
    }
    scope = next(iter(trees.values())).scope
    return FleetContents(fleet_of(fleet_trees), lines, routes, scope), problems


def _ask(context: resolve.RunContext, item: App | TrafficInput, plans: Sequence[Plan | TrafficPlan]) -> _Answer:
    line = item.document.locate(())[0] if isinstance(item, App) else 0
    return _Answer(item_rows(context, item, plans), item_routes(context, item, plans), line)
