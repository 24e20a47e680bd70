"""How the command line names the engine and the version: what it says of other ways to write them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import inputs

if TYPE_CHECKING:
    from tests.conftest import Llmaz


@pytest.mark.parametrize(
    ("words", "code", "right"),
    [
        (["vllm", "0.32.0"], "E122", "vllm=0.32.0"),
        (["vllm", "v0.32.0"], "E122", "vllm=v0.32.0"),
        (["llamacpp", "b10970"], "E122", "llamacpp=b10970"),
        (["vllm:v0.32.0"], "E205", "vllm=0.32.0"),
        (["vllm@0.32.0"], "E205", "vllm=0.32.0"),
        (["tensorrt-llm-1.2.1"], "E205", "tensorrt-llm=1.2.1"),
        (["vllm==0.32.0"], "E711", "vllm=0.32.0"),
    ],
)
def test_another_way_to_write_the_version_leads_to_the_right_one(
    words: list[str], code: str, right: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz
) -> None:
    monkeypatch.chdir(tmp_path)
    engine = right.partition("=")[0]
    model = "qwen3-8b-gguf" if engine == "llamacpp" else "qwen3-8b"
    settings = f"  backendRuntimeConfig: {{backendName: {engine}}}\n"
    Path("app.yaml").write_text(inputs.playground("chat", "llm", model) + settings, "utf-8")
    refused = llmaz("upgrade", *words)
    assert refused.code == 2
    assert f"[{code}]\n" in refused.err
    assert refused.err.splitlines()[1].endswith(f" {right}")
    assert llmaz("upgrade", right).code == 0


def test_a_folder_that_is_called_like_a_version_is_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("1.2").mkdir()
    Path("1.2/app.yaml").write_text(inputs.playground("chat", "llm", "qwen3-8b"), "utf-8")
    assert llmaz("upgrade", "vllm", "1.2").code == 0
