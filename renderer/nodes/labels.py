"""Which labels Karpenter knows of its nodes, and which it keeps for itself (version 1.14 of the AWS provider)."""

from __future__ import annotations

CAPACITY, ARCH = "karpenter.sh/capacity-type", "kubernetes.io/arch"
TYPE = "node.kubernetes.io/instance-type"
_AWS, _CORE = "karpenter.k8s.aws", "karpenter.sh"

# What a label of an instance says of its hardware, that is which instances have it.
HARDWARE = frozenset(
    {
        TYPE,
        ARCH,
        *(
            f"{_AWS}/instance-{name}"
            for name in (
                "accelerator-count",
                "accelerator-manufacturer",
                "accelerator-name",
                "capability-flex",
                "category",
                "cpu",
                "cpu-manufacturer",
                "cpu-sustained-clock-speed-mhz",
                "ebs-bandwidth",
                "encryption-in-transit-supported",
                "family",
                "generation",
                "gpu-count",
                "gpu-manufacturer",
                "gpu-memory",
                "gpu-name",
                "hypervisor",
                "local-nvme",
                "memory",
                "network-bandwidth",
                "size",
            )
        ),
    }
)
_PLACE = frozenset(
    {
        CAPACITY,
        "kubernetes.io/os",
        "node.kubernetes.io/windows-build",
        "topology.k8s.aws/zone-id",
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone",
        *(
            f"{_AWS}/{name}"
            for name in (
                "capacity-reservation-id",
                "capacity-reservation-interruptible",
                "capacity-reservation-type",
                "instance-tenancy",
                "placement-group-id",
                "placement-group-partition",
            )
        ),
    }
)
# Old names, which Karpenter reads as the new ones.
_NEWER = {
    "beta.kubernetes.io/arch": ARCH,
    "beta.kubernetes.io/instance-type": TYPE,
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
}


def newer(key: str) -> str:
    """The label by the name that Karpenter has for it."""
    return _NEWER.get(key, key)


def known(key: str) -> bool:
    """Whether Karpenter knows the label's values before there is a node, so that it can be a requirement."""
    return newer(key) in HARDWARE or newer(key) in _PLACE


def kept(key: str) -> bool:
    """Whether Karpenter lets nobody say it: a label of its own that is no property of instances, or the host's name."""
    domain = key.rpartition("/")[0]
    own = any(domain == each or domain.endswith(f".{each}") for each in (_AWS, _CORE))
    return (own and not known(key)) or key == "kubernetes.io/hostname"
