"""What apps say alike is worked out once; what is wrong with it is said of each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from renderer.resolve.context import cache_key

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
    assert cache_key(one) != cache_key(other)


def test_the_same_however_it_is_held() -> None:
    word = "".join(["me", "mory"])  # no constant of the code
    assert cache_key({"memory": "8Gi"}, ["8Gi"]) == cache_key({word: "8" + "Gi"[:]}, ["8Gi"])


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
def test_what_is_wrong_is_said_of_each(folder: Path, llmaz: Llmaz, wrong: tuple[str, str, str]) -> None:
    alone: dict[str, str] = {}
    for name in "abc":
        path = Path(f"{name}.yaml")
        path.write_text(text(name, *(RIGHT if name == "b" else wrong)), "utf-8")
        alone[name] = llmaz("render", path, "-o", f"out-{name}").err
    for turn, order in enumerate(("abc", "bca")):
        turn_folder = Path(f"turn-{turn}")
        turn_folder.mkdir()
        for place, name in enumerate(order):
            (turn_folder / f"{place}.yaml").write_text(text(name, *(RIGHT if name == "b" else wrong)), "utf-8")
        stderr = llmaz("render", turn_folder, "-o", f"out-{turn}").err
        for place, name in enumerate(order):
            lines = [line for line in alone[name].splitlines() if line.startswith(f"{name}.yaml:")]
            assert bool(lines) == (name != "b")
            for line in lines:
                assert line.replace(f"{name}.yaml:", f"{turn_folder}/{place}.yaml:", 1) in stderr


MODEL = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: NAME}
spec:
  familyName: qwen3
  source: SOURCE
  inferenceConfig: {flavors: [{name: a100, limits: {nvidia.com/gpu: 4}}]}
  facts: {attention: {heads: 14}, contextLength: 4096}
---
"""
APP = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: app-NAME}
spec:
  CLAIM
  backendRuntimeConfig: {backendName: BACKEND, CONFIG}
  MORE
---
"""
HUB = "{modelHub: {modelID: org/NAME}}"
ONE, TWO = "modelClaim: {modelName: NAME}", "modelClaims: {models: [{name: NAME}, {name: draft-NAME, role: draft}]}"
HALF = "args: [--tensor-parallel-size, '2', --data-parallel-size, '2']"
BY_CPU = """elasticConfig:
    maxReplicas: 2
    scaleTrigger: {hpa: {metrics: [{type: Resource, resource: {name: nvidia.com/gpu, target: {type: AverageValue, \
averageValue: 1}}}]}}"""
QUEUE = """elasticConfig:
    maxReplicas: 2
    scaleTrigger: {hpa: {metrics: [{type: Pods, pods: {metric: {name: vllm_num_requests_waiting}, target: \
{type: AverageValue, averageValue: 5}}}]}}"""
SHORT = "podTemplate: {spec: {terminationGracePeriodSeconds: 60}}"
OVER = """podTemplate:
    spec:
      containers: [{name: model-runner, volumeMounts: [{name: mine, mountPath: /workspace/models/}]}]
      volumes: [{name: mine, emptyDir: {}}]"""
NEW = [  # a code, what is like it and right, and what is wrong
    pytest.param("W222", {"CLAIM": TWO}, {"CONFIG": f"{HALF}, configName: default", "CLAIM": TWO}, id="draft unused"),
    pytest.param("E417", {"CLAIM": TWO}, {"CONFIG": f"{HALF}, configName: speculative-decoding"}, id="no draft"),
    pytest.param("W224", {}, {"SOURCE": "{modelHub: {modelID: org/NAME-GGUF}}"}, id="by its name GGUF"),
    pytest.param("W225", {}, {"SOURCE": "{modelHub: {modelID: org/NAME, allowPatterns: ['*.bin']}}"}, id="patterns"),
    pytest.param(
        "E413", {"SOURCE": "{uri: s3://own/NAME}"}, {"SOURCE": "{uri: s3://own/NAME/a.safetensors}"}, id="file"
    ),
    pytest.param("W226", {}, {"CONFIG": "args: [--tensor-parallel-size, '4']"}, id="heads"),
    pytest.param("W226", {}, {"CONFIG": "args: []"}, id="heads by the flavor"),
    pytest.param("W227", {}, {"CONFIG": f"{HALF[:-1]}, --max-model-len, '8192']"}, id="context"),
    pytest.param("W228", {}, {"CONFIG": f"{HALF[:-1]}, --shutdown-timeout, '900']"}, id="drain"),
    pytest.param("W228", {}, {"MORE": SHORT}, id="drain of a template"),
    pytest.param("W229", {}, {"MORE": OVER}, id="a mount over the weights"),
    pytest.param("W236", {}, {"CONFIG": "args: [--data-parallel-size, '2']"}, id="idle"),
    pytest.param("E416", {}, {"CONFIG": f"{HALF[:-1]}, --pipeline-parallel-size, '2']"}, id="too many"),
    pytest.param("W524", {}, {"CONFIG": f"{HALF}, resources: {{requests: {{memory: 512m}}}}"}, id="half a byte"),
    pytest.param("E307", {}, {"CONFIG": f"{HALF}, sharedMemorySize: -1"}, id="shared memory"),
    pytest.param("W556", {}, {"MORE": BY_CPU}, id="what no metrics hold"),
    pytest.param("E264", {"MORE": QUEUE}, {"MORE": QUEUE, "CONFIG": f"{HALF[:-1]}, --disable-log-stats]"}, id="off"),
    pytest.param(
        "W439",
        {"BACKEND": "llamacpp", "CONFIG": "args: [--ctx-size, '4096']", "GGUF": "1"},
        {"BACKEND": "llamacpp", "CONFIG": "args: [--ctx-size, --jinja]", "GGUF": "1"},
        id="no value",
    ),
]


def written(name: str, words: dict[str, str]) -> str:
    source = "{modelHub: {modelID: org/NAME, filename: a.gguf}}" if "GGUF" in words else HUB
    all_ = {"SOURCE": source, "CLAIM": ONE, "BACKEND": "vllm", "CONFIG": HALF, "MORE": "", **words}
    model = MODEL.replace("SOURCE", all_.pop("SOURCE"))
    yaml_text = model + (model.replace("NAME", "draft-NAME") if all_["CLAIM"] == TWO else "") + APP
    for word, value in all_.items():
        yaml_text = yaml_text.replace(word, value)
    return yaml_text.replace("NAME", name)


@pytest.mark.parametrize(("code", "right", "wrong"), NEW)
def test_each_of_two_with_the_same_values(
    folder: Path, llmaz: Llmaz, code: str, right: dict[str, str], wrong: dict[str, str]
) -> None:
    for turn, order in enumerate(("abc", "bca")):  # b is right, once in front of both
        turn_folder = Path(f"turn-{turn}")
        turn_folder.mkdir()
        for place, name in enumerate(order):
            (turn_folder / f"{place}.yaml").write_text(written(name, right if name == "b" else wrong), "utf-8")
        lines = [
            line for line in llmaz("render", turn_folder, "-o", f"out-{turn}").err.splitlines() if f"[{code}]" in line
        ]
        of = [line.partition(".yaml")[0].rpartition("/")[2] for line in lines]
        assert sorted(of) == sorted(str(order.index(name)) for name in "ac"), lines


SKIPS = {"metadata: {name: app-NAME}": 'metadata: {name: app-NAME, annotations: {llmaz.io/skip-model-loader: "true"}}'}
ENVS = "envs: [{name: A, value: a}, {name: B, value: b}]"
PLAIN = {"CLAIM": ONE, "BACKEND": "vllm", "CONFIG": f"{HALF}, {ENVS}", "MORE": "", "SOURCE": HUB}
UNLIKE = {  # apps that differ in one thing each
    "plain": {},
    "two": {"nvidia.com/gpu: 4": "nvidia.com/gpu: 2", HALF: "args: []"},
    "four": {HALF: "args: []"},
    "length": {"limits: {": "params: {MAX-MODEL-LEN: '1024'}, limits: {"},
    "longer": {"limits: {": "params: {MAX-MODEL-LEN: '2048'}, limits: {"},
    "skip": SKIPS,
    "skip-one": {**SKIPS, "org/NAME": "org/NAME, revision: one"},
    "skip-two": {**SKIPS, "org/NAME": "org/NAME, revision: two"},
    "skip-scope": {**SKIPS, "org/NAME": "org/NAME, name: ModelScope"},
    "stream": {**SKIPS, HUB: "{uri: s3://bucket/NAME}"},
    "other": {"value: b": "value: c"},
    "fewer": {"{name: A, value: a}, ": ""},
    "order": {ENVS: "envs: [{name: B, value: b}, {name: A, value: a}]"},
    "of-model": {f", {ENVS}": "", "  facts:": f"  engines: {{vllm: {{{ENVS}}}}}\n  facts:"},
    "of-both": {"  facts:": "  engines: {vllm: {envs: [{name: B, value: first}]}}\n  facts:"},
    "restricted": {"  MORE": "  hardening: restricted"},
    "soft": {"  MORE": "  hardening: 'off'"},
    "elsewhere": {"  MORE": "  gateway: {mode: 'off'}"},
}


def test_what_is_not_alike_is_not_mixed_up(folder: Path, llmaz: Llmaz) -> None:
    tree = folder / "tree"
    tree.mkdir()
    for name, changes in UNLIKE.items():
        early = {old: new for old, new in changes.items() if old in MODEL + APP}
        yaml_text = MODEL + APP
        for old, new in {**early, **PLAIN, **{old: changes[old] for old in changes if old not in early}}.items():
            yaml_text = yaml_text.replace(old, new)
        (tree / f"{name}.yaml").write_text(yaml_text.replace("NAME", name), "utf-8")
    assert "error" not in llmaz("render", "tree", "-o", "together").err
    seen = set()
    for name in UNLIKE:
        llmaz("render", f"tree/{name}.yaml", "-o", f"alone-{name}")
        (alone,) = Path(f"alone-{name}").rglob(f"*app-{name}.yaml")
        rendered = alone.read_text("utf-8")
        assert Path("together", *alone.parts[1:]).read_text("utf-8") == rendered
        seen.add(rendered.replace(name, "NAME"))
    assert len(seen) == len(UNLIKE) - 2  # the same variables, whoever gives them
