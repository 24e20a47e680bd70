"""Nodes that a pod asks for: what may be is never told, what cannot be is."""

from __future__ import annotations

from typing import Any

import pytest

from renderer.check.kinds.pod_nodes import find_missing_nodes
from renderer.check.kinds.pod_template import validate_pod
from renderer.fit.accelerator_types import known_types

PRODUCT, GKE, TYPE = "nvidia.com/gpu.product", "cloud.google.com/gke-accelerator", "node.kubernetes.io/instance-type"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def codes(spec: dict[str, Any]) -> list[str]:
    return [finding.code for finding in find_missing_nodes({"containers": [], **spec})]


def one_of(key: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}


def affinity(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}


def requests(**amounts: object) -> list[dict[str, Any]]:
    return [{"name": "engine", "resources": {"requests": amounts}}]


@pytest.mark.parametrize(
    "value",
    [
        "NVIDIA-H100-80GB-HBM3",
        "NVIDIA-H200-NVL",
        "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb",
        "Tesla-T4-SHARED",
        "NVIDIA-GeForce-RTX-5070",
        "NVIDIA-GeForce-RTX-4090-D",
        "NVIDIA-H20-3e",
        "NVIDIA-H100-80GB-HBM2e",
        "NVIDIA-L40G",
        "GeForce-RTX-3090",
        "NVIDIA-L40",
        "Quadro-RTX-6000",
        "NVIDIA-RTX-A6000",
    ],
)
def test_names_of_the_feature_discovery(value: str) -> None:
    assert known_types().names_on_nodes(PRODUCT, value) == []


@pytest.mark.parametrize(
    ("key", "value", "name"),
    [
        (PRODUCT, "H100", "NVIDIA-H100-80GB-HBM3"),
        (PRODUCT, "h100-80gb", "NVIDIA-H100-80GB-HBM3"),
        (PRODUCT, "NVIDIA-H100", "NVIDIA-H100-80GB-HBM3"),
        (PRODUCT, "nvidia-l4", "NVIDIA-L4"),
        (PRODUCT, "A100", "NVIDIA-A100-SXM4-40GB"),
        (PRODUCT, "nvidia-tesla-t4", "Tesla-T4"),
        (GKE, "nvidia-h100", "nvidia-h100-80gb"),
        (GKE, "L4", "nvidia-l4"),
        ("karpenter.k8s.aws/instance-gpu-name", "H100", "h100"),
        (PRODUCT, "NVIDIA-H100-80GB-HBM", "NVIDIA-H100-80GB-HBM3"),
        (PRODUCT, "NVIDIA-H100-80GB-HMB3", "NVIDIA-H100-80GB-HBM3"),
        (PRODUCT, "nvidia-h100-80gb-hbm3", "NVIDIA-H100-80GB-HBM3"),
        (GKE, "nvidia-h200-141g", "nvidia-h200-141gb"),
        (GKE, "nvidia-telsa-t4", "nvidia-tesla-t4"),
        (TYPE, "p5.48xlarg", "p5.48xlarge"),
        (TYPE, "g6-2xlarge", "g6.2xlarge"),
    ],
)
def test_names_that_people_use(key: str, value: str, name: str) -> None:
    assert known_types().names_on_nodes(key, value)[0] == name


@pytest.mark.parametrize(
    "spec",
    [
        {"nodeSelector": {TYPE: "g5.xlarge", PRODUCT: "NVIDIA-A10G"}},
        {"nodeSelector": {GKE: "nvidia-l4", "pool": "a"}, "affinity": affinity(one_of("zone", "b"))},
        {"nodeSelector": {GKE: "nvidia-l4"}, "affinity": affinity(one_of(GKE, "nvidia-l4", "nvidia-b200"))},
        {"nodeSelector": {GKE: "nvidia-l4"}, "affinity": affinity(one_of(GKE, "nvidia-b200"), one_of("zone", "b"))},
        {"nodeSelector": {"nvidia.com/gpu.present": "false"}, "containers": requests(cpu=1)},
        {"nodeSelector": {TYPE: "g6.xlarge"}, "containers": requests(cpu="3900m", memory="14Gi")},
        {"nodeSelector": {TYPE: "p5.4xlarge"}, "containers": requests(**{"nvidia.com/gpu": 1})},
        {"affinity": affinity(one_of(TYPE, "g6.xlarge", "g6.2xlarge")), "containers": requests(cpu=4)},
        {"affinity": affinity(one_of(TYPE, "g6.xlarge"), one_of("pool", "a")), "containers": requests(cpu=4)},
        {"nodeSelector": {TYPE: "own.large"}, "containers": requests(cpu=400)},
        {"nodeSelector": {GKE: "nvidia-l4"}, "containers": requests(cpu=90, memory="300Gi")},
        {"nodeSelector": {TYPE: "p5.6xlarge", "karpenter.sh/capacity-type": "spot"}},
        {"nodeSelector": {TYPE: "n1-standard-4"}},
        {"nodeSelector": {TYPE: "Standard_NC24ads_A100_v4"}},
        {"nodeSelector": {TYPE: "g6.xlarge"}, "containers": requests(cpu="four")},
    ],
)
def test_what_may_be(spec: dict[str, Any]) -> None:
    assert codes(spec) == []


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ({"nodeSelector": {GKE: "nvidia-l4", TYPE: "g5.xlarge"}}, "W547"),
        ({"nodeSelector": {"pool": "a"}, "affinity": affinity(one_of("pool", "b"), one_of("pool", "c"))}, "W547"),
        ({"affinity": affinity(one_of(PRODUCT, "NVIDIA-L4", "L40S"))}, "W557"),
        ({"nodeSelector": {"karpenter.sh/capacity-type": "ondemand"}}, "W557"),
        ({"nodeSelector": {TYPE: "g6.xlarge"}, "containers": requests(cpu=2) * 2}, "W532"),
        ({"nodeSelector": {TYPE: "p4d.24xlarge"}, "containers": requests(**{"nvidia.com/gpu": 16})}, "W532"),
        ({"nodeSelector": {GKE: "nvidia-l4"}, "containers": requests(cpu=96)}, "W532"),
        ({"affinity": affinity(one_of(TYPE, "g6.xlarge", "g5.xlarge")), "containers": requests(memory="16Gi")}, "W532"),
        (
            {"nodeSelector": {TYPE: "g6.xlarge"}, "initContainers": requests(memory="32Gi"), "containers": []},
            "W532",
        ),
    ],
)
def test_what_cannot_be(spec: dict[str, Any], code: str) -> None:
    assert codes(spec) == [code]


@pytest.mark.parametrize(
    ("amounts", "hint"),
    [
        ({"cpu": 500, "nvidia.com/gpu": 1}, "did you mean 500m?"),
        ({"cpu": "1k", "amd.com/gpu": 1}, "did you mean 1000m?"),
        ({"memory": "10000Gi", "nvidia.com/mig-1g.10gb": 1}, "did you mean 10000Mi?"),
        ({"cpu": 1000}, "did you mean 1000m?"),
        ({"cpu": 384, "memory": "8Ti", "nvidia.com/gpu": 8}, ""),
        ({"cpu": 500, "example.com/slots": 1}, ""),
        ({"cpu": 500}, ""),
    ],
)
def test_no_server_with_accelerators_has_as_much(amounts: dict[str, object], hint: str) -> None:
    spec = {"containers": [{"name": "engine", "image": "a:v1", "resources": {"limits": amounts}}]}
    assert [finding.words["hint"] for finding in validate_pod(spec) if finding.code == "W532"] == [hint] * bool(hint)
