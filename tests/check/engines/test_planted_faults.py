"""Faults planted one by one into deployments of several shapes: each is told, at its own line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import Llmaz

# Each text runs vLLM 0.24 on two GPUs and has no fault; {args} stands for further arguments, one a line.
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat, namespace: llm}
spec:
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec:
      containers:
        - name: engine
          image: vllm/vllm-openai:v0.24.0
          args:
            - --model=org/blue
            - --served-model-name=blue
            - --tensor-parallel-size=2
            {args}
          ports: [{containerPort: 8000}]
          readinessProbe: {exec: {command: [asks]}}
          resources: {limits: {nvidia.com/gpu: 2}}
          volumeMounts: [{name: shm, mountPath: /dev/shm}]
      volumes: [{name: shm, emptyDir: {medium: Memory}}]
"""
GROUP = """\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: chat, namespace: llm}
spec:
  leaderWorkerTemplate:
    size: 1
    workerTemplate:
      spec:
        containers:
          - name: engine
            image: mirror.example/vllm/vllm-openai:v0.24.0
            command:
              - vllm
              - serve
              - org/blue
              - --served-model-name=blue
              - --tensor-parallel-size=2
              {args}
            resources: {limits: {nvidia.com/gpu: 2}}
            volumeMounts: [{name: shm, mountPath: /dev/shm}]
        volumes: [{name: shm, emptyDir: {medium: Memory}}]
"""
KSERVE = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: chat, namespace: llm}
spec:
  predictor:
    containers:
      - name: kserve-container
        image: vllm/vllm-openai:v0.24.0
        command: [python3, -m, vllm.entrypoints.openai.api_server]
        args:
          - --model=org/blue
          - --tensor-parallel-size=2
          {args}
        resources: {limits: {nvidia.com/gpu: 2}}
        volumeMounts: [{name: shm, mountPath: /dev/shm}]
    volumes: [{name: shm, emptyDir: {medium: Memory}}]
"""
RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: chat, namespace: llm}
spec:
  interval: 1h
  chartRef: {kind: OCIRepository, name: chart}
  values:
"""
APP_TEMPLATE = f"""{RELEASE}\
    controllers:
      chat:
        containers:
          app:
            image: {{repository: vllm/vllm-openai, tag: v0.24.0}}
            args:
              - --model=org/blue
              - --tensor-parallel-size=2
              {{args}}
            resources: {{limits: {{nvidia.com/gpu: 2}}}}
"""
MODEL_SERVICE = f"""{RELEASE}\
    decode:
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.24.0
          args:
            - --model=org/blue
            - --tensor-parallel-size=2
            {{args}}
          resources: {{limits: {{nvidia.com/gpu: 2}}}}
"""
STACK = f"""{RELEASE}\
    servingEngineSpec:
      modelSpec:
        - name: blue
          repository: vllm/vllm-openai
          tag: v0.24.0
          vllmConfig:
            extraArgs:
              - --disable-uvicorn-access-log
              {{args}}
"""
ONE_IMAGE = f"""{RELEASE}\
    image: {{repository: vllm/vllm-openai, tag: v0.24.0}}
    args:
      - --model=org/blue
      {{args}}
"""
HELM_CHART = """\
apiVersion: helm.cattle.io/v1
kind: HelmChart
metadata: {name: chat, namespace: kube-system}
spec:
  chart: stack
  valuesContent: |-
    servingEngineSpec:
      modelSpec:
        - name: blue
          repository: vllm/vllm-openai
          tag: v0.24.0
          vllmConfig:
            extraArgs:
              - --disable-uvicorn-access-log
              {args}
"""
APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: chat, namespace: argocd}
spec:
  sources:
    - {repoURL: 'https://example.com/values.git', ref: values}
    - repoURL: https://example.com/charts
      chart: app-template
      helm:
        FIELD
          image: {repository: vllm/vllm-openai, tag: v0.24.0}
          args:
            - --model=org/blue
            {args}
"""
RUNNER = """\
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: chat}
spec:
  engineConfig:
    runner:
      name: ome-container
      image: vllm/vllm-openai:v0.24.0
      command: [vllm, serve]
      args:
        - org/blue
        {args}
"""
SHAPES: Mapping[str, str] = {
    "Deployment": DEPLOYMENT,
    "LeaderWorkerSet": GROUP,
    "InferenceService": KSERVE,
    "app-template": APP_TEMPLATE,
    "llm-d-modelservice": MODEL_SERVICE,
    "production-stack": STACK,
    "one-image": ONE_IMAGE,
    "HelmChart": HELM_CHART,
    "Application": APPLICATION.replace("FIELD", "valuesObject:"),
    "Application with a text": APPLICATION.replace("FIELD", "values: |"),
    "runner": RUNNER,
}
ARGUMENTS: Mapping[str, str] = {
    "--task=embed": "E431",
    "--kv-cache-dtype=fp9": "E440",
    "--max-num-seqs=many": "E441",
    "--no-such-option": "E430",
}
FILL = "- --enable-prefix-caching"


def find_faults(text: str, folder: Path, llmaz: Llmaz) -> list[tuple[int, str]]:
    """Line and code of each error and warning about a file."""
    (folder / "all.yaml").write_text(text)
    err = llmaz("check", ".").err
    return [(int(line), code) for line, code in re.findall(r"^all\.yaml:(\d+):.*\[([EW]\d{3})\]$", err, re.MULTILINE)]


@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_is_wrong_without_a_fault(shape: str, folder: Path, llmaz: Llmaz) -> None:
    assert find_faults(SHAPES[shape].replace("{args}", FILL), folder, llmaz) == []


@pytest.mark.parametrize("argument", ARGUMENTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_arguments(shape: str, argument: str, folder: Path, llmaz: Llmaz) -> None:
    text = SHAPES[shape].replace("{args}", f"- {argument}")
    line = text[: text.index(argument)].count("\n") + 1
    assert find_faults(text, folder, llmaz) == [(line, ARGUMENTS[argument])]


@pytest.mark.parametrize("shape", [shape for shape, text in SHAPES.items() if "nvidia.com/gpu: 2" in text])
def test_accelerators(shape: str, folder: Path, llmaz: Llmaz) -> None:
    text = SHAPES[shape].replace("{args}", FILL).replace("--tensor-parallel-size=2", "--tensor-parallel-size=4")
    line = text[: text.index("--tensor-parallel-size=4")].count("\n") + 1
    assert find_faults(text, folder, llmaz) == [(line, "E416")]


SERVICE = """\
---
apiVersion: v1
kind: Service
metadata: {name: NAME, namespace: llm}
spec: {selector: {app: chat}, ports: [{port: 8000}]}
"""
SCALER = """\
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: chat, namespace: llm}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: chat}, maxReplicas: 4}
"""


def test_the_set_has_no_fault(folder: Path, llmaz: Llmaz) -> None:
    text = f"{DEPLOYMENT}{SERVICE}{SCALER}".replace("{args}", FILL).replace("NAME", "chat")
    assert find_faults(text, folder, llmaz) == []


@pytest.mark.parametrize(
    ("old", "new", "mark", "code"),
    [
        ("          volumeMounts: [{name: shm, mountPath: /dev/shm}]\n", "", "nvidia.com/gpu", "W428"),
        ("  selector:", "  replicas: 2\n  selector:", "replicas: 2", "E551"),
        (
            "          ports:",
            "          env: [{name: HF_TOKEN, value: hf_abcdefghijklmnopqrstuvwxyz0123}]\n          ports:",
            "hf_abc",
            "W300",
        ),
        (
            "          ports:",
            "          livenessProbe: {httpGet: {path: /health, port: 8000}}\n          ports:",
            "livenessProbe",
            "W452",
        ),
        ("NAME", "vllm", "      containers:", "E428"),
    ],
)
def test_what_stands_around(old: str, new: str, mark: str, code: str, folder: Path, llmaz: Llmaz) -> None:
    text = f"{DEPLOYMENT}{SERVICE}{SCALER}".replace("{args}", FILL).replace(old, new).replace("NAME", "chat")
    line = text[: text.index(mark)].count("\n") + 1
    assert find_faults(text, folder, llmaz) == [(line, code)]


@pytest.mark.parametrize(
    ("image", "command"),
    [
        ("vllm/vllm-openai:latest", "[vllm, serve, org/blue, -tp=2]"),
        ("vllm/vllm-openai:nightly", "[vllm, serve, org/blue, --tensor_parallel_size, '2']"),
        ("vllm/vllm-openai:latest", "[vllm, serve, org/blue, -tp, $(GPUS)]"),
        ("lmsysorg/sglang:latest", "[python3, -m, sglang.launch_server, --host=0.0.0.0, --tp-size, '2']"),
        ("lmsysorg/sglang:dev", "[python3, -m, sglang.launch_server, --host=0.0.0.0, --tp, $(GPUS)]"),
    ],
)
def test_other_spellings_in_a_version_that_nobody_knows(image: str, command: str, folder: Path, llmaz: Llmaz) -> None:
    text = re.sub(r"          args:\n(            .*\n)*", f"          command: {command}\n", DEPLOYMENT)
    text = text.replace("vllm/vllm-openai:v0.24.0", image)
    assert command in text
    assert find_faults(text, folder, llmaz) == []


OME = """\
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: chat}
spec:
  engineConfig:
    leader:
      hostIPC: true
      runner:
        name: ome-container
        image: lmsysorg/sglang:v0.5.6
        command: COMMAND
        resources: {limits: {nvidia.com/gpu: 8}}
    worker:
      size: 1
      hostIPC: true
      runner:
        name: ome-container
        image: lmsysorg/sglang:v0.5.6
        command: COMMAND
        resources: {limits: {nvidia.com/gpu: 8}}
"""


def test_a_leader_beside_workers_is_one_replica(folder: Path, llmaz: Llmaz) -> None:
    command = "[python3, -m, sglang.launch_server, --model-path=org/blue, --tp-size=16, --host=0.0.0.0]"
    assert find_faults(OME.replace("COMMAND", command), folder, llmaz) == []
    worker = "command: [python3, -m, sglang.launch_server, --model-path=org/blue, --tp-size=16]"
    text = OME.replace("COMMAND", command)
    before, after = text.split("    worker:")
    assert find_faults(f"{before}    worker:{after.replace(f'command: {command}', worker)}", folder, llmaz) == []
