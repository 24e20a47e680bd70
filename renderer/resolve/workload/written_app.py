"""A Playground or Service as it is written, before its models and its engine are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from renderer.api import App
from renderer.diagnostics import Origin
from renderer.kubernetes import disaggregated_sets
from renderer.resolve.context import RunContext

if TYPE_CHECKING:
    from renderer.input_types import WorkloadTemplateSpec


class WrittenApp(Struct, frozen=True):
    """An app as it is written."""

    context: RunContext
    app: App


class WrittenPlayground(WrittenApp, frozen=True):
    """A Playground, one of its variants or one of its roles."""


class WrittenPair(WrittenApp, frozen=True):
    """A Playground whose prefill and decode are two workloads, with what it says for both."""

    @property
    def in_one_set(self) -> bool:
        """Whether a DisaggregatedSet runs both."""
        return self.app.spec["disaggregation"].get("kind") == disaggregated_sets.KIND


class WrittenService(WrittenApp, frozen=True):
    """A Service, or one of its variants."""

    @property
    def template(self) -> WorkloadTemplateSpec:
        """The hand-written workload."""
        return self.app.spec["workloadTemplate"]

    @property
    def origin(self) -> Origin:
        """Where that stands."""
        return self.app.origin("spec", "workloadTemplate")

    @property
    def size(self) -> int:
        """The pods of a replica."""
        return self.template.get("size", 1)

    @property
    def count(self) -> int:
        """The replicas."""
        return self.app.spec.get("replicas", 1)
