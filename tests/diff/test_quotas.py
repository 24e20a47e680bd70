"""What a change leaves of quotas, by hand: of a RenderPolicy, the base's, and of the tree's ResourceQuotas."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests import inputs
from tests.diff.repository import Repository

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Llmaz

CONFIG = f"""{inputs.CONFIG}
  passThrough: ["extra/*.yaml"]
  flavors:
    h100: {{limits: {{nvidia.com/gpu: 1}}, accelerator: h100-80g}}
    spot: {{limits: {{nvidia.com/gpu: 1}}, accelerator: l4-24g}}
    claimed: {{accelerator: h100-80g, claims: {{deviceClassName: gpu.nvidia.com, count: 2}}}}
  targets: {{kubernetes: "1.34"}}
"""
POLICY = """\
apiVersion: renderer.llmaz.io/v1alpha1
kind: RenderPolicy
metadata: {name: policy}
spec:
  quotas:
    - {accelerators: [h100-80g], namespaces: ["l*"], max: %d}
    - {flavors: [spot], max: 2}
    - {max: 20}
"""
DEVICES = "gpu.nvidia.com.deviceclass.resource.k8s.io/devices"
QUOTA = f"""\
apiVersion: v1
kind: ResourceQuota
metadata: {{name: gpus, namespace: llm}}
spec: {{hard: {{requests.nvidia.com/gpu: %d, {DEVICES}: 4, pods: 90}}}}
"""


def app(name: str, flavor: str = "h100", more: str = "", namespace: str = "llm") -> str:
    text = inputs.playground(name, namespace, f"qwen3-8b, inferenceFlavors: [{flavor}]")
    return f"{text}  servedModelName: {name}\n{more}"


def begun(folder: Path, llmaz: Llmaz, base: str, *, policy: bool = True, quota: bool = True) -> Repository:
    """2 H100 of two workloads, of which 5 are allowed."""
    repository = Repository(folder)
    (folder / "extra").mkdir()
    repository.write(llmaz=CONFIG, chat=app("chat"), mails=app("mails"))
    if policy:
        (folder / "llmaz-policy.yaml").write_text(POLICY % 5)
    if quota:
        (folder / "extra" / "quota.yaml").write_text(QUOTA % 6)
    if base == "rendered":
        assert llmaz("render").code == 0
    repository.commit("first")
    return repository


def quotas(llmaz: Llmaz, *words: str) -> list[str]:
    """The section of quotas."""
    _, _, section = llmaz("diff", *words).out.partition("Quotas\n")
    return [line.strip() for line in section.partition("\n\n")[0].splitlines()]


@pytest.mark.parametrize("base", ["inputs", "rendered"])
def test_left_before_and_after(base: str, folder: Path, llmaz: Llmaz) -> None:
    repository = begun(folder, llmaz, base)
    repository.write(chat=app("chat", more="  replicas: 3\n"))
    assert quotas(llmaz) == [
        "RenderPolicy: accelerators of h100-80g in l*: 3 of 5 left → 1 of 5 left",
        "RenderPolicy: accelerators: 18 of 20 left → 16 of 20 left",
        "llm/gpus: requests.nvidia.com/gpu: 4 of 6 left → 2 of 6 left",
    ]
    page = llmaz("diff", "--format", "markdown").out
    assert "| RenderPolicy | <code>accelerators of h100-80g in l&#42;</code> |  | 3 of 5 left → 1 of 5 left |\n" in page
    assert "| `llm/gpus` | `requests.nvidia.com/gpu` |  | 4 of 6 left → 2 of 6 left |\n" in page
    first, _, last = json.loads(llmaz("diff", "--format", "json").out)["quotas"]
    assert first == {
        "name": None,
        "what": "accelerators of h100-80g in l*",
        "max": {"before": 5, "after": 5},
        "used": {"before": 2, "after": 4},
    }
    assert (last["name"], last["max"]["after"], last["used"]) == ("llm/gpus", 6, {"before": 2, "after": 4})


@pytest.mark.parametrize("base", ["inputs", "rendered"])
def test_another_flavor_one_that_goes_and_one_that_comes(base: str, folder: Path, llmaz: Llmaz) -> None:
    """One H100 goes to a spot L4, the other one away; a workload with two devices comes, in another namespace too."""
    repository = begun(folder, llmaz, base)
    (folder / "mails.yaml").unlink()
    repository.write(chat=app("chat", "spot"), new=app("new", "claimed"), other=app("other", namespace="web"))
    assert quotas(llmaz) == [
        "RenderPolicy: accelerators of spot: 2 of 2 left → 1 of 2 left",
        "RenderPolicy: accelerators: 18 of 20 left → 16 of 20 left",
        "llm/gpus: requests.nvidia.com/gpu: 4 of 6 left → 5 of 6 left",
        f"llm/gpus: {DEVICES}: 4 of 4 left → 2 of 4 left",
    ]


def test_a_change_that_touches_none(folder: Path, llmaz: Llmaz) -> None:
    repository = begun(folder, llmaz, "inputs")
    repository.write(chat=app("chat", more="  backendRuntimeConfig: {args: [--max-model-len, '8192']}\n"))
    assert quotas(llmaz) == []
    assert json.loads(llmaz("diff", "--format", "json").out)["quotas"] == []


def test_the_policy_of_the_base_counts(folder: Path, llmaz: Llmaz) -> None:
    repository = begun(folder, llmaz, "inputs", quota=False)
    (folder / "llmaz-policy.yaml").write_text(POLICY % 9)
    repository.write(chat=app("chat", more="  replicas: 3\n"))
    assert quotas(llmaz)[0] == "RenderPolicy: accelerators of h100-80g in l*: 3 of 5 left → 1 of 5 left"


def test_a_resource_quota_that_changes(folder: Path, llmaz: Llmaz) -> None:
    """It is the tree's: its own limit counts, also without a workload that changes; a new one had none."""
    repository = begun(folder, llmaz, "inputs", policy=False)
    (folder / "extra" / "quota.yaml").write_text(QUOTA % 3)
    assert quotas(llmaz) == ["llm/gpus: requests.nvidia.com/gpu: 4 of 6 left → 1 of 3 left"]
    (folder / "extra" / "quota.yaml").write_text((QUOTA % 6).replace("gpus,", "new,"))
    repository.write(chat=app("chat", more="  replicas: 3\n"))
    assert quotas(llmaz)[0] == "llm/new: requests.nvidia.com/gpu: no quota → 2 of 6 left"


def test_above_a_quota_of_the_most_replicas(folder: Path, llmaz: Llmaz) -> None:
    """6 are allowed: 2 of those at the most 8."""
    repository = begun(folder, llmaz, "inputs", policy=False)
    metrics = "{hpa: {metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, "
    metrics += "averageUtilization: 80}}}]}}"
    repository.write(
        chat=app("chat", more=f"  elasticConfig: {{minReplicas: 1, maxReplicas: 7, scaleTrigger: {metrics}}}\n")
    )
    assert quotas(llmaz) == ["llm/gpus: requests.nvidia.com/gpu: 4 of 6 left → 2 above 6"]


def test_of_two_environments(folder: Path, llmaz: Llmaz) -> None:
    repository = begun(folder, llmaz, "inputs")
    repository.write(llmaz=f"{CONFIG}  environments: {{dev: {{}}, prod: {{playgrounds: {{chat: {{replicas: 2}}}}}}}}\n")
    output = quotas(llmaz, "--env-a", "dev", "--env-b", "prod")
    assert output[0] == "RenderPolicy: accelerators of h100-80g in l*: 3 of 5 left → 2 of 5 left"
    assert output[-1] == "llm/gpus: requests.nvidia.com/gpu: 4 of 6 left → 3 of 6 left"
