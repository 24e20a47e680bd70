"""The accelerators of a pod."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping

from msgspec import Struct


class Accelerator(Struct, frozen=True):
    """The accelerators in a pod's limits."""

    vendor: str = "none"  # none without one
    number: int = 0
    group: bool = False  # they can serve one model together
    resource: str = ""  # in the limits, or the DeviceClass of claimed devices
    claimed: bool = False


NONE = Accelerator()


def find_row(rows: Iterable[Mapping[str, str]], resource: str) -> Mapping[str, str] | None:
    """The first row of presets/accelerators.yaml for an extended resource; None where there is none."""
    fitting = (
        row
        for row in rows
        if row.get("name") == resource or ("pattern" in row and fnmatch.fnmatchcase(resource, row["pattern"]))
    )
    return next(fitting, None)
