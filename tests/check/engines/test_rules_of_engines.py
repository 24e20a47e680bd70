"""Each rule about running engines answers for a Playground, a llmaz Service and a Deployment with the same code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec import Struct

from renderer.diagnostics import Diagnostic, rules
from renderer.diagnostics.rules import Rule, rules_about
from renderer.engines.rules import (
    absent,
    accelerators,
    architectures,
    cards,
    disk,
    families,
    folders,
    limits,
    memory,
    options,
    probes,
    releases,
    templates,
    variable_values,
    variables,
    weight_formats,
    words,
)
from renderer.engines.running_engine import EngineLine, RunningEngine
from renderer.kubernetes.json_values import map_at
from tests.conftest import Llmaz, Outcome

MODEL = "/workspace/models/models--org--blue"
IMAGE = "vllm/vllm-openai:v0.24.0"
OURS = "its preset writes what stands before the options"
HELD = "only kvCacheOffloading of a Playground says how much the engine holds outside of its accelerators"


class Fault(Struct, frozen=True):
    """What is wrong with a command line, or with its pod; and the code that says so."""

    code: str
    args: Sequence[str] = ()
    accelerators: int = 1
    first: Sequence[str] = ()  # in front of the arguments
    model: str = f"--model={MODEL}"
    resource: str = "nvidia.com/gpu"
    nodes: Mapping[str, str] = {}  # labels of the nodes
    memory: str = ""  # limit of the container
    not_of: Mapping[str, str] = {}  # kinds that cannot have it, and why
    variable: str = ""  # of the container


KINDS = ("Playground", "Service", "Deployment")
FAULTS: Mapping[Rule[Any], Sequence[Fault]] = {
    options.refused_options: (
        Fault("E430", ["--no-such-option"]),
        Fault("E431", ["--task", "embed"]),
        Fault("E433", ["--max-model-len"]),
        Fault("E435", ["--enforce-eager=1"]),
        Fault("E440", ["--enable-auto-tool-choice", "--tool-call-parser", "hermez"]),
        Fault("E441", ["--max-num-seqs", "long"]),
        Fault("E477", ["--compilation-config", '{"cudagraph_mod": "FULL"}']),
        Fault("E478", ["--structured-outputs-config.backend", "xgrammer"]),
        Fault("E440", ["--attention-backend", "flash_attn3"]),
        Fault("E478", ["--compilation-config", '{"cudagraph_mode": "FULL_DECODE"}']),
    ),
    options.options_without_companions: (Fault("E443", ["--enable-auto-tool-choice"]),),
    options.keys_without_companions: (
        Fault("E443", ["--kv-transfer-config", '{"kv_connector": "NixlConnector"}']),
        Fault("E443", ["--speculative-config.method", "ngram"]),
    ),
    options.incompatible_options: (
        Fault("E499", not_of=dict.fromkeys(KINDS, "tests/errors/E499-* and test_every_kind: a model of a preset")),
        Fault("E499", ["--kv-cache-dtype", "fp8_e5m2", "--attention-backend", "FLASH_ATTN"]),
        Fault("E499", ["--data-parallel-hybrid-lb"]),
    ),
    options.quoted_factors: (
        Fault("W478", ["--hf-overrides", '{"rope_parameters": {"rope_type": "yarn", "factor": "2.0"}}']),
    ),
    options.ignored_keys: (Fault("W477", ["--override-generation-config", '{"max_token": 5}']),),
    options.idle_options: (Fault("W468", ["--tool-call-parser", "hermes"]),),
    words.repeated_command: (Fault("E465", first=["serve"], not_of={"Playground": OURS}),),
    words.misplaced_model: (Fault("E466", first=["sh", "-c"], not_of={"Playground": OURS}),),
    words.unnamed_model: (Fault("E467", ["--max-num-seqs", "8"], model="", not_of={"Playground": OURS}),),
    accelerators.wrong_number: (
        Fault("E416", ["--tensor-parallel-size", "4"], accelerators=2),
        Fault("W236", ["--tensor-parallel-size", "2"], accelerators=4),
        Fault("E253", ["--tensor-parallel-size", "0"], accelerators=2),
    ),
    accelerators.missing_accelerator: (
        Fault(
            "W496", not_of=dict.fromkeys(KINDS, "tests/errors/W496-* and test_every_kind: a pod without accelerators")
        ),
    ),
    accelerators.placed_on_nothing: (
        Fault("W833", not_of=dict.fromkeys(KINDS, "tests/errors/W833-* and test_every_kind: llama.cpp")),
    ),
    probes.other_scheme: (
        Fault("E495", not_of=dict.fromkeys(KINDS, "tests/errors/E495-* and test_every_kind: it has probes")),
    ),
    probes.hasty_start: (
        Fault("W495", not_of=dict.fromkeys(KINDS, "tests/errors/W495-* and test_every_kind: it has probes")),
    ),
    cards.unable_cards: (
        Fault("E483", ["--dtype", "bfloat16"], nodes={"nvidia.com/gpu.product": "Tesla-T4"}),
        Fault("E483", ["--quantization", "mxfp4"], nodes={"cloud.google.com/gke-accelerator": "nvidia-tesla-v100"}),
        Fault(
            "E483",
            ["--kv-cache-dtype", "fp8", "--attention-backend", "FLASH_ATTN"],
            nodes={"nvidia.com/gpu.product": "NVIDIA-L4"},
        ),
    ),
    cards.no_share_of_memory: (
        Fault("W484", resource="nvidia.com/gpu.shared"),
        Fault("W484", nodes={"nvidia.com/gpu.product": "NVIDIA-L4-SHARED"}),
    ),
    cards.too_large_share: (Fault("W499", ["--gpu-memory-utilization=1"]),),
    limits.contradictory_limits: (
        Fault("E485", ["--max-num-seqs", "512", "--max-num-batched-tokens", "256"]),
        Fault("E485", ["--decode-context-parallel-size", "2"]),
        Fault("E485", ["--data-parallel-size-local", "2"]),
    ),
    limits.split_prompts: (
        Fault("E485", not_of=dict.fromkeys(KINDS, "tests/errors/E485-limits-of-playgrounds: a model of a preset")),
    ),
    disk.too_little_disk: (
        Fault("E486", not_of=dict.fromkeys(KINDS, "tests/errors/E486-*: a model of a preset, or with facts")),
    ),
    disk.claim_beside: (
        Fault("N490", not_of=dict.fromkeys(KINDS, "tests/errors/E486-disks-of-others: a claim beside the cache")),
    ),
    memory.cache_above_memory: (
        Fault("E488", ["--kv-offloading-size", "64"], memory="8Gi", not_of={"Playground": "tests/errors/E488-*"}),
    ),
    memory.tiny_memory: (
        Fault("W491", memory="64M", not_of={"Playground": "tests/errors/W491-*"}),
        Fault("W491", memory="2Gi", not_of={"Playground": "tests/errors/W491-*"}),
    ),
    memory.tiny_cpu: (
        Fault("W524", not_of=dict.fromkeys(KINDS, "tests/errors/W524-thousandths-*, test_every_kind: a request")),
    ),
    memory.unlocked_memory: (
        Fault("N482", not_of=dict.fromkeys(KINDS, "a note, in tests/errors/N482-* and tests/check/test_every_kind.py")),
    ),
    weight_formats.other_format: (
        Fault("W482", not_of=dict.fromkeys(KINDS, "tests/errors/W482-* and test_every_kind: a model with facts")),
    ),
    architectures.older_than_the_model: (
        Fault("W492", not_of=dict.fromkeys(KINDS, "tests/errors/W492-* and test_every_kind: a model of a preset")),
    ),
    releases.no_such_release: (
        Fault("W887", not_of=dict.fromkeys(KINDS, "tests/errors/W887-*, test_every_kind: another version")),
    ),
    families.options_of_another_family: (
        Fault(
            "W831", not_of=dict.fromkeys(KINDS, "tests/errors/W831-* and test_every_kind: a model with a known name")
        ),
    ),
    variable_values.misread_values: (
        Fault("W832", not_of=dict.fromkeys(KINDS, "tests/errors/W832-*, tests/check/test_every_kind.py: a value")),
    ),
    probes.missing_paths: (
        Fault("E469", not_of=dict.fromkeys(KINDS, "tests/errors/E469-*, tests/check/test_every_kind.py: a probe")),
    ),
    templates.names_for_templates: (Fault("E830", ["--chat-template", "qwen3"]),),
    templates.other_task: (
        Fault("W834", not_of=dict.fromkeys(KINDS, "tests/errors/W834-*, test_every_kind: a model of a preset; E462")),
    ),
    folders.unwritable_folders: (
        Fault("W829", not_of=dict.fromkeys(KINDS, "tests/errors/W829-*, tests/check/test_every_kind.py: a folder")),
    ),
    folders.offline_downloads: (
        Fault("E829", not_of=dict.fromkeys(KINDS, "tests/errors/E829-*, tests/check/test_every_kind.py: a value")),
    ),
    variables.unread_variables: (
        Fault("W475", variable="VLLM_USE_V1"),
        Fault("W476", variable="VLLM_LOGGING_LEVL"),
    ),
    variables.unseen_accelerators: (
        Fault("W494", not_of=dict.fromkeys(KINDS, "tests/errors/W494-*, tests/check/test_every_kind.py: a value")),
    ),
    weight_formats.random_weights: (Fault("W498", ["--load-format", "dummy"]),),
    accelerators.more_than_a_machine: (
        Fault("W532", not_of=dict.fromkeys(KINDS, "tests/errors/W532-more-accelerators-than-a-server: a type")),
    ),
    accelerators.unseen_devices: (
        Fault("W494", not_of=dict.fromkeys(KINDS, "tests/errors/W494-*, tests/check/test_every_kind.py: SGLang's")),
    ),
    absent.absent_programs: (Fault("E479", ["--distributed-executor-backend", "ray"]),),
    memory.without_shared_memory: (
        Fault(
            "W428",
            ["--tensor-parallel-size", "2"],
            accelerators=2,
            not_of={"Playground": "its preset mounts a volume at /dev/shm"},
        ),
    ),
    memory.too_little_memory: (
        Fault("E370", not_of={"Service": HELD, "Deployment": HELD, "Playground": "tests/errors/E370-*"}),
    ),
    memory.too_little_shared_memory: (
        Fault("E371", not_of={"Service": HELD, "Deployment": HELD, "Playground": "tests/errors/E371-*"}),
    ),
}
PAIRS = [(kind, fault) for faults in FAULTS.values() for fault in faults for kind in KINDS if kind not in fault.not_of]


def test_each_rule_has_its_faults() -> None:
    assert {*rules_about(EngineLine), *rules_about(RunningEngine)} == FAULTS.keys()


def run(kind: str, written: object, fault: Fault, folder: Path, llmaz: Llmaz) -> Outcome:
    """What is said of an object."""
    flavor = {"name": "gpu", "limits": {fault.resource: fault.accelerators}, "nodeSelector": dict(fault.nodes)}
    model = {
        "apiVersion": "llmaz.io/v1alpha1",
        "kind": "OpenModel",
        "metadata": {"name": "blue"},
        "spec": {
            "familyName": "blue",
            "source": {"modelHub": {"modelID": "org/blue"}},
            "inferenceConfig": {"flavors": [flavor]},
        },
    }
    (folder / "all.yaml").write_text(yaml.safe_dump_all([written] if kind == "Deployment" else [model, written]))
    return llmaz(*(("check", ".") if kind == "Deployment" else ("validate",)))


@pytest.mark.parametrize(("kind", "fault"), PAIRS, ids=[f"{kind}-{fault.code}" for kind, fault in PAIRS])
def test_the_same_code_for_each_kind(kind: str, fault: Fault, folder: Path, llmaz: Llmaz) -> None:
    done = run(kind, manifest(kind, fault), fault, folder, llmaz)
    codes = re.findall(r"\[([EW][0-9]{3})\]$", done.err, re.MULTILINE)
    assert fault.code in codes
    assert {code for code in codes if code[1:] != "428"} <= {fault.code, "W236"}, done.err


PROBE = {"httpGet": {"path": "/health", "port": 8080}}
FIELDS = {  # of a container, and of its pod
    "env": [{"name": "HF_HOME", "value": "/cache"}],
    "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
    "startupProbe": PROBE,
    "readinessProbe": PROBE,
    "livenessProbe": PROBE,
    "lifecycle": {"preStop": {"sleep": {"seconds": 5}}},
    "volumeMounts": [{"name": "cache", "mountPath": "/cache"}],
    "stdin": True,
}


@pytest.mark.parametrize("kind", ["Service", "Deployment"])
def test_a_rule_sees_the_whole_pod(kind: str, folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[RunningEngine] = []

    def record(running: RunningEngine) -> Iterator[Diagnostic]:
        seen.append(running)
        yield from ()

    monkeypatch.setitem(rules._SECTIONS, RunningEngine, [])
    rules.rule(of=RunningEngine)(record)
    written = manifest(kind, Fault("", accelerators=2))
    spec = written["spec"]
    pod = spec["template"] if kind == "Deployment" else spec["workloadTemplate"]["workerTemplate"]
    pod.setdefault("metadata", {})["annotations"] = {"note": "x"}
    pod["spec"]["containers"][0] |= {**FIELDS, "resources": {"limits": {"nvidia.com/gpu": 2}}}
    pod["spec"] |= {"volumes": [{"name": "cache", "emptyDir": {}}], "nodeSelector": {"disk": "fast"}}
    pod["spec"]["initContainers"] = [{"name": "first", "image": "example.com/first:1"}]
    run(kind, written, Fault("", accelerators=2), folder, llmaz)
    (running,) = seen
    container = running.container
    assert (container.image, list(container.env)) == (IMAGE, FIELDS["env"])
    assert (list(container.ports), container.rest["stdin"]) == (FIELDS["ports"], True)
    assert all(
        probe["httpGet"] for probe in (container.startup_probe, container.readiness_probe, container.liveness_probe)
    )
    assert container.lifecycle == FIELDS["lifecycle"]
    assert "nvidia.com/gpu" in map_at(container.resources, "limits")
    assert running.pod.annotations["note"] == "x"
    assert running.pod.node_selector["disk"] == "fast"
    assert running.pod.init_containers[0].name == "first"
    origin = running.origin_of((*running.path, "livenessProbe"))
    assert origin is not None
    assert origin.place[0] == "all.yaml"


def manifest(kind: str, fault: Fault) -> dict[str, Any]:
    """An object of the kind that runs an engine with this fault."""
    line = [*fault.first, *filter(None, [fault.model]), "--served-model-name=blue", *fault.args]
    container: dict[str, Any] = {"name": "model-runner", "image": IMAGE, "args": line}
    amounts = {"memory": fault.memory} if fault.memory else {}
    container |= {"resources": {"limits": amounts}} if amounts else {}
    variables_given = [{"name": fault.variable, "value": "0"}] if fault.variable else []
    container |= {"env": variables_given} if variables_given else {}
    metadata = {"name": "chat", "namespace": "llm"}
    if kind == "Playground":
        config = {"backendName": "vllm", "version": "v0.24.0", "args": [*fault.args], "envs": variables_given}
        spec: dict[str, Any] = {"modelClaim": {"modelName": "blue"}, "backendRuntimeConfig": config}
        return {"apiVersion": "inference.llmaz.io/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}
    if kind == "Service":
        template = {"workerTemplate": {"spec": {"containers": [container]}}}
        spec = {"modelClaims": {"models": [{"name": "blue"}]}, "servedModelName": "blue", "workloadTemplate": template}
        return {"apiVersion": "inference.llmaz.io/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}
    container["resources"] = {"limits": {fault.resource: fault.accelerators, **amounts}}
    pod_spec = {"nodeSelector": dict(fault.nodes), "containers": [container]}
    pod = {"metadata": {"labels": {"app": "chat"}}, "spec": pod_spec}
    spec = {"selector": {"matchLabels": {"app": "chat"}}, "template": pod}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec}
