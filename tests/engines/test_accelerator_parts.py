"""Parts of accelerators: what limits and labels say of the memory that a process finds, or that nobody knows it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from renderer.engines.accelerator_parts import accelerator_of_pod, is_part
from renderer.load.preset_files import accelerator_types, preset

ROWS = preset("accelerators").value["spec"]["resources"]
TYPES = preset("accelerator_types").value["spec"]
GPU, MIG, SHARED, VGPU = "nvidia.com/gpu", "nvidia.com/mig-", "nvidia.com/gpu.shared", "volcano.sh/vgpu-number"
PRODUCT, GKE = "nvidia.com/gpu.product", "cloud.google.com/gke-accelerator"
A100, H100, T4 = {PRODUCT: "NVIDIA-A100-SXM4-80GB"}, {GKE: "nvidia-h100-80gb"}, {PRODUCT: "Tesla-T4"}


@pytest.mark.parametrize(
    ("limits", "labels", "gib"),
    [
        # whole cards
        ({GPU: 1}, T4, 14.6),
        ({GPU: 8}, H100, 79.2),
        ({GPU: 1}, {}, None),
        ({"amd.com/gpu": 1}, {}, None),
        # HAMi: MiB of each device, or a part of a card that is known
        ({GPU: 1, "nvidia.com/gpumem": 12000}, {}, 11.72),
        ({GPU: 2, "nvidia.com/gpumem": "12k"}, T4, 11.72),
        ({GPU: 1, "nvidia.com/gpumem": 3000, "nvidia.com/gpucores": 30}, H100, 2.93),
        ({GPU: 1, "nvidia.com/gpumem": 40000}, T4, None),  # more than the card has
        ({GPU: 1, "nvidia.com/gpumem": "16Gi"}, {}, None),  # MiB, so it is none of any card
        ({GPU: 1, "nvidia.com/gpumem": "much"}, {}, None),
        ({GPU: 1, "nvidia.com/gpumem": 0}, T4, None),
        ({GPU: 1, "nvidia.com/gpumem-percentage": 50}, H100, 39.6),
        ({GPU: 1, "nvidia.com/gpumem-percentage": 50}, {}, None),
        ({GPU: 1, "nvidia.com/gpucores": 30}, T4, 14.6),  # a part of the time, not of the memory
        # MIG, strategy mixed: a resource of its own
        ({f"{MIG}1g.10gb": 1}, {}, 9.75),
        ({f"{MIG}1g.10gb": 1}, A100, 9.5),
        ({f"{MIG}1g.10gb": 1}, H100, 9.75),
        ({f"{MIG}1g.10gb.me": 1}, H100, 9.75),
        ({f"{MIG}7g.40gb": 1}, {}, 39.5),
        ({f"{MIG}3g.71gb": 1}, {}, 69.5),
        ({f"{MIG}1g.18gb": 1}, {}, None),  # 16 GiB of an H200, 17.5 of a GH200
        ({f"{MIG}1g.18gb": 1}, {PRODUCT: "NVIDIA-H200"}, 16.0),
        ({f"{MIG}1c.3g.40gb": 1}, A100, None),  # several have the memory of one instance
        ({f"{MIG}1g.10gb.shared": 1}, A100, None),
        ({f"{MIG}9g.90gb": 1}, {}, None),
        # MIG, strategy single: a label
        ({GPU: 1}, {PRODUCT: "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb"}, 9.5),
        ({GPU: 1}, {PRODUCT: "NVIDIA-H100-80GB-HBM3-MIG-3g.40gb"}, 39.5),
        ({GPU: 1}, {PRODUCT: "NVIDIA-Z1-MIG-1g.99gb"}, None),
        ({GPU: 1}, {"cloud.google.com/gke-gpu-partition-size": "1g.5gb"}, 4.75),
        ({GPU: 1}, {"cloud.google.com/gke-gpu-partition-size": "1g.10gb", **H100}, 9.75),
        # a card in turns: nobody knows what the others leave
        ({SHARED: 1}, {}, None),
        ({SHARED: 1}, T4, None),
        ({GPU: 1}, {PRODUCT: "NVIDIA-L40S-SHARED"}, None),
        ({GPU: 1}, {"cloud.google.com/gke-gpu-sharing-strategy": "time-sharing", **H100}, None),
        ({GPU: 1}, {"cloud.google.com/gke-max-shared-clients-per-gpu": "4", **H100}, None),
        ({GPU: 1}, {"nvidia.com/gpu.sharing-strategy": "mps", **T4}, None),
        ({GPU: 1}, {"nvidia.com/gpu.sharing-strategy": "none", "nvidia.com/gpu.replicas": "1", **T4}, 14.6),
        ({f"{MIG}1g.10gb": 1}, {"nvidia.com/gpu.sharing-strategy": "mps", **A100}, None),
        # Volcano
        ({VGPU: 1, "volcano.sh/vgpu-memory": 8192}, {}, 8.0),
        ({VGPU: 1, "volcano.sh/vgpu-memory-percentage": 25}, H100, 19.8),
        ({VGPU: 1}, H100, None),
        ({VGPU: 1, "volcano.sh/vgpu-cores": 50}, H100, None),
        ({GPU: 1, "volcano.sh/vgpu-memory": 8192}, T4, 14.6),  # of another device plugin
        # none in the limits: claimed by dynamic resource allocation
        ({}, T4, 14.6),
    ],
)
def test_memory(limits: Mapping[str, object], labels: Mapping[str, str], gib: float | None) -> None:
    types = accelerator_types()
    accelerator = accelerator_of_pod(types, ROWS, limits, labels, types.of_labels(labels))
    assert (round(accelerator.memory_gib, 2) if accelerator else None) == gib


@pytest.mark.parametrize(
    ("resource", "beside", "labels", "part"),
    [
        (GPU, [], T4, False),
        (GPU, ["nvidia.com/gpucores"], {}, False),
        (GPU, ["nvidia.com/gpumem"], {}, True),
        (GPU, ["nvidia.com/gpumem-percentage"], {}, True),
        (GPU, ["volcano.sh/vgpu-memory"], {}, False),
        (GPU, [], {PRODUCT: "NVIDIA-L40S-SHARED"}, True),
        (GPU, [], {PRODUCT: "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb"}, True),
        (GPU, [], {"cloud.google.com/gke-gpu-partition-size": "1g.5gb"}, True),
        (SHARED, [], {}, True),
        (f"{MIG}7g.80gb", [], {}, True),
        (VGPU, [], {}, True),
        ("amd.com/gpu", [], {}, False),
        ("example.com/npu", [], {}, False),
    ],
)
def test_what_is_a_part(resource: str, beside: list[str], labels: Mapping[str, str], part: bool) -> None:
    assert is_part(accelerator_types(), ROWS, resource, [resource, *beside], labels) == part


def test_instances_are_of_known_cards_and_have_sources() -> None:
    for row in TYPES["parts"]:
        card = accelerator_types().by_name.get(row["card"])
        assert row["source"]
        assert card or not row["card"]
        for profile, gib in row["memoryGiB"].items():
            sold = float(profile.partition(".")[2].removesuffix("gb"))
            assert 0.82 * sold <= gib <= sold  # less than it is called, and not by much
            assert not card or gib <= card.memory_gib + 0.31


def test_companions_stand_beside_accelerators() -> None:
    names = {row.get("name") for row in ROWS if row["count"] != "none"}
    assert {row["of"] for row in ROWS if "of" in row} <= names
    assert {row["memory"] for row in ROWS if "memory" in row} <= {"profile", "unknown", "MiB", "percent"}
