"""How large nodes are, by presets/instances.yaml."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache

from msgspec import Struct

from renderer.engines.accelerator import find_row
from renderer.kubernetes.json_values import map_at, maps_at, number_at, text_at
from renderer.kubernetes.pod_amounts import BILLION
from renderer.kubernetes.quantity import nanos
from renderer.preset_tables import preset_table

_MEBI = 2**20


class NodeSize(Struct, frozen=True):
    """What a node of an instance type has, or the largest one with a label."""

    instance_type: str  # '' where a label tells it
    cpu: int  # virtual CPUs, 0 where nobody knows
    memory: int  # bytes
    accelerators: Mapping[str, int] = {}  # by resource, as far as that is known
    label: str = ""  # `a node with KEY: VALUE`

    def amount(self, resource: str) -> int | None:
        """How much it has of a resource; None where that is not known."""
        return {"cpu": self.cpu, "memory": self.memory}.get(resource) or self.accelerators.get(resource)


@cache
def node_sizes() -> dict[str, NodeSize]:
    """The sizes that are known, by instance type."""
    table = preset_table("instances")
    sizes, accelerators = map_at(table, "sizes"), _accelerators(maps_at(table, "families"))
    return {
        name: NodeSize(
            name,
            int(number_at(sizes, name, "cpu")),
            int(number_at(sizes, name, "memory")) * _MEBI,
            accelerators.get(name, {}),
        )
        for name in sizes
    }


def _accelerators(families: Iterable[Mapping[str, object]]) -> dict[str, dict[str, int]]:
    """How many accelerators instances have, by instance type and resource. Those of which nobody tells have 0."""
    return {
        f"{text_at(row, 'family')}.{size}": {text_at(row, "resource"): int(number_at(row, "counts", size))}
        for row in families
        for size, count in map_at(row, "counts").items()
        if count
    }


@cache
def largest_node() -> NodeSize:
    """The largest of them."""
    return max(node_sizes().values(), key=lambda size: (size.cpu, size.memory))


@cache
def largest_with_accelerators() -> NodeSize:
    """The largest server with accelerators."""
    size = map_at(preset_table("instances"), "largestWithAccelerators")
    return NodeSize("", int(number_at(size, "cpu")), int(number_at(size, "memory")) * _MEBI)


class AboveAnyNode(Struct, frozen=True):
    """An amount of CPUs or memory that no node has."""

    side: str  # requests or limits
    name: str
    value: object
    most: int  # that a node has
    nodes: str  # which, in words


def amounts_above_any_node(sides: Mapping[str, object]) -> Iterator[AboveAnyNode]:
    """What a container requests, or limits where it requests nothing, above what any node has; where it has
    accelerators, above what any server with some has.
    """
    for name in ("cpu", "memory"):
        side = "requests" if name in map_at(sides, "requests") else "limits"
        value = map_at(sides, side).get(name)
        if value is None or not is_above(value, getattr(largest_with_accelerators(), name)):
            continue
        node, nodes = largest_node(), "the largest node that we know"
        if any(vendor_of_resource(resource) for resource in map_at(sides, "limits") if "/" in resource):
            node, nodes = largest_with_accelerators(), "the largest server with accelerators"
        if is_above(value, most := getattr(node, name)):
            yield AboveAnyNode(side, name, value, most, nodes)


@lru_cache(maxsize=1024)
def is_above(value: object, most: int) -> bool:
    """Whether a quantity is above a number."""
    try:
        return nanos(value) > most * BILLION
    except ValueError:
        return False  # which is told as such


@lru_cache(maxsize=1024)
def vendor_of_resource(name: str) -> str:
    """The vendor of the accelerators that an extended resource counts; '' where it counts none."""
    row = find_row(preset_table("accelerators")["resources"], name)
    return str(row["vendor"]) if row and row["count"] != "none" else ""
