"""DisaggregatedSet: its kinds, the labels that its controller writes, and its roles, each a LeaderWorkerSet to be.

docs/design/kubernetes.md#disaggregatedset
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from renderer.kubernetes.json_values import as_map, list_at, text_at, value_at

GROUP = "disaggregatedset.x-k8s.io"
KIND = "DisaggregatedSet"
ROLE_SCALER = (
    "DisaggregatedSetRoleScaler"  # what an autoscaler targets; the controller makes one for each External role
)
SET, ROLE = f"{GROUP}/name", f"{GROUP}/role"  # labels of LeaderWorkerSets, Services and pods
SLICE = f"{GROUP}/slice"  # the same, from LeaderWorkerSet 0.10 on
REVISION = f"{GROUP}/revision"  # the same; 8 hex digits, others with every change of a pod template
APP = "app"  # a label that the controller writes too, over one of the same key
OWN_LABELS = (SET, ROLE, SLICE, REVISION, APP)


class SetRole(Struct, frozen=True):
    """A role of a DisaggregatedSet."""

    index: int
    name: str
    spec: Mapping[str, object]  # as of a LeaderWorkerSet
    metadata: Mapping[str, object]
    external: bool  # an autoscaler has a target in it
    scaler: str  # the name of that target


def set_roles(body: Mapping[str, object]) -> list[SetRole]:
    """The roles of a DisaggregatedSet, in its order."""
    name = text_at(body, "metadata", "name")
    return [
        SetRole(
            index,
            role_name := text_at(role, "name"),
            as_map(role.get("spec")),
            as_map(role.get("metadata")),
            value_at(role, "scaling", "mode") == "External",
            f"{name}-{role_name}",
        )
        for index, role in enumerate(list_at(body, "spec", "roles"))
        if isinstance(role, dict)
    ]


def slice_count(body: Mapping[str, object]) -> int:
    """How many copies of all roles run."""
    slices = value_at(body, "spec", "slices")
    return slices if isinstance(slices, int) else 1
