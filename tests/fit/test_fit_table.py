"""`llmaz presets show MODEL --fit`."""

from __future__ import annotations

import re

import pytest

from renderer.load import preset_names
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


@pytest.mark.parametrize("name", preset_names("models"))
def test_each_preset_fits_somewhere_or_lacks_a_fact(name: str, llmaz: Llmaz) -> None:
    done = llmaz("presets", "show", f"models/{name}", "--fit")
    if done.code:
        assert "lacks facts.weightsGiB" in done.err
    else:
        assert re.search(r" (fits|[0-9]+\.[0-9])( |$)", done.out.partition("\n")[2], re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["nonesuch", "--fit"], "nonesuch"),
        (["backends/vllm", "--fit"], "'backends/vllm' is not a model"),
        (["bge-m3", "--fit"], "'bge-m3' lacks facts.weightsGiB"),
        (["phi-4", "--fit", "--backend", "vlm"], "no backend is named 'vlm'"),
        (["phi-4", "--fit", "--backend", "ollama"], "'ollama' says nothing of what it leaves for the KV cache"),
        (["phi-4", "--fit", "--resolved"], "--fit goes with --backend alone"),
    ],
)
def test_wrong_words(words: list[str], text: str, llmaz: Llmaz) -> None:
    done = llmaz("presets", "show", *words)
    assert done.code == 2
    assert text in done.err
