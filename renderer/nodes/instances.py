"""How many accelerators the instances have that a node pool may take, by presets/instances.yaml."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from renderer import load
from renderer.nodes.labels import ARCH, HARDWARE, TYPE
from renderer.records import NamedTuple

Requirement = Mapping[str, Any]
_INSTANCE = "karpenter.k8s.aws/instance-"
_FAMILY = re.compile(r"([a-z]+)([0-9]+)")


class Instance(NamedTuple):
    """A type. `labels`: those that the table knows of it; `holds`: how many of the resource it has."""

    labels: Mapping[str, str]
    resource: str
    holds: int


class Choice(NamedTuple):
    """The instances that meet a pool's requirements. `named`: the types, where it names them and the table has all of
    them; `open`: nothing says what instances these are; `sure`: the table knows everything that is asked of them.
    """

    instances: tuple[Instance, ...]
    named: tuple[str, ...]
    open: bool
    sure: bool


@cache
def instances() -> tuple[Instance, ...]:
    """The whole table."""
    return tuple(_table(load.preset("instances").value["spec"]["families"]))


@cache
def countable(resource: str) -> bool:
    """Whether Karpenter knows how many an instance has of it; for others it makes no node."""
    return resource in load.preset("instances").value["spec"]["resources"]


def _table(families: Iterable[Mapping[str, Any]]) -> Iterable[Instance]:
    for row in families:
        found = _FAMILY.match(row["family"])
        category, generation = found.groups() if found else ("", "")
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


def choice(requirements: Sequence[Requirement]) -> Choice:
    """What the requirements leave."""
    about = [each for each in requirements if each["key"] in HARDWARE]
    left = tuple(each for each in instances() if all(meets(one, each.labels) for one in about))
    types = [set(each["values"]) for each in about if each["key"] == TYPE and each["operator"] == "In"]
    sure = all(
        each["key"] in _values() and (each["operator"] != "In" or set(each["values"]) <= _values()[each["key"]])
        for each in about
    )
    named = tuple(sorted(set.intersection(*types))) if types and sure else ()
    return Choice(left, named, all(each["key"] == ARCH for each in about), sure)


@cache
def _values() -> Mapping[str, set[str]]:
    """What the table has of each label."""
    made: dict[str, set[str]] = {}
    for each in instances():
        for key, value in each.labels.items():
            made.setdefault(key, set()).add(value)
    return made


_SIGNS: Mapping[str, Callable[[int, int], bool]] = {
    "Gt": int.__gt__,
    "Lt": int.__lt__,
    "Gte": int.__ge__,
    "Lte": int.__le__,
}


def meets(requirement: Requirement, labels: Mapping[str, str]) -> bool:
    """Whether an instance with these labels meets it."""
    value, operator = labels.get(requirement["key"]), requirement["operator"]
    values = requirement.get("values") or ()
    if operator in ("In", "NotIn"):
        return (value in values) is (operator == "In")
    if operator in ("Exists", "DoesNotExist"):
        return (value is not None) is (operator == "Exists")
    numbers = [each for each in (value, *values) if each and each.isdecimal()]
    return len(numbers) == 2 and _SIGNS[operator](int(numbers[0]), int(numbers[1]))


def whole(pods: Mapping[int, int], counts: Iterable[int]) -> int | None:
    """How many accelerators the nodes have that hold all pods (how many pods by how many each asks for); None when one
    pod asks for more than any node has.

    Karpenter makes no node that is larger than what is left of a limit, and which of several instances it gets is
    nobody's guess: so it is enough for each of them.
    """
    kinds = sorted(set(counts))
    found = [_held(pods, kinds[i:]) for i in range(len(kinds))]
    return max(found) if found and max(pods, default=0) <= kinds[-1] else None


def _held(pods: Mapping[int, int], kinds: Sequence[int]) -> int:
    """The same with nodes of the smallest kind that holds a pod, as far as there is one."""
    placed: dict[int, dict[int, int]] = {}
    for asked, number in pods.items():
        if kind := next((each for each in kinds if each >= asked), 0):
            placed.setdefault(kind, {})[asked] = number
    return sum(kind * _nodes(kind, held) for kind, held in placed.items())


def _nodes(size: int, pods: Mapping[int, int]) -> int:
    """How many nodes of that size hold the pods, the largest placed first."""
    free: dict[int, int] = {}  # nodes by what is left on them
    made = 0
    for asked in sorted(pods, reverse=True):
        left = pods[asked]
        for room in sorted(free, reverse=True):
            while left and free[room] and room >= asked:
                each = room // asked  # pods that one such node takes
                filled = min(free[room], left // each)
                if filled:
                    free[room] -= filled
                    free[room - each * asked] = free.get(room - each * asked, 0) + filled
                    left -= filled * each
                else:
                    free[room] -= 1
                    free[room - left * asked] = free.get(room - left * asked, 0) + 1
                    left = 0
        each = size // asked
        full, rest = divmod(left, each)
        for number, held in ((full, each), (1 if rest else 0, rest)):
            if number:
                made += number
                free[size - held * asked] = free.get(size - held * asked, 0) + number
    return made
