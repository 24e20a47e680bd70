"""What hints about numbers, cards and disks advise, followed word for word: the finding goes, and no other comes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from msgspec import Struct

from tests.conftest import Llmaz

VLLM, SGLANG = "vllm/vllm-openai:v0.27.0", "lmsysorg/sglang:v0.5.9"
TGI = "ghcr.io/huggingface/text-generation-inference:3.3.5"
POD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat, namespace: llm}
spec:
  replicas: 1
  strategy: {type: Recreate}
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec:
      nodeSelector: {NODES}
      resourceClaims: [{name: gpus, resourceClaimTemplateName: gpus}]
      containers:
        - name: engine
          image: IMAGE
          LINE
          env: [ENV]
          ports: [{name: http, containerPort: PORT}]
          resources: {LIMITS}
          volumeMounts: [{name: shm, mountPath: /dev/shm}, {name: data, mountPath: DATA}]
          lifecycle: {preStop: {sleep: {seconds: 5}}}
      volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: SHM}}, {name: data, VOLUME}]
---
apiVersion: v1
kind: Service
metadata: {name: chat, namespace: llm}
spec: {selector: {app: chat}, ports: [{port: 80, targetPort: TARGET}]}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: weights, namespace: llm}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: CLAIM}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpus, namespace: llm}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: COUNT}}]}}}
"""
USUAL = {
    "NODES": "",
    "IMAGE": VLLM,
    "LINE": "args: [org/some]",
    "ENV": "",
    "PORT": "8000",
    "LIMITS": "limits: {nvidia.com/gpu: 1}",
    "DATA": "/scratch",
    "SHM": "40Gi",
    "VOLUME": "emptyDir: {}",
    "TARGET": "http",
    "CLAIM": "100Gi",
    "COUNT": "8",
}
CLAIMED = "persistentVolumeClaim: {claimName: weights}"
QWEN = "args: [Qwen/Qwen3-32B, --tensor-parallel-size, '2']"
LAUNCH = "command: [python3, -m, sglang.launch_server, --model-path, org/some, --host, 0.0.0.0"


class Advice(Struct, frozen=True):
    """A fault, the words of the hint about it, and what these lead to, each as an alternative."""

    code: str
    fault: Mapping[str, str]
    hint: str
    followed: Sequence[Mapping[str, str]]


T4 = {"NODES": "nvidia.com/gpu.product: Tesla-T4"}
TURNS = {"LIMITS": "limits: {nvidia.com/gpu.shared: 1}"}
SMALL = {"LIMITS": "limits: {nvidia.com/gpu: 1, memory: 32Gi}"}
ADVICE = [
    Advice(
        "E483",
        {**T4, "LINE": "args: [org/some, --dtype, bfloat16]"},
        "write --dtype float16",
        [{"LINE": "args: [org/some, --dtype, float16]"}],
    ),
    Advice(
        "E483",
        {**T4, "LINE": "args: [org/some, --attention-backend, FLASH_ATTN]"},
        "leave --attention-backend out",
        [{"LINE": "args: [org/some]"}],
    ),
    Advice(
        "E483",
        {**T4, "IMAGE": SGLANG, "PORT": "30000", "LINE": f"{LAUNCH}, --quantization, modelopt_fp4]"},
        "use accelerators of that compute capability",
        [{"NODES": "nvidia.com/gpu.product: NVIDIA-B200"}],
    ),
    Advice(
        "W484",
        TURNS,
        "write --gpu-memory-utilization with the part that each of them may take, such as 0.3",
        [{"LINE": "args: [org/some, --gpu-memory-utilization, '0.3']"}],
    ),
    Advice(
        "W484",
        {**TURNS, "IMAGE": SGLANG, "PORT": "30000", "LINE": f"{LAUNCH}]"},
        "write --mem-fraction-static with the part that each of them may take, such as 0.3",
        [{"LINE": f"{LAUNCH}, --mem-fraction-static, '0.3']"}],
    ),
    Advice(
        "E416",
        {
            "LIMITS": "limits: {nvidia.com/mig-3g.40gb: 2}",
            "LINE": "args: [org/some, --tensor-parallel-size, '2']",
        },
        "request 1 of them and lower the number to 1, or request whole accelerators",
        [
            {
                "LIMITS": "limits: {nvidia.com/mig-3g.40gb: 1}",
                "LINE": "args: [org/some, --tensor-parallel-size, '1']",
            },
            {"LIMITS": "limits: {nvidia.com/gpu: 2}"},
        ],
    ),
    Advice(
        "E416",
        {"LIMITS": "claims: [{name: gpus}]", "COUNT": "4", "LINE": "args: [org/some, --tensor-parallel-size, '8']"},
        "raise the count of the claim, or lower the number",
        [{"COUNT": "8"}, {"LINE": "args: [org/some, --tensor-parallel-size, '4']"}],
    ),
    Advice(
        "E485",
        {
            "IMAGE": TGI,
            "PORT": "80",
            "LINE": "args: [--model-id, org/some, --max-input-tokens, '8192', --max-total-tokens, '4096']",
        },
        "write --max-input-tokens 4095 or less, or raise --max-total-tokens",
        [
            {"LINE": "args: [--model-id, org/some, --max-input-tokens, '4095', --max-total-tokens, '4096']"},
            {"LINE": "args: [--model-id, org/some, --max-input-tokens, '8192', --max-total-tokens, '8193']"},
        ],
    ),
    Advice(
        "E485",
        {"LINE": "args: [org/some, --max-num-seqs, '512', --max-num-batched-tokens, '256']"},
        "write --max-num-seqs 256 or less, or raise --max-num-batched-tokens",
        [
            {"LINE": "args: [org/some, --max-num-seqs, '256', --max-num-batched-tokens, '256']"},
            {"LINE": "args: [org/some, --max-num-seqs, '512', --max-num-batched-tokens, '512']"},
        ],
    ),
    Advice(
        "E486",
        {"LIMITS": "limits: {nvidia.com/gpu: 2, ephemeral-storage: 20Gi}", "LINE": QWEN},
        "write 70Gi or more there, or mount a claim of that size at /root/.cache/huggingface",
        [
            {"LIMITS": "limits: {nvidia.com/gpu: 2, ephemeral-storage: 70Gi}"},
            {"DATA": "/root/.cache/huggingface", "VOLUME": CLAIMED, "CLAIM": "70Gi"},
        ],
    ),
    Advice(
        "W486",
        {
            "LIMITS": "limits: {nvidia.com/gpu: 2}",
            "LINE": QWEN,
            "DATA": "/root/.cache/huggingface",
            "VOLUME": CLAIMED,
            "CLAIM": "50Gi",
        },
        "request 70Gi or more",
        [{"CLAIM": "70Gi"}],
    ),
    Advice("W487", {"PORT": "8080"}, "write containerPort: 8000 at the port 'http'", [{"PORT": "8000"}]),
    Advice("W487", {"TARGET": "8080"}, "write targetPort: 8000", [{"TARGET": "8000"}]),
    Advice(
        "E488",
        {**SMALL, "LINE": "args: [org/some, --kv-offloading-size, '36']"},
        "write limits.memory: 52Gi or more, or lower --kv-offloading-size",
        [
            {"LIMITS": "limits: {nvidia.com/gpu: 1, memory: 52Gi}"},
            {"LINE": "args: [org/some, --kv-offloading-size, '16']"},
        ],
    ),
    Advice(
        "E489",
        {"SHM": "16Gi", "LINE": "args: [org/some, --kv-offloading-size, '24']"},
        "make it 40Gi or more, or lower --kv-offloading-size",
        [{"SHM": "40Gi"}, {"LINE": "args: [org/some, --kv-offloading-size, '8']"}],
    ),
    Advice(
        "N490",
        {"DATA": "/data", "VOLUME": CLAIMED},
        "mount the claim at /root/.cache/huggingface, or set HF_HOME to /data",
        [{"DATA": "/root/.cache/huggingface"}, {"ENV": "{name: HF_HOME, value: /data}"}],
    ),
]


def codes_and_hints(words: Mapping[str, str], folder: Path, llmaz: Llmaz) -> tuple[set[str], str]:
    """The codes that `check --strict` gives the manifests with these words, and all that it prints."""
    text = POD
    for name, word in {**USUAL, **words}.items():
        text = text.replace(name, word, 1) if name != "LINE" else text.replace("LINE", word, 1)
    (folder / "all.yaml").write_text(text)
    done = llmaz("check", "--strict", ".")
    return set(re.findall(r"\[([EWN][0-9]{3})\]$", done.err, re.MULTILINE)), done.err


@pytest.mark.parametrize("advice", ADVICE, ids=[f"{advice.code}-{i}" for i, advice in enumerate(ADVICE)])
def test_a_hint_is_followed(advice: Advice, folder: Path, llmaz: Llmaz) -> None:
    usual, _ = codes_and_hints({}, folder, llmaz)
    codes, printed = codes_and_hints(advice.fault, folder, llmaz)
    assert advice.code in codes - usual
    assert f"    hint: {advice.hint}" in printed
    for words in advice.followed:
        after, printed = codes_and_hints({**advice.fault, **words}, folder, llmaz)
        assert advice.code not in after, printed
        assert after <= codes | usual, printed
