"""The accelerators of a pod."""

from __future__ import annotations

from msgspec import Struct


class Accelerator(Struct, frozen=True):
    """The accelerators in a pod's limits."""

    vendor: str = "none"  # none without one
    number: int = 0
    group: bool = False  # they can serve one model together
    resource: str = ""  # in the limits, or the DeviceClass of claimed devices
    claimed: bool = False


NONE = Accelerator()
