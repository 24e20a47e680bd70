"""How large nodes are, by presets/instances.yaml."""

from __future__ import annotations

import os
from functools import cache

from msgspec import Struct

from renderer import yamlio
from renderer.kubernetes.json_values import map_at, number_at
from renderer.source.paths import PRESETS

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
_MEBI = 2**20


class NodeSize(Struct, frozen=True):
    """What a node of an instance type has."""

    instance_type: str
    cpu: int  # virtual CPUs
    memory: int  # bytes


@cache
def node_sizes() -> dict[str, NodeSize]:
    """The sizes that are known, by instance type."""
    with open(os.path.join(PRESETS, "instances.yaml"), "rb") as file:
        documents, _ = yamlio.parse("presets/instances.yaml", file.read())
    sizes = map_at(documents[0].value, "spec", "sizes")
    return {
        name: NodeSize(name, int(number_at(sizes, name, "cpu")), int(number_at(sizes, name, "memory")) * _MEBI)
        for name in sizes
    }


@cache
def largest_node() -> NodeSize:
    """The largest of them."""
    return max(node_sizes().values(), key=lambda size: (size.cpu, size.memory))
