"""An engine whose whole command stands in `args`, behind the entrypoint of somebody else's image, is checked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.check.engines.test_no_cry_of_wolf import checked, codes, pod

if TYPE_CHECKING:
    from tests.conftest import Llmaz

GPU = {"limits": {"nvidia.com/gpu": 1}}


@pytest.mark.parametrize(
    ("image", "line", "expected"),
    [
        (
            "nvcr.io/nvidia/vllm:26.05-py3",
            "vllm serve a/b --tensor-parallel-size 4 --tool-call-parser hermez",
            {"E416", "W440"},
        ),
        (
            "nvcr.io/nvidia/sglang:26.05-py3",
            "python3 -m sglang.launch_server --model-path a/b --tp 4 --tool-call-parser hermez",
            {"E416", "W440"},
        ),
        ("nvcr.io/nvidia/tensorrt-llm/release:1.0.0", "trtllm-serve a/b --tp_size 4", {"E416"}),
        ("registry.example.com/jetson:7", "llama-server -hf a/b --spilt-mode row", {"W430"}),
    ],
    ids=["vllm", "sglang", "tensorrt-llm", "llamacpp"],
)
def test_faults_are_told(image: str, line: str, expected: set[str], tmp_path: Path, llmaz: Llmaz) -> None:
    outcome = checked(llmaz, tmp_path, pod(image=image, args=line.split(), resources=GPU))
    assert {code for code in codes(outcome) if code in ("E416", "W430", "W440")} == expected
