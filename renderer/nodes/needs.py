"""What the workloads of a fleet need of nodes: which flavors, how many pods at most, and what each asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from renderer import quantity, resolve
from renderer.api import App, Inputs, Options, Scope, Traffic
from renderer.plan import Container, Plan, Pod, Way
from renderer.planned import planned
from renderer.problems import Problem
from renderer.records import NamedTuple

_DISK = "ephemeral-storage"
_WEIGHTS = "model-volume"  # an emptyDir of that name holds them (contract, section 3)


class Pods(NamedTuple):
    """Pods that are alike: how many there may be, what each asks for of accelerators, the node labels that it selects,
    which taints it tolerates, and the bytes that it asks for of its node's disk.
    """

    most: int
    asks: Mapping[str, int]
    selects: Mapping[str, str]
    tolerates: Sequence[Mapping[str, Any]]
    stores: int = 0


class Need(NamedTuple):
    """A workload. `flavors`: name and node labels of those on whose nodes it may run; `handed`: another scheduler
    chooses among them; `weights`: GiB that each pod loads to its node's disk, 0 when nobody knows.
    """

    namespace: str
    app: str
    name: str
    flavors: Sequence[tuple[str, Mapping[str, str]]]
    handed: bool
    weights: float
    pods: tuple[Pods, ...]


class Fleet(NamedTuple):
    """Everything that was read of it."""

    scope: Scope
    memo: resolve.Memo
    needs: tuple[Need, ...]


def fleet(options: Options) -> tuple[Fleet, list[Problem]]:
    """What the input below PATHS needs, and what is wrong with the input. Nothing is built of it, so what only shows in
    rendered objects is not found. Raises RenderError.
    """
    done, problems = planned(options, _asked)
    needs = [_need(*each) for answer in done.answers for each in answer]
    return Fleet(done.scope, done.memo, tuple(sorted(needs, key=lambda each: each[:3]))), problems


def _need(pods: Sequence[Any], *said: Any) -> Need:
    return Need._make([*said, tuple([Pods(*each) for each in pods])])


def _asked(memo: resolve.Memo, item: App | Traffic, plans: Sequence[Plan | Way]) -> list[Any]:
    """The needs of an item, as plain values."""
    return list(_needs(memo, item, plans)) if isinstance(item, App) else []


def _needs(memo: resolve.Memo, app: App, plans: Sequence[Plan | Way]) -> Iterator[Any]:
    workloads = {each.name: each for each in plans if isinstance(each, Plan)}
    for place in resolve.placed(memo, app):
        plan = workloads[place.name]
        flavors = [(each.name, dict(each.node)) for each in place.flavors]
        weights = memo.inputs.models[plan.model].spec.get("facts", {}).get("weightsGiB", 0)
        loads = any(each["name"] == _WEIGHTS and "emptyDir" in each for each in plan.worker.volumes)
        groups, leader = _groups(plan), plan.leader or plan.worker
        asked = [_pods(memo.inputs, groups, leader)]
        if plan.size > 1:
            asked.append(_pods(memo.inputs, (plan.size - 1) * groups, plan.worker))
        yield asked, app.namespace, app.name, plan.name, flavors, place.handed, weights if loads else 0


def _groups(plan: Plan) -> int:
    """How many groups there may be at once, those that an update adds included."""
    most = plan.scaler.max_replicas if plan.scaler else plan.replicas or 0
    surge = plan.rollout.max_surge
    more = -(-most * int(surge.removesuffix("%")) // 100) if isinstance(surge, str) else surge
    return most + (more if most else 0)


def _pods(inputs: Inputs, most: int, pod: Pod) -> tuple[Any, ...]:
    asks: dict[str, int] = {}
    for container in pod.containers:
        said = container.resources
        for name, value in {**(said.get("requests") or {}), **(said.get("limits") or {})}.items():
            if resolve.accelerates(inputs, name):
                asks[name] = asks.get(name, 0) + quantity.nanos(value) // 10**9
    asks = {name: count for name, count in sorted(asks.items()) if count}
    tolerations = [*pod.tolerations, *(pod.rest.get("tolerations") or ())]  # hand-written ones stand in the rest
    stores = max([sum(map(_stores, pod.containers)), *map(_stores, pod.init_containers)])
    return most, asks, dict(pod.node_selector), [dict(each) for each in tolerations], stores


def _stores(container: Container) -> int:
    said = {**(container.resources.get("limits") or {}), **(container.resources.get("requests") or {})}
    return -(-quantity.nanos(said.get(_DISK, 0)) // 10**9)
