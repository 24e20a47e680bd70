"""Input → one Row a public name, as the plans say it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby, zip_longest
from typing import Any, NamedTuple

from renderer import load, resolve
from renderer.api import App, BackendRuntime, Inputs, OpenModel, Options
from renderer.parallel import Team
from renderer.plan import Plan, Route, Wanted
from renderer.problems import Problem, at_hand

_ASKED = {"apiKeyAuth": "apiKeys", "jwt": "jwt"}  # a SecurityPolicy's word → RenderConfig's


class Leg(NamedTuple):
    """A backend behind a public name, and the workload behind it: `low` to `high` replicas, alike where nothing scales
    them; `called`: what the engine calls the model. Backend, app and workload are of the row's namespace.
    """

    backend: str
    weight: int
    kind: str
    app: str
    model: str
    called: str
    low: int
    high: int


class Row(NamedTuple):
    """A public name. `owner`: the app that has it; `asked`: how the Gateway knows who calls, as `gateway.auth` says it;
    `allowed`: who may call, empty for everybody whom the Gateway lets in; `request`: how long one may take.
    """

    gateway: tuple[str, str]
    hostnames: tuple[str, ...]
    asked: tuple[str, ...]
    name: str
    namespace: str
    owner: str
    route: str
    allowed: tuple[str, ...]
    request: str
    legs: tuple[Leg, ...]


class Routes(NamedTuple):
    """The rows by Gateway, host names and public name; `apart`: kind, namespace and name of apps without a route."""

    rows: tuple[Row, ...]
    apart: tuple[tuple[str, str, str], ...]

    def doors(self) -> Iterator[tuple[Row, list[Row]]]:
        """The rows that share a Gateway, its host names and what it asks, below the first of them."""
        for _, rows in groupby(self.rows, key=lambda row: row[:3]):
            made = list(rows)
            yield made[0], made


def routes(options: Options) -> tuple[Routes, list[Problem]]:
    """Every route that the input below PATHS makes, and what is wrong with the input. Nothing is built of it, so what
    only shows in rendered objects is not found. Raises RenderError.
    """
    scope = load.scope(options)
    inputs, problems = load.inputs(scope)
    memo = resolve.memo(inputs)
    problems += [*memo.problems, *resolve.dangling(memo), *resolve.clashes(inputs)]
    # Mixed, so that every process gets its share of both: apps are work, models and runtimes are hardly any.
    items = [each for pair in zip_longest(inputs.apps, inputs.own) for each in pair if each]
    with Team(partial(_share, inputs), items) as team:
        shares = team.results()
    problems += [Problem(*each) for made in shares for each in made["problems"]]
    wanted = {Wanted(*each) for made in shares for each in made["wanted"]}
    problems += resolve.crossed(inputs, wanted) + resolve.joints(memo, wanted)[1]
    problems += load.nothing(inputs, scope, problems)
    rows = sorted(_row(each) for made in shares for each in made["rows"])
    return Routes(tuple(rows), tuple(sorted(each for made in shares for each in made["apart"]))), problems


Item = App | OpenModel | BackendRuntime


def _share(inputs: Inputs, items: Sequence[Item]) -> tuple[Any, Callable[[str], Any]]:
    """One process's part of the items, as plain values: rows, apps apart, what all must know, problems."""
    memo = resolve.memo(inputs)
    rows: list[Any] = []
    apart: list[tuple[str, str, str]] = []
    problems: list[Problem] = []
    wanted: set[Wanted] = set()
    for item in items:
        with at_hand(item.document.name):
            if not isinstance(item, App):
                problems += resolve.checked(memo, item)
                continue
            plans, found = resolve.plan(memo, item)
        problems += found
        if not plans:
            continue
        wanted.update(resolve.needs(plans))
        if route := plans[-1].route:
            rows.append(_flat(item, plans, route))
        else:
            apart.append((item.kind, item.namespace, item.name))
    plain = {"rows": rows, "apart": apart, "wanted": [tuple(each) for each in wanted]}
    return {**plain, "problems": [tuple(each) for each in problems]}, lambda word: None


def _flat(app: App, plans: Sequence[Plan], route: Route) -> tuple[Any, ...]:
    """A row as plain as it passes from process to process."""
    legs = []
    for plan, target in zip(plans, route.targets, strict=True):
        fixed = plan.replicas or 0
        low, high = (plan.scaler.min_replicas, plan.scaler.max_replicas) if plan.scaler else (fixed, fixed)
        legs.append((target.name, target.weight, app.kind, plan.app, plan.model, target.model, low, high))
    asked = [said for key, said in _ASKED.items() if key in route.authentication]
    where = (route.namespace, route.name, route.packed or route.name)
    door = (route.gateway, route.hostnames, tuple(asked))
    return (*door, route.model, *where, route.allowed, route.request, tuple(legs))


def _row(flat: tuple[Any, ...]) -> Row:
    *said, legs = flat
    return Row._make([*said, tuple(Leg(*each) for each in legs)])


def plain(found: Routes) -> str:
    """JSON for other programs: `routes`, and `withoutRoute`, the apps that nothing leads to."""
    rows = [
        {
            "name": row.name,
            "gateway": {"namespace": row.gateway[0], "name": row.gateway[1]},
            "hostnames": row.hostnames,
            "authentication": row.asked,
            "allow": row.allowed,
            "route": {"namespace": row.namespace, "name": row.route},
            "requestTimeout": row.request,
            "backends": [_backend(row, leg) for leg in row.legs],
        }
        for row in found.rows
    ]
    apart = [dict(zip(("kind", "namespace", "name"), each, strict=True)) for each in found.apart]
    return json.dumps({"routes": rows, "withoutRoute": apart}, indent=2, ensure_ascii=False) + "\n"


def _backend(row: Row, leg: Leg) -> dict[str, Any]:
    return {
        "name": leg.backend,
        "weight": leg.weight,
        "app": {"kind": leg.kind, "namespace": row.namespace, "name": leg.app},
        "model": leg.model,
        "engineCallsIt": leg.called,
        "minReplicas": leg.low,
        "maxReplicas": leg.high,
    }
