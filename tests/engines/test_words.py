"""How each program reads words that belong to no option, as presets/engine_commands.yaml says it, against what the
parsers of those versions said (tests/engines/README.md says how they are run), line by line: `+` it takes the line, `-`
it refuses it, `d` it serves a model of its own.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import yaml

from tests.conftest import Llmaz

MODULE = "python3 -m vllm.entrypoints.openai.api_server"
VERSIONS = ("0.6.0", "0.8.2", "0.8.3", "0.9.2", "0.10.0", "0.11.0", "0.11.1", "0.16.0", "0.17.0", "0.33.0")
LINES: Mapping[str, str] = {
    "vllm serve org/m --port 8200": "++++++++++",
    "vllm serve --port 8200 org/m --dtype auto": "++++++++++",
    "vllm serve --enforce-eager org/m": "++++++++++",
    "vllm serve --port 8200 --model org/m": "------++++",
    "vllm serve --port 8200 --model=org/m": "--++++++++",
    "vllm serve --served-model-name a org/m": "--dddddd--",
    "vllm serve --port 8000 org/m --served-model-name a": "++++++++--",
    "vllm serve --max-model-len 8192": "--dddddddd",
    "vllm serve --served-model-name a --max-model-len 8192": "--dddddd--",
    "vllm serve serve org/m": "----------",
    "vllm serve vllm serve org/m": "----------",
    "vllm serve org/m '--dtype auto'": "----------",
    "vllm serve org/m org/n": "----------",
    f"{MODULE} --model org/m": "++++++++++",
    f"{MODULE} org/m --port 8200": "----dddddd",
    f"{MODULE} --port 8200 org/m": "----dddddd",
    f"{MODULE} --served-model-name a org/m": "dddddddddd",
    f"{MODULE} --port 8200": "dddddddddd",
    f"{MODULE} serve org/m": "----------",
}
SGLANG = ("0.4.3", "0.5.5", "0.5.10", "0.5.11", "0.5.15", "0.5.16", "0.5.23")
SGLANG_LINES: Mapping[str, str] = {
    "python3 -m sglang.launch_server --model-path org/m --port 1": "+++++++",
    "python3 -m sglang.launch_server --model org/m --port 1": "+++++++",
    "python3 -m sglang.launch_server org/m": "-------",
    "python3 -m sglang.launch_server --port 1 org/m": "-------",
    "python3 -m sglang.launch_server --port 1": "-------",
    "python3 -m sglang.launch_server --model-path org/m '--port 1'": "-------",
    "sglang serve --port 1": " ------",
    "sglang serve --model-path org/m --port 1": " ++++++",
    "sglang serve --model org/m --port 1": " --++++",
    "sglang serve org/m --port 1": " ----++",
    "sglang serve --port 1 org/m": " ------",
}
DEFAULTED = re.compile(r"serves (a default of its own|its own default model)")


def judged(llmaz: Llmaz, lines: Sequence[str], image: str) -> str:
    """Our marks of the lines."""
    for i, line in enumerate(lines):
        words = shlex.split(line)
        command = 3 if words[0] == "python3" else 2
        container = {"name": "engine", "image": image, "command": words[:command], "args": words[command:]}
        body = {"metadata": {"name": f"p{i}"}, "spec": {"containers": [container]}}
        Path(f"{i}.yaml").write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Pod", **body}))
    errors = llmaz("check", ".").err
    messages = {
        int(number): message for number, message in re.findall(r"^(\d+)\.yaml:.*?: (.*E4\d\d)\]$", errors, re.M)
    }
    return "".join(
        "+" if i not in messages else "d" if DEFAULTED.search(messages[i]) else "-" for i in range(len(lines))
    )


@pytest.mark.parametrize(("i", "version"), [*enumerate(VERSIONS)])
def test_vllm_reads_words_as_its_parser(i: int, version: str, folder: Path, llmaz: Llmaz) -> None:
    marks = judged(llmaz, [*LINES], f"vllm/vllm-openai:v{version}")
    assert dict(zip(LINES, marks, strict=True)) == {line: by_version[i] for line, by_version in LINES.items()}


@pytest.mark.parametrize(("i", "version"), [*enumerate(SGLANG)])
def test_sglang_reads_words_as_its_parser(i: int, version: str, folder: Path, llmaz: Llmaz) -> None:
    expected = {line: by_version[i] for line, by_version in SGLANG_LINES.items() if by_version[i] != " "}
    marks = judged(llmaz, [*expected], f"lmsysorg/sglang:v{version}")
    assert dict(zip(expected, marks, strict=True)) == expected


# The entrypoints of images, by version, and how each takes a line that names the model by the option or without one.
@pytest.mark.parametrize(
    ("image", "args", "mark"),
    [
        ("vllm/vllm-openai:v0.11.0", "org/m", "d"),
        ("vllm/vllm-openai:v0.11.1", "org/m", "+"),
        ("vllm/vllm-openai:v0.9.2", "org/m", "-"),
        ("vllm/vllm-openai:v0.9.2", "--model org/m", "+"),
        ("mirror.example/x/vllm/vllm-openai:v0.24.0", "serve org/m", "-"),
        ("registry.example/team/vllm-openai:v0.24.0", "serve org/m", "+"),
        ("vllm/vllm-openai:latest", "serve org/m", "+"),
        ("ghcr.io/ggml-org/llama.cpp:server-b11434", "/m.gguf", "-"),
        ("ghcr.io/ggml-org/llama.cpp:server-b11434", "llama-server -m /m.gguf", "-"),
        ("ghcr.io/ggml-org/llama.cpp:server-b11434", "-m /m.gguf", "+"),
        ("ghcr.io/ggml-org/llama.cpp:server-b11434", "--models-dir /models", "+"),
        ("ghcr.io/huggingface/text-generation-inference:3.3.7", "--model-id org/m", "+"),
        ("ghcr.io/huggingface/text-generation-inference:3.3.7", "org/m --port 1", "-"),
        ("ghcr.io/huggingface/text-generation-inference:3.3.7", "--port 1", "d"),
        ("ollama/ollama:0.32.15", "serve", "+"),
    ],
)
def test_entrypoints(image: str, args: str, mark: str, folder: Path, llmaz: Llmaz) -> None:
    container = {"name": "engine", "image": image, "args": args.split()}
    body = {"metadata": {"name": "p"}, "spec": {"containers": [container]}}
    (folder / "p.yaml").write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Pod", **body}))
    errors = re.findall(r"^p\.yaml.*E4\d\d\]$", llmaz("check", ".").err, re.M)
    assert ("+" if not errors else "d" if DEFAULTED.search(errors[-1]) else "-") == mark, errors
