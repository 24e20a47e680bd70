"""The trials of ollama: what its preset renders for GGUF files, run with the version that the preset names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.engines import installation
from tests.engines.clients import Client
from tests.engines.kubelet import Image, Unstartable
from tests.engines.models import Shape, write_gguf, write_projector
from tests.engines.rendering import rendered
from tests.engines.trial import (
    CHAT,
    Bench,
    Result,
    Trial,
    chat,
    chatted,
    drained,
    faults,
    image_read,
    probed,
    streamed,
    together,
    unexpected,
)

INPUTS = "tests/engines/inputs/ollama"
PATIENCE = 120
REQUESTS = 4
TOKENS = 24  # it ends an answer that says one token 30 times, which a random model may do


def versions() -> Sequence[str]:
    """The versions whose trials there are: the preset's."""
    return [installation.preset_version("ollama")]


def trials(version: str) -> Mapping[str, Trial]:
    """The trials of a version."""
    return TRIALS


def bench(tools: Path, folder: Path, version: str) -> Bench:
    """The engine of that version, with a model. CannotJudge when there is none."""
    program = installation.ollama(tools, version)
    model = folder / "small.gguf"
    write_gguf(model, Shape())
    files = {"/bin/ollama": program / "ollama", "/usr/lib/ollama": program / "lib"}
    return Bench(Image(files), {"small": model}, folder, version)


def serving(bench: Bench) -> Iterator[Result]:
    """A chat model under `hardening: restricted`, from its start to its end."""
    workload = rendered("chat", f"{INPUTS}/chat.yaml")
    name = workload.served_name
    with bench.pod(workload, bench.weights(workload)) as pod:
        pod.wait_ready(PATIENCE)
        yield Result(
            "create-model, start as user 1000", "" if pod.status("Uid").split()[0] == "1000" else "another user"
        )
        yield Result("probes", probed(pod))
        client = Client(pod.connect)
        names = [model["id"] for model in client.send("/v1/models").body["data"]]
        yield Result("served name", "" if names == [f"{name}:latest"] else f"{names}", f"listed as {', '.join(names)}")
        yield Result("chat", chatted(client, name))
        yield Result("stream", streamed(client, name))
        yield Result("unknown name is refused", unexpected(client.send(CHAT, chat("nobody")), 404))
        yield Result("no metrics", unexpected(client.send("/metrics"), 404))
        yield Result(
            f"{REQUESTS} requests at once",
            faults(together(REQUESTS, lambda _: client.stream(CHAT, chat(name, max_tokens=TOKENS)))),
        )
        # SIGTERM cuts what runs; what is over before the sleep ends comes whole.
        yield drained(pod, client, workload, chat(name), callers=2, outlasting=False)


def two_models(bench: Bench) -> Iterator[Result]:
    """Two models of one server, of which one is in memory at a time; then one of them cannot be created."""
    workload = rendered("two", f"{INPUTS}/two.yaml")
    weights = bench.weights(workload)
    with bench.pod(workload, weights) as pod:
        pod.wait_ready(PATIENCE)
        client = Client(pod.connect)
        for name in ("blue", "green", "blue"):
            yield Result(f"{name} answers", chatted(client, name))
        loaded = [model["name"] for model in client.send("/api/ps").body["models"]]
        yield Result("one model is in memory", "" if loaded == ["blue:latest"] else f"{loaded}")
    broken = bench.new_folder("broken") / "green.gguf"
    broken.write_bytes(b"no model")
    try:
        with bench.pod(workload, [weights[0], (weights[1][0], broken)]) as pod:
            message = f"the engine starts: {'; '.join(pod.events)}"
    except Unstartable as error:
        message = str(error)
    named = message.endswith("these models are not there: 'green'")
    yield Result("a model that cannot be created is named", "" if named else message)


def projector(bench: Bench) -> Iterator[Result]:
    """A model that reads images by a projector beside it in its repository."""
    workload = rendered("sight", f"{INPUTS}/projector.yaml")
    repository = bench.new_folder("sight")
    write_gguf(repository / "sight.gguf", Shape())
    write_projector(repository / "mmproj-F16.gguf", Shape().width)
    with bench.pod(workload, [("/workspace/models/models--org--sight-GGUF", repository)]) as pod:
        pod.wait_ready(PATIENCE)
        client = Client(pod.connect)
        yield Result("chat without an image", chatted(client, workload.served_name))
        yield image_read(client, workload.served_name)


TRIALS: Mapping[str, Trial] = {"serving": serving, "two-models": two_models, "projector": projector}
