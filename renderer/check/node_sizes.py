"""How large nodes are, by presets/instances.yaml."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from msgspec import Struct

from renderer.kubernetes.json_values import map_at, maps_at, number_at, text_at
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
