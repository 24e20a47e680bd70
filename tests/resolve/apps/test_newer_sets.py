"""Fields of LeaderWorkerSet 0.11 in a llmaz Service; they have no goldens, since the judges know 0.9."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Llmaz

CONFIG = """
apiVersion: renderer.llmaz.io/v1alpha1
kind: RenderConfig
metadata: {name: config}
spec: {targets: {leaderWorkerSet: "0.11", kubernetes: "1.37"}}
"""
SERVICE = """
apiVersion: inference.llmaz.io/v1alpha1
kind: Service
metadata: {name: group, namespace: llm}
spec:
  modelClaims: {models: [{name: qwen3-8b}]}
  %s
  workloadTemplate:
    size: 2
    restartPolicy: RecreateGroupAfterStart
    maxGroupRestarts: 0
    workerTemplate:
      spec: {containers: [{name: model-runner, image: "registry.example.com/engine:1.2.3"}]}
"""


def spec(folder: Path, llmaz: Llmaz, fields: str) -> dict[str, Any]:
    """The spec of the LeaderWorkerSet that a Service with these fields becomes."""
    (folder / "llmaz.yaml").write_text(CONFIG, "utf-8")
    (folder / "group.yaml").write_text(SERVICE % fields, "utf-8")
    done = llmaz("render", "--stdout", "group.yaml")
    assert done.code == 0, done.err
    bodies = [body for body in yaml.safe_load_all(done.out) if body["kind"] == "LeaderWorkerSet"]
    return dict(bodies[0]["spec"])


def test_groups_with_random_keys(folder: Path, llmaz: Llmaz) -> None:
    lws_spec = spec(folder, llmaz, "groupIdentity: Hash\n  groupReplacementPolicy: Immediate")
    assert (lws_spec["groupIdentity"], lws_spec["groupReplacementPolicy"]) == ("Hash", "Immediate")
    assert lws_spec["leaderWorkerTemplate"]["maxGroupRestarts"] == 0


def test_gangs_of_pods(folder: Path, llmaz: Llmaz) -> None:
    expected = {"replica": {"schedulingPolicy": {"gang": {"minCount": 2}}}}
    lws_spec = spec(folder, llmaz, "scheduling: {replica: {schedulingPolicy: {gang: {minCount: 2}}}}")
    assert lws_spec["scheduling"] == expected
