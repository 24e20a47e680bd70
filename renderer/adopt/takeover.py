"""How a new workload takes the place of one that runs: under which name, and how its pods are found."""

from __future__ import annotations

from msgspec import Struct

from renderer.adopt.serving_workload import Body
from renderer.yamlio import Document


class Takeover(Struct, frozen=True, kw_only=True):
    """How a workload is taken over."""

    name: str  # of the new workload
    is_update: bool = False  # it is the object that runs, changed
    selector: Body = {}  # `spec.workload.selector`: of a Deployment that keeps its own
    labels: Body = {}  # the new values of labels by which the old pods are found
    reason: str = ""  # why its name is another, '' where it is not
    services: tuple[Document, ...] = ()  # those that lead to the old pods alone, and stay
    shared: tuple[Document, ...] = ()  # Services that lead to pods of other workloads too, and stay
    held_claims: tuple[str, ...] = ()  # that its pods mount, and one node alone can mount
    moving: tuple[Document, ...] = ()  # Services that lead to the new pods when these are ready
    controlled: tuple[Document, ...] = ()  # Services that another controller makes, and that end with what it runs
