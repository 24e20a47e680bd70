"""The words that templates of a BackendRuntime may use."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from renderer.kubernetes.wellknown import PORT

# The words about KV cache outside of accelerators, for an app that keeps none there.
NO_OFFLOADING: Mapping[str, object] = {
    "KVOffloadGiB": 0,
    "KVOffloadShareGB": 0,
    "KVOffloadPolicy": "",
    "KVOffloadTiers": "",
    "KVOffloadDiskShare": 0,
}
UPSTREAM_WORDS = frozenset({"ModelPath", "ModelName", "DraftModelPath"})
"""The placeholders of a runtime without spec.engine, `{{ .ModelPath }}`."""
WORDS = frozenset(
    [
        *NO_OFFLOADING,
        "ModelPath",
        "ModelName",
        "DraftModelPath",
        "Revision",
        "DraftRevision",
        "Hub",
        "Filename",
        "Endpoint",
        "Source",
        "Format",
        "Skip",
        "Stream",
        "Accelerator",
        "Port",
        "TP",
        "PP",
        "DP",
        "EP",
        "WorldSize",
        "Hosts",
        "LocalRanks",
        "RankPorts",
        "MaxModelLen",
        "Slots",
        "DrainSleep",
        "Region",
        "Anonymous",
        "Adapters",
        "Role",
        "Task",
        "EnginePort",
    ]
)


class ConstantWords(Struct, frozen=True):
    """The words that a runtime is compiled with: few values of each occur in a run."""

    drain_sleep: int = 10  # seconds that the hook sleeps before the engine ends
    port: int = PORT  # on which the engine listens

    def words(self) -> Mapping[str, int]:
        """They by their names in templates."""
        return {"Port": self.port, "DrainSleep": self.drain_sleep}
