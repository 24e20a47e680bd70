"""An object of a kustomize base is judged as an overlay of the tree makes it, without kustomize."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import Llmaz

BASE = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec:
      containers: [{name: server}]
"""
CONTAINER = '{name: server, image: "vllm/vllm-openai:v0.24.0", args: [--model, org/blue], resources: {limits: {%s: 1}}}'
GPU = CONTAINER % "nvidia.com/gpu"


def patch(container: str, name: str = "chat") -> str:
    spec = f"{{template: {{spec: {{containers: [{container}]}}}}}}"
    return f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec: {spec}\n"


FROM_BASE = "resources: [../base]\n"
BY_FILE = {"gpu/kustomization.yaml": f"{FROM_BASE}patches: [path: patch.yaml]\n", "gpu/patch.yaml": patch(GPU)}
OPERATIONS = (
    "- {op: add, path: /spec/template/spec/containers/0/image, value: 'vllm/vllm-openai:v0.24.0'}\n"
    "- {op: add, path: /spec/template/spec/containers/0/args, value: [--model, org/blue]}\n"
    "- {op: add, path: /spec/template/spec/containers/0/resources, value: {limits: {nvidia.com/gpu: 1}}}\n"
)
AIMED = "patches: [{path: patch.yaml, target: {kind: Deployment, name: %s}}]\n"
TREES: Mapping[str, tuple[Mapping[str, str], list[str]]] = {
    "by a file": (BY_FILE, []),
    "by patchesStrategicMerge": (
        {**BY_FILE, "gpu/kustomization.yaml": f"{FROM_BASE}patchesStrategicMerge: [patch.yaml]\n"},
        [],
    ),
    "by operations": (
        {"gpu/kustomization.yaml": FROM_BASE + AIMED % "cha.*", "gpu/patch.yaml": OPERATIONS},
        [],
    ),
    "two above": (
        {
            "gpu/kustomization.yaml": "resources: [../middle]\npatches: [path: patch.yaml]\n",
            "gpu/patch.yaml": patch(GPU),
            "middle/kustomization.yaml": FROM_BASE,
        },
        [],
    ),
    "by a component": (
        {
            "gpu/kustomization.yaml": f"{FROM_BASE}components: [../component]\n",
            "component/kustomization.yaml": "kind: Component\npatches: [path: patch.yaml]\n",
            "component/patch.yaml": patch(GPU),
        },
        [],
    ),
    "with a fault of the overlay": ({**BY_FILE, "gpu/patch.yaml": patch(CONTAINER % "cpu")}, ["W496"]),
    "nothing": ({"gpu/kustomization.yaml": FROM_BASE}, ["E302"]),
    "another object": ({**BY_FILE, "gpu/patch.yaml": patch(GPU, "other")}, ["E302"]),
    "another target": ({"gpu/kustomization.yaml": FROM_BASE + AIMED % "other", "gpu/patch.yaml": OPERATIONS}, ["E302"]),
    "operations without their place": (
        {"gpu/kustomization.yaml": FROM_BASE + AIMED % "chat", "gpu/patch.yaml": OPERATIONS.replace("/0/", "/7/")},
        ["E302"],
    ),
    "a circle": ({"gpu/kustomization.yaml": "resources: [../base, ../gpu]\npatches: [path: patch.yaml]\n"}, ["E302"]),
}


BARE = {"base/kustomization.yaml": "resources: [deployment.yaml]\n", "base/deployment.yaml": BASE}


def codes(files: Mapping[str, str], folder: Path, llmaz: Llmaz) -> list[str]:
    """What is told of a tree, but for hooks."""
    for name, text in {**BARE, **files}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    lines = llmaz("check", ".").err.splitlines()
    all_codes = [line.rpartition("[")[2].rstrip("]") for line in lines if line.endswith("]")]
    return [code for code in all_codes if code != "N454"]


@pytest.mark.parametrize("tree", TREES)
def test_a_base_is_judged_as_its_overlay_makes_it(tree: str, folder: Path, llmaz: Llmaz) -> None:
    files, expected = TREES[tree]
    assert codes(files, folder, llmaz) == expected


def test_of_several_overlays_the_first_counts(folder: Path, llmaz: Llmaz) -> None:
    kustomization = f"{FROM_BASE}patches: [path: patch.yaml]\n"
    overlays = {"one": patch(GPU), "two": patch(CONTAINER % "cpu")}
    files = {f"{name}/kustomization.yaml": kustomization for name in overlays}
    assert codes({**files, **{f"{name}/patch.yaml": text for name, text in overlays.items()}}, folder, llmaz) == []
