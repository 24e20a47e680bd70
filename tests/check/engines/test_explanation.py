"""What `llmaz check --explain-engine` says of a container."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Llmaz

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: two, namespace: llm}
spec:
  containers:
    - name: own
      image: registry.example/own:1
      command: [vllm, serve, a/b, --api-key, sk-0123456789abcdef0123]
    - name: later
      image: lmsysorg/sglang:latest
      command: [python3, -m, sglang.launch_server, $(ARGS)]
      resources: {limits: {nvidia.com/gpu: 2}}
    - name: known
      image: ghcr.io/ggml-org/llama.cpp:server-b11434
      args: [-m, /models/a.gguf, --ctx-size, "4096", --no-mmap]
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            8,
            "container 'own' of Pod llm/two (pod.yaml:6)\n"
            "  engine        vllm: the version is unknown, since registry.example/own:1 is not an image of the "
            "engine's project\n"
            "  options       checked by the list of every vllm that is known\n"
            "    line 8     --api-key <hidden>\n",
        ),
        (
            9,
            "container 'later' of Pod llm/two (pod.yaml:9)\n"
            "  engine        sglang: the version is unknown, since lmsysorg/sglang:latest has no tag that names one\n"
            "  options       not checked: text that is filled in at run time may be an option\n"
            "  accelerators  2 of nvidia.com/gpu, 2 used\n",
        ),
        (
            99,
            "container 'known' of Pod llm/two (pod.yaml:13)\n"
            "  engine        llamacpp b11434: by the tag of ghcr.io/ggml-org/llama.cpp:server-b11434\n"
            "  options       checked by the list of llamacpp b11434\n"
            "    line 15    -m /models/a.gguf\n"
            "    line 15    --ctx-size 4096\n"
            "    line 15    --no-mmap\n",
        ),
    ],
)
def test_text(line: int, expected: str, folder: Path, llmaz: Llmaz) -> None:
    (folder / "pod.yaml").write_text(POD)
    done = llmaz("check", "--explain-engine", f"pod.yaml:{line}")
    assert (done.code, done.out, done.err) == (0, expected, "")


def test_json(folder: Path, llmaz: Llmaz) -> None:
    (folder / "pod.yaml").write_text(POD)
    record = json.loads(llmaz("check", "--explain-engine", "pod.yaml:14", "--format", "json").out)
    assert (record["engine"], record["version"], record["accelerators"]) == ("llamacpp", "b11434", {})
    assert record["options"][1] == {"line": 15, "text": "--ctx-size 4096"}


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("pod.yaml:3", "no engine at pod.yaml:3: its engines begin in line 6, 9, 13"),
        ("none.yaml:3", "no engine at none.yaml:3: no container there runs a known engine"),
        ("pod.yaml", "'pod.yaml' is not FILE:LINE"),
        ("pod.yaml:x", "'pod.yaml:x' is not FILE:LINE"),
        (":3", "':3' is not FILE:LINE"),
        ("missing.yaml:3", "missing.yaml: no such file or folder [E122]"),
    ],
)
def test_places_without_an_engine(place: str, message: str, folder: Path, llmaz: Llmaz) -> None:
    (folder / "pod.yaml").write_text(POD)
    (folder / "none.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    done = llmaz("check", "--explain-engine", place)
    assert done.code == 2
    assert message in done.err
    assert done.out == ""
