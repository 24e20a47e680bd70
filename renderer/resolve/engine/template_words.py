"""The words that templates of a BackendRuntime may use."""

from __future__ import annotations

from collections.abc import Mapping

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
        "EnginePort",
    ]
)


def constant_words(drain_sleep: int, port: int) -> Mapping[str, int]:
    """The words that are the same for all apps of a run whose hooks sleep so long, and whose engines listen there."""
    return {"Port": port, "DrainSleep": drain_sleep}
