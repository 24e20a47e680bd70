"""What each hint about an engine advises, followed word for word: the finding goes, and no other comes.

Those about options and words of a command line are in test_followed_lines.py; error_pages/test_all_hints.py knows of
each code where its hint is followed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template

import pytest
from msgspec import Struct

from tests.conftest import Llmaz

VLLM, SGLANG = "vllm/vllm-openai:v0.27.0", "lmsysorg/sglang:v0.5.9"
TGI = "ghcr.io/huggingface/text-generation-inference:3.3.5"
MANIFESTS = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat, namespace: llm}
spec:
  strategy: $STRATEGY
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec:
      nodeSelector: {$NODES}
      terminationGracePeriodSeconds: $GRACE
      resourceClaims: [{name: gpus, resourceClaimTemplateName: gpus}]
      containers:
        - name: engine
          image: $IMAGE
          $LINE
          env: [$ENV]
          ports: [{name: http, containerPort: $PORT}]
          resources: {$LIMITS}
          volumeMounts: [{name: shm, mountPath: /dev/shm}, {name: data, mountPath: $DATA}]
          $HOOK
          $PROBES
      volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: $SHM}}, {name: data, $VOLUME}]
---
apiVersion: v1
kind: Service
metadata: {name: chat, namespace: llm}
spec: {selector: {app: chat}, ports: [{port: 80, targetPort: $TARGET}]}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: weights, namespace: llm}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: $CLAIM}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpus, namespace: llm}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: $COUNT}}]}}}
$BESIDE"""
HOSTS = """\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: chat, namespace: llm}
spec:
  replicas: 2
  serviceName: chat
  podManagementPolicy: $ORDER
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec:
      containers:
        - name: engine
          image: $IMAGE
          $LINE
          lifecycle: {preStop: {sleep: {seconds: 20}}}
          readinessProbe: {tcpSocket: {port: $PORT}}
---
apiVersion: v1
kind: Service
metadata: {name: chat, namespace: llm}
spec:
  clusterIP: None
  selector: {app: chat}
  ports: [{port: 5000}]
  $ADDRESSES
"""
GATEWAY = """\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: eg}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: models, namespace: llm}
spec:
  gatewayClassName: eg
  listeners: [{name: http, protocol: HTTP, port: 80}]
---
apiVersion: aigateway.envoyproxy.io/v1beta1
kind: AIGatewayRoute
metadata: {name: blue, namespace: llm}
spec:
  parentRefs: [{name: models, kind: Gateway, group: gateway.networking.k8s.io}]
  rules:
    - matches: [{headers: [{type: Exact, name: x-ai-eg-model, value: blue}]}]
      backendRefs: [{name: blue}]
      timeouts: {request: 600s}
---
apiVersion: aigateway.envoyproxy.io/v1beta1
kind: AIServiceBackend
metadata: {name: blue, namespace: llm}
spec:
  schema: {name: OpenAI}
  backendRef: {group: gateway.envoyproxy.io, kind: Backend, name: blue}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: Backend
metadata: {name: blue, namespace: llm}
spec: {endpoints: [{fqdn: {hostname: models.example.com, port: 80}}]}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: ClientTrafficPolicy
metadata: {name: buffer, namespace: llm}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: $TARGET}]
  $POLICY
"""
INPUT = """\
apiVersion: renderer.llmaz.io/v1alpha1
kind: RenderConfig
metadata: {name: config}
spec: {gateway: {mode: "off"}, $CONFIG}
--- # all.yaml
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: blue}
spec:
  familyName: blue
  source: {$SOURCE}
  facts: {$FACTS}
  inferenceConfig: {flavors: [$FLAVORS]}
  engines: {$ENGINES}
---
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: small}
spec: {familyName: blue, source: {modelHub: {modelID: org/small, revision: v1}}}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: BackendRuntime
metadata: {name: mine}
spec:
  image: $OWN
  version: $VERSION
  command: [vllm, serve]
  recommendedConfigs: [{name: default, args: ["{{ ModelPath }}", --port, "{{ Port }}", $ARGS]}]
  engine: {options: {$OPTIONS}, $ENGINE}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: chat, namespace: llm}
spec:
  $CLAIMED
  backendRuntimeConfig: {$BACKEND}
  $FIELDS
"""
USUAL: Mapping[str, Mapping[str, str]] = {
    MANIFESTS: {
        "STRATEGY": "{type: Recreate}",
        "GRACE": "30",
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
        "HOOK": "lifecycle: {preStop: {sleep: {seconds: 5}}}",
        "PROBES": "readinessProbe: {tcpSocket: {port: http}}",
        "BESIDE": "",
    },
    HOSTS: {
        "ORDER": "Parallel",
        "IMAGE": VLLM,
        "LINE": "args: [org/some, --nnodes, '2', --node-rank, $(RANK), --master-addr, chat-0.chat]",
        "PORT": "8000",
        "ADDRESSES": "publishNotReadyAddresses: true",
    },
    GATEWAY: {"TARGET": "models", "POLICY": "connection: {bufferLimit: 1Mi}"},
    INPUT: {
        "CONFIG": "",
        "SOURCE": "modelHub: {modelID: org/some, revision: v1}",
        "FACTS": "",
        "FLAVORS": "{name: gpu, limits: {nvidia.com/gpu: 1}}",
        "ENGINES": "",
        "OWN": "vllm/vllm-openai",
        "VERSION": "v0.33.0",
        "ARGS": "",
        "OPTIONS": r"style: argparse, list: flags/vllm.txt, version: '^v?(\d+\.\d+\.\d+)'",
        "ENGINE": "",
        "CLAIMED": "modelClaim: {modelName: blue}",
        "BACKEND": "",
        "FIELDS": "",
    },
}
END_OF_CONFIG = "--- # all.yaml\n"  # what stands before it is llmaz.yaml
CLAIMED = "persistentVolumeClaim: {claimName: weights}"
QWEN = "args: [Qwen/Qwen3-32B, --tensor-parallel-size, '2']"
SCALED = """\
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: chat, namespace: llm}
spec:
  scaleTargetRef: {name: chat}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - type: prometheus
      metadata: {serverAddress: "http://prometheus:9090", query: "sum(METRIC)", threshold: "5"}
"""
LAUNCH = "command: [python3, -m, sglang.launch_server, --model-path, org/some, --host, 0.0.0.0"
SERVE = "text-generation-launcher, --model-id, org/some"


class Advice(Struct, frozen=True):
    """A fault, a pattern of the whole hint about it, and what the hint leads to, each as an alternative: words of its
    text, in which `\\1` is what the first group of the pattern found in the hint.
    """

    code: str
    fault: Mapping[str, str]
    hint: str
    followed: Sequence[Mapping[str, str]]
    text: str = MANIFESTS


T4 = {"NODES": "nvidia.com/gpu.product: Tesla-T4"}
ON_L4 = {"NODES": "nvidia.com/gpu.product: NVIDIA-L4"}
UNCHUNKED = "--no-enable-chunked-prefill"
TURNS = {"LIMITS": "limits: {nvidia.com/gpu.shared: 1}"}
SMALL = {"LIMITS": "limits: {nvidia.com/gpu: 1, memory: 32Gi}"}
OF_SGLANG = {"IMAGE": SGLANG, "PORT": "30000"}
OF_TGI = {"IMAGE": TGI, "PORT": "80"}
GGUF = "modelHub: {modelID: org/some-GGUF, filename: some.gguf}"
GPT_OSS = {"CLAIMED": "modelClaim: {modelName: gpt-oss-20b}"}
L4 = "{name: gpu, limits: {nvidia.com/gpu: 1}, accelerator: l4-24g}"
SHAPE = "attention: {layers: 32, heads: 32, kvHeads: 8, headDim: 128}"
DRAFT = "modelClaims: {models: [{name: blue}, {name: small, role: draft}]}"
NEWER = "use that version or a newer one"
COPY = r"take another version, or set what it gets in a copy of the BackendRuntime \(spec\.engine\.versions\)"
IB = "flavors: {ib: {limits: {nvidia.com/gpu: 8}, capabilities: [IPC_LOCK]}}"
OWN_IMAGE = {"FIELDS": 'podTemplate: {spec: {containers: [{name: model-runner, image: "registry.example/own:2"}]}}'}
TRANSFER = """version: v0.33.0, args: [--kv-transfer-config, '{"kv_connector": "Our", %s}']"""
PROBE = "periodSeconds: 10, failureThreshold: 3"


def scaled(metric: str) -> dict[str, str]:
    """A ScaledObject of the Deployment that asks for a metric."""
    return {"BESIDE": SCALED.replace("METRIC", metric)}


def fits(facts: str, *, accelerators: int = 1, **words: str) -> dict[str, str]:
    """Facts of a model, and as many L4 as its flavor has."""
    return {"FACTS": facts, "FLAVORS": L4.replace("gpu: 1", f"gpu: {accelerators}"), **words}


ADVICE = [
    Advice(
        "E436",
        {"SOURCE": 'uri: "host:///data/blue 30b"', "BACKEND": "backendName: tgi"},
        r"write it without spaces and wildcards, or use a BackendRuntime whose command is the server itself",
        [
            {"SOURCE": 'uri: "host:///data/blue-30b"'},
            {"BACKEND": "backendName: mine", "ENGINE": "sources: [host]"},
        ],
        INPUT,
    ),
    Advice(
        "E438",
        {"SOURCE": GGUF, "FLAVORS": "", "BACKEND": "backendName: ollama, args: [--ctx-size, '4096']"},
        r"it is configured by environment variables: write backendRuntimeConfig\.(\w+); "
        r"'--ctx-size' is (\w+) \(.*\) there",
        [{"BACKEND": r"backendName: ollama, \1: [{name: \2, value: '4096'}]"}],
        INPUT,
    ),
    Advice(
        "E444",
        {"FACTS": "kind: reranker", "BACKEND": "version: v0.6.6"},
        r"use version (\S+) or newer",
        [{"BACKEND": r"version: v\1"}, {"BACKEND": "version: v0.33.0"}],
        INPUT,
    ),
    Advice(
        "E444",
        {"FACTS": "kind: reranker", "BACKEND": "backendName: sglang, version: v0.4.7"},
        r"use version (\S+) or newer",
        [{"BACKEND": r"backendName: sglang, version: v\1"}],
        INPUT,
    ),
    Advice(
        "E444",
        {"CLAIMED": DRAFT, "BACKEND": "version: v0.10.0"},
        r"use version (\S+) or newer, or (\S+)",
        [{"BACKEND": r"version: v\1"}, {"BACKEND": r"version: v\2"}],
        INPUT,
    ),
    Advice(
        "E444",
        {
            "FLAVORS": "{name: gpu, limits: {nvidia.com/gpu: 8}}",
            "BACKEND": "version: v0.8.2",
            "FIELDS": f"parallelism: {{tensor: 4, data: 2}}\n  {OWN_IMAGE['FIELDS']}",
        },
        r"use version (\S+) or newer; the image in the podTemplate has to be of that version too",
        [{"BACKEND": r"version: v\1"}],
        INPUT,
    ),
    Advice(
        "E445",
        {"ARGS": "--shutdown-timeout, '90'", "BACKEND": "backendName: mine, version: v0.8.5"},
        rf"it was added in (\S+): {NEWER}",
        [{"BACKEND": r"backendName: mine, version: v\1"}, {"BACKEND": "backendName: mine, version: v0.33.0"}],
        INPUT,
    ),
    Advice(
        "W445",
        {"ARGS": "--shutdown-timeout, '90'", "BACKEND": "backendName: mine, version: v0.8.6"},
        rf"it was added in (\S+): {NEWER}",
        [{"BACKEND": r"backendName: mine, version: v\1"}],
        INPUT,
    ),
    Advice(
        "E445",
        {"ARGS": "--swap-space, '4'", "VERSION": "v0.8.5", "BACKEND": "backendName: mine, version: v0.33.0"},
        r"it was removed in (\S+): take an older version",
        [{"BACKEND": "backendName: mine, version: v0.8.5"}],
        INPUT,
    ),
    Advice(
        "E445",
        {"ARGS": "--load-format, runai_streamer", "BACKEND": "backendName: mine, version: v0.6.5"},
        COPY,
        [
            {"BACKEND": "backendName: mine, version: v0.33.0"},
            {"ENGINE": "versions: [{until: 0.6.6, args: {--load-format: []}}]"},
        ],
        INPUT,
    ),
    Advice(
        "E446",
        {"ENGINE": "derived: [{since: 0.9.0, until: 0.8.0, args: [--seed, '1']}]", "BACKEND": "backendName: mine"},
        r"'until' is the first version after the range",
        [{"ENGINE": "derived: [{since: 0.9.0, until: 0.9.1, args: [--seed, '1']}]"}],
        INPUT,
    ),
    Advice(
        "E446",
        {"ENGINES": "vllm: {args: [--seed, '1'], versions: [{since: 0.9.0, until: 0.9.0, args: {--seed: []}}]}"},
        r"'until' is the first version after the range",
        [{"ENGINES": "vllm: {args: [--seed, '1'], versions: [{since: 0.9.0, until: 0.9.1, args: {--seed: []}}]}"}],
        INPUT,
    ),
    Advice(
        "E447",
        {"ENGINE": "versions: [{until: 0.9.0, args: {--prot: [--port]}}]", "BACKEND": "backendName: mine"},
        r"name one of its own arguments, as it is spelt there",
        [{"ENGINE": "versions: [{until: 0.9.0, args: {--port: [--port]}}]"}],
        INPUT,
    ),
    Advice(
        "E447",
        {"ENGINES": "vllm: {args: [--seed, '1'], versions: [{until: 0.9.0, args: {--sead: []}}]}"},
        r"name one of its own arguments, as it is spelt there",
        [{"ENGINES": "vllm: {args: [--seed, '1'], versions: [{until: 0.9.0, args: {--seed: []}}]}"}],
        INPUT,
    ),
    Advice(
        "E448",
        {"CONFIG": f"hardening: restricted, {IB}", "FLAVORS": "{name: ib}"},
        r"write (hardening: \w+), or leave them out of the flavor",
        [{"CONFIG": rf"\1, {IB}"}, {"CONFIG": "hardening: restricted, flavors: {ib: {limits: {nvidia.com/gpu: 8}}}"}],
        INPUT,
    ),
    Advice(
        "N449",
        OWN_IMAGE,
        r"name it in backendRuntimeConfig\.(\w+), such as (\S+)",
        [{"BACKEND": r"\1: \2"}],
        INPUT,
    ),
    Advice(
        "N449",
        {"OWN": "registry.example/own", "VERSION": "'2026.11'", "BACKEND": "backendName: mine"},
        r"write the version itself as spec\.engine\.options\.(\w+)",
        [{"OPTIONS": r"style: argparse, list: flags/vllm.txt, \1: 0.33.0"}],
        INPUT,
    ),
    Advice(
        "N450",
        {**GPT_OSS, "BACKEND": "version: v0.10.1"},
        r"take another version, or write what this one has instead into backendRuntimeConfig\.args",
        [{"BACKEND": "version: v0.33.0"}],
        INPUT,
    ),
    Advice(
        "N450",
        {"CLAIMED": "modelClaim: {modelName: qwen3-8b}", "BACKEND": "version: v0.7.3"},
        r"take another version, or write what this one has instead into backendRuntimeConfig\.args",
        [
            {"BACKEND": "version: v0.33.0"},
            {"BACKEND": "version: v0.7.3, args: [--enable-reasoning, --reasoning-parser, deepseek_r1]"},
        ],
        INPUT,
    ),
    Advice(
        "W451",
        {**OF_SGLANG, "LINE": "command: [python3, -m, sglang.launch_server, --model-path, org/some]"},
        r"add (\S+) (\S+)",
        [{"LINE": r"command: [python3, -m, sglang.launch_server, --model-path, org/some, \1, \2]"}],
    ),
    Advice(
        "W451",
        {
            "IMAGE": "ghcr.io/ggml-org/llama.cpp:server-b11434",
            "PORT": "8080",
            "LINE": "args: [-m, /scratch/m.gguf, --host, localhost]",
        },
        r"write (\S+) (\S+)",
        [{"LINE": r"args: [-m, /scratch/m.gguf, \1, \2]"}],
    ),
    Advice(
        "W451",
        {"IMAGE": "nvcr.io/nvidia/tensorrt-llm/release:1.2.1", "LINE": "command: [trtllm-serve, org/some]"},
        r"add (\S+) (\S+)",
        [{"LINE": r"command: [trtllm-serve, org/some, \1, \2]"}],
    ),
    Advice(
        "W452",
        {
            "PROBES": f"livenessProbe: {{httpGet: {{path: /health, port: http}}, {PROBE}}}\n"
            "          readinessProbe: {httpGet: {path: /health, port: http}}"
        },
        r"add a startupProbe that waits as long as the model loads, such as (failureThreshold: .*)",
        [
            {
                "PROBES": f"livenessProbe: {{httpGet: {{path: /health, port: http}}, {PROBE}}}\n"
                "          readinessProbe: {httpGet: {path: /health, port: http}}\n"
                r"          startupProbe: {httpGet: {path: /health, port: http}, \1}"
            }
        ],
    ),
    Advice(
        "W453",
        {"PROBES": "readinessProbe: {httpGet: {path: /health, port: 8080}}"},
        r"set the probe's port to (\d+), or let the engine listen on (\d+)",
        [
            {"PROBES": r"readinessProbe: {httpGet: {path: /health, port: \1}}"},
            {"LINE": r"args: [org/some, --port, '\2']", "PORT": r"\2"},
        ],
    ),
    Advice(
        "N454",
        {"HOOK": ""},
        r"add a hook that sleeps some seconds, and a (\w+) that is long enough for long answers",
        [{"HOOK": "lifecycle: {preStop: {sleep: {seconds: 15}}}", "GRACE": "300"}],
    ),
    Advice(
        "E455",
        fits(f"weightsGiB: 60, contextLength: 8192, {SHAPE}"),
        r"(\d+) accelerators with tensor parallel size (\d+) would fit: "
        r"write limits: {nvidia.com/gpu: (\d+)} in flavor 'gpu'",
        [fits(f"weightsGiB: 60, contextLength: 8192, {SHAPE}", accelerators=4)],
        INPUT,
    ),
    Advice(
        "W455",
        fits(f"weightsGiB: 21.9, contextLength: 8192, {SHAPE}"),
        r"(\d+) accelerators with tensor parallel size (\d+) would fit: "
        r"write limits: {nvidia.com/gpu: (\d+)} in flavor 'gpu'",
        [fits(f"weightsGiB: 21.9, contextLength: 8192, {SHAPE}", accelerators=2)],
        INPUT,
    ),
    Advice(
        "E455",
        {
            **fits("weightsGiB: 60, contextLength: 8192, attention: {layers: 32, heads: 1, kvHeads: 1, headDim: 128}"),
            "FLAVORS": f"{L4}, {{name: large, limits: {{nvidia.com/gpu: 1}}, accelerator: h200-141g}}",
            "CLAIMED": "modelClaim: {modelName: blue, inferenceFlavors: [gpu]}",
        },
        r"flavor '(\w+)' of the model would fit",
        [{"CLAIMED": r"modelClaim: {modelName: blue, inferenceFlavors: [\1]}"}],
        INPUT,
    ),
    Advice(
        "E455",
        fits("weightsGiB: 900, contextLength: 8192, attention: {layers: 32, heads: 1, kvHeads: 1, headDim: 128}"),
        r"take larger accelerators, or a smaller model",
        [fits("weightsGiB: 9, contextLength: 8192, attention: {layers: 32, heads: 1, kvHeads: 1, headDim: 128}")],
        INPUT,
    ),
    Advice(
        "W456",
        fits(f"weightsGiB: 15, contextLength: 131072, {SHAPE}"),
        r"(\S+) (\d+) would fit, and (\S+) (\S+) chooses what fits",
        [{"BACKEND": r"args: [\1, '\2']"}, {"BACKEND": r"args: [\3, \4]"}],
        INPUT,
    ),
    Advice(
        "W456",
        fits(f"weightsGiB: 15, contextLength: 131072, {SHAPE}", BACKEND="backendName: sglang"),
        r"(\S+) (\d+) would fit",
        [{"BACKEND": r"backendName: sglang, args: [\1, '\2']"}],
        INPUT,
    ),
    Advice(
        "W456",
        fits("weightsGiB: 15, contextLength: 1000, attention: {layers: 100, heads: 128, kvHeads: 128, headDim: 128}"),
        r"(\S+) (\S+) would fit",
        [{"BACKEND": r"args: [\1, \2]"}],
        INPUT,
    ),
    Advice(
        "W457",
        fits(
            f"weightsGiB: 15, contextLength: 65536, {SHAPE}, measured: "
            "[{backend: vllm, version: 0.33.0, accelerator: l4-24g, tensor: 1, kvTokens: 40000}]"
        ),
        r"lower the maximum context length",
        [{"BACKEND": "args: [--max-model-len, '32768']"}],
        INPUT,
    ),
    Advice(
        "W458",
        fits(f"weightsGiB: 15, contextLength: 32768, {SHAPE}"),
        r"lower the maximum context length, or write what the engine prints at startup into facts\.(\w+)",
        [
            {"BACKEND": "args: [--max-model-len, '8192']"},
            {
                "FACTS": rf"weightsGiB: 15, contextLength: 32768, {SHAPE}, \1: "
                "[{backend: vllm, version: 0.33.0, accelerator: l4-24g, tensor: 1, kvTokens: 40000}]"
            },
        ],
        INPUT,
    ),
    Advice(
        "N459",
        fits(
            "weightsGiB: 30, contextLength: 8192, attention: {layers: 32, heads: 32, kvHeads: 2, headDim: 128}",
            accelerators=4,
        ),
        r"lower the tensor parallel size, and use more replicas instead; or use pipeline or context parallelism",
        [
            {"FLAVORS": L4.replace("gpu: 1", "gpu: 2")},
            {"FIELDS": "parallelism: {tensor: 2, pipeline: 2}"},
            {"BACKEND": "args: [--decode-context-parallel-size, '2']"},
        ],
        INPUT,
    ),
    Advice(
        "N460",
        {"OPTIONS": "style: argparse"},
        r"name a list under spec\.engine\.options\.list \(llmaz's scripts/make_options\.py makes it of a --help\), "
        r"or write (list: none)",
        [
            {"OPTIONS": r"style: argparse, list: flags/vllm.txt, version: 0.33.0"},
            {"OPTIONS": r"style: argparse, \1"},
        ],
        INPUT,
    ),
    Advice(
        "E461",
        {"SOURCE": GGUF, "FLAVORS": "", "FACTS": "kind: reranker", "BACKEND": "backendName: ollama"},
        r"it has no API for reranking; set backendName: '(\w+)'",
        [{"BACKEND": r"backendName: \1"}],
        INPUT,
    ),
    Advice(
        "E461",
        {"FACTS": "kind: embedding", "BACKEND": "backendName: tensorrt-llm"},
        r"its server only generates text; set backendName: '(\w+)' or '(\w+)'",
        [{"BACKEND": r"backendName: \1"}, {"BACKEND": r"backendName: \2"}],
        INPUT,
    ),
    Advice(
        "E462",
        {"FACTS": "kind: embedding", "BACKEND": "args: [--runner, generate]"},
        r"leave it out: the preset sets (\S+) (\S+)",
        [{"BACKEND": ""}],
        INPUT,
    ),
    Advice(
        "E462",
        {"FACTS": "kind: chat", "BACKEND": "backendName: sglang, args: [--is-embedding]"},
        r"leave it out; or write kind: (\w+) or (\w+) in the facts of the model",
        [{"BACKEND": "backendName: sglang"}, {"FACTS": r"kind: \1"}, {"FACTS": r"kind: \2"}],
        INPUT,
    ),
    Advice(
        "W462",
        {
            "SOURCE": GGUF,
            "FLAVORS": "",
            "FACTS": "kind: reranker",
            "BACKEND": "backendName: llamacpp, args: [--embeddings, --reranking]",
        },
        r"leave it out",
        [{"BACKEND": "backendName: llamacpp, args: [--reranking]"}],
        INPUT,
    ),
    Advice(
        "E463",
        {"FACTS": "kind: embedding", "CLAIMED": DRAFT},
        r"leave the draft model out",
        [{"CLAIMED": "modelClaim: {modelName: blue}"}],
        INPUT,
    ),
    Advice(
        "E464",
        {"CLAIMED": "modelClaim: {modelName: qwen3-8b}", "FIELDS": "parallelism: {tensor: 3}"},
        r"use a number that divides 32, such as (\d+)",
        [{"FIELDS": r"parallelism: {tensor: \1}"}],
        INPUT,
    ),
    Advice(
        "W464",
        {"BACKEND": 'version: "0.32.0"'},
        r"write version: (\S+)",
        [{"BACKEND": r"version: \1"}],
        INPUT,
    ),
    Advice(
        "E474",
        {"FIELDS": "parallelism: {tensor: 2, hosts: 4}"},
        r"write (hosts: \d+), or change the sizes; hosts sets nothing",
        [{"FIELDS": r"parallelism: {tensor: 2, \1}"}],
        INPUT,
    ),
    Advice(
        "W474",
        {"FIELDS": "parallelism: {tensor: 2}"},
        r"for one host write (limits: .*) in flavor 'gpu'; if several hosts are meant, write (hosts: \d+) beside it",
        [{"FLAVORS": r"{name: gpu, \1}"}, {"FIELDS": r"parallelism: {tensor: 2, \2}"}],
        INPUT,
    ),
    Advice(
        "W474",
        {"FIELDS": "parallelism: {pipeline: 2}"},
        r"for one host write (limits: .*) in flavor 'gpu' and leave pipeline out; .*",
        [{"FLAVORS": r"{name: gpu, \1}", "FIELDS": ""}],
        INPUT,
    ),
    Advice(
        "W474",
        {"CLAIMED": "modelClaim: {modelName: qwen3-8b}", "FIELDS": "parallelism: {tensor: 4}"},
        r"for one host write (flavors: .*) in RenderConfig and claim (inferenceFlavors: \[.*\]); .*",
        [{"CONFIG": r"\1", "CLAIMED": r"modelClaim: {modelName: qwen3-8b, \2}"}],
        INPUT,
    ),
    Advice(
        "E469",
        {"PROBES": "readinessProbe: {httpGet: {path: /healthz, port: http}}"},
        r"write path: (\S+)",
        [{"PROBES": r"readinessProbe: {httpGet: {path: \1, port: http}}"}],
    ),
    Advice(
        "E469",
        {**OF_SGLANG, "LINE": f"{LAUNCH}]", "PROBES": "readinessProbe: {httpGet: {path: /ready, port: http}}"},
        r"write path: (\S+)",
        [{"PROBES": r"readinessProbe: {httpGet: {path: \1, port: http}}"}],
    ),
    Advice("W469", {"PROBES": ""}, r"add (readinessProbe: .*)", [{"PROBES": r"\1"}]),
    Advice(
        "W469",
        {"IMAGE": "lmsysorg/sglang:latest", "PORT": "30000", "LINE": f"{LAUNCH}]", "PROBES": ""},
        r"add (readinessProbe: \{httpGet: \{path: /health, port: 30000\}\})",  # /ready is since 0.5.20
        [{"PROBES": r"\1"}],
    ),
    Advice("W469", {**OF_TGI, "LINE": "args: [--model-id, org/some]", "PROBES": ""}, r"add (.*)", [{"PROBES": r"\1"}]),
    Advice(
        "W469",
        {"IMAGE": "ollama/ollama:0.32.15", "PORT": "11434", "LINE": "", "PROBES": ""},
        r"add (.*)",
        [{"PROBES": r"\1"}],
    ),
    Advice("E470", {"ORDER": "OrderedReady"}, r"write podManagementPolicy: (\w+)", [{"ORDER": r"\1"}], HOSTS),
    Advice(
        "E470",
        {**OF_SGLANG, "LINE": f"{LAUNCH}, --nnodes, '2', --dist-init-addr, 'chat:5000']", "ORDER": "OrderedReady"},
        r"write podManagementPolicy: (\w+)",
        [{"ORDER": r"\1"}],
        HOSTS,
    ),
    Advice("E471", {"ADDRESSES": ""}, r"write (publishNotReadyAddresses: true)", [{"ADDRESSES": r"\1"}], HOSTS),
    Advice(
        "E471",
        {**OF_SGLANG, "LINE": f"{LAUNCH}, --nnodes, '2', --dist-init-addr, 'chat:5000']", "ADDRESSES": ""},
        r"write (publishNotReadyAddresses: true)",
        [{"ADDRESSES": r"\1"}],
        HOSTS,
    ),
    Advice(
        "N472",
        {"LINE": "args: [org/some, --trust-remote-code]"},
        r"write (\S+) and a commit of the repository, or leave (\S+) out",
        [{"LINE": r"args: [org/some, --trust-remote-code, \1, 0123456789abcdef]"}, {"LINE": "args: [org/some]"}],
    ),
    Advice(
        "N472",
        {**OF_TGI, "LINE": "args: [--model-id, org/some, --trust-remote-code]"},
        r"write (\S+) and a commit of the repository, or leave (\S+) out",
        [{"LINE": r"args: [--model-id, org/some, --trust-remote-code, \1, 0123456789abcdef]"}],
    ),
    Advice(
        "N473",
        {"STRATEGY": "{}"},
        r"where none are free, write strategy: (\{rollingUpdate: .*\})",
        [{"STRATEGY": r"\1"}],
    ),
    Advice(
        "W475",
        {"IMAGE": "vllm/vllm-openai:v0.27.0", "ENV": "{name: VLLM_ATTENTION_BACKEND, value: FLASH_ATTN}"},
        r"use (\S+) instead; it was removed in \S+",
        [{"ENV": "", "LINE": r"args: [org/some, \1, FLASH_ATTN]"}],
    ),
    Advice(
        "W475",
        {
            **OF_SGLANG,
            "IMAGE": "lmsysorg/sglang:v0.5.21",
            "LINE": f"{LAUNCH}]",
            "ENV": "{name: SGLANG_GC_LOG, value: '1'}",
        },
        r"use (\S+) instead; it was removed in \S+",
        [{"ENV": r"{name: \1, value: '1'}"}],
    ),
    Advice(
        "W475",
        {"ENV": "{name: VLLM_ATTENTION_BACKEND, value: FLASH_ATTN_VLLM_V1}"},
        r"use (--attention-backend) (\S+) instead; it was removed in \S+",
        [{"ENV": "", "LINE": r"args: [org/some, \1, \2]"}],
    ),
    Advice(
        "W475",
        {"ENV": "{name: VLLM_ATTENTION_BACKEND, value: XFORMERS}"},
        r"use (--attention-backend) instead, which accepts one of '(\w+)', .*; it was removed in \S+",
        [{"ENV": "", "LINE": r"args: [org/some, \1, \2]"}],
    ),
    Advice("W475", {"ENV": "{name: VLLM_USE_V1, value: '1'}"}, r"leave it out; it was removed in \S+", [{"ENV": ""}]),
    Advice(
        "W476",
        {"ENV": "{name: VLLM_LOGING_LEVEL, value: INFO}"},
        r"did you mean '(\w+)'\?",
        [{"ENV": r"{name: \1, value: INFO}"}],
    ),
    Advice(
        "W476",
        {
            **OF_SGLANG,
            "IMAGE": "lmsysorg/sglang:v0.5.6",
            "LINE": f"{LAUNCH}]",
            "ENV": "{name: SGLANG_DISAGG_STAGING_BUFFER, value: '1'}",
        },
        rf"it was added by (\S+): {NEWER}, or leave it out",
        [{"IMAGE": r"lmsysorg/sglang:v\1"}, {"ENV": ""}],
    ),
    Advice(
        "W477",
        {
            "BACKEND": TRANSFER % '"kv_rol": "kv_both"',
            **OWN_IMAGE,
        },
        r"did you mean '(\w+)'\?",
        [{"BACKEND": TRANSFER % r'"\1": "kv_both"'}],
        INPUT,
    ),
    Advice(
        "W478",
        {
            "BACKEND": TRANSFER % '"kv_role": "kv_bot"',
            **OWN_IMAGE,
        },
        r"did you mean '(\w+)'\?",
        [{"BACKEND": TRANSFER % r'"kv_role": "\1"'}],
        INPUT,
    ),
    Advice(
        "E479",
        {"LINE": "args: [org/some, --distributed-executor-backend, ray]"},
        r"leave it out, or install it first: (pip install \S+)",
        [
            {"LINE": "args: [org/some]"},
            {"LINE": r'command: [sh, -c, "\1 && exec vllm serve org/some --distributed-executor-backend ray"]'},
        ],
    ),
    Advice(
        "E483",
        {**T4, "LINE": "args: [org/some, --dtype, bfloat16]"},
        r"write (--dtype) (\w+)",
        [{"LINE": r"args: [org/some, \1, \2]"}],
    ),
    Advice(
        "E483",
        {**T4, "LINE": "args: [org/some, --attention-backend, FLASH_ATTN]"},
        r"leave --attention-backend out: the engine chooses one that the card has",
        [{"LINE": "args: [org/some]"}],
    ),
    Advice(
        "E483",
        {**ON_L4, "LINE": "args: [org/some, --kv-cache-dtype, fp8, --attention-backend, FLASH_ATTN]"},
        r"leave --attention-backend out: the engine chooses one that can",
        [{"LINE": "args: [org/some, --kv-cache-dtype, fp8]"}],
    ),
    Advice(
        "E483",
        {**T4, "LINE": "args: [org/some, --kv-cache-dtype, fp8]"},
        r"leave --kv-cache-dtype out",
        [{"LINE": "args: [org/some]"}],
    ),
    Advice(
        "E483",
        {**T4, **OF_SGLANG, "LINE": f"{LAUNCH}, --quantization, modelopt_fp4]"},
        r"use accelerators of that compute capability",
        [{"NODES": "nvidia.com/gpu.product: NVIDIA-B200"}],
    ),
    Advice(
        "W484",
        TURNS,
        r"write (\S+) with the part that each of them may take, such as (\S+)",
        [{"LINE": r"args: [org/some, \1, '\2']"}],
    ),
    Advice(
        "W484",
        {**TURNS, **OF_SGLANG, "LINE": f"{LAUNCH}]"},
        r"write (\S+) with the part that each of them may take, such as (\S+)",
        [{"LINE": rf"{LAUNCH}, \1, '\2']"}],
    ),
    Advice(
        "E416",
        {
            "LIMITS": "limits: {nvidia.com/mig-3g.40gb: 2}",
            "LINE": "args: [org/some, --tensor-parallel-size, '2']",
        },
        r"request (\d) of them and lower the number to (\d), or request whole accelerators.*",
        [
            {
                "LIMITS": r"limits: {nvidia.com/mig-3g.40gb: \1}",
                "LINE": r"args: [org/some, --tensor-parallel-size, '\2']",
            },
            {"LIMITS": "limits: {nvidia.com/gpu: 2}"},
        ],
    ),
    Advice(
        "E416",
        {"LIMITS": "claims: [{name: gpus}]", "COUNT": "4", "LINE": "args: [org/some, --tensor-parallel-size, '8']"},
        r"raise the count of the claim, or lower the number",
        [{"COUNT": "8"}, {"LINE": "args: [org/some, --tensor-parallel-size, '4']"}],
    ),
    Advice(
        "E485",
        {**OF_TGI, "LINE": "args: [--model-id, org/some, --max-input-tokens, '8192', --max-total-tokens, '4096']"},
        r"write --max-input-tokens (\d+) or less, or raise --max-total-tokens",
        [
            {"LINE": r"args: [--model-id, org/some, --max-input-tokens, '\1', --max-total-tokens, '4096']"},
            {"LINE": "args: [--model-id, org/some, --max-input-tokens, '8192', --max-total-tokens, '8193']"},
        ],
    ),
    Advice(
        "E485",
        {"LINE": "args: [org/some, --max-num-seqs, '512', --max-num-batched-tokens, '256']"},
        r"write --max-num-seqs (\d+) or less, or raise --max-num-batched-tokens",
        [
            {"LINE": r"args: [org/some, --max-num-seqs, '\1', --max-num-batched-tokens, '256']"},
            {"LINE": "args: [org/some, --max-num-seqs, '512', --max-num-batched-tokens, '512']"},
        ],
    ),
    Advice(
        "E485",
        {"LINE": f"args: [org/some, --max-model-len, '8192', --max-num-batched-tokens, '2048', {UNCHUNKED}]"},
        rf"leave {UNCHUNKED} out, or write --max-num-batched-tokens (\d+) or more",
        [
            {"LINE": "args: [org/some, --max-model-len, '8192', --max-num-batched-tokens, '2048']"},
            {"LINE": rf"args: [org/some, --max-model-len, '8192', --max-num-batched-tokens, '\1', {UNCHUNKED}]"},
        ],
    ),
    Advice(
        "E485",
        {
            "LIMITS": "limits: {nvidia.com/gpu: 2}",
            "LINE": "args: [org/some, --tensor-parallel-size, '2', --spec-model, org/draft, --spec-tokens, '3', "
            "--speculative-config.draft_tensor_parallel_size, '3']",
        },
        r"write --speculative-config.draft_tensor_parallel_size (\d+), or leave it out",
        [
            {
                "LINE": "args: [org/some, --tensor-parallel-size, '2', --spec-model, org/draft, --spec-tokens, '3', "
                r"--speculative-config.draft_tensor_parallel_size, '\1']",
            },
            {"LINE": "args: [org/some, --tensor-parallel-size, '2', --spec-model, org/draft, --spec-tokens, '3']"},
        ],
    ),
    Advice(
        "E499",
        {"LINE": "args: [org/some, --kv-cache-dtype, fp8_e5m2, --attention-backend, FLASH_ATTN]"},
        "leave one of the two out",
        [{"LINE": "args: [org/some, --kv-cache-dtype, fp8_e5m2]"}, {"LINE": "args: [org/some]"}],
    ),
    Advice(
        "E486",
        {"LIMITS": "limits: {nvidia.com/gpu: 2, ephemeral-storage: 20Gi}", "LINE": QWEN},
        r"write (\S+) or more there, or mount a claim of that size at (\S+)",
        [
            {"LIMITS": r"limits: {nvidia.com/gpu: 2, ephemeral-storage: \1}"},
            {"DATA": r"\2", "VOLUME": CLAIMED, "CLAIM": r"\1"},
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
        r"request (\S+) or more",
        [{"CLAIM": r"\1"}],
    ),
    Advice(
        "W486",
        {"FACTS": "weightsGiB: 61.0", "CONFIG": "modelCache: {perPod: {size: 20Gi}}"},
        r"request (\S+) or more",
        [{"CONFIG": r"modelCache: {perPod: {size: \1}}"}],
        INPUT,
    ),
    Advice("W487", {"PORT": "8080"}, r"write containerPort: (\d+) at the port 'http'", [{"PORT": r"\1"}]),
    Advice("W487", {"TARGET": "8080"}, r"write targetPort: (\d+)", [{"TARGET": r"\1"}]),
    Advice(
        "E488",
        {**SMALL, "LINE": "args: [org/some, --kv-offloading-size, '36']"},
        r"write limits\.memory: (\S+) or more, or lower --kv-offloading-size",
        [
            {"LIMITS": r"limits: {nvidia.com/gpu: 1, memory: \1}"},
            {"LINE": "args: [org/some, --kv-offloading-size, '16']"},
        ],
    ),
    Advice(
        "E489",
        {"SHM": "16Gi", "LINE": "args: [org/some, --kv-offloading-size, '24']"},
        r"make it (\S+) or more, or lower --kv-offloading-size",
        [{"SHM": r"\1"}, {"LINE": "args: [org/some, --kv-offloading-size, '8']"}],
    ),
    Advice(
        "N490",
        {"DATA": "/data", "VOLUME": CLAIMED},
        r"mount the claim at (\S+), or set HF_HOME to (\S+)",
        [{"DATA": r"\1"}, {"ENV": r"{name: HF_HOME, value: \2}"}],
    ),
    Advice(
        "W493",
        {"CONFIG": 'pods: {listenAddress: "::"}', "ARGS": "--host, 0.0.0.0"},
        r"write (\".*\")",
        [{"ARGS": r"--host, \1"}],
        INPUT,
    ),
    Advice(
        "E529",
        {"LINE": 'command: ["vllm serve", org/some]'},
        r"write each word as an item of the list: (.*)",
        [{"LINE": r"command: [\1, org/some]"}],
    ),
    Advice(
        "E529",
        {"HOOK": 'lifecycle: {preStop: {exec: {command: ["sleep 5; kill 1"]}}}'},
        r"write '(.*)' and '(.*)' as items in front of it",
        [{"HOOK": r'lifecycle: {preStop: {exec: {command: [\1, \2, "sleep 5; kill 1"]}}}'}],
    ),
    Advice(
        "W541",
        {**scaled("vllm:gpu_cache_usage_perc")},
        r"write (\S+) instead; it was removed in \S+",
        [{**scaled(r"\1")}],
    ),
    Advice(
        "W541",
        {**scaled("vllm:num_requests_swapped")},
        r"leave it out; it was removed in \S+",
        [{**scaled("vllm:num_requests_waiting")}],
    ),
    Advice("W541", {**scaled("vllm:num_requests_runing")}, r"did you mean '(\S+)'\?", [{**scaled(r"\1")}]),
    Advice(
        "W541",
        {**OF_SGLANG, "IMAGE": "lmsysorg/sglang:v0.5.6", "LINE": f"{LAUNCH}]", **scaled("sglang:num_pages")},
        rf"it was added by (\S+): {NEWER}",
        [{"IMAGE": r"lmsysorg/sglang:v\1"}],
    ),
    Advice(
        "W544",
        {**OF_SGLANG, "LINE": f"{LAUNCH}]", **scaled("vllm:num_requests_waiting")},
        r"write (\S+)",
        [{**scaled(r"\1")}],
    ),
    Advice(
        "W544",
        {**scaled("sglang:utilization")},
        r"write a metric of vllm",
        [{**scaled("vllm:num_requests_running")}],
    ),
    Advice(
        "W684",
        {"POLICY": "timeout: {http: {idleTimeout: 30s}}"},
        r"write (connection: \{.*\}) in ClientTrafficPolicy 'buffer'",
        [{"POLICY": r"\1"}],
        GATEWAY,
    ),
    Advice(
        "W684",
        {"TARGET": "another"},
        r"add a ClientTrafficPolicy with this Gateway among its targetRefs and (connection: \{.*\})",
        [{"TARGET": "models", "POLICY": r"\1"}],
        GATEWAY,
    ),
]


def codes_and_hints(text: str, words: Mapping[str, str], folder: Path, llmaz: Llmaz) -> tuple[set[str], str]:
    """The codes that a text with these words gets from all that `--strict` looks at, and what is printed."""
    config, _, rest = Template(text).substitute({**USUAL[text], **words}).rpartition(END_OF_CONFIG)
    (folder / "llmaz.yaml").write_text(config)
    (folder / "all.yaml").write_text(rest)
    done = llmaz("validate" if text is INPUT else "check", "--strict", ".")
    return set(re.findall(r"\[([EWN][0-9]{3})\]$", done.err, re.MULTILINE)), done.err


@pytest.mark.parametrize("text", USUAL, ids=["manifests", "hosts", "gateway", "input"])
def test_nothing_is_said_without_a_fault(text: str, folder: Path, llmaz: Llmaz) -> None:
    codes, printed = codes_and_hints(text, {}, folder, llmaz)
    assert codes == set(), printed


@pytest.mark.parametrize("advice", ADVICE, ids=[f"{advice.code}-{i}" for i, advice in enumerate(ADVICE)])
def test_a_hint_is_followed(advice: Advice, folder: Path, llmaz: Llmaz) -> None:
    codes, printed = codes_and_hints(advice.text, advice.fault, folder, llmaz)
    told_hint = re.search(rf"\[{advice.code}\]\n    hint: (.*)$", printed, re.MULTILINE)
    assert told_hint, printed
    match = re.fullmatch(advice.hint, told_hint[1])
    assert match, told_hint[1]
    for words in advice.followed:
        expanded = {name: match.expand(word) for name, word in words.items()}
        after, printed = codes_and_hints(advice.text, {**advice.fault, **expanded}, folder, llmaz)
        assert advice.code not in after, printed
        assert {code for code in after - codes if advice.code[0] == "N" or code[0] != "N"} == set(), printed
