"""Builds one node pool for each flavor from demand and settings: requirements, labels, taints and limits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from renderer import resolve
from renderer.diagnostics import Collector, Origin, Path, has_errors, quoted, suggestion
from renderer.nodes.demand import FleetDemand, NodeDemand, PodGroup
from renderer.nodes.disk import check_disk
from renderer.nodes.instances import InstanceChoice, choose_instances, is_countable, meets_requirement
from renderer.nodes.labels import ARCH, CAPACITY, current_name, is_requirement_label, is_restricted
from renderer.nodes.limits import check_limits, configured_limits, pool_limits
from renderer.nodes.settings import KarpenterSettings, settings

if TYPE_CHECKING:
    from renderer.input_types import RequirementSpec

_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
_MAX_NAME = 63  # a node's label holds the name of its pool


class NodePool(Struct, frozen=True):
    """The nodes of one flavor."""

    name: str
    flavor: str
    settings: KarpenterSettings
    origin: Origin  # of the flavor
    requirements: tuple[tuple[Origin, RequirementSpec], ...]  # each with its origin
    labels: Mapping[str, str]  # of nodes
    taints: tuple[Mapping[str, str], ...]
    limits: Mapping[str, str]

    @property
    def required(self) -> tuple[RequirementSpec, ...]:
        """The requirements without their origins."""
        return tuple(requirement for _, requirement in self.requirements)


def pools(fleet: FleetDemand, diagnostics: Collector) -> list[NodePool]:
    """The pools in the order of their flavors; none if there are errors."""
    config = fleet.context.inputs.config
    if config.get("karpenter") is None:
        diagnostics.add("E790", config.origin("karpenter") if config.spec else Origin(config.document))
        return []
    users: dict[str, list[NodeDemand]] = {}
    for demand in fleet.demands:
        for name, _ in demand.flavors:
            users.setdefault(name, []).append(demand)
    for name in config.get("karpenter", "perFlavor") or ():
        if name not in users:
            hint = suggestion(name, sorted(users)) or "no workload has a flavor"
            diagnostics.add("W793", config.origin("karpenter", "perFlavor", name, key=True), name=name, hint=hint)
    node_pools = [_pool(fleet, name, users[name], diagnostics) for name in sorted(users)]
    if has_errors(diagnostics.problems):
        return []
    node_pools = _apply_taints(node_pools, users, diagnostics)
    _check_selectors(fleet, node_pools, diagnostics)
    for demand in fleet.demands:
        if demand.other_scheduler:
            app = fleet.context.apps[demand.namespace, demand.app]
            from_app = "flavorPolicy" in app.spec
            diagnostics.add("W794", app.origin("spec", "flavorPolicy") if from_app else config.origin("flavorPolicy"))
    return node_pools


def _pool(fleet: FleetDemand, flavor: str, users: Sequence[NodeDemand], diagnostics: Collector) -> NodePool:
    config = fleet.context.inputs.config
    karpenter, origin, node = (
        settings(config, flavor),
        _flavor_origin(fleet, users[0], flavor),
        dict(users[0].flavors)[flavor],
    )
    for words, hint in karpenter.unsettled():
        diagnostics.add("E791", config.origin("karpenter"), what=words, hint=hint)
    name = f"{config.get('karpenter', 'namePrefix', default='llmaz-')}{flavor}"
    if not _NAME.fullmatch(name) or len(name) > _MAX_NAME:
        diagnostics.add("E795", origin, name=name)
    _check_labels(fleet, flavor, users, diagnostics)
    pods = [pod for demand in users for pod in demand.pods]
    resources = sorted({resource for pod in pods for resource in pod.accelerators})
    requirements = tuple(_requirements(fleet, users[0], karpenter, node))
    required = {requirement["key"] for _, requirement in requirements}
    node_pool = NodePool(
        name=name,
        flavor=flavor,
        settings=karpenter,
        origin=origin,
        requirements=requirements,
        labels={
            label: value for label, value in node.items() if not is_requirement_label(label) and label not in required
        },
        taints=tuple(karpenter.get("taints", [{"key": resource, "effect": "NoSchedule"} for resource in resources])),
        limits={},
    )
    candidates = choose_instances(node_pool.required)
    if node and not any(is_restricted(current_name(label)) for label in node):
        _check_instances(node_pool, candidates, resources, diagnostics)
    _check_reservations(node_pool, diagnostics)
    _check_claims(node_pool, users, diagnostics)
    check_disk(karpenter, users, diagnostics)
    own_limits = configured_limits(karpenter, diagnostics)
    check_limits(karpenter, candidates, own_limits, diagnostics)
    limits = pool_limits(flavor, origin, candidates, pods, resources, diagnostics)
    return replace(node_pool, limits={**limits, **own_limits})


def _check_labels(fleet: FleetDemand, flavor: str, users: Sequence[NodeDemand], diagnostics: Collector) -> None:
    """Errors for a flavor without node labels, with reserved ones, or with other ones in another app."""
    first, node = users[0], dict(users[0].flavors)[flavor]
    if not node:
        diagnostics.add("E792", _flavor_origin(fleet, first, flavor), name=flavor)
    for label in node:
        if is_restricted(current_name(label)):
            diagnostics.add("E793", _flavor_origin(fleet, first, flavor, label), name=label)
    if conflicting := next((demand for demand in users if dict(demand.flavors)[flavor] != node), None):
        words = {"first": f"{first.namespace}/{first.app}", "other": f"{conflicting.namespace}/{conflicting.app}"}
        diagnostics.add("E794", _flavor_origin(fleet, conflicting, flavor), name=flavor, **words)


def _flavor_origin(fleet: FleetDemand, demand: NodeDemand, flavor: str, label: str = "") -> Origin:
    """The origin of a workload's flavor, or of a node label of that flavor."""
    places = resolve.app_placements(fleet.context, fleet.context.apps[demand.namespace, demand.app])
    place = next(placement for placement in places if placement.name == demand.name)
    return resolve.flavor_origin(fleet.context, place, flavor, label)


def _requirements(
    fleet: FleetDemand, demand: NodeDemand, karpenter: KarpenterSettings, node: Mapping[str, str]
) -> Iterator[tuple[Origin, RequirementSpec]]:
    """Requirements for capacity type and architecture, of the flavor, and of RenderConfig. For a key that several of
    them have, the last one wins.
    """
    purchase: list[tuple[Origin, RequirementSpec]] = [
        (karpenter.at("capacityTypes"), _one_of(CAPACITY, *karpenter.get("capacityTypes", ("on-demand",)))),
        (karpenter.at("architectures"), _one_of(ARCH, *karpenter.get("architectures", ("amd64",)))),
    ]
    flavor = [
        (_flavor_origin(fleet, demand, karpenter.flavor, label), _one_of(current_name(label), value))
        for label, value in node.items()
        if is_requirement_label(label)
    ]
    configured = list(karpenter.requirements())
    for layer, stronger in (purchase, [*flavor, *configured]), (flavor, configured), (configured, []):
        overridden = {requirement["key"] for _, requirement in stronger}
        yield from (pair for pair in layer if pair[1]["key"] not in overridden)


def _one_of(key: str, *values: str) -> RequirementSpec:
    return {"key": key, "operator": "In", "values": list(values)}


def _check_instances(
    pool: NodePool, candidates: InstanceChoice, resources: Sequence[str], diagnostics: Collector
) -> None:
    """A warning if Karpenter makes no nodes for a resource, or if no requirement restricts the instances."""
    if uncountable := [resource for resource in resources if not is_countable(resource)]:
        what = f"no instance that Karpenter knows has {quoted(uncountable)}, so it makes no nodes for these pods"
        diagnostics.add("W790", pool.origin, name=pool.flavor, what=what, hint="make these nodes by other means")
    elif resources and candidates.open:
        label, value = next(iter(pool.labels.items()), ("", ""))
        what = f"Karpenter takes the cheapest instances with {quoted(resources)}"
        what += f", and labels them {label}={value}" if label else ", whichever these are"
        hint = f"restrict them: set params.INSTANCE-TYPE, or karpenter.perFlavor.{pool.flavor}.requirements"
        diagnostics.add("W790", pool.origin, name=pool.flavor, what=what, hint=hint)


def _check_reservations(pool: NodePool, diagnostics: Collector) -> None:
    """A warning if all nodes are reserved ones, and no reservation is selected."""
    types = [
        requirement["values"]
        for requirement in pool.required
        if requirement["key"] == CAPACITY and requirement["operator"] == "In"
    ]
    if ["reserved"] in types and not pool.settings.get("capacityReservationSelectorTerms"):
        what = "all its nodes are reserved, but no reservation is selected"
        diagnostics.add("W790", pool.origin, name=pool.flavor, what=what, hint="set capacityReservationSelectorTerms")


def _check_claims(pool: NodePool, users: Sequence[NodeDemand], diagnostics: Collector) -> None:
    """A warning for pods that claim devices: Karpenter makes nodes for them only where it is told to."""
    if claiming := [demand for demand in users if any(pods.claims for pods in demand.pods)]:
        names = quoted(dict.fromkeys(f"{demand.namespace}/{demand.app}" for demand in claiming))
        what = f"the pods of {names} claim devices, and Karpenter makes no nodes for such pods unless it is told to"
        hint = "make these nodes by other means, or run it with --ignore-dra-requests=false if its cloud knows devices"
        diagnostics.add("W790", pool.origin, name=pool.flavor, what=what, hint=hint)


def _apply_taints(
    node_pools: Sequence[NodePool], users: Mapping[str, Sequence[NodeDemand]], diagnostics: Collector
) -> list[NodePool]:
    """The pools with only those taints that all of their pods tolerate. Warnings for taints that only some pods
    tolerate, and for taints of RenderConfig that none does.
    """
    untolerated: dict[Path, tuple[Origin, str, list[str]]] = {}
    tolerated: set[Path] = set()
    tainted_pools = []
    for pool in node_pools:
        common_taints = []
        for i, taint in enumerate(pool.taints):
            configured = "taints" in pool.settings.values
            origin = pool.settings.at("taints").at(i) if configured else pool.origin
            intolerant = [
                demand for demand in users[pool.flavor] if not all(_is_tolerated(taint, pod) for pod in demand.pods)
            ]
            if not intolerant:
                common_taints.append(taint)
            if len(intolerant) < len(users[pool.flavor]):
                tolerated.add(origin.path)
            elif configured:
                untolerated.setdefault(origin.path, (origin, taint["key"], []))[2].append(pool.flavor)
            if 0 < len(intolerant) < len(users[pool.flavor]):
                names = quoted(dict.fromkeys(f"{demand.namespace}/{demand.app}" for demand in intolerant))
                diagnostics.add("W791", origin, taint=taint["key"], flavors=f"'{pool.flavor}'", pods=f"pods of {names}")
        tainted_pools.append(replace(pool, taints=tuple(common_taints)))
    for path, (origin, key, flavors) in untolerated.items():
        if path not in tolerated:
            diagnostics.add("W791", origin, taint=key, flavors=quoted(flavors), pods="their pods")
    return tainted_pools


def _is_tolerated(taint: Mapping[str, str], pods: PodGroup) -> bool:
    return any(
        toleration.get("effect", taint["effect"]) in ("", taint["effect"])
        and (
            (toleration.get("operator") == "Exists" and toleration.get("key", "") in ("", taint["key"]))
            or (
                toleration.get("operator", "Equal") in ("", "Equal")
                and (toleration.get("key"), toleration.get("value", "")) == (taint["key"], taint.get("value", ""))
            )
        )
        for toleration in pods.tolerations
    )


def _check_selectors(fleet: FleetDemand, node_pools: Sequence[NodePool], diagnostics: Collector) -> None:
    """A warning for pods that select a label that no node of their flavors has."""
    pools_by_flavor = {pool.flavor: pool for pool in node_pools}
    for demand in fleet.demands:
        demand_pools = [pools_by_flavor[name] for name, _ in demand.flavors]
        for pods in demand.pods if demand_pools else ():
            for label, value in pods.node_selector.items():
                if not any(_may_have_label(pool, label, value) for pool in demand_pools):
                    app = fleet.context.apps[demand.namespace, demand.app]
                    names = quoted(pool.flavor for pool in demand_pools)
                    diagnostics.add("W792", app.origin("spec"), label=f"{label}={value}", names=names)


def _may_have_label(pool: NodePool, label: str, value: str) -> bool:
    """Whether nodes of the pool may have the label with this value."""
    key = current_name(label)
    requirements = [requirement for requirement in pool.required if requirement["key"] == key]
    if not is_requirement_label(label) and not requirements:
        return pool.labels.get(label) == value
    return all(meets_requirement(requirement, {key: value}) for requirement in requirements)
