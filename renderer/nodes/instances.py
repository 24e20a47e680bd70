"""The instance types that a node pool may use, and their accelerators, by presets/instances.yaml."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from renderer import load
from renderer.nodes.labels import ARCH, HARDWARE, TYPE

if TYPE_CHECKING:
    from renderer.input_types import RequirementSpec

_INSTANCE = "karpenter.k8s.aws/instance-"
_FAMILY = re.compile(r"([a-z]+)([0-9]+)")


class Instance(Struct, frozen=True):
    """An instance type. `labels`: the node labels that the table gives; `holds`: its number of the resource."""

    labels: Mapping[str, str]
    resource: str
    holds: int


class InstanceChoice(Struct, frozen=True):
    """The instances that meet a pool's requirements. `named`: the instance types that the requirements name, if the
    table has all of them; `open`: no requirement restricts the hardware; `sure`: the table has all required labels.
    """

    instances: tuple[Instance, ...]
    named: tuple[str, ...]
    open: bool
    sure: bool


@cache
def instances() -> tuple[Instance, ...]:
    """All instance types of the table."""
    return tuple(_parse_table(load.preset("instances").value["spec"]["families"]))


@cache
def is_countable(resource: str) -> bool:
    """Whether Karpenter knows how much of the resource an instance has; for other resources it makes no nodes."""
    return resource in load.preset("instances").value["spec"]["resources"]


def _parse_table(families: Iterable[Mapping[str, Any]]) -> Iterable[Instance]:
    for row in families:
        match = _FAMILY.match(row["family"])
        category, generation = match.groups() if match else ("", "")
        for size, count in row["counts"].items():
            labels = {
                TYPE: f"{row['family']}.{size}",
                ARCH: row["arch"],
                f"{_INSTANCE}family": row["family"],
                f"{_INSTANCE}size": size,
                f"{_INSTANCE}category": category,
                f"{_INSTANCE}generation": generation,
                f"{_INSTANCE}gpu-manufacturer": row["maker"],
                f"{_INSTANCE}gpu-name": row["name"],
                f"{_INSTANCE}gpu-memory": str(row["memory"]),
                f"{_INSTANCE}gpu-count": str(count),
            }
            yield Instance(labels, row["resource"], count)


def choose_instances(requirements: Sequence[RequirementSpec]) -> InstanceChoice:
    """The instances that meet all requirements."""
    hardware = [requirement for requirement in requirements if requirement["key"] in HARDWARE]
    matching = tuple(
        instance
        for instance in instances()
        if all(meets_requirement(requirement, instance.labels) for requirement in hardware)
    )
    types = [
        set(requirement["values"])
        for requirement in hardware
        if requirement["key"] == TYPE and requirement["operator"] == "In"
    ]
    sure = all(
        requirement["key"] in _values()
        and (requirement["operator"] != "In" or set(requirement["values"]) <= _values()[requirement["key"]])
        for requirement in hardware
    )
    named = tuple(sorted(set.intersection(*types))) if types and sure else ()
    return InstanceChoice(matching, named, all(requirement["key"] == ARCH for requirement in hardware), sure)


@cache
def _values() -> Mapping[str, set[str]]:
    """All values of each label in the table."""
    values: dict[str, set[str]] = {}
    for instance in instances():
        for key, value in instance.labels.items():
            values.setdefault(key, set()).add(value)
    return values


_SIGNS: Mapping[str, Callable[[int, int], bool]] = {
    "Gt": int.__gt__,
    "Lt": int.__lt__,
    "Gte": int.__ge__,
    "Lte": int.__le__,
}


def meets_requirement(requirement: RequirementSpec, labels: Mapping[str, str]) -> bool:
    """Whether an instance with these labels meets the requirement."""
    value, operator = labels.get(requirement["key"]), requirement["operator"]
    values = requirement.get("values") or ()
    if operator in ("In", "NotIn"):
        return (value in values) is (operator == "In")
    if operator in ("Exists", "DoesNotExist"):
        return (value is not None) is (operator == "Exists")
    numbers = [number for number in (value, *values) if number and number.isdecimal()]
    return len(numbers) == 2 and _SIGNS[operator](int(numbers[0]), int(numbers[1]))


def accelerators_needed(pods: Mapping[int, int], counts: Iterable[int]) -> int | None:
    """The accelerators of nodes that hold all pods; None if a pod requests more than any node has.

    `pods`: number of pods by accelerators of each; `counts`: accelerators of each possible instance. Karpenter makes no
    node that exceeds the rest of a limit, and may choose any of the instances, so the result is enough for each choice.
    """
    kinds = sorted(set(counts))
    totals = [_accelerators_by_kind(pods, kinds[i:]) for i in range(len(kinds))]
    return max(totals) if totals and max(pods, default=0) <= kinds[-1] else None


def _accelerators_by_kind(pods: Mapping[int, int], kinds: Sequence[int]) -> int:
    """The accelerators of nodes for the pods, each pod on the smallest node size that can hold it."""
    pods_by_size: dict[int, dict[int, int]] = {}
    for request, number in pods.items():
        if kind := next((size for size in kinds if size >= request), 0):
            pods_by_size.setdefault(kind, {})[request] = number
    return sum(kind * _nodes(kind, size_pods) for kind, size_pods in pods_by_size.items())


def _nodes(size: int, pods: Mapping[int, int]) -> int:
    """The number of nodes of that size for the pods, with the largest pods placed first."""
    free: dict[int, int] = {}  # nodes by what is left on them
    nodes = 0
    for request in sorted(pods, reverse=True):
        left = pods[request]
        for room in sorted(free, reverse=True):
            while left and free[room] and room >= request:
                per_node = room // request  # pods that one such node takes
                nodes_filled = min(free[room], left // per_node)
                if nodes_filled:
                    free[room] -= nodes_filled
                    free[room - per_node * request] = free.get(room - per_node * request, 0) + nodes_filled
                    left -= nodes_filled * per_node
                else:
                    free[room] -= 1
                    free[room - left * request] = free.get(room - left * request, 0) + 1
                    left = 0
        per_node = size // request
        full, rest = divmod(left, per_node)
        for number, used in ((full, per_node), (1 if rest else 0, rest)):
            if number:
                nodes += number
                free[size - used * request] = free.get(size - used * request, 0) + number
    return nodes
