"""The trials of SGLang: no engine, but a program in its place that meets as its ranks do (rendezvous.py).

There is no build of SGLang for CPUs in the package index. What is asked is what we render for several hosts.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.engines import rendezvous
from tests.engines.clients import Client
from tests.engines.installation import preset_version
from tests.engines.kubelet import Image, Unstartable
from tests.engines.trial import Bench, Result, Trial, all_drained, listed, long_chat, probed, streamed

INPUT = "tests/engines/inputs/sglang/tensor.yaml"
PROGRAM = "/usr/local/bin/sglang"
PATIENCE = 60
BUSY = (4.0, 4.0)  # seconds until the leader hangs, and in which it does: longer than a hook waits for an answer
LOSING = 20  # seconds in which a group without one of its ranks must not become ready


def versions() -> Sequence[str]:
    """The preset's."""
    return [preset_version("sglang")]


def trials(version: str) -> Mapping[str, Trial]:
    """The trials of a version."""
    return TRIALS


def bench(tools: Path, folder: Path, version: str) -> Bench:
    """The program in place of the engine; models are not read."""
    program = folder / "sglang"
    program.write_text(f"#!{sys.executable}\n{Path(rendezvous.__file__).read_text('utf-8')}", "utf-8")
    program.chmod(0o755)
    model = folder / "small"
    model.mkdir()
    return Bench(Image({PROGRAM: program}), {"small": model}, folder, version)


def tensor(bench: Bench) -> Iterator[Result]:
    """A group from its start to its end under load, all of its pods at once."""
    workload = bench.rendered("tensor", INPUT, "")
    with bench.group(workload, bench.weights(workload)) as group:
        begun = time.monotonic()
        group.wait_ready(PATIENCE)
        yield Result("ranks meet", "", f"{len(group.pods)} pods, {time.monotonic() - begun:.0f} s")
        client = Client(group.leader.connect)
        yield Result("probes", probed(group.leader))
        yield Result("served name", listed(client, workload.served_name))
        yield Result("stream", streamed(client, workload.served_name))
        yield all_drained(group.pods, [client] * 4, workload, long_chat(workload.served_name, 200))


def busy(bench: Bench) -> Iterator[Result]:
    """A leader that answers nobody for some seconds of its drain: its workers go on waiting."""
    workload = bench.rendered("tensor", INPUT, "")
    with bench.group(workload, bench.weights(workload)) as group:
        group.wait_ready(PATIENCE)
        for delay, work in ((BUSY[0], group.leader.suspend), (sum(BUSY), group.leader.resume)):
            alarm = threading.Timer(delay, work)
            alarm.daemon = True
            alarm.start()
        clients = [Client(group.leader.connect)] * 4
        end = all_drained(group.pods, clients, workload, long_chat(workload.served_name, 200))
        yield end._replace(question="drain of a leader that is busy")


def wrong_rank(bench: Bench) -> Iterator[Result]:
    """A worker with the leader's rank, and one with the rank of nobody."""
    workload = bench.rendered("tensor", INPUT, "")
    for rank in ("0", "2"):
        group = bench.group(workload, bench.weights(workload))
        group.pods[1].set_variable("LWS_WORKER_INDEX", rank)
        with group:
            try:
                group.wait_ready(LOSING)
            except Unstartable as error:
                yield Result(f"rank {rank} is no worker", "", str(error)[-60:])
            else:
                yield Result(f"rank {rank} is no worker", "all pods are ready")


TRIALS: Mapping[str, Trial] = {"tensor": tensor, "busy": busy, "wrong-rank": wrong_rank}
