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
    """An instance type."""

    labels: Mapping[str, str]  # the node labels that the table gives
    resource: str
    holds: int  # how many of the resource it has


class InstanceChoice(Struct, frozen=True):
    """The instances that meet a pool's requirements."""

    instances: tuple[Instance, ...]
    named: tuple[str, ...]  # the instance types that the requirements name, if the table has all of them
    open: bool  # no requirement restricts the hardware
    sure: bool  # the table has all required labels


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
