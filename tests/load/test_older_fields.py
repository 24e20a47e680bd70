"""Fields of old releases: what the hints say, and that what they say is valid."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Llmaz

MODEL = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: blue}
spec:
  familyName: blue
  source: {modelHub: {modelID: acme/blue, filename: blue-q4.gguf}}
"""
APP = """\
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: chat}
spec:
  modelClaim: {modelName: blue}
  backendRuntimeConfig:
    backendName: llamacpp
"""
HUB = APP.replace("blue}", "qwen3-8b}").partition("  backendRuntimeConfig:")[0]
SCALED = """\
  elasticConfig:
    maxReplicas: 3
"""
TRIGGER = """\
    scaleTrigger:
      hpa: {metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]}
"""
FLASH = "write '-fa', 'on' as two items: it accepts 'auto', 'off' or 'on'"
# What is written, and hints: followed word for word they lead to the next, and the last one is valid.
STEPS: dict[str, list[tuple[str, list[str]]]] = {
    "flavors": [
        (
            MODEL + "  inferenceFlavors:\n  - name: small\n    requests: {cpu: 2}\n",
            ["move the list to spec.inferenceConfig.flavors, with limits instead of requests"],
        ),
        (
            MODEL + "  inferenceConfig:\n    flavors:\n    - name: small\n      requests: {cpu: 2}\n",
            ["rename it to limits; they are the requests too"],
        ),
        (MODEL + "  inferenceConfig:\n    flavors:\n    - name: small\n      limits: {cpu: 2}\n", []),
    ],
    "source": [
        (
            "apiVersion: llmaz.io/v1alpha1\nkind: Model\nmetadata: {name: blue}\nspec:\n  familyName: blue\n"
            "  source: {modelID: acme/blue, modelHub: ModelScope}\n",
            [
                "move it into modelHub: {modelID: acme/blue}",
                "write kind: OpenModel",
                "write modelHub: {name: ModelScope}, and modelID in it",
            ],
        ),
        (MODEL.replace("modelID: acme/blue, filename: blue-q4.gguf", "name: ModelScope, modelID: acme/blue"), []),
    ],
    "backend": [
        (
            MODEL + APP.replace("RuntimeConfig:", "Config:").replace("backendName", "name") + "    args: [-fa]\n",
            ["rename it to backendRuntimeConfig, and its name to backendName"],
        ),
        (MODEL + APP + "    args: [-fa]\n", [FLASH]),
        (MODEL + APP + "    args: ['-fa', 'on']\n", []),
    ],
    "arguments": [
        (
            MODEL + APP.replace("backendName", "name") + "    argName: default\n    argFlags: [-fa]\n",
            ["rename it to args, a list of strings", "write backendName: llamacpp", "write configName: default"],
        ),
        (MODEL + APP + "    configName: default\n    args: [-fa]\n", [FLASH]),
        (MODEL + APP + "    configName: default\n    args: ['-fa', 'on']\n", []),
    ],
    "trigger": [
        (
            MODEL + APP + TRIGGER + SCALED,
            ["move it to spec.elasticConfig.scaleTrigger, beside maxReplicas"],
        ),
        (MODEL + APP + SCALED + TRIGGER, []),
    ],
    "claimed flavors": [
        (
            HUB.replace("{modelName: qwen3-8b}", "{modelName: qwen3-8b, inferenceFlavorClaims: [nvidia-gpu]}"),
            ["rename it to inferenceFlavors"],
        ),
        (HUB.replace("{modelName: qwen3-8b}", "{modelName: qwen3-8b, inferenceFlavors: [nvidia-gpu]}"), []),
    ],
}


@pytest.mark.parametrize("name", STEPS)
def test_hints_lead_to_valid_input(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz) -> None:
    """In two rounds at most."""
    monkeypatch.chdir(tmp_path)
    assert len(STEPS[name]) <= 3
    for text, hints in STEPS[name]:
        (tmp_path / "all.yaml").write_text(text)
        done = llmaz("validate", "--format", "json")
        assert sorted(item["hint"] for item in json.loads(done.out) if item["severity"] == "error") == hints
        assert done.code == (2 if hints else 0)


def test_a_long_word_and_a_list_are_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "all.yaml").write_text(APP.replace("backendName: llamacpp", f"name: {'x' * 61}"))
    assert "write backendName: …\n" in llmaz("validate").err
    (tmp_path / "all.yaml").write_text(APP.replace("backendName: llamacpp", "name: [a]"))
    assert "write backendName: …\n" in llmaz("validate").err
