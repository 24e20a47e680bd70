"""The two workloads of a Playground whose prefill and decode share the work."""

from __future__ import annotations

from msgspec import Struct

from renderer.api import App
from renderer.plan import Plan
from renderer.resolve.workload.written_app import WrittenPair


class RolePair(Struct, frozen=True):
    """The plans of both roles."""

    written: WrittenPair
    prefill: Plan
    decode: Plan
    reported: frozenset[str]  # the codes of what was said of the roles

    @property
    def app(self) -> App:
        """The Playground."""
        return self.written.app

    @property
    def is_sound(self) -> bool:
        """Whether no role has an error; else they may differ by what is wrong."""
        return not any(code.startswith("E") for code in self.reported)
