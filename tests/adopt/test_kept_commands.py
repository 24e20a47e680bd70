"""A command line comes over as it is where nobody knows whether the preset's would do; else it becomes the preset's in
the version of the image.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Llmaz

SERVER = ["python3", "-m", "vllm.entrypoints.openai.api_server"]
MODEL = ["--model", "Qwen/Qwen3-8B"]
DIGEST = f"vllm/vllm-openai@sha256:{'0' * 64}"
KEPT = {
    "version in words": ("registry.example.com/vllm-openai-ubi9:0.4.2", None, MODEL),
    "before the program": ("vllm/vllm-openai:v0.4.3", SERVER, MODEL),
    "before all lists": ("vllm/vllm-openai:v0.5.5", None, MODEL),
    "newer than all lists": ("vllm/vllm-openai:v99.0.0", None, MODEL),
    "moving tag": ("vllm/vllm-openai:latest", None, MODEL),
    "no tag": ("vllm/vllm-openai", None, MODEL),
    "digest alone": (DIGEST, None, MODEL),
    "fork": ("quay.io/fork/vllm-openai:v0.24.0", None, MODEL),
    "vendor": ("rocm/sgl-dev:v0.5.1-rocm", ["python3", "-m", "sglang.launch_server"], ["--model-path", "a/b"]),
    "own build": ("registry.example.com/team/serve:7", ["vllm", "serve", "Qwen/Qwen3-8B"], ["--port", "9000"]),
    "command in args": (
        "nvcr.io/nvidia/vllm:26.05-py3",
        None,
        ["vllm", "serve", "Qwen/Qwen3-8B", "--port", "8000"],
    ),
    "module in args": (
        "nvcr.io/nvidia/sglang:26.05-py3",
        None,
        ["python3", "-m", "sglang.launch_server", "--model-path", "a/b"],
    ),
    "script": ("registry.example.com/llama:r36", ["bash", "-c", "llama-server -hf a/b:Q4_K_M --port 8081"], None),
    "hub's file": ("registry.example.com/llama:r36", ["/opt/llama-server"], ["-hf", "a/b", "-hff", "q4.gguf"]),
    "engine's variable": ("ghcr.io/huggingface/text-generation-inference:2.4.0", None, ["--model-id", "$(MODEL)"]),
    "trtllm": ("registry.example.com/trt:1", ["trtllm-serve", "Qwen/Qwen3-8B"], ["--port", "9000"]),
}
PRESET = {
    "mirror": ("mirror.example.com/hub/vllm/vllm-openai:v0.24.0", True),
    "older": ("vllm/vllm-openai:v0.10.2", False),
    "digest of a tag": (f"vllm/vllm-openai:v0.24.0@sha256:{'0' * 64}", True),
}


def container_after(tmp_path: Path, llmaz: Llmaz, image: str, command: list[str] | None, args: list[str] | None) -> Any:
    """The engine's container of what an adopted Deployment with one is rendered to, and what adopt said."""
    container: dict[str, object] = {"name": "e", "image": image, "command": command, "args": args}
    container |= {"env": [{"name": "MODEL", "value": "Qwen/Qwen3-8B"}], "resources": {"limits": {"nvidia.com/gpu": 1}}}
    pod = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": pod}
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "chat"}, "spec": spec}
    (tmp_path / "running.yaml").write_text(yaml.safe_dump(body), "utf-8")
    adopted = llmaz("adopt", str(tmp_path / "running.yaml"), "-o", str(tmp_path / "tree"))
    assert adopted.code == 0, adopted.err + adopted.out
    assert llmaz("render", str(tmp_path / "tree"), "-o", str(tmp_path / "out")).code == 0
    texts = [path.read_text("utf-8") for path in (tmp_path / "out").rglob("*.yaml")]
    objects = [body for text in texts for body in yaml.safe_load_all(text)]
    workload = next(body for body in objects if body["kind"] == "Deployment")
    return workload["spec"]["template"]["spec"]["containers"][0], adopted.err + adopted.out


@pytest.mark.parametrize("name", KEPT)
def test_the_same_container_starts(name: str, tmp_path: Path, llmaz: Llmaz) -> None:
    image, command, args = KEPT[name]
    container, report = container_after(tmp_path, llmaz, image, command, args)
    assert (container["image"], container.get("command"), container.get("args")) == (image, command, args)
    assert {"name": "MODEL", "value": "Qwen/Qwen3-8B"} in container["env"]
    assert "[N955]" in report
    assert "would set" in report
    assert "starts the same engine" not in report


@pytest.mark.parametrize("name", PRESET)
def test_a_known_version_gets_its_options(name: str, tmp_path: Path, llmaz: Llmaz) -> None:
    image, drains = PRESET[name]
    container, report = container_after(tmp_path, llmaz, image, None, MODEL)
    assert (container["image"], container["command"]) == (image, ["vllm", "serve"])
    assert ("--shutdown-timeout" in container["args"]) == drains
    assert "[N955]" not in report
    assert "starts the same engine" in report


def test_a_container_without_a_known_port_is_refused(tmp_path: Path, llmaz: Llmaz) -> None:
    """Another image than the engine's own may set the port."""
    (tmp_path / "running.yaml").write_text(
        """
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers:
        - {name: e, image: "registry.example.com/tgi:1", command: [text-generation-launcher, --model-id, a/b]}
""",
        "utf-8",
    )
    done = llmaz("adopt", str(tmp_path / "running.yaml"), "-o", str(tmp_path / "tree"))
    assert done.code == 2
    assert "the engine's port [E952]" in done.err


def adopted_container(tmp_path: Path, llmaz: Llmaz, *bodies: dict[str, Any]) -> tuple[Any, str]:
    """The engine's container of the LeaderWorkerSet that adopted objects are rendered to, with the names of the steps
    before it, and what adopt said.
    """
    (tmp_path / "running.yaml").write_text(yaml.safe_dump_all(bodies), "utf-8")
    adopted = llmaz("adopt", str(tmp_path / "running.yaml"), "-o", str(tmp_path / "tree"))
    assert adopted.code == 0, adopted.err + adopted.out
    done = llmaz("render", str(tmp_path / "tree"), "--stdout")
    assert done.code == 0, done.err
    workload = next(body for body in yaml.safe_load_all(done.out) if body["kind"] == "LeaderWorkerSet")
    spec = workload["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
    container = spec["containers"][0]
    return {**container, "steps": [body["name"] for body in spec.get("initContainers", ())]}, adopted.err + adopted.out


FORK = "registry.example.com/ml/vllm-fork:1.2"
LINE = ["vllm", "serve", "/mnt/models", "--served-model-name", "chat", "--port", "8000"]


@pytest.mark.parametrize("image", [FORK, "vllm/vllm-openai:nightly", "vllm/vllm-openai:v0.5.5"])
@pytest.mark.parametrize(
    ("line", "is_whole"), [({"command": LINE}, True), ({"args": ["--dtype", "half"]}, False)], ids=["whole", "end"]
)
def test_kserve_goes_on_with_its_command_line(
    tmp_path: Path, llmaz: Llmaz, image: str, line: dict[str, Any], is_whole: bool
) -> None:
    """A loader brings what KServe mounts, and the engine opens it there."""
    engine = {"name": "main", "image": image, "resources": {"limits": {"nvidia.com/gpu": 1}}, **line}
    spec = {"model": {"uri": "hf://Qwen/Qwen3-8B", "name": "chat"}, "template": {"containers": [engine]}}
    body = {"apiVersion": "serving.kserve.io/v1alpha2", "kind": "LLMInferenceService", "metadata": {"name": "chat"}}
    container, report = adopted_container(tmp_path, llmaz, {**body, "spec": spec})
    words = [*container["command"], *container["args"]]
    assert container["image"] == image
    assert words[:2] == ["vllm", "serve"]
    assert words[2].endswith("models--Qwen--Qwen3-8B")
    assert words[3:] == [*LINE[3:], *([] if is_whole else ["--dtype", "half"])]
    assert container["steps"] == ["model-loader"]
    assert "[N955]" in report


def test_kserve_without_an_image_gets_the_preset(tmp_path: Path, llmaz: Llmaz) -> None:
    engine = {"name": "main", "resources": {"limits": {"nvidia.com/gpu": 1}}}
    spec = {"model": {"uri": "hf://Qwen/Qwen3-8B", "name": "chat"}, "template": {"containers": [engine]}}
    body = {"apiVersion": "serving.kserve.io/v1alpha2", "kind": "LLMInferenceService", "metadata": {"name": "chat"}}
    container, report = adopted_container(tmp_path, llmaz, {**body, "spec": spec})
    assert "--shutdown-timeout" in container["args"]
    assert "[N955]" not in report


@pytest.mark.parametrize(
    ("repository", "tag", "is_kept"),
    [
        (FORK.partition(":")[0], "1.2", True),
        ("vllm/vllm-openai", "latest", True),
        ("vllm/vllm-openai", "v0.24.0", False),
    ],
)
def test_a_chart_goes_on_with_its_command_line(
    tmp_path: Path, llmaz: Llmaz, repository: str, tag: str, is_kept: bool
) -> None:
    model: dict[str, Any] = {"name": "chat", "repository": repository, "tag": tag, "modelURL": "Qwen/Qwen3-8B"}
    model |= {"replicaCount": 1, "requestCPU": 4, "requestMemory": "16Gi", "requestGPU": 1}
    model["vllmConfig"] = {"maxModelLen": 4096}
    container, report = adopted_container(tmp_path, llmaz, {"servingEngineSpec": {"modelSpec": [model]}})
    assert container["image"] == f"{repository}:{tag}"
    assert ("--shutdown-timeout" not in container["args"]) is is_kept
    assert ("Qwen/Qwen3-8B" in container["args"][:1]) is is_kept
    assert (container["steps"] == []) is is_kept
    assert ("[N955]" in report) is is_kept


def test_hosts_of_a_group_go_on_with_their_command_line(tmp_path: Path, llmaz: Llmaz) -> None:
    command = ["vllm", "serve", "Qwen/Qwen3-8B", "--tensor-parallel-size", "2", "--nnodes", "2"]
    engine = {"name": "e", "image": FORK, "command": command, "resources": {"limits": {"nvidia.com/gpu": 1}}}
    group = {"size": 2, "workerTemplate": {"spec": {"containers": [engine]}}}
    body = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": {"name": "big"}}
    container, _ = adopted_container(tmp_path, llmaz, {**body, "spec": {"leaderWorkerTemplate": group}})
    assert (container["image"], container["command"], container.get("args")) == (FORK, command, None)


@pytest.mark.parametrize("source", ["variable", "ConfigMap"])
def test_a_port_that_a_variable_says_is_known(tmp_path: Path, llmaz: Llmaz, source: str) -> None:
    """Of a version that is in no list, so that the command line stays."""
    variables = {"MODEL_ID": "Intel/neural-chat-7b-v3-3", "PORT": "2080"}
    engine: dict[str, Any] = {"name": "tgi", "image": "ghcr.io/huggingface/text-generation-inference:3.0.0"}
    if source == "variable":
        engine["env"] = [{"name": name, "value": value} for name, value in variables.items()]
    else:
        engine["envFrom"] = [{"configMapRef": {"name": "settings"}}]
    engine["resources"] = {"limits": {"nvidia.com/gpu": 1}}
    pod = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [engine]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": pod}
    body = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "tgi"}, "spec": spec}
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": variables}
    container, _ = adopted_container(tmp_path, llmaz, body, settings)
    assert {"name": "PORT", "value": "2080"} in container["env"]
    assert container["ports"][0]["containerPort"] == 2080
