"""What llama.cpp's pods state as the context of a request fits their memory, for as many requests as they run at once.

The memory is the pod's limit, or its request where no limit is written. What is needed (docs/engines/llamacpp.md):

    weights + requests at once x context x bytes of a token + the prompt cache + half a GiB
"""

from __future__ import annotations

import configparser
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from renderer.kubernetes import quantity
from tests.conftest import Llmaz
from tests.paths import ROOT, TESTS

KNOWN: Mapping[str, Mapping[str, Any]] = json.loads((TESTS / "data" / "model_facts.json").read_text("utf-8"))
GIB = 2**30
BESIDE = GIB // 2  # buffers of the computation, tokenizer, program
BATCH = 512  # --ubatch-size: a sliding window's cache holds so many tokens more
# The files that examples and presets name, and the model whose facts are theirs.
MODELS = {
    "qwen2.5-0.5b-instruct-q4_k_m.gguf": "Qwen/Qwen2.5-0.5B-Instruct",
    "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf": "Qwen/Qwen2.5-0.5B-Instruct",
    "qwen2-0_5b-instruct-q5_k_m.gguf": "Qwen/Qwen2.5-0.5B-Instruct",  # has the same sizes
    "Qwen3-0.6B-Q4_K_M.gguf": "Qwen/Qwen3-0.6B",
    "Qwen3-8B-Q4_K_M.gguf": "Qwen/Qwen3-8B",
    "MiniCPM5-1B-Q4_K_M.gguf": "openbmb/MiniCPM5-1B",
    "Qwen3-Embedding-0.6B-Q8_0.gguf": "Qwen/Qwen3-0.6B",  # made from its base
    "Qwen3-4B-Instruct-2507-Q4_K_M.gguf": "Qwen/Qwen3-4B-Instruct-2507",
    "google_gemma-3-4b-it-Q4_K_M.gguf": "google/gemma-3-4b-it",
}
# Bytes of a parameter. Small models keep their vocabulary, a third of them, at a higher precision.
PRECISION = {"Q8_0": 1.07, "Q4_K_M": 0.66, "Q5_K_M": 0.78}
SMALL, OF_SMALL = 1.0, 1.07  # billions of parameters, and bytes of one


class Server(NamedTuple):
    """One llama-server as rendered: the name of its LeaderWorkerSet, its options, its memory in bytes."""

    name: str
    options: Mapping[str, str]
    memory: int


def options(args: list[str]) -> dict[str, str]:
    """Option → its value, '' for a flag; all spelt out."""
    values = {}
    for i, arg in enumerate(args):
        if arg.startswith("--"):
            following = args[i + 1 : i + 2]
            values[arg] = following[0] if following and not following[0].startswith("--") else ""
    return values


def servers(text: str) -> Iterator[Server]:
    """The llama-servers among rendered manifests."""
    bodies = list(yaml.safe_load_all(text))
    for body in bodies:
        if body["kind"] != "LeaderWorkerSet":
            continue
        annotations = body["metadata"]["annotations"]
        if annotations.get("renderer.llmaz.io/backend") != "llamacpp":
            continue
        [runner] = [
            container
            for container in body["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"]
            if container["name"] == "model-runner"
        ]
        resources = runner["resources"]
        amount = resources.get("limits", {}).get("memory") or resources["requests"]["memory"]
        name, memory = body["metadata"]["name"], quantity.nanos(amount) // 10**9
        files = [other["data"] for other in bodies if other["metadata"]["name"] == f"{name}-config"]
        for data in files if "--models-preset" in runner["args"] else ():  # one of its models is loaded at a time
            file = configparser.RawConfigParser(default_section="*")
            file.read_string(data["models.ini"])
            for section in file.sections():
                yield Server(section, {f"--{key}": value for key, value in file[section].items()}, memory)
        if "--models-preset" not in runner["args"]:
            yield Server(name, options(runner["args"]), memory)


def cache(file: str, slots: int, context: int) -> int:
    """Bytes of the KV cache of a model, for so many requests of so many tokens."""
    known = KNOWN[MODELS[file]]
    per_request = known["kv_bytes_per_token_bf16"] * context
    if layers := known["arch"].get("sliding_layers"):
        per_token = 4 * known["arch"]["num_key_value_heads"] * known["arch"]["head_dim"]  # keys and values of 2 bytes
        per_request += layers * per_token * min(context, known["arch"]["sliding_window"] + BATCH)
    return int(slots * per_request)


def weights(file: str) -> int:
    """Bytes of the weights of a model, at most."""
    parameters = KNOWN[MODELS[file]]["params_b"]
    precision = file.removesuffix(".gguf").rpartition("-")[2].upper()
    return int(parameters * 1e9 * (OF_SMALL if parameters < SMALL else PRECISION[precision]))


def needed(server: Server) -> int:
    """Bytes that a server needs when all of its requests are as long as they may be."""
    file = Path(server.options["--model"]).name
    slots, context = int(server.options["--parallel"]), int(server.options["--kv-unified-per-slot"])
    prompts = int(server.options["--cache-ram"]) * 2**20
    return weights(file) + cache(file, slots, context) + prompts + BESIDE


ON_GPUS = "several-files"  # models whose cache lies on accelerators
EXAMPLES = sorted(path.name for path in (ROOT / "examples").iterdir() if path.is_dir() and path.name != ON_GPUS)
PRESETS = sorted(path.stem for path in (ROOT / "presets" / "models").glob("*-gguf.yaml"))


def inspect(rendered: str) -> int:
    """How many servers there are among rendered manifests, each of which fits its memory."""
    rendered_servers = list(servers(rendered))
    for server in rendered_servers:
        assert "--ctx-size" not in server.options, f"{server.name}: all requests share it"
        assert needed(server) <= server.memory, f"{server.name}: {needed(server) / GIB:.2f} GiB"
    return len(rendered_servers)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_fit_their_memory(name: str, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "examples" / name)
    environment = ["--env", "prod"] if name == "environments" else []
    run = llmaz("render", "--stdout", *environment)
    assert run.code == 0
    assert "W249" not in run.err
    assert inspect(run.out) >= (
        name in ("quickstart", "gateway-basic", "gateway-teams", "object-store", "several-models")
    )


@pytest.mark.parametrize("name", PRESETS)
def test_presets_fit_their_memory(name: str, llmaz: Llmaz, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    playground = {
        "apiVersion": "inference.llmaz.io/v1alpha1",
        "kind": "Playground",
        "metadata": {"name": "chat", "namespace": "demo"},
        "spec": {"modelClaim": {"modelName": name}, "backendRuntimeConfig": {"backendName": "llamacpp"}},
    }
    (tmp_path / "chat.yaml").write_text(yaml.safe_dump(playground), "utf-8")
    monkeypatch.chdir(tmp_path)
    run = llmaz("render", "--stdout")
    assert (run.code, run.err) == (0, "")
    assert inspect(run.out) == 1


def test_the_start_for_a_laptop_fits_its_memory(llmaz: Llmaz, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert llmaz("init", "--cpu-demo").code == 0
    run = llmaz("render", "--stdout")
    assert run.code == 0
    assert inspect(run.out) == 1


def test_a_context_that_is_too_long_is_found() -> None:
    chat = {"--model": "/workspace/models/Qwen3-0.6B-Q4_K_M.gguf", "--parallel": "4", "--cache-ram": "1024"}
    fits, not_ = (Server("chat", {**chat, "--kv-unified-per-slot": length}, 4 * GIB) for length in ("4096", "8192"))
    assert needed(fits) < fits.memory
    assert needed(not_) > not_.memory
