"""Builds one row for each public name from the plans of the input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from renderer import resolve
from renderer.api import App, RenderOptions, TrafficInput
from renderer.diagnostics import Diagnostic, naming_file
from renderer.plan import NamedModel, Plan, ProviderPlan, RoutePlan, TokenLimit, TrafficPlan, UnroutedModel
from renderer.planning import PlannedTree, plan_tree
from renderer.resolve.gateway.settings import gateway_settings

_AUTH_METHODS = {
    "apiKeyAuth": "apiKeys",
    "jwt": "jwt",
}  # key of a SecurityPolicy → method in RenderConfig's gateway.auth
OFF, KEPT, PATHLESS = "gateway.mode: off", "its name is reserved", "no path for its task"  # why an app has no route


class WorkloadBehind(Struct, frozen=True):
    """The workload of a route backend or pool."""

    kind: str
    app: str
    model: str
    called: str  # the engine's name of the model
    # Bound of its replicas, the same as `high` without an autoscaler; of those that decode where `prefill` is set.
    low: int
    high: int  # bound of its replicas, as `low`
    picker: str  # the name of the pool's picker, '' without a pool
    task: str  # of the model
    adapters: Mapping[str, str] = {}  # the OpenModels of its adapters, by the names in requests to the engine
    mains: Mapping[str, NamedModel] = {}  # its main models beside the first, by those names
    prefill: tuple[int, int] | None = None  # bounds of the replicas that read prompts, where others decode


class ProviderBehind(Struct, frozen=True):
    """The provider of a route backend."""

    hostname: str
    port: int
    speaks: tuple[tuple[str, str], ...]  # name, prefix and version of its API as pairs
    auth: str
    secret: str  # the name of the API key's Secret
    region: str


class RouteLeg(Struct, frozen=True):
    """A route backend or pool that a public name leads to, in the namespace of its row."""

    to: str
    weight: int  # its share among legs of the same priority
    priority: int
    override: str  # the model's name there, '' for the public name
    pool: bool
    names: tuple[tuple[str, int | None], ...]  # for a pool, the names that requests are sent on with, and their weights
    workload: WorkloadBehind | None  # behind the leg, None for a provider and for a pool that llmaz does not make
    provider: ProviderBehind | None  # behind the leg, None for a workload and for a pool that llmaz does not make


class RouteRow(Struct, frozen=True):
    """A public name."""

    gateway: tuple[str, str]
    hostnames: tuple[str, ...]
    auth_methods: tuple[str, ...]  # how the Gateway authenticates callers, in the words of `gateway.auth`
    name: str
    namespace: str
    kind: str  # of the object that has the name
    owner: str  # the name of the object that has the public name
    route: str = ""  # the name of the route, '' for a public name that is only reserved
    allowed: tuple[str, ...] = ()  # who may call, () for all whom the Gateway lets in
    request: str = ""  # the timeout of a request
    idle: str = ""  # the timeout of a silent stream
    retries: int = 0
    limits: tuple[TokenLimit, ...] = ()  # of tokens
    objective_priority: int | None = None  # the priority that a picker gets
    legs: tuple[RouteLeg, ...] = ()
    entry: str = ""  # the OpenModel of the adapter or main model that has the name, beside other names of its owner

    @property
    def path(self) -> str:
        """The path on which clients ask for the name; '' where no workload tells."""
        return next((resolve.PATHS.get(leg.workload.task, "") for leg in self.legs if leg.workload), "")


class UnroutedApp(Struct, frozen=True, order=True):
    """An app without a route, and the reason."""

    kind: str
    namespace: str
    name: str
    why: str


class RouteTable(Struct, frozen=True):
    """The rows of the table, and the apps without a route."""

    rows: tuple[RouteRow, ...]  # sorted by Gateway, host names and public name
    unrouted: tuple[UnroutedApp, ...]
    replaced: tuple[resolve.ReplacedName, ...] = ()  # without a route, since a ModelRoute leads to the app

    def by_gateway(self) -> Iterator[tuple[RouteRow, list[RouteRow]]]:
        """The rows grouped by Gateway, host names and authentication: the first row of each group, and all its rows."""
        for _, rows in groupby(self.rows, key=lambda row: (row.gateway, row.hostnames, row.auth_methods)):
            group = list(rows)
            yield group[0], group


Workloads = Mapping[tuple[str, str], WorkloadBehind]  # by namespace and name


# By namespace, pool and public name: the names that requests are sent on with, with their weights, and the priority.
Steerings = Mapping[tuple[str, str, str], tuple[tuple[tuple[str, int | None], ...], int | None]]


class ItemRoutes(Struct, frozen=True):
    """The routes of an item."""

    rows: list[RouteRow]  # their legs have no workloads yet, since these may be of other items
    steerings: Steerings  # of a public name whose route another item makes
    workloads: Workloads
    unrouted: list[UnroutedApp]


def routes(options: RenderOptions) -> tuple[RouteTable, list[Diagnostic]]:
    """All routes of the input below PATHS, and diagnostics of the input. No objects are built, so errors that only the
    checks of objects find are missing. Raises RenderError.
    """
    planned, problems = plan_tree(options, item_routes)
    return route_table(planned), problems


def route_table(planned: PlannedTree) -> RouteTable:
    """All routes of a tree whose answers are those of `item_routes`."""
    answers: list[ItemRoutes] = planned.answers
    workloads = {key: workload for answer in answers for key, workload in answer.workloads.items()}
    rows = sorted((row for answer in answers for row in answer.rows), key=_order)
    targets = {(row.namespace, leg.to) for row in rows for leg in row.legs if not leg.provider}
    workloads |= _workloads_outside(planned.context, targets - set(workloads))
    steerings = {key: steering for answer in answers for key, steering in answer.steerings.items()}
    rows = [_with_workloads(_with_steering(row, steerings), workloads) for row in rows]
    linked = {(row.namespace, leg.workload.app) for row in rows for leg in row.legs if leg.workload}
    unrouted = [app for answer in answers for app in answer.unrouted if (app.namespace, app.name) not in linked]
    names, owners = {row.name for row in rows}, {(row.namespace, row.owner) for row in rows if row.kind == "ModelRoute"}
    replaced = [
        name
        for name in resolve.replaced_names(planned.context.inputs)
        if name.name not in names and (name.namespace, name.route) in owners
    ]
    return RouteTable(tuple(rows), tuple(sorted(unrouted)), tuple(replaced))


def _order(row: RouteRow) -> tuple[object, ...]:
    return row.gateway, row.hostnames, row.auth_methods, row.name, row.namespace, row.kind, row.owner


def _with_workloads(row: RouteRow, workloads: Workloads) -> RouteRow:
    legs = [leg if leg.provider else replace(leg, workload=_find_workload(row, leg, workloads)) for leg in row.legs]
    return replace(row, legs=tuple(legs))


def _find_workload(row: RouteRow, leg: RouteLeg, workloads: Workloads) -> WorkloadBehind | None:
    """The workload behind a leg, as it serves the model that the leg asks for."""
    workload = workloads.get((row.namespace, leg.to))
    if workload and (main := workload.mains.get(leg.override or row.name)):
        return replace(workload, model=main.model, called=main.name_in_engine, task=main.task)
    return workload


def _with_steering(row: RouteRow, steerings: Steerings) -> RouteRow:
    """The row with what an InferenceModel beside its ModelRoute tells the picker of its pool."""
    for leg in row.legs:
        if leg.pool and (steering := steerings.get((row.namespace, leg.to, row.name))):
            names, priority = steering
            return replace(row, objective_priority=priority, legs=(replace(leg, names=names or leg.names),))
    return row


def item_routes(
    context: resolve.RunContext, item: App | TrafficInput, plans: Sequence[Plan | TrafficPlan]
) -> ItemRoutes:
    """The routes of an item, from its plans."""
    rows = [row for plan in plans if plan.route for row in _rows(item, plan.route, plan)]
    workloads: dict[tuple[str, str], WorkloadBehind] = {}
    unrouted: list[UnroutedApp] = []
    steerings: Steerings = {}
    if isinstance(item, App):
        workloads = _workloads(item, plans)
        if not plans[-1].route and not _has_route_from_outside(context, item, plans[-1]):
            is_pathless = any(isinstance(need, UnroutedModel) for need in plans[-1].shared)
            why = PATHLESS if is_pathless else KEPT if _reachable(plans[-1]) else OFF
            unrouted.append(UnroutedApp(item.kind, item.namespace, item.name, why))
    elif not plans[0].route and (steering := plans[0].steering):
        names = steering.rewrites[0].targets if steering.rewrites else ()
        steerings = {(item.namespace, steering.pool, item.spec["modelName"]): (names, steering.priority)}
    # Without a route and steering, but with shared objects: the item reserves its name.
    elif not plans[0].route and plans[0].shared:
        rows.append(_reserved_row(context, item))
    return ItemRoutes(rows, steerings, workloads, unrouted)


def _workloads(app: App, plans: Sequence[Plan | TrafficPlan]) -> dict[tuple[str, str], WorkloadBehind]:
    """The workloads of an app by namespace and name; two roles are one under the name of their pool."""
    prefill = next((plan.replica_bounds for plan in plans if isinstance(plan, Plan) and plan.role), None)
    return {
        (app.namespace, plan.shared_name): _workload(app, plan, prefill) for plan in plans if isinstance(plan, Plan)
    }


def _workload(app: App, plan: Plan, prefill: tuple[int, int] | None) -> WorkloadBehind:
    low, high = plan.replica_bounds
    return WorkloadBehind(
        kind=app.kind,
        app=app.name,
        model=plan.model,
        called=plan.name_in_engine,
        low=low,
        high=high,
        picker=plan.pool.name if plan.pool else "",
        task=plan.task,
        prefill=prefill,
        adapters={named.name_in_engine: named.model or named.name for named in plan.named_models if not named.task},
        mains={named.name_in_engine: named for named in plan.named_models if named.task},
    )


def _reachable(plan: Plan | TrafficPlan) -> bool:
    """Whether a route can lead to the app: it has a backend host or a pool."""
    return isinstance(plan, Plan) and bool(plan.host or plan.pool)


def _has_route_from_outside(context: resolve.RunContext, app: App, plan: Plan | TrafficPlan) -> bool:
    """Whether a route from outside of PATHS leads to the app. Routes within PATHS have rows of their own."""
    traffic = context.traffic.get((app.namespace, app.name), ())
    return _reachable(plan) and any(
        traffic_plan.outside and not _only_reserves(traffic_plan) for traffic_plan in traffic
    )


def _only_reserves(item: TrafficInput) -> bool:
    """Whether an InferenceModel only reserves its name: all weights are 0."""
    targets = item.spec.get("targetModels") or ()
    return bool(targets) and all(target.get("weight") == 0 for target in targets)


def _rows(item: App | TrafficInput, route: RoutePlan, plan: Plan | TrafficPlan) -> Iterator[RouteRow]:
    """The row of a route, and one for each more public name of it."""
    yield _row(item, route, plan)
    models = {named.name: named.model for named in plan.named_models} if isinstance(plan, Plan) else {}
    for name in route.others:
        row = _row(item, replace(route, model=name.model, targets=name.targets), plan)
        yield replace(row, entry=models[name.model])


def _row(item: App | TrafficInput, route: RoutePlan, plan: Plan | TrafficPlan) -> RouteRow:
    steering = plan.steering
    rewrites = {rewrite.model: rewrite.targets for rewrite in steering.rewrites} if steering else {}
    providers = {provider.name: provider for provider in plan.providers} if isinstance(plan, TrafficPlan) else {}
    return RouteRow(
        gateway=route.gateway,
        hostnames=route.hostnames,
        auth_methods=tuple([method for key, method in _AUTH_METHODS.items() if key in route.authentication]),
        name=route.model,
        namespace=route.namespace,
        kind=item.kind,
        owner=item.name,
        route=route.packed_route or route.name,
        allowed=route.allowed_tenants,
        request=route.request_timeout,
        idle=route.stream_idle_timeout,
        retries=route.retries,
        limits=route.limits,
        objective_priority=steering.priority if steering else None,
        legs=tuple(
            RouteLeg(
                to=target.name,
                weight=target.weight,
                priority=target.priority,
                override="" if target.pool or target.model == route.model else target.model,
                pool=target.pool,
                names=rewrites.get(route.model, ()) if target.pool else (),
                workload=None,
                provider=_provider(providers[target.name]) if target.name in providers else None,
            )
            for target in sorted(route.targets, key=lambda target: target.priority)
        ),
    )


def _provider(provider: ProviderPlan) -> ProviderBehind:
    return ProviderBehind(provider.hostname, provider.port, tuple(provider.schema.items()), *provider.auth)


def _reserved_row(context: resolve.RunContext, item: TrafficInput) -> RouteRow:
    """The row of a name that is only reserved."""
    settings = gateway_settings(context, item.namespace)
    return RouteRow(
        gateway=settings.gateway,
        hostnames=settings.hostnames,
        auth_methods=tuple([method for method in _AUTH_METHODS.values() if method in settings.auth]),
        name=item.spec["modelName"],
        namespace=item.namespace,
        kind=item.kind,
        owner=item.name,
    )


def _workloads_outside(
    context: resolve.RunContext, missing: Set[tuple[str, str]]
) -> dict[tuple[str, str], WorkloadBehind]:
    """Those of the `missing` workloads that apps outside of PATHS make, by namespace and name."""
    workloads: dict[tuple[str, str], WorkloadBehind] = {}
    for app in context.inputs.outside_apps:
        # A workload is called like its app, or like its app and a flavor.
        if any(space == app.namespace and f"{name}-".startswith(f"{app.name}-") for space, name in missing):
            with naming_file(app.document.name):
                plans, _ = resolve.plan(context, app)
            workloads |= _workloads(app, plans)
    return workloads
