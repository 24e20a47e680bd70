"""What hand-written command lines say, and which of them say nothing."""

from __future__ import annotations

import pytest

from renderer import yamlio
from renderer.diagnostics import Origin
from renderer.engines.handwritten_command import EngineCommand, Word, read_engine_command

ORIGIN = Origin(yamlio.parse("pod.yaml", b"{}")[0][0])


def read(command: list[str], args: list[str] | None = None, image: str = "registry.example/server:v1") -> EngineCommand:
    words = [[Word(text, ORIGIN) for text in texts] for texts in (command, args or [])]
    return read_engine_command(words[0], words[1], image)


def names(command: EngineCommand) -> list[str]:
    return [word.text for word in command.names]


SERVE = ["vllm", "serve", "/m"]


@pytest.mark.parametrize(
    ("command", "served"),
    [
        (SERVE, ["/m"]),
        ([*SERVE, "--served-model-name", "a", "b", "--port", "1"], ["a", "b"]),
        ([*SERVE, "--served-model-name=a", "--served_model_name", "b"], ["b"]),
        (["/opt/bin/vllm", "serve", "--model", "/m"], ["/m"]),
        (["env", "A=1", "vllm", "serve", "--model=/m"], ["/m"]),
        (["vllm", "serve", "--config", "all.yaml"], []),
        ([*SERVE, "$(MORE)"], []),
        ([*SERVE, "--node-rank", "$(RANK)"], ["/m"]),
        ([*SERVE, "--name=$(X)", "$(MORE)"], []),
        (["python3", "-m", "sglang.launch_server", "--model-path", "/m"], []),
        (["llama-server", "-a", "x"], ["x"]),
        (["my-server", "--alias", "x"], []),
        (["my-server", "--served-model-name", "x"], ["x"]),
        (["bash", "-lc", "set -e; vllm serve /m --served-model-name 'x y'"], ["x y"]),
        (["bash", "-lc", "vllm serve /a || vllm serve /b"], []),
        (["bash", "-lc", "vllm serve '/a"], []),
        (["bash", "-lc", "vllm serve /m $MORE"], []),
        (["bash", "start.sh", "-c", "vllm serve /m"], []),
        (["bash", "-c"], []),
        (["sh", "-c", "# vllm serve /a\nvllm serve /b # vllm serve /c"], ["/b"]),
    ],
)
def test_the_served_name(command: list[str], served: list[str]) -> None:
    assert names(read(command)) == served


def test_the_entrypoint_of_an_image() -> None:
    assert names(read([], ["--model", "/m"], "mirror.example/vllm/vllm-openai:v0.11.0")) == ["/m"]
    assert names(read([], ["--alias", "x"], "ghcr.io/ggml-org/llama.cpp:server-b1@sha256:0")) == ["x"]
    assert names(read([], ["--alias", "x"])) == []


@pytest.mark.parametrize(
    ("args", "port"),
    [
        (["--port", "9000"], 9000),
        (["--port=9000", "--port=9001"], 9001),
        (["--port", "$(PORT)"], None),
        (["--port"], None),
        (["--port", "http"], None),
        (["--port", "123456789012"], None),
        (["--data-parallel-rpc-port", "1"], None),
    ],
)
def test_the_port(args: list[str], port: int | None) -> None:
    assert read(SERVE, args).port == port
    assert read(["my-server"], args).port == port
