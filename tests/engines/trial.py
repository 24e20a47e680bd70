"""What a trial has to hand, and what it yields; questions that suit every engine with OpenAI's API.

A question returns what is wrong, '' when nothing is.
"""

from __future__ import annotations

import base64
import itertools
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from tests.engines.clients import Client, Completion, Reply
from tests.engines.groups import Group, end_together, members
from tests.engines.kubelet import PROBES, Image, Place, Pod, Secrets
from tests.engines.models import IMAGE_TOKENS, png
from tests.engines.rendering import ROOT, Workload, rendered
from tests.gateway.network import pod_addresses

PATIENCE = 60  # seconds until a pod is ready
REQUESTS = 8  # twice what runs at once
SHORT = 5  # seconds that a short answer may take on busy cores
CHAT, COMPLETIONS = "/v1/chat/completions", "/v1/completions"


class Result(NamedTuple):
    """One question of a trial. `fault`: '' when all is well; `figures`: what was seen, in a few words."""

    question: str
    fault: str
    figures: str = ""


class Bench:
    """Where a trial starts pods: the engine's image and version, models, a folder, and images of sidecars."""

    def __init__(
        self,
        image: Image,
        models: Mapping[str, Path],
        folder: Path,
        version: str,
        sidecars: Mapping[str, Image] = {},
    ) -> None:
        self.models, self.version = models, version
        self._image, self._folder, self._sidecars = image, folder, sidecars
        self._numbers = itertools.count()
        self._addresses = pod_addresses()

    def pod(self, workload: Workload, weights: Sequence[tuple[str, Path]], secrets: Secrets | None = None) -> Pod:
        """A pod of the workload that is not started yet."""
        folder = self._folder / f"{workload.name}-{next(self._numbers)}"
        place = Place(next(self._addresses))  # which every other pod reaches
        name, spec = f"{workload.name}-0", workload.spec
        maps = {body["metadata"]["name"]: body["data"] for body in workload.bodies if body["kind"] == "ConfigMap"}
        return Pod(name, spec, self._image, weights, secrets or {}, folder, place, self._sidecars, maps)

    def new_folder(self, name: str) -> Path:
        """An empty folder of a trial's own."""
        folder = self._folder / f"{name}-{next(self._numbers)}"
        folder.mkdir()
        return folder

    def group(self, workload: Workload, weights: Sequence[tuple[str, Path]], secrets: Secrets | None = None) -> Group:
        """The first group of the workload, leader and workers, that is not started yet."""
        hosts = list(members(workload.body))
        places = {host.name: next(self._addresses) for host in hosts}
        names = {f"{host.name}.{host.subdomain}": places[host.name] for host in hosts}
        pods = []
        for host in hosts:
            folder = self._folder / f"{host.name}-{next(self._numbers)}"
            place = Place(places[host.name], names)
            pods.append(Pod(host.name, host.spec, self._image, weights, secrets or {}, folder, place))
        return Group(pods)

    def weights(self, workload: Workload, model: str = "small") -> list[tuple[str, Path]]:
        """What lies where a command line of the workload expects weights: what the folder is called after, else that
        model.
        """
        names = ((path, path.rpartition("--")[2]) for path in workload.weights)
        return [(path, self.models.get(name, self.models[model])) for path, name in names]

    def rendered(self, name: str, path: str, tag: str) -> Workload:
        """The workload of that name rendered of a path below our root, where VERSION in the file is the tag."""
        with tempfile.NamedTemporaryFile("w", suffix=".yaml", dir=self._folder) as file:
            file.write((ROOT / path).read_text("utf-8").replace("VERSION", tag))
            file.flush()
            return rendered(name, file.name)


Trial: TypeAlias = Callable[[Bench], Iterator[Result]]


def chat(name: str, **more: Any) -> dict[str, Any]:
    """The body of a short chat completion."""
    return {"model": name, "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 8, **more}


def long_chat(name: str, tokens: int) -> dict[str, Any]:
    """The body of a chat completion of exactly so many tokens."""
    return chat(name, max_tokens=tokens, ignore_eos=True)


def unexpected(reply: Reply, status: int = 200) -> str:
    """What is wrong with the status of an answer."""
    return "" if reply.status == status else f"{reply.status} instead of {status}: {reply.text[:200]}"


def listed(client: Client, name: str) -> str:
    """Whether the served name is the one in the list of models."""
    reply = client.send("/v1/models")
    names = [model.get("id") for model in reply.body.get("data", ())] if reply.status == 200 else []
    return unexpected(reply) or ("" if names == [name] else f"{names} instead of {name}")


def chatted(client: Client, name: str) -> str:
    """Whether a chat completion has text."""
    reply = client.send(CHAT, chat(name))
    if fault := unexpected(reply):
        return fault
    message = reply.body["choices"][0]["message"]
    return "" if message.get("content") else f"no text: {message}"


def image_read(client: Client, name: str) -> Result:
    """Whether a chat completion about an image is answered, and reads the image: its prompt has more tokens."""
    answers = [client.send(CHAT, _about_image(name, shade)) for shade in (None, 0, 255)]
    if fault := next(filter(None, map(unexpected, answers)), ""):
        return Result("an image is read", fault)
    text, *images = (answer.body["usage"]["prompt_tokens"] for answer in answers)
    read = [count - text for count in images]
    fault = "" if min(read) >= IMAGE_TOKENS else f"{read} tokens for the images"
    return Result("an image is read", fault, f"{' and '.join(map(str, read))} tokens")


def _about_image(name: str, shade: int | None) -> dict[str, Any]:
    """A question about a gray image, without one where there is no shade."""
    parts: list[dict[str, Any]] = [{"type": "text", "text": "What is this?"}]
    if shade is not None:
        address = f"data:image/png;base64,{base64.b64encode(png(shade)).decode()}"
        parts.append({"type": "image_url", "image_url": {"url": address}})
    return {"model": name, "max_tokens": 8, "messages": [{"role": "user", "content": parts}]}


def streamed(client: Client, name: str) -> str:
    """Whether a streamed chat completion comes whole."""
    completion = client.stream(CHAT, chat(name))
    return completion.fault or ("" if completion.tokens == 8 else f"{completion.tokens} tokens instead of 8")


def embedded(client: Client, name: str, width: int) -> str:
    """Whether two texts get two different vectors of that length."""
    reply = client.send("/v1/embeddings", {"model": name, "input": ["one", "another"]})
    if fault := unexpected(reply):
        return fault
    vectors = [entry["embedding"] for entry in reply.body["data"]]
    if [len(vector) for vector in vectors] != [width, width]:
        return f"vectors of {[len(vector) for vector in vectors]}, not of {width}"
    return "" if vectors[0] != vectors[1] else "both texts have the same vector"


def reranked(client: Client, path: str, name: str) -> str:
    """Whether each of two documents gets a score, in the format of Cohere."""
    reply = client.send(path, {"model": name, "query": "one", "documents": ["one", "another"]})
    if fault := unexpected(reply):
        return fault
    results = reply.body.get("results", ()) if isinstance(reply.body, dict) else ()
    scored = sorted(entry["index"] for entry in results if isinstance(entry.get("relevance_score"), float))
    return "" if scored == [0, 1] else f"no score for each document: {reply.text[:300]}"


def probed(pod: Pod) -> str:
    """Whether each probe of the container succeeds, once each has been asked."""
    kinds = [kind for kind in PROBES if f"{kind}Probe" in pod.main]
    end = time.monotonic() + PATIENCE
    while not all(any(f" {kind} " in event for event in pod.events) for kind in kinds):
        if pod.over.wait(0.1) or time.monotonic() > end:
            break
    failing = [kind for kind in kinds if pod.failures.get(kind, 1)]
    return f"failing: {', '.join(failing)}" if failing else ""


def together(count: int, work: Callable[[int], Completion]) -> list[Completion]:
    """Does the work so many times at once."""
    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(work, range(count)))


def faults(completions: Sequence[Completion]) -> str:
    """How many were lost, and the first one's words."""
    lost = [completion.fault for completion in completions if completion.fault]
    return f"{len(lost)} of {len(completions)} lost: {lost[0]}" if lost else ""


def served(pod: Pod, client: Client, name: str) -> Iterator[Result]:
    """What every pod with a chat model has to do: its probes succeed, it lists its name, and answers."""
    yield Result("probes", probed(pod))
    yield Result("served name", listed(client, name))
    yield Result("chat", chatted(client, name))
    yield Result("stream", streamed(client, name))


def full_contexts(client: Client, name: str, context: int, tokens: int) -> Result:
    """Whether REQUESTS completions at once end whole, where prompt and answer fill the context.

    context: tokens of prompt and answer together; tokens: those of the answer. A letter is a token.
    """
    text = "".join("nopqrs"[number % 6] for number in range(context - tokens - 1))

    def request(number: int) -> Completion:
        body = {"model": name, "prompt": f"{'abcdefgh'[number]}{text}", "max_tokens": tokens, "ignore_eos": True}
        completion = client.stream(COMPLETIONS, body)
        if not completion.fault and completion.tokens != tokens:
            return completion._replace(fault=f"{completion.tokens} tokens instead of {tokens}")
        return completion

    begun = time.monotonic()
    lost = faults(together(REQUESTS, request))
    took = time.monotonic() - begun
    return Result(f"{REQUESTS} requests of the stated context", lost, f"{context} tokens each, {took:.0f} s")


class Movement(NamedTuple):
    """The values of series at rest, and the highest and last ones seen under load."""

    rest: Mapping[str, float]
    highest: Mapping[str, float]

    def fault(self, name: str) -> str:
        """What is wrong with a series that has to be there, and to rise under load."""
        if name not in self.rest:
            return f"{name} is not there"
        return "" if self.highest[name] > self.rest[name] else f"{name} stays at {self.rest[name]:g}"


def movement(client: Client, path: str, load: Callable[[], object]) -> Movement:
    """Looks at the series while there is load, and once afterwards."""
    rest = client.metrics(path)
    highest = dict(rest)
    loading = threading.Thread(target=load, daemon=True)
    loading.start()
    while True:
        loaded = not loading.is_alive()
        for name, value in client.metrics(path).items():
            highest[name] = max(value, highest.get(name, value))
        if loaded:
            return Movement(rest, highest)
        time.sleep(0.05)


class Callers:
    """Clients that send one stream after the other, each to its own pod or port, until they are stopped."""

    def __init__(self, clients: Sequence[Client], body: Mapping[str, Any]) -> None:
        self.completions: list[Completion] = []
        self.last_end = 0.0
        self._clients, self._body, self._last_start = clients, body, threading.Event()
        self._threads = [threading.Thread(target=self._call, args=(client,), daemon=True) for client in clients]
        for thread in self._threads:
            thread.start()

    def _call(self, client: Client) -> None:
        while not self._last_start.is_set():
            self._send(client)

    def _send(self, client: Client) -> None:
        self.completions.append(client.stream(CHAT, self._body))
        self.last_end = time.monotonic()

    def stop_after(self, seconds: float) -> None:
        """The last stream begins then; those that run go on."""
        alarm = threading.Timer(max(0.0, seconds), self._stop)
        alarm.daemon = True
        alarm.start()
        self._threads.append(alarm)

    def _stop(self) -> None:
        self._last_start.set()
        self._send(self._clients[0])

    def wait(self) -> None:
        """Returns when the last stream has ended."""
        for thread in self._threads:
            thread.join()


def drained(
    pod: Pod, client: Client, workload: Workload, body: Mapping[str, Any], callers: int = 8, *, outlasting: bool = True
) -> Result:
    """Ends the pod under load. Each caller sends one stream after the other, until the hook's sleep is about to end.

    No stream may be lost, some have to outlast the hook's sleep unless that is all of the drain, and the program ends
    by itself within the grace period.
    """
    return all_drained([pod], [client] * callers, workload, body, outlasting=outlasting)


def all_drained(
    pods: Sequence[Pod],
    clients: Sequence[Client],
    workload: Workload,
    body: Mapping[str, Any],
    *,
    outlasting: bool = True,
) -> Result:
    """Ends these pods at the same time, as `drained` does with one; each client is a caller of its own."""
    calling = Callers(clients, body)
    time.sleep(1)
    begun, sleep = time.monotonic(), workload.hook_sleep
    calling.stop_after(sleep - (0.5 if outlasting else SHORT))
    ends = end_together(pods)
    calling.wait()
    wrong = [faults(calling.completions)]
    for pod, end in zip(pods, ends, strict=True):
        if end.status:
            wrong.append(f"{pod.name}: exit status {end.status} after {end.whole:.0f} s of {pod.grace}")
    if outlasting and calling.last_end < begun + sleep:
        wrong.append("no stream outlasted the sleep, so nothing is known about the rest of the hook")
    whole = ", ".join(f"hook {end.hook:.0f} s, exit status {end.status} after {end.whole:.0f} s" for end in ends)
    return Result("drain", "; ".join(filter(None, wrong)), f"{len(calling.completions)} streams, {whole}")
