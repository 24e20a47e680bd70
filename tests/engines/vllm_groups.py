"""The trials of vLLM over several pods: groups that share a model, prefill and decode, adapters."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from functools import partial

from tests.engines.clients import Client
from tests.engines.groups import Group
from tests.engines.kubelet import Pod, Unstartable
from tests.engines.trial import (
    Bench,
    Result,
    all_drained,
    chatted,
    listed,
    long_chat,
    probed,
    streamed,
)
from tests.engines.vllm import INPUTS, PATIENCE, tag

CALLERS = 4
WRONG_RANK = "2"  # of two pods
LOSING = 60  # seconds until a group with a wrong rank has to have ended


def group(bench: Bench, name: str, model: str = "small") -> Iterator[Result]:
    """A group from its start to its drain, all of its pods at once."""
    workload = bench.rendered(name, f"{INPUTS}/groups.yaml", tag(bench))
    with bench.group(workload, bench.weights(workload, model)) as pods:
        yield started(pods)
        clients = [Client(partial(pod.connect, port=port)) for pod, port in listeners(pods)]
        yield Result("probes", "; ".join(filter(None, (probed(pod) for pod in pods.pods))))
        served = workload.served_name
        yield Result(
            f"{len(clients)} ports answer",
            first(
                *(listed(client, served) or chatted(client, served) or streamed(client, served) for client in clients)
            ),
        )
        if len(clients) > 1:
            yield every_rank_works(clients, served)
        body = long_chat(served, 128)
        yield all_drained(
            pods.pods, [clients[number % len(clients)] for number in range(max(CALLERS, len(clients)))], workload, body
        )


def started(pods: Group) -> Result:
    """How long the group takes until all of its pods are ready."""
    begun = time.monotonic()
    pods.wait_ready(PATIENCE)
    return Result("start", "", f"{len(pods.pods)} pods, {time.monotonic() - begun:.0f} s")


def listeners(pods: Group) -> list[tuple[Pod, int]]:
    """The pods whose engine answers requests, and its ports: all that are named after HTTP."""
    return [
        (pod, int(port["containerPort"]))
        for pod in pods.pods
        for port in pod.main.get("ports", ())
        if re.fullmatch(r"http(-\d+)?", port.get("name", ""))
    ]


def first(*faults: str) -> str:
    """The first that is wrong."""
    return next(filter(None, faults), "")


def every_rank_works(clients: Sequence[Client], served: str) -> Result:
    """Whether each of the engines behind these ports has written tokens."""
    for client in clients:
        for _ in range(8):
            client.send("/v1/completions", {"model": served, "prompt": "Hello", "max_tokens": 4})
    tokens: dict[str, float] = {}
    for client in clients:
        for engine, count in re.findall(
            r'^vllm:generation_tokens_total\{engine="(\d+)".*\} (\S+)$', client.send("/metrics").text, re.MULTILINE
        ):
            tokens[engine] = max(float(count), tokens.get(engine, 0))
    idle = [engine for engine, count in tokens.items() if not count]
    shown = ", ".join(f"rank {engine}: {count:g} tokens" for engine, count in sorted(tokens.items()))
    return Result("every rank works", f"idle: {idle}" if idle else "" if len(tokens) > 1 else shown, shown)


def wrong_rank(bench: Bench) -> Iterator[Result]:
    """A worker with the rank of nobody."""
    workload = bench.rendered("tensor", f"{INPUTS}/groups.yaml", tag(bench))
    pods = bench.group(workload, bench.weights(workload))
    worker = pods.pods[1]
    worker.set_variable("LWS_WORKER_INDEX", WRONG_RANK)
    with pods:
        try:
            pods.wait_ready(LOSING)
        except Unstartable:
            yield Result("a wrong rank is no group", "", worker.tail(1)[-160:])
        else:
            yield Result("a wrong rank is no group", "all pods are ready")


TRIALS = {
    "tensor": partial(group, name="tensor"),
    "pipeline": partial(group, name="pipeline"),
    "hybrid": partial(group, name="hybrid", model="experts"),
    "rank-ports": partial(group, name="rank-ports", model="experts"),
    "wrong-rank": wrong_rank,
}
