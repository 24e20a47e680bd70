"""The demand of all workloads on nodes: flavors, the most pods, and the requests of each pod."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from renderer import resolve
from renderer.api import App, Inputs, RenderOptions, Scope, TrafficInput
from renderer.diagnostics import Diagnostic
from renderer.kubernetes import quantity
from renderer.kubernetes.json_values import map_at, maps_at
from renderer.kubernetes.rollouts import bound_count
from renderer.plan import Container, Plan, Pod, TrafficPlan
from renderer.planning import plan_tree

_DISK = "ephemeral-storage"
# Volumes with weights that take the node's disk, and their kinds (docs/design/contract.md#names-in-the-pod).
_KEEPS = {"model-volume": "emptyDir", "model-cache": "hostPath"}


class PodGroup(Struct, frozen=True):
    """Equal pods of a workload."""

    min_pods: int  # with the fewest replicas
    max_pods: int  # with the most
    surge_pods: int  # the most at once, with those that a rolling update adds
    accelerators: Mapping[str, int]  # of one pod, by resource
    node_selector: Mapping[str, str]
    tolerations: Sequence[Mapping[str, object]]
    stores: int = 0  # bytes that a pod requests of its node's disk
    claims: bool = False  # dynamic resource allocation claims the accelerators


class NodeDemand(Struct, frozen=True):
    """The demand of a workload."""

    namespace: str
    app: str
    name: str
    flavors: Sequence[tuple[str, Mapping[str, str]]]  # name and node labels of the flavors that it may run on
    other_scheduler: bool  # another scheduler chooses among the flavors
    weights: float  # GiB that each pod loads to its node's disk, 0 if unknown
    pods: tuple[PodGroup, ...]


class FleetDemand(Struct, frozen=True):
    """The demand of the whole input, with the scope and run context that it was planned in."""

    scope: Scope
    context: resolve.RunContext
    demands: tuple[NodeDemand, ...]


def fleet_demand(options: RenderOptions) -> tuple[FleetDemand, list[Diagnostic]]:
    """The demand of the input below PATHS, and diagnostics of the input. No objects are built, so errors that only the
    checks of objects find are missing. Raises RenderError.
    """
    planned, problems = plan_tree(options, _item_demands)
    demands: list[NodeDemand] = [demand for answer in planned.answers for demand in answer]
    demands.sort(key=lambda demand: (demand.namespace, demand.app, demand.name))
    return FleetDemand(planned.scope, planned.context, tuple(demands)), problems


def _item_demands(
    context: resolve.RunContext, item: App | TrafficInput, plans: Sequence[Plan | TrafficPlan]
) -> list[NodeDemand]:
    if not isinstance(item, App):
        return []
    workloads = {plan.name: plan for plan in plans if isinstance(plan, Plan)}
    demands = []
    for place in resolve.app_placements(context, item):
        plan = workloads[place.name]
        weights = sum(model.spec.get("facts", {}).get("weightsGiB", 0) for model in place.claimed)
        loads = any(_KEEPS.get(str(volume["name"])) in volume for volume in plan.worker.volumes)
        demands.append(
            NodeDemand(
                namespace=item.namespace,
                app=item.name,
                name=plan.name,
                flavors=[(flavor.name, dict(flavor.node)) for flavor in place.flavors],
                other_scheduler=place.inftyai_scheduler,
                weights=weights if loads else 0,
                pods=pod_groups(context.inputs, plan),
            )
        )
    return demands


def pod_groups(inputs: Inputs, plan: Plan) -> tuple[PodGroup, ...]:
    """The pods of a workload: those that lead a replica, and where a replica has several, the others."""
    leaders = _pod_group(inputs, plan, 1, plan.leader or plan.worker)
    return (leaders, _pod_group(inputs, plan, plan.size - 1, plan.worker)) if plan.size > 1 else (leaders,)


def _pod_group(inputs: Inputs, plan: Plan, times: int, pod: Pod) -> PodGroup:
    """`times`: how many of these pods a replica has."""
    (fewest, most), devices = plan.replica_bounds, plan.devices
    surge = bound_count(plan.rollout.max_surge, most, up=True) if most else 0
    accelerators: dict[str, int] = {}
    if devices:
        exactly = map_at(devices.request, "exactly")
        accelerators[resolve.device_resource(inputs, str(exactly["deviceClassName"]))] = int(str(exactly["count"]))
    for container in pod.containers:
        amounts = {**map_at(container.resources, "requests"), **map_at(container.resources, "limits")}
        for name, value in amounts.items():
            if resolve.accelerates(inputs, name):
                accelerators[name] = accelerators.get(name, 0) + quantity.nanos(str(value)) // 10**9
    accelerators = {name: count for name, count in sorted(accelerators.items()) if count}
    tolerations = [*pod.tolerations, *maps_at(pod.rest, "tolerations")]  # tolerations of a podTemplate are in `rest`
    stores = max([sum(map(_disk_bytes, pod.containers)), *map(_disk_bytes, pod.init_containers)])
    selector = {key: str(value) for key, value in pod.node_selector.items()}
    tolerated = [dict(toleration) for toleration in tolerations]
    return PodGroup(
        min_pods=times * fewest,
        max_pods=times * most,
        surge_pods=times * (most + surge),
        accelerators=accelerators,
        node_selector=selector,
        tolerations=tolerated,
        stores=stores,
        claims=devices is not None,
    )


def _disk_bytes(container: Container) -> int:
    amounts = {**map_at(container.resources, "limits"), **map_at(container.resources, "requests")}
    return -(-quantity.nanos(str(amounts.get(_DISK, 0))) // 10**9)
