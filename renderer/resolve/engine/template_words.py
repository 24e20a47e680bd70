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
ONE_MODEL: Mapping[str, object] = {
    "Models": 1,
    "Loaded": 1,
    "ModelNames": (),
    "ModelFiles": (),
    "WeightFiles": (),
    "OpenModels": (),
    "Preloaded": (),
}
"""The words about several main models, for an app that has one."""
UPSTREAM_WORDS = frozenset({"ModelPath", "ModelName", "DraftModelPath"})
"""The placeholders of a runtime without spec.engine, `{{ .ModelPath }}`."""
WORDS = frozenset(
    [
        *NO_OFFLOADING,
        *ONE_MODEL,
        "ModelPath",
        "ModelName",
        "DraftModelPath",
        "ProjectorPath",
        "ChatTemplatePath",
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
        "Host",
        "HostPort",
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


ALL_ADDRESSES = "0.0.0.0"  # noqa: S104 - probes and Services ask the IP address of the pod
LISTEN_ADDRESS = ("pods", "listenAddress")  # in RenderConfig
HOST_WORDS = frozenset(["Host", "HostPort"])


class ConstantWords(Struct, frozen=True):
    """The words that a runtime is compiled with: few values of each occur in a run."""

    drain_sleep: int = 10  # seconds that the hook sleeps before the engine ends
    port: int = PORT  # on which the engine listens
    host: str = ALL_ADDRESSES  # the address on which it listens

    def words(self) -> Mapping[str, int | str]:
        """They by their names in templates."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        host_port = f"{host}:{self.port}"
        return {"Port": self.port, "Host": self.host, "HostPort": host_port, "DrainSleep": self.drain_sleep}
