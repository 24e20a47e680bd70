"""Input → one Row a public name, as the plans say it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import groupby
from typing import Any

from renderer import resolve
from renderer.api import App, Options, Traffic
from renderer.plan import Plan, Provider, Route, Way
from renderer.planned import planned
from renderer.problems import Problem, at_hand
from renderer.records import NamedTuple
from renderer.resolve.memo import door

_ASKED = {"apiKeyAuth": "apiKeys", "jwt": "jwt"}  # a SecurityPolicy's word → RenderConfig's
OFF, KEPT = "gateway.mode: off", "its name is reserved"  # why an app has no route


class Behind(NamedTuple):
    """A workload behind a backend or pool: `low` to `high` replicas, alike where nothing scales them; `called`: what
    the engine calls the model; `picker`: who picks one of its pods, in pool mode.
    """

    kind: str
    app: str
    model: str
    called: str
    low: int
    high: int
    picker: str


class Outer(NamedTuple):
    """A provider behind a backend. `speaks`: name, prefix and version of its API; `secret`: the name of the Secret with
    the key.
    """

    hostname: str
    port: int
    speaks: tuple[tuple[str, str], ...]
    auth: str
    secret: str
    region: str


class Leg(NamedTuple):
    """What a public name leads to, a backend or a pool: its share of its priority, and what it calls the model where
    that is another name, `override`. `names`: by which names requests go on to a pool, with their shares. `behind` and
    `outer`: the workload or provider, neither for a pool of somebody else's. All are of the row's namespace.
    """

    to: str
    weight: int
    priority: int
    override: str
    pool: bool
    names: tuple[tuple[str, int | None], ...]
    behind: Behind | None
    outer: Outer | None


class Row(NamedTuple):
    """A public name. `asked`: how the Gateway knows who calls, as `gateway.auth` says it; `kind` and `owner`: whose
    name it is; `route`: the object that leads there, empty for a name that is only reserved; `allowed`: who may call,
    empty for everybody whom the Gateway lets in; `request` and `idle`: how long a request may take, and a stream be
    silent; `limits`: header, tokens, interval and kind of tokens; `urgency`: what a picker is told of it.
    """

    gateway: tuple[str, str]
    hostnames: tuple[str, ...]
    asked: tuple[str, ...]
    name: str
    namespace: str
    kind: str
    owner: str
    route: str = ""
    allowed: tuple[str, ...] = ()
    request: str = ""
    idle: str = ""
    retries: int = 0
    limits: tuple[tuple[str, int, str, str], ...] = ()
    urgency: int | None = None
    legs: tuple[Leg, ...] = ()


class Routes(NamedTuple):
    """The rows by Gateway, host names and public name; `apart`: kind, namespace and name of apps that nothing leads to,
    and why.
    """

    rows: tuple[Row, ...]
    apart: tuple[tuple[str, str, str, str], ...]

    def doors(self) -> Iterator[tuple[Row, list[Row]]]:
        """The rows that share a Gateway, its host names and what it asks, below the first of them."""
        for _, rows in groupby(self.rows, key=lambda row: row[:3]):
            made = list(rows)
            yield made[0], made


Workloads = Mapping[tuple[str, str], Behind]  # by namespace and name


def routes(options: Options) -> tuple[Routes, list[Problem]]:
    """Every route that the input below PATHS makes, and what is wrong with the input. Nothing is built of it, so what
    only shows in rendered objects is not found. Raises RenderError.
    """
    done, problems = planned(options, _asked)
    memo = done.memo
    workloads = {(space, name): Behind(*each) for answer in done.answers for space, name, *each in answer[1]}
    flat = [each for answer in done.answers for each in answer[0]]
    workloads |= _beyond(memo, {(row[4], each[0]) for row in flat for each in row[-1] if not each[-1]} - set(workloads))
    rows = sorted((_row(each, workloads) for each in flat), key=lambda row: row[:7])
    led = {(row.namespace, leg.behind.app) for row in rows for leg in row.legs if leg.behind}
    apart = [each for answer in done.answers for each in answer[2] if each[1:3] not in led]
    return Routes(tuple(rows), tuple(sorted(apart))), problems


def _asked(memo: resolve.Memo, item: App | Traffic, plans: Sequence[Plan | Way]) -> Any:
    """Of an item the rows, the workloads, and apps without a route of their own, as plain values."""
    rows: list[Any] = [_flat(item, each.route, each) for each in plans if each.route]
    workloads: list[Any] = []
    apart: list[tuple[str, str, str, str]] = []
    if isinstance(item, App):
        workloads = [(item.namespace, each.name, *_behind(item, each)) for each in plans if isinstance(each, Plan)]
        if not plans[-1].route and not _led_from_outside(memo, item, plans[-1]):
            apart.append((item.kind, item.namespace, item.name, KEPT if _reachable(plans[-1]) else OFF))
    # Whoever has no route and still claims something keeps a name.
    elif not plans[0].route and plans[0].shared:
        rows.append(_kept(memo, item))
    return rows, workloads, apart


def _behind(app: App, plan: Plan) -> Behind:
    fixed = plan.replicas or 0
    low, high = (plan.scaler.min_replicas, plan.scaler.max_replicas) if plan.scaler else (fixed, fixed)
    return Behind(app.kind, app.name, plan.model, plan.called, low, high, plan.pool.name if plan.pool else "")


def _reachable(plan: Plan | Way) -> bool:
    """Whether something may lead there: a backend or a pool stands before it."""
    return isinstance(plan, Plan) and bool(plan.host or plan.pool)


def _led_from_outside(memo: resolve.Memo, app: App, plan: Plan | Way) -> bool:
    """Whether something outside of PATHS leads there; what lies within says it itself."""
    ways = memo.traffic.get((app.namespace, app.name), ())
    return _reachable(plan) and any(each.outside and not _empty(each) for each in ways)


def _empty(item: Traffic) -> bool:
    """Whether an InferenceModel only reserves its name."""
    targets = item.spec.get("targetModels") or ()
    return bool(targets) and all(each.get("weight") == 0 for each in targets)


def _flat(item: App | Traffic, route: Route, plan: Plan | Way) -> tuple[Any, ...]:
    """A row as plain as it passes from process to process: what is behind its targets others may know."""
    steering = plan.steering if isinstance(plan, Way) else None
    outer = {each.name: _outer(each) for each in plan.providers} if isinstance(plan, Way) else {}
    names = steering.names if steering else ()
    targets = [
        (
            each.name,
            each.weight,
            each.priority,
            "" if each.pool or each.model == route.model else each.model,
            each.pool,
            names if each.pool else (),
            outer.get(each.name),
        )
        for each in sorted(route.targets, key=lambda target: target.priority)
    ]
    asked = tuple([said for key, said in _ASKED.items() if key in route.authentication])
    head = (route.gateway, route.hostnames, asked, route.model, route.namespace, item.kind, item.name)
    limits = tuple([tuple(each) for each in route.limits])
    told = (route.allowed, route.request, route.stream_idle, route.retries, limits)
    return (*head, route.packed or route.name, *told, steering.priority if steering else None, tuple(targets))


def _outer(provider: Provider) -> tuple[Any, ...]:
    return (provider.hostname, provider.port, tuple(provider.speaks.items()), *provider.auth)


def _kept(memo: resolve.Memo, item: Traffic) -> tuple[Any, ...]:
    """A name that is only reserved."""
    here = door(memo, item.namespace)
    asked = tuple([each for each in _ASKED.values() if each in here.auth])
    head = (here.gateway, here.hostnames, asked, item.spec["modelName"], item.namespace)
    return tuple(Row(*head, item.kind, item.name))


def _beyond(memo: resolve.Memo, missing: Set[tuple[str, str]]) -> dict[tuple[str, str], Behind]:
    """Workloads of apps outside of PATHS, as far as something within leads to them."""
    made: dict[tuple[str, str], Behind] = {}
    for app in memo.inputs.beyond:
        # A workload is called like its app, or like its app and a flavor.
        if any(space == app.namespace and f"{name}-".startswith(f"{app.name}-") for space, name in missing):
            with at_hand(app.document.name):
                plans, _ = resolve.plan(memo, app)
            made |= {(app.namespace, each.name): _behind(app, each) for each in plans if isinstance(each, Plan)}
    return made


def _row(flat: tuple[Any, ...], workloads: Workloads) -> Row:
    *said, targets = flat
    row = Row._make([*said, ()])
    return row._replace(legs=tuple([_leg(each, workloads.get((row.namespace, each[0]))) for each in targets]))


def _leg(target: tuple[Any, ...], behind: Behind | None) -> Leg:
    *said, outer = target
    return Leg._make([*said, None if outer else behind, Outer._make(outer) if outer else None])
