"""What `llmaz check` says nothing of, or once: engines over the hosts of a Ray cluster, names of keys, hooks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from tests.conftest import Llmaz, Outcome

SERVE = "vllm serve org/large --tensor-parallel-size {size} --distributed-executor-backend ray"


def codes(outcome: Outcome) -> list[str]:
    """The codes of a report."""
    return [line.rpartition("[")[2].rstrip("]") for line in outcome.err.splitlines() if line.endswith("]")]


def checked(llmaz: Llmaz, tmp_path: Path, *bodies: dict[str, Any], option: str = "-v") -> Outcome:
    """What is said of these objects."""
    (tmp_path / "objects.yaml").write_text(yaml.safe_dump_all(bodies))
    return llmaz("check", str(tmp_path), option)


def ray_pod(name: str, args: str = "") -> dict[str, Any]:
    container = {
        "name": name,
        "image": "vllm/vllm-openai:v0.11.0",
        "resources": {"limits": {"nvidia.com/gpu": 8}},
        "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],  # noqa: S108 - a mount
    }
    if args:
        container |= {"command": ["/bin/bash", "-lc", "--"], "args": [args]}
    return {"spec": {"containers": [container], "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}]}}


def cluster(size: int, *groups: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """The spec of a Ray cluster whose head starts an engine."""
    args = f"ulimit -n 65536; ray start --head --block & sleep 60; {SERVE.format(size=size)}"
    head = {"rayStartParams": {}, "template": ray_pod("head", args)}
    workers = [{"groupName": f"w{i}", "template": ray_pod("worker"), **group} for i, group in enumerate(groups)]
    return {"headGroupSpec": head, **({"workerGroupSpecs": workers} if workers else {}), **fields}


KINDS: dict[str, tuple[str, Callable[[dict[str, Any]], dict[str, Any]]]] = {
    "RayCluster": ("ray.io/v1", lambda spec: spec),
    "RayService": ("ray.io/v1", lambda spec: {"rayClusterConfig": spec}),
    "RayJob": ("ray.io/v1", lambda spec: {"entrypoint": "sleep 1", "rayClusterSpec": spec}),
    "RayClusterFleet": (
        "orchestration.aibrix.ai/v1alpha1",
        lambda spec: {"selector": {"matchLabels": {"a": "b"}}, "template": {"spec": spec}},
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (cluster(16, {"replicas": 1}), []),
        (cluster(32, {"replicas": 1, "numOfHosts": 3}), []),
        (cluster(16, {"replicas": 0, "maxReplicas": 1}, enableInTreeAutoscaling=True), []),
        (cluster(8, {}), []),
        (cluster(16), ["E416"]),
        (cluster(16, {"replicas": 0}), ["E416"]),
    ],
)
def test_engines_over_the_hosts_of_a_ray_cluster(
    kind: str, spec: dict[str, Any], expected: list[str], tmp_path: Path, llmaz: Llmaz
) -> None:
    version, place = KINDS[kind]
    body = {"apiVersion": version, "kind": kind, "metadata": {"name": "large", "namespace": "llm"}, "spec": place(spec)}
    judged_codes = {code for code in codes(checked(llmaz, tmp_path, body)) if code in ("E416", "W236")}
    assert sorted(judged_codes) == expected


def pod(**container: Any) -> dict[str, Any]:
    body = {"name": "main", "image": "example.com/main:1", **container}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "main"}, "spec": {"containers": [body]}}


@pytest.mark.parametrize(
    ("container", "is_secret"),
    [
        ({"env": [{"name": "REDIS_EXPORTER_CHECK_KEYS", "value": "inference_queue"}]}, False),
        ({"env": [{"name": "ENABLE_OPENAI_API_KEY", "value": "ollama-x8Jq2"}]}, False),
        ({"env": [{"name": "ETCD_INITIAL_CLUSTER_TOKEN", "value": "etcd-cluster-k8s"}]}, False),
        ({"args": ["--initial-cluster-token", "etcd-cluster-k8s"]}, False),
        ({"env": [{"name": "CLUSTER_TOKEN", "value": "etcd-cluster-x8Jq2"}]}, True),
        ({"env": [{"name": "SORT_KEYS", "value": "name,created_at"}]}, False),
        ({"env": [{"name": "API_KEYS", "value": "inference_queue"}]}, True),
        ({"env": [{"name": "CHECK_KEYS", "value": "x8Jq2"}]}, True),
        ({"env": [{"name": "WHATEVER", "value": "hf_" + "aB3" * 8}]}, True),
        ({"env": [{"name": "SETTINGS", "value": '{"hub": "sk-' + "ab1" * 8 + '"}'}]}, True),
        ({"env": [{"name": "WHATEVER", "value": "hf_transfer"}]}, False),
        ({"args": ["serve", "hf_" + "aB3" * 8]}, True),
        ({"command": ["python3", "-c", 'url = f"https://example.com/v1?{params}&apikey={KEY}"']}, False),
        ({"command": ["sh", "-c", "curl https://example.com/v1?token=$TOKEN"]}, False),
        ({"command": ["sh", "-c", "curl https://example.com/v1?token=x8Jq2"]}, True),
    ],
)
def test_secrets_by_name_and_by_shape(container: dict[str, Any], is_secret: bool, tmp_path: Path, llmaz: Llmaz) -> None:
    outcome = checked(llmaz, tmp_path, pod(**container))
    assert ("W300" in codes(outcome)) == is_secret
    assert "option ''" not in outcome.err


def engine(name: str) -> dict[str, Any]:
    container = {
        "name": "vllm",
        "image": "vllm/vllm-openai:v0.24.0",
        "args": ["--model", "org/small"],
        "ports": [{"containerPort": 8000}],
        "readinessProbe": {"httpGet": {"path": "/health", "port": 8000}},
    }
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}
    spec = {"selector": {"matchLabels": {"app": name}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


@pytest.mark.parametrize("option", ["-v", "--format=json"])
def test_a_missing_hook_is_told_once(option: str, tmp_path: Path, llmaz: Llmaz) -> None:
    outcome = checked(llmaz, tmp_path, *(engine(name) for name in ("one", "two", "three")), option=option)
    text = outcome.err + outcome.out
    assert text.count("N454") == 1
    assert "'vllm' of Deployment one has no preStop hook, nor have 2 other engines" in text


def test_values_that_adopt_reads_are_something_to_check(llmaz: Llmaz, folder: Path) -> None:
    model = "{name: blue, repository: vllm/vllm-openai, tag: v0.24.0, modelURL: org/blue}"
    for name, text in (("values.yaml", "{}"), ("parent.yaml", "vllm-stack: {}")):
        (folder / name).write_text(text.replace("{}", f"{{servingEngineSpec: {{modelSpec: [{model}]}}}}", 1))
        done = llmaz("check", ".")
        assert (done.code, "values of a chart, which llmaz adopt reads" in done.err) == (0, True)
        (folder / name).unlink()
    (folder / "values.yaml").write_text("servingEngine: {modelSpec: []}\n")
    done = llmaz("check", ".")
    assert (done.code, "[E125]" in done.err) == (2, True)
