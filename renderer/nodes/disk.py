"""Whether the weights of the workloads fit on the disk of a pool's nodes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from renderer.diagnostics import Collector
from renderer.nodes.demand import NodeDemand
from renderer.nodes.settings import DISK, KarpenterSettings

_MAX_DISK_SHARE = 0.9  # kubelet evicts pods when less than a tenth of the disk is free


def check_disk(karpenter: KarpenterSettings, users: Sequence[NodeDemand], diagnostics: Collector) -> None:
    """An error if the weights of one pod, or its request of ephemeral-storage, fill the disk."""
    size = str(karpenter.get("volumeSize", DISK))
    if karpenter.get("instanceStorePolicy"):
        return
    for demand in users:
        gib_by_use = {
            "the weights": demand.weights,
            "requests of ephemeral-storage": max(pod.stores for pod in demand.pods) / 2**30,
        }
        for what, gib in gib_by_use.items():
            if gib > _MAX_DISK_SHARE * int(size.removesuffix("Gi")):
                diagnostics.add(
                    "E799",
                    karpenter.at("volumeSize"),
                    what=what,
                    size=size,
                    flavor=karpenter.flavor,
                    app=f"{demand.namespace}/{demand.name}",
                    weights=math.ceil(gib),
                )
                break
