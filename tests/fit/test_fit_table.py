"""`llmaz presets show MODEL --fit`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from renderer.kubernetes.json_values import value_at
from renderer.load import preset, preset_names
from renderer.load.preset_files import accelerator_types
from renderer.preset_catalog import fit_table
from renderer.preset_catalog.model_fit import ModelFit, fit_of_model
from tests.conftest import Llmaz


def cells(text: str, accelerator: str) -> list[str]:
    """The cells of a type, for 1, 2, 4, 8 and 16 of them."""
    (line,) = re.findall(rf"^  {re.escape(accelerator)} +[0-9.]+ (.*)$", text, re.MULTILINE)
    return str(line).split()


def test_a_model_on_one_and_on_several(llmaz: Llmaz) -> None:
    done = llmaz("presets", "show", "llama-3--1-8b-instruct", "--fit")
    assert done.code == 0
    assert done.out.startswith("llama-3--1-8b-instruct on vllm v0.33.0: 15.0 GiB of weights, 131,072 tokens\n")
    assert cells(done.out, "t4-16g")[:2] == ["weights", "context"]
    assert cells(done.out, "l4-24g")[:2] == ["context", "1.5"]
    assert cells(done.out, "h100-80g")[0] == "3.4"


def test_another_backend_takes_another_part(llmaz: Llmaz) -> None:
    by_backend = {
        tuple(cells(llmaz("presets", "show", "llama-3--1-8b-instruct", "--fit", "--backend", backend).out, "h100-80g"))
        for backend in ("vllm", "sglang", "tensorrt-llm")
    }
    assert len(by_backend) == 3


@pytest.mark.parametrize(
    ("name", "divides"), [("glm-4--7-fp8", True), ("qwen3-coder-480b-a35b-fp8", False), ("qwen3-32b-fp8", False)]
)
def test_what_is_not_known_of_experts_is_said(name: str, divides: bool, llmaz: Llmaz) -> None:
    assert ("divide the blocks of its FP8 experts" in llmaz("presets", "show", name, "--fit").out) == divides


OPTIONS = {"vllm": "--max-num-batched-tokens", "sglang": "--chunked-prefill-size", "tensorrt-llm": "--max_num_tokens"}


def told(backend: str, *args: str) -> ModelFit:
    """Llama 3.1 8B for 29,000 tokens, with options of its own."""
    spec = dict(preset("models/llama-3--1-8b-instruct").value["spec"])
    engines = {backend: {"args": list(args), "maxModelLen": 29_000}}
    return fit_of_model("llama", {**spec, "engines": engines}, backend, preset(f"backends/{backend}").value["spec"])


def test_options_of_the_preset_count() -> None:
    card = accelerator_types().by_name["rtx-3090-24g"]
    usual, less = told("vllm").verdict(card, 1), told("vllm", "--gpu-memory-utilization=0.8").verdict(card, 1)
    assert usual is not None
    assert less is not None
    assert usual.room_gib - less.room_gib == pytest.approx(0.12 * card.memory_gib)


@pytest.mark.parametrize("backend", OPTIONS)
def test_a_large_step_has_a_word(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same cards fit without it, and two of them in any case."""
    card = accelerator_types().by_name["rtx-3090-24g"]
    large = told(backend, OPTIONS[backend], "65536")
    assert told(backend).smallest_count(card) == 1
    assert large.smallest_count(card) == 2
    monkeypatch.setattr(fit_table, "model_fit", lambda *_: large)
    table = fit_table.fit_table("llama", backend)
    assert cells(table, card.name)[0] == "step"
    assert " step: the\nactivations of a step may take" in table


def lacks(name: str, keys: str) -> bool:
    """Whether the facts of a preset have none of the keys, which `or` joins."""
    facts = preset(f"models/{name}").value["spec"]["facts"]
    return all(value_at(facts, *key.split(".")) is None for key in keys.split(" or "))


@pytest.mark.parametrize("name", preset_names("models"))
def test_each_preset_fits_somewhere_or_lacks_a_fact(name: str, llmaz: Llmaz) -> None:
    """Which the message names, and which is really not there."""
    done = llmaz("presets", "show", f"models/{name}", "--fit")
    if done.code:
        assert (done.code, done.out) == (2, "")
        (key,) = re.findall(r"facts\.(weightsGiB|precision) is missing", done.err)
        assert lacks(name, "weightsGiB")
        assert lacks(name, key)
        assert ("puts on the CPU what does not fit" in done.err) == name.endswith("-gguf")
        return
    table = done.out.partition("\n")[2]
    if missing := re.findall(r"^fits: the weights do; without facts\.(\S+) the memory", table, re.MULTILINE):
        assert lacks(name, missing[0])
        assert re.search(r" fits( |$)", table, re.MULTILINE)
        assert not re.search(r" [0-9]+\.[0-9]$", table, re.MULTILINE)  # no number of requests
    else:
        assert re.search(r"^  \S+ +[0-9.]+ .* [0-9]+\.[0-9]( |$)", table, re.MULTILINE)


def test_a_shorter_context_of_the_preset_counts(llmaz: Llmaz) -> None:
    done = llmaz("presets", "show", "llama-4-scout", "--fit")
    assert done.out.splitlines()[0].endswith(" 131,072 tokens")
    assert cells(done.out, "h100-80g")[2] != "context"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["nonesuch", "--fit"], "nonesuch"),
        (["backends/vllm", "--fit"], "'backends/vllm' is not a model"),
        (["smollm2-1--7b-instruct", "--fit"], "smollm2-1--7b-instruct: not checked: facts.precision is missing"),
        (["phi-4", "--fit", "--backend", "vlm"], "no backend is named 'vlm'"),
        (
            ["phi-4", "--fit", "--backend", "ollama"],
            "'ollama' puts on the CPU what does not fit, so 'phi-4' has no least number; its weights take 27.3 GiB",
        ),
        (["phi-4", "--fit", "--backend", "tgi"], "'tgi' says nothing of what it leaves for the KV cache"),
        (
            ["qwen3-8b-gguf", "--fit"],
            "'llamacpp' puts on the CPU what does not fit, so 'qwen3-8b-gguf' has no least number; the size of "
            "its weights is not known: facts.precision is missing",
        ),
        (["phi-4", "--fit", "--resolved"], "--fit can only be used with --backend"),
    ],
)
def test_wrong_words(words: list[str], text: str, folder: Path, llmaz: Llmaz) -> None:
    done = llmaz("presets", "show", *words)
    assert done.code == 2
    assert text in done.err
