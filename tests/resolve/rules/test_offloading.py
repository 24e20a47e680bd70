"""Rules about KV cache outside of accelerators that no golden of an error can show."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from renderer.diagnostics import Origin
from renderer.diagnostics.rule import NamedSource
from renderer.resolve.engine.backend_runtime import RunnerSize
from renderer.resolve.engine.kv_offloading import KVOffloading
from renderer.resolve.engine.parallelism import Parallelism
from renderer.resolve.rules.offloading import several_hosts
from renderer.resolve.workload.engine_run import EngineRun

OFFLOADING = KVOffloading("64Gi", "", (), Origin(NamedSource("a test")))


def test_a_replica_of_several_pods() -> None:
    def run(hosts: int) -> EngineRun:
        return cast(
            "EngineRun", SimpleNamespace(offloading=OFFLOADING, size=RunnerSize(parallelism=Parallelism(hosts=hosts)))
        )

    assert list(several_hosts(run(1))) == []
    assert [problem.code for problem in several_hosts(run(2))] == ["E374"]
