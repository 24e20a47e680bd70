"""Types of accelerators: each instance of EC2 leads to exactly one, and so do the labels of clouds and operators."""

from __future__ import annotations

import pytest

from renderer.load.preset_files import accelerator_types, preset

FAMILIES = preset("instances").value["spec"]["families"]
ROWS = preset("accelerator_types").value["spec"]["types"]
VENDORS = {row["vendor"] for row in preset("accelerators").value["spec"]["resources"] if "vendor" in row}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family["family"])
def test_each_family_of_instances_has_one_type(family: dict[str, object]) -> None:
    label = {"node.kubernetes.io/instance-type": f"{family['family']}.xlarge"}
    of_instance = accelerator_types().of_labels(label)
    key = "accelerator" if family["resource"] == "habana.ai/gaudi" else "gpu"
    karpenter = f"karpenter.k8s.aws/instance-{key}"
    labels = {f"{karpenter}-name": str(family["name"]), f"{karpenter}-memory": str(family["memory"])}
    of_karpenter = accelerator_types().of_labels(labels)
    assert of_instance is not None
    assert of_instance == of_karpenter
    assert 0.85 <= of_instance.memory_gib * 1024 / float(str(family["memory"])) <= 1.01


def test_names_are_alone_and_vendors_known() -> None:
    names = [row["name"] for row in ROWS]
    assert len(set(names)) == len(names)
    assert {row["vendor"] for row in ROWS} <= VENDORS


def test_no_label_leads_to_two_types() -> None:
    for row in ROWS:
        for value in row.get("gke", ()):
            assert _name({"cloud.google.com/gke-accelerator": value}) == row["name"]
        for value in row.get("product", ()):
            plain = value.replace("*", "")
            assert _name({"nvidia.com/gpu.product": f"{plain}-SHARED"}) in (row["name"], None)
            if "*" not in value:
                assert _name({"nvidia.com/gpu.product": value}) == row["name"]


@pytest.mark.parametrize(
    ("labels", "name"),
    [
        ({"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"}, "a100-80g"),
        ({"nvidia.com/gpu.product": "NVIDIA-A100-80GB-PCIe"}, "a100-80g"),
        ({"nvidia.com/gpu.product": "A100-SXM4-40GB"}, "a100-40g"),
        ({"nvidia.com/gpu.product": "NVIDIA-L40S-SHARED"}, "l40s-48g"),
        ({"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"}, "a100-40g"),  # the card that is divided
        ({"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb"}, "a100-80g"),
        ({"karpenter.k8s.aws/instance-gpu-name": "a100"}, None),  # of either memory
        ({"karpenter.k8s.aws/instance-gpu-name": "h100"}, "h100-80g"),
        ({"cloud.google.com/gke-accelerator": "nvidia-l4", "nvidia.com/gpu.product": "NVIDIA-L4"}, "l4-24g"),
        ({"cloud.google.com/gke-accelerator": "nvidia-l4", "nvidia.com/gpu.product": "NVIDIA-L40S"}, None),
        ({"node.kubernetes.io/instance-type": "m5.large"}, None),
        ({}, None),
    ],
)
def test_labels(labels: dict[str, str], name: str | None) -> None:
    assert _name(labels) == name


def _name(labels: dict[str, str]) -> str | None:
    accelerator_type = accelerator_types().of_labels(labels)
    return accelerator_type.name if accelerator_type else None
