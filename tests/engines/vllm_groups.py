"""The trials of vLLM over several pods: groups that share a model, prefill and decode, adapters."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from tests.engines.clients import Client, Completion, Reply, series
from tests.engines.groups import Group
from tests.engines.kubelet import Pod, Unstartable
from tests.engines.rendering import Workload
from tests.engines.trial import (
    CHAT,
    COMPLETIONS,
    REQUESTS,
    Bench,
    Callers,
    Result,
    Trial,
    all_drained,
    chat,
    chatted,
    faults,
    listed,
    long_chat,
    probed,
    streamed,
    unexpected,
)
from tests.engines.vllm import ADAPTERS, INPUTS, different_texts, tag

PATIENCE = 1800  # seconds until all pods are ready, as many as their startup probes give: they share the cores here
CALLERS = 4
SAMPLE, MOST = 32, 2048  # tokens of a stream
LASTING = 4  # seconds that a stream takes which is alone
WRONG_RANK = "2"  # of two pods
# Fields of vLLM's connector: keep the cache of this prompt for somebody else.
TO_HAND_OVER = {
    "do_remote_decode": True,
    "do_remote_prefill": False,
    **dict.fromkeys(("remote_engine_id", "remote_block_ids", "remote_host", "remote_port")),
}
RANKS = 4  # of the groups with experts
WRITTEN = r'^vllm:generation_tokens_total\{.*engine="(\d+)".*\} (\S+)$'
ROLES, SIDECAR = "prefill and decode", "llm-d's sidecar"  # what questions are about
CHOSEN = "x-prefiller-host-port"  # the header of the sidecar
SOURCES = r'^vllm:prompt_tokens_by_source_total\{.*source="(\w+)".*\} (\S+)$'


def group(bench: Bench, name: str, model: str = "small") -> Iterator[Result]:
    """A group from its start to its end under load, all of its pods at once."""
    workload = bench.rendered(name, f"{INPUTS}/groups.yaml", tag(bench))
    served = workload.served_name
    with bench.group(workload, bench.weights(workload, model)) as pods:
        yield started(name, pods)
        clients = [Client(partial(pod.connect, port=port)) for pod, port in listeners(pods)]
        wrong = [probed(pod) for pod in pods.pods]
        for client in clients:
            wrong.append(listed(client, served) or chatted(client, served) or streamed(client, served))
        yield Result(f"{name}: each port answers", "; ".join(filter(None, wrong)), f"{len(clients)} ports")
        if len(clients) > 1:
            yield Result(f"{name}: every rank works", *ranks(clients, served))
        callers = [clients[number % len(clients)] for number in range(max(CALLERS, len(clients)))]
        end = all_drained(pods.pods, callers, workload, lasting(clients[0], served))
        yield end._replace(question=f"{name}: end under load")


def lasting(client: Client, served: str) -> Mapping[str, Any]:
    """The body of a stream that takes some seconds, so that some last longer than a hook sleeps."""
    begun = time.monotonic()
    client.stream(CHAT, long_chat(served, SAMPLE))
    speed = SAMPLE / (time.monotonic() - begun)
    return long_chat(served, min(MOST, max(SAMPLE, round(speed * LASTING))))


def started(name: str, pods: Group) -> Result:
    """How long the group takes until all of its pods are ready."""
    begun = time.monotonic()
    pods.wait_ready(PATIENCE)
    return Result(f"{name}: start", "", f"{len(pods.pods)} pods, {time.monotonic() - begun:.0f} s")


def listeners(pods: Group) -> list[tuple[Pod, int]]:
    """The pods whose engine answers requests, and its ports: all that are named after HTTP."""
    return [
        (pod, int(port["containerPort"]))
        for pod in pods.pods
        for port in pod.main.get("ports", ())
        if re.fullmatch(r"http(-\d+)?", port.get("name", ""))
    ]


def ranks(clients: Sequence[Client], served: str) -> tuple[str, str]:
    """What is wrong with the ranks behind these ports, each of which has to write tokens; and what each wrote."""
    tokens: dict[str, float] = {}
    for client in clients:
        for _ in range(REQUESTS):
            client.send(COMPLETIONS, {"model": served, "prompt": "Hello", "max_tokens": 4})
    for client in clients:
        for rank, count in re.findall(WRITTEN, client.send("/metrics").text, re.MULTILINE):
            tokens[rank] = max(float(count), tokens.get(rank, 0))
    idle = [rank for rank, count in tokens.items() if not count]
    shown = ", ".join(f"rank {rank}: {count:g} tokens" for rank, count in sorted(tokens.items()))
    if idle:
        return f"idle: {', '.join(idle)}", shown
    return ("" if len(tokens) == RANKS else f"not {RANKS} ranks: {shown}"), shown


def wrong_rank(bench: Bench) -> Iterator[Result]:
    """A worker with the rank of nobody: it has to end by itself, with its reason."""
    workload = bench.rendered("tensor", f"{INPUTS}/groups.yaml", tag(bench))
    pods = bench.group(workload, bench.weights(workload))
    worker = pods.pods[1]
    worker.set_variable("LWS_WORKER_INDEX", WRONG_RANK)
    with pods:
        fault = "all pods are ready"
        try:
            pods.wait_ready(PATIENCE)
        except Unstartable as error:
            fault = "" if worker.over.is_set() and worker.container.process.returncode else str(error)
        yield Result("a worker of a wrong rank ends", fault, worker.tail(1)[-160:])


class Sidecar(Client):
    """A decode pod whose prompts a prefill pod reads first: the two requests that the picker's sidecar makes of one."""

    def __init__(self, prefill: Pod, decode: Pod) -> None:
        super().__init__(decode.connect)
        self.prefill = Client(prefill.connect)

    def read(self, path: str, body: Mapping[str, Any]) -> Reply:
        """The answer of the prefill pod, which keeps the cache until somebody fetches it."""
        return self.prefill.send(path, {**body, "max_tokens": 1, "kv_transfer_params": TO_HAND_OVER})

    def send(self, path: str, body: Any = None) -> Reply:
        """The answer of the decode pod, or the prefill pod's where that failed."""
        if body is None:
            return super().send(path)
        read = self.read(path, body)
        return super().send(path, fetching(body, read)) if read.status == 200 else read

    def stream(self, path: str, body: Mapping[str, Any]) -> Completion:
        """What became of both requests."""
        read = self.read(path, body)
        if fault := unexpected(read):
            return Completion(f"prefill: {fault}")
        return super().stream(path, fetching(body, read))


def fetching(body: Mapping[str, Any], read: Reply) -> dict[str, Any]:
    """The body for the decode pod, which says where the cache of the prompt lies."""
    return {**body, "kv_transfer_params": read.body["kv_transfer_params"]}


def handover(bench: Bench) -> Iterator[Result]:
    """Prompts read in one pod, answers written in another, and the end of both under load: the first's first."""
    names = ("handover-prefill", "handover-decode")
    workloads = [bench.rendered(name, f"{INPUTS}/handover.yaml", tag(bench)) for name in names]
    prefill, decode = (bench.pod(workload, bench.weights(workload)) for workload in workloads)
    with prefill, decode:
        begun = time.monotonic()
        for pod in (prefill, decode):
            pod.wait_ready(PATIENCE)
        yield Result(f"{ROLES}: start", "", f"{time.monotonic() - begun:.0f} s")
        name = workloads[0].served_name
        sidecar, direct = Sidecar(prefill, decode), Client(decode.connect)
        yield from handed_over(ROLES, sidecar, prefill, decode, name)
        proxy = routing(decode, prefill)
        if proxy:
            yield from handed_over(SIDECAR, proxy, prefill, decode, name)
            yield Result(f"{SIDECAR}: stream", streamed(proxy, name))
        yield prefill_ended(prefill, sidecar, workloads[0])
        yield Result(f"{ROLES}: decode answers alone", chatted(direct, name))
        if proxy:
            lost = unexpected(proxy.send(CHAT, chat(name)), 502)
            yield Result(f"{SIDECAR}: 502 without the prefill pod", lost)
        yield decode_ended(decode, workloads[1])


def handover_adapters(bench: Bench) -> Iterator[Result]:
    """Prompts read with an adapter in one pod, answers written with it in another."""
    names = ("adapted-prefill", "adapted-decode")
    workloads = [bench.rendered(name, f"{INPUTS}/handover-adapters.yaml", tag(bench)) for name in names]
    prefill, decode = (bench.pod(workload, bench.weights(workload)) for workload in workloads)
    with prefill, decode:
        for pod in (prefill, decode):
            pod.wait_ready(PATIENCE)
        sidecar, public = Sidecar(prefill, decode), [workloads[0].served_name, *ADAPTERS.values()]
        for name in public:
            yield from handed_over(f"{ROLES}, {name}", sidecar, prefill, decode, name)
        yield Result(f"{ROLES}: each adapter answers otherwise than the model", *different_texts(sidecar, public))


def routing(decode: Pod, prefill: Pod | None = None) -> Client | None:
    """A client of the decode pod's sidecar, with the header in which the picker says which pod is to read prompts; None
    where its program is not at hand.
    """
    for container in decode.spec["initContainers"]:
        if container["name"] in decode.sidecars:
            [port] = container["ports"]
            head = {CHOSEN: f"{prefill.place.address}:{prefill.port}"} if prefill else {}
            return Client(partial(decode.connect, port=int(port["containerPort"])), head=head)
    return None


def handed_over(route: str, client: Client, prefill: Pod, decode: Pod, name: str) -> Iterator[Result]:
    """Whether the cache of a prompt comes over on this route, and the answer is that of one instance."""
    prompt = f"{route}: {' '.join(f'word{number}' for number in range(60))}"  # that no cache holds yet
    body = {"model": name, "prompt": prompt, "max_tokens": 24, "temperature": 0, "ignore_eos": True}
    before = fetched(decode)
    answer = client.send(COMPLETIONS, body)
    after = fetched(decode)
    prompt_tokens = answer.body.get("usage", {}).get("prompt_tokens", 0)
    tokens, amount = (after.get(key, 0) - before.get(key, 0) for key in ("external_kv_transfer", "bytes"))
    shown = f"{tokens:g} of {prompt_tokens} prompt tokens, {amount:.0f} bytes"
    wrong = unexpected(answer) or ("" if 0 < prompt_tokens <= tokens + 1 and amount else shown)
    yield Result(f"{route}: the cache of a prompt comes over", wrong, shown)
    alone = Client(prefill.connect).send(COMPLETIONS, body)
    texts = [reply.body["choices"][0]["text"] for reply in (answer, alone) if reply.status == 200]
    wrong = unexpected(alone) or ("" if len(texts) == 2 and len({*texts}) == 1 else f"{texts}")
    yield Result(f"{route}: the text of one instance", wrong, f"{len(texts[0])} characters" if texts else "")


def fetched(decode: Pod) -> Mapping[str, float]:
    """The prompt tokens that a decode pod had so far, by source, and the bytes that came over."""
    page = Client(decode.connect).send("/metrics").text
    tokens = {source: float(count) for source, count in re.findall(SOURCES, page, re.MULTILINE)}
    return {**tokens, "bytes": series(page).get("vllm:nixl_bytes_transferred_sum", 0)}


def prefill_ended(prefill: Pod, sidecar: Sidecar, workload: Workload) -> Result:
    """Ends the prefill pod while streams run, and with the cache of one prompt that is fetched after its SIGTERM."""
    body = long_chat(workload.served_name, 128)
    calling = Callers([sidecar] * CALLERS, body)
    time.sleep(1)
    read = sidecar.read(CHAT, body)
    calling.stop_after(workload.hook_sleep - 0.5)
    with ThreadPoolExecutor(1) as threads:
        ending = threads.submit(prefill.end)
        while not any(event.endswith("SIGTERM") for event in prefill.events) and not prefill.over.wait(0.1):
            pass
        time.sleep(2)
        gone = prefill.over.is_set()
        late = Client.stream(sidecar, CHAT, fetching(body, read)) if read.status == 200 else Completion(read.text[:200])
        end = ending.result()
    calling.wait()
    wrong = [faults([*calling.completions, late])]
    if gone:
        wrong.append("the pod was gone before the last cache was fetched")
    if end.status:
        wrong.append(f"exit status {end.status} after {end.whole:.0f} s of {prefill.grace}")
    figures = f"{len(calling.completions)} streams and a late one, exit status {end.status} after {end.whole:.0f} s"
    return Result(f"{ROLES}: end of the prefill pod under load", "; ".join(filter(None, wrong)), figures)


def decode_ended(decode: Pod, workload: Workload) -> Result:
    """Ends the decode pod while streams run: through its sidecar, which ends after the engine, or past it."""
    client = routing(decode) or Client(decode.connect)
    body = lasting(client, workload.served_name)
    end = all_drained([decode], [client] * CALLERS, workload, body)
    question = f"{SIDECAR if decode.sidecars else ROLES}: end of the decode pod under load"
    sidecars = [event for event in decode.events if " sidecar " in event]
    return end._replace(question=question, figures="; ".join([end.figures, *sidecars]))


TRIALS: Mapping[str, Trial] = {
    "tensor": partial(group, name="tensor"),
    "pipeline": partial(group, name="pipeline"),
    "hybrid": partial(group, name="hybrid", model="experts"),
    "rank-ports": partial(group, name="rank-ports", model="experts"),
    "wrong-rank": wrong_rank,
    "handover": handover,
    "handover-adapters": handover_adapters,
}
