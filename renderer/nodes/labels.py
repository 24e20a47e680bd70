"""The node labels that Karpenter knows, and those that it reserves (version 1.14 of the AWS provider)."""

from __future__ import annotations

CAPACITY, ARCH = "karpenter.sh/capacity-type", "kubernetes.io/arch"
TYPE = "node.kubernetes.io/instance-type"
_AWS, _CORE = "karpenter.k8s.aws", "karpenter.sh"

# Labels that describe the hardware of an instance, and so restrict the instance types.
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
_PLACEMENT = frozenset(
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
# Deprecated names, which Karpenter treats as the current ones.
_CURRENT_NAMES = {
    "beta.kubernetes.io/arch": ARCH,
    "beta.kubernetes.io/instance-type": TYPE,
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
}


def current_name(key: str) -> str:
    """The current name of a label, for a deprecated one."""
    return _CURRENT_NAMES.get(key, key)


def is_requirement_label(key: str) -> bool:
    """Whether the label can be a requirement: Karpenter knows its values before it makes a node."""
    return current_name(key) in HARDWARE or current_name(key) in _PLACEMENT


def is_restricted(key: str) -> bool:
    """Whether Karpenter refuses the label: one of its own domains that is not a requirement, or the host name."""
    domain = key.rpartition("/")[0]
    karpenter_label = any(
        domain == label_domain or domain.endswith(f".{label_domain}") for label_domain in (_AWS, _CORE)
    )
    return (karpenter_label and not is_requirement_label(key)) or key == "kubernetes.io/hostname"
