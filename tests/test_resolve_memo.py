"""What apps say alike is worked out once; what is wrong with it is said of each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from renderer.resolve.memo import key_of

if TYPE_CHECKING:
    from tests.conftest import Llmaz


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param({"cpu": 1}, {"cpu": True}, id="a number and a truth"),
        pytest.param({"cpu": 1}, {"cpu": 1.0}, id="whole and broken"),
        pytest.param({"cpu": 1}, {"cpu": "1"}, id="a number and text"),
        pytest.param({"a": 1, "b": 2}, {"b": 2, "a": 1}, id="another order"),
        pytest.param({}, None, id="empty and nothing"),
        pytest.param({"a": {"b": []}}, {"a": {"b": {}}}, id="a list and a map"),
    ],
)
def test_what_is_not_the_same(one: Any, other: Any) -> None:
    assert key_of(one) != key_of(other)


def test_the_same_however_it_is_held() -> None:
    word = "".join(["me", "mory"])  # no constant of the code
    assert key_of({"memory": "8Gi"}, ["8Gi"]) == key_of({word: "8" + "Gi"[:]}, ["8Gi"])


def text(name: str, resources: str, args: str, limits: str) -> str:
    return f"""\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {{name: m-{name}}}
spec:
  familyName: qwen3
  source: {{modelHub: {{modelID: org/m-{name}}}}}
  inferenceConfig:
    flavors:
      - {{name: a100, limits: {limits}}}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {{name: {name}}}
spec:
  modelClaim: {{modelName: m-{name}}}
  backendRuntimeConfig:
    backendName: vllm
    args: {args}
    resources: {resources}
"""


RIGHT = ("{limits: {cpu: 8}}", "[--max-model-len, '4096']", "{nvidia.com/gpu: 1}")
WRONG = [
    pytest.param(("{limits: {cpu: 1}, requests: {cpu: 2}}", *RIGHT[1:]), id="a request above its limit"),
    pytest.param(("{limits: {nvidia.com/gpu: 4}}", *RIGHT[1:]), id="another limit than the flavor's"),
    pytest.param((RIGHT[0], "[--max-model-lenn, '4096']", RIGHT[2]), id="an option that nobody knows"),
    pytest.param((RIGHT[0], "[--port, '1']", RIGHT[2]), id="an option that is not the user's"),
    pytest.param((RIGHT[0], "[--tensor-parallel-size, '2']", RIGHT[2]), id="more than the pod has"),
    pytest.param((RIGHT[0], "[--data-parallel-size, '2']", RIGHT[2]), id="more than the pod has, by another option"),
    pytest.param((RIGHT[0], "[--pipeline-parallel-size, '2']", "{nvidia.com/gpu: 4}"), id="accelerators that idle"),
    pytest.param(("{limits: {memory: 512m}}", *RIGHT[1:]), id="memory of half a byte"),
    pytest.param((*RIGHT[:2], "{nvidia.com/gpu: 1.5}"), id="half an accelerator"),
    pytest.param((*RIGHT[:2], "{example.com/nobodys: 1}"), id="a resource that nobody knows"),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_said_of_each(here: Path, llmaz: Llmaz, wrong: tuple[str, str, str]) -> None:
    alone: dict[str, str] = {}
    for name in "abc":
        path = Path(f"{name}.yaml")
        path.write_text(text(name, *(RIGHT if name == "b" else wrong)), "utf-8")
        alone[name] = llmaz("render", path, "-o", f"out-{name}").err
    for turn, order in enumerate(("abc", "bca")):
        folder = Path(f"turn-{turn}")
        folder.mkdir()
        for place, name in enumerate(order):
            (folder / f"{place}.yaml").write_text(text(name, *(RIGHT if name == "b" else wrong)), "utf-8")
        said = llmaz("render", folder, "-o", f"out-{turn}").err
        for place, name in enumerate(order):
            lines = [line for line in alone[name].splitlines() if line.startswith(f"{name}.yaml:")]
            assert bool(lines) == (name != "b")
            for line in lines:
                assert line.replace(f"{name}.yaml:", f"{folder}/{place}.yaml:", 1) in said
