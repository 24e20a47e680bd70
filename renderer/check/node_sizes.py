"""How large nodes are, by presets/instances.yaml."""

from __future__ import annotations

from functools import cache

from msgspec import Struct

from renderer.kubernetes.json_values import map_at, number_at
from renderer.preset_tables import preset_table

_MEBI = 2**20


class NodeSize(Struct, frozen=True):
    """What a node of an instance type has."""

    instance_type: str
    cpu: int  # virtual CPUs
    memory: int  # bytes


@cache
def node_sizes() -> dict[str, NodeSize]:
    """The sizes that are known, by instance type."""
    sizes = map_at(preset_table("instances"), "sizes")
    return {
        name: NodeSize(name, int(number_at(sizes, name, "cpu")), int(number_at(sizes, name, "memory")) * _MEBI)
        for name in sizes
    }


@cache
def largest_node() -> NodeSize:
    """The largest of them."""
    return max(node_sizes().values(), key=lambda size: (size.cpu, size.memory))
