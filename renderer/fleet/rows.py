"""One row for each workload of a tree, in each of its environments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from renderer import resolve
from renderer.api import App, RenderConfig, RenderOptions, TrafficInput
from renderer.diagnostics import Diagnostic, Origin, RenderError, make_diagnostic
from renderer.engines import accelerator_parts
from renderer.fleet.prices import Bounds, Hardware, price_range
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import text_at
from renderer.nodes.demand import PodGroup, pod_groups
from renderer.plan import Plan, TrafficPlan, WorkloadAccelerators
from renderer.planning import PlannedTree, plan_environments

NO_OWNER = "none"


class Count(Struct, frozen=True):
    """How many there are with the fewest replicas, with the most, and at once while a rollout replaces the most."""

    low: int = 0
    high: int = 0
    surge: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(self.low + other.low, self.high + other.high, self.surge + other.surge)


class FleetRow(Struct, frozen=True):
    """A workload."""

    environment: str  # '' for a tree without environments
    namespace: str
    kind: str  # of the app
    app: str
    name: str  # of the workload
    owner: str
    model: str
    backend: str  # '' where it is not known
    version: str  # of the engine, '' where it is not known
    flavors: tuple[str, ...]  # that it may run on, the preferred first
    types: tuple[str, ...]  # of the accelerators there, where they are known
    resource: str  # by which it asks for accelerators, several with commas; '' for none
    is_part: bool  # it has parts of cards
    pods: Count
    accelerators: Count
    hour: Bounds | None  # the price, None where it is not known or nothing is paid for
    fit: str  # whether the model fits there; '' where that is not known
    file: str

    @property
    def hardware(self) -> str:
        """What it runs on, in a word: types, else flavors, else the resource; of parts of cards flavors, else the
        resource; '' without accelerators.
        """
        if not self.accelerators.high:
            return ""
        return " or ".join((self.types if not self.is_part else ()) or self.flavors) or self.resource

    @property
    def counted(self) -> WorkloadAccelerators:
        """What quotas count of it."""
        return WorkloadAccelerators(self.accelerators.high, self.flavors, self.types, self.is_part)

    @property
    def is_unpriced(self) -> bool:
        """Whether it has accelerators of which nobody says the price."""
        return bool(self.accelerators.high) and self.hour is None


class Fleet(Struct, frozen=True):
    """All workloads, and the currency of their prices, '' where nobody says it."""

    rows: tuple[FleetRow, ...]  # sorted by environment in RenderConfig's order, namespace and name
    currency: str
    has_owners: bool  # RenderConfig says which label tells owners


def fleet(options: RenderOptions) -> tuple[Fleet, list[Diagnostic]]:
    """The workloads of the input below PATHS in all environments, or in the one of the options, and the diagnostics of
    the input. No objects are built, so errors that only the checks of objects find are missing. Raises RenderError.
    """
    trees, problems = plan_environments(options, item_rows)
    return fleet_of(trees), problems


def fleet_of(trees: Mapping[str, PlannedTree]) -> Fleet:
    """The workloads of all environments, by name. `trees`: their answers are those of `item_rows`. Raises RenderError
    where environments have prices of two currencies.
    """
    rows: list[FleetRow] = []
    for name, planned in trees.items():
        of_environment = [row for answer in planned.answers for row in answer]
        of_environment.sort(key=lambda row: (row.namespace, row.name))
        rows += [replace(row, environment=name) for row in of_environment]
    configs = [planned.scope.config for planned in trees.values()]
    owners = any(config.get("fleet", "ownerLabel") for config in configs)
    return Fleet(tuple(rows), _currency(configs), owners)


def _currency(configs: Sequence[RenderConfig]) -> str:
    """The currency of all environments. Raises RenderError where two have different ones."""
    first: str | None = None
    for config in configs:
        currency = str(config.get("fleet", "currency", default=""))
        if first is not None and currency != first:
            origin = config.origin("fleet", "currency") if currency else Origin(config.document, ("spec", "fleet"))
            words = {"first": first or "none", "second": currency or "none"}
            raise RenderError([make_diagnostic("E704", origin, **words)])
        first = currency
    return first or ""


def item_rows(
    context: resolve.RunContext, item: App | TrafficInput, plans: Sequence[Plan | TrafficPlan]
) -> list[FleetRow]:
    """A row for each planned workload of an app, without the environment; none for traffic."""
    return list(_rows(context, item, plans)) if isinstance(item, App) and plans else []


def _rows(context: resolve.RunContext, app: App, plans: Sequence[Plan | TrafficPlan]) -> Iterator[FleetRow]:
    workloads = {plan.name: plan for plan in plans if isinstance(plan, Plan)}
    label = context.inputs.config.get("fleet", "ownerLabel")
    owner = text_at(app.document.value, "metadata", "labels", label) if label else ""
    types = context.inputs.accelerator_types()
    for place in resolve.app_placements(context, app):
        if (plan := workloads.get(place.name)) is None:
            continue  # it has an error
        groups = pod_groups(context.inputs, plan)
        accelerators, resources = _accelerators(groups)
        hardware = [
            Hardware(flavor.name, card, flavor.limits, {**flavor.node, **groups[0].node_selector})
            for flavor, card in zip(place.flavors, place.cards, strict=True)
        ] or [Hardware("", types.of_labels(groups[0].node_selector), {}, groups[0].node_selector)]
        is_part = any(
            accelerator_parts.is_part(types, context.inputs.accelerators, resource, item.limits, item.labels)
            for item in hardware
            for resource in resources
        )
        price = price_range(context.inputs.config, hardware, is_part=is_part) if accelerators.high else None
        yield FleetRow(
            environment="",
            namespace=app.namespace,
            kind=app.kind,
            app=app.name,
            name=plan.name,
            owner=owner or NO_OWNER,
            model=plan.model,
            backend=plan.backend,
            version=text_at(plan.annotations, wellknown.ENGINE_VERSION),
            flavors=tuple([item.flavor for item in hardware if item.flavor]),
            types=tuple(dict.fromkeys(item.card.name for item in hardware if item.card)),
            resource=", ".join(resources),
            is_part=is_part,
            pods=_sum_pods(groups, 1),
            accelerators=accelerators,
            hour=Bounds(price.low * accelerators.low, price.high * accelerators.high) if price else None,
            fit=plan.fit.kind if plan.fit else "",
            file=app.document.name,
        )


def _accelerators(groups: Sequence[PodGroup]) -> tuple[Count, tuple[str, ...]]:
    """How many accelerators these pods have, and the resources by which they ask for them."""
    total = Count()
    for group in groups:
        total += _sum_pods([group], sum(group.accelerators.values()))
    return total, tuple(dict.fromkeys(name for group in groups for name in group.accelerators))


def _sum_pods(groups: Sequence[PodGroup], times: int) -> Count:
    """The pods of these groups, each counted so many times."""
    total = Count()
    for group in groups:
        total += Count(times * group.min_pods, times * group.max_pods, times * group.surge_pods)
    return total
