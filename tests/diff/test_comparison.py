"""What differs between two sets of rendered files: objects, fields, options, accelerators, weights, names."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import astuple

from renderer.diff.comparison import compare
from renderer.diff.fields import diff_values
from renderer.diff.formats import FORMS
from renderer.diff.options import compare_options
from renderer.output.manifest_files import OutputFile
from tests.diff.objects import container, group, placed, risks, scaler, texts, workload


def test_what_is_the_same_is_not_parsed() -> None:
    odd = OutputFile("odd.yaml", "\tthis is not YAML: [")
    diff = compare([odd, *texts(workload())], [odd, *texts(workload(image="engine:v1.1"))])
    assert [change.key.kind for change in diff.objects] == ["LeaderWorkerSet"]


def test_another_file_is_a_move() -> None:
    diff = compare(texts(workload(), path="a.yaml"), texts(workload(), path="b.yaml"))
    assert [change.state for change in diff.objects] == ["moved"]
    assert (diff.different, diff.models, diff.risks) == (False, (), ())
    assert "1 object moved" in FORMS["markdown"](diff, "")


def test_the_objects_of_lists_are_compared() -> None:
    """A list of any kind is its items, and itself where it has a name."""

    def listed(key: str) -> list[OutputFile]:
        item = {"metadata": {"name": "a"}, "data": {key: "1"}}
        wrapper = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "own"}, "items": [item]}
        return texts({"apiVersion": "v1", "kind": "ConfigMapList", "items": [wrapper, {**item, "metadata": {}}, "a"]})

    diff = compare(listed("a"), listed("b"))
    assert [(change.key.kind, change.key.name) for change in diff.objects] == [
        ("ConfigMap", "a"),
        ("ConfigMap", "llm/chat.yaml"),
    ]
    diff = compare([], listed("a"))
    assert ("File", "llm/chat.yaml") in [(change.key.kind, change.key.name) for change in diff.objects]
    assert ("ConfigMap", "own") in [(change.key.kind, change.key.name) for change in diff.objects]


def test_what_is_no_yaml_is_compared_as_text() -> None:
    diff = compare([OutputFile("a.yaml", "a: [\n")], [OutputFile("a.yaml", "b: [\n")])
    assert [(change.state, change.key.kind) for change in diff.objects] == [("changed", "File")]
    for form in FORMS.values():
        assert form(diff, "")


@pytest.mark.parametrize(
    ("before", "after", "fields"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": True}, ["a"]),
        ({"a": 1}, {"a": "1"}, ["a"]),
        ({"a": None}, {}, ["a"]),
        ({"a": 0}, {"a": False}, ["a"]),
        ({"l": ["a", "b", "c"]}, {"l": ["a", "c"]}, ["l[1]"]),
        ({"l": ["a", "c"]}, {"l": ["a", "b", "c"]}, ["l[1]"]),
        ({"l": [{"name": "b", "v": 1}]}, {"l": [{"name": "a"}, {"name": "b", "v": 2}]}, ["l[b].v", "l[a]"]),
        ({"l": [{"name": "a"}, {"name": "b"}]}, {"l": [{"name": "b"}, {"name": "a"}]}, ["l[*]"]),
        ({"l": [{"name": "a"}, {"name": "a"}]}, {"l": [{"name": "a"}]}, ["l[1]"]),
        ({"l": [{"key": "a", "v": 1}]}, {"l": [{"key": "a", "v": 2}]}, ["l[0].v"]),
        ({"m": {"x/y.z": 1}}, {"m": {"x/y.z": 2}}, ['m["x/y.z"]']),
        ({"l": []}, {"l": {}}, ["l"]),
        ({"l": [1]}, {"l": []}, ["l[0]"]),
    ],
)
def test_fields(before: Any, after: Any, fields: list[str]) -> None:
    assert [change.field for change in diff_values(before, after)] == fields


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ("a --x 1", "a --x 2", ["--x 1 → 2"]),
        ("a --x=1", "a --x 1", []),
        ("a --x 1 --y", "a --y --x 1", []),
        ("a", "a --y", ["+ --y"]),
        ("a --x -1", "a --x -2", ["--x -1 → -2"]),
        ("a --x 1 2", "a --x 1", ["--x 1 2 → 1"]),
        ("a --x 1 --x 2", "a --x 2 --x 1", ["--x 1, 2 → 2, 1"]),
        ("a b", "b a", ["argument a, b → b, a"]),
        ("--x", "", ["- --x"]),
        ("--x", "--x 1", ["--x (no value) → 1"]),
        ("-tp 2", "-tp 4", ["-tp 2 → 4"]),
    ],
)
def test_options(before: str, after: str, changes: list[str]) -> None:
    assert [str(change) for change in compare_options(before.split(), after.split())] == changes


def test_gpus_are_counted_by_flavor() -> None:
    """leader + (size - 1) × worker, times the most replicas that there may be."""
    leader = {"spec": {"containers": [container(resources={"limits": {"nvidia.com/gpu": "1"}})]}}
    split = workload(size=3, flavor="h100", spec={"replicas": None})
    split["spec"].pop("replicas")
    split["spec"]["leaderWorkerTemplate"]["leaderTemplate"] = leader
    diff = compare(texts(workload()), texts(split, scaler(1, 5)))
    assert {gpu.name: (gpu.replica, gpu.peak) for gpu in diff.gpus} == {
        "nvidia.com/gpu": ((0, 1), (0, 5)),
        "nvidia.com/gpu (h100)": ((0, 4), (0, 20)),
        "nvidia.com/gpu (l4)": ((2, 0), (4, 0)),
    }
    assert "GPUs of this model 4 → 25" in FORMS["text"](diff, "")


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        # all that was of the one host is the leader's; its workers are new
        (
            [workload(args=["serve", "--port", "80"])],
            [group(4, "--port", "80", "--nodes", "4", worker=["--nodes", "4", "--headless"])],
            [
                "replicas: 2 → 2 groups of 4 hosts, 16 GPUs",
                "hosts a replica: 1 → 4",
                "option + --nodes 4",
                "nvidia.com/gpu (l4): 2 → 8 a replica, 4 → 16 at most",
            ],
        ),
        # what leaders and workers have in common is said once
        (
            [group(2, "--port", "80", "--stages", "2", worker=["--stages", "2", "--headless"])],
            [group(4, "--port", "80", "--stages", "4", worker=["--stages", "4", "--quiet"], image="engine:v1.1")],
            [
                "replicas: 2 groups of 2 hosts, 8 GPUs → 2 groups of 4 hosts, 16 GPUs",
                "hosts a replica: 2 → 4",
                "image: engine:v1.0 → engine:v1.1",
                "option --stages 2 → 4",
                "worker: option - --headless",
                "worker: option + --quiet",
                "nvidia.com/gpu (l4): 4 → 8 a replica, 8 → 16 at most",
            ],
        ),
        # all of their pods answer
        (
            [group(2, "--ranks", "16")],
            [group(2, "--ranks", "8", replicas=1)],
            [
                "replicas: 2 groups of 2 hosts, 8 GPUs → 1 group of 2 hosts, 4 GPUs",
                "option --ranks 16 → 8",
                "nvidia.com/gpu (l4): 4 a replica, 8 → 4 at most",
            ],
        ),
        (
            [group(2)],
            [workload()],
            [
                "replicas: 2 groups of 2 hosts, 8 GPUs → 2",
                "hosts a replica: 2 → 1",
                "option + --port 80",
                "nvidia.com/gpu (l4): 4 → 2 a replica, 8 → 4 at most",
            ],
        ),
        (
            [group(2)],
            [group(2), scaler(1, 3)],
            [
                "replicas: 2 groups of 2 hosts, 8 GPUs → 1 to 3 groups of 2 hosts, 12 GPUs at most by an autoscaler",
                "nvidia.com/gpu (l4): 4 a replica, 8 → 12 at most",
            ],
        ),
        (
            [],
            [group(4, worker=["--headless"])],
            [
                "replicas: 0 → 2 groups of 4 hosts, 16 GPUs",
                "nvidia.com/gpu (l4): 0 → 8 a replica, 0 → 16 at most",
            ],
        ),
    ],
)
def test_groups_of_hosts(before: list[dict[str, Any]], after: list[dict[str, Any]], lines: list[str]) -> None:
    text = FORMS["text"](compare(texts(*before), texts(*after)), "")
    output = text.partition("Models\n")[2].partition("\n\n")[0].splitlines()
    assert [line.strip() for line in output[1:]] == lines


def test_options_of_workers_in_all_formats() -> None:
    diff = compare(texts(group(2, "--a", worker=["--b", "1"])), texts(group(2, "--a", worker=["--b", "2"])))
    assert json.loads(FORMS["json"](diff, ""))["models"][0]["options"] == [
        {"option": "worker: --b", "before": "1", "after": "2"}
    ]
    assert "| worker: option `--b` `1` → `2` | 2 groups of 2 hosts, 8 GPUs |" in FORMS["markdown"](diff, "")


@pytest.mark.parametrize(
    ("before", "after", "gpus"),
    [
        # a model's own flavor has no name in what is rendered: the nodes tell it
        (placed({"gpu": "a"}), placed({"gpu": "h"}), {"(gpu=a)": (4, 0), "(gpu=h)": (0, 4)}),
        (placed({"x/gpu": "a", "kubernetes.io/os": "linux"}), placed({"x/gpu": "a"}), {"(gpu=a)": (4, 4)}),
        (placed(terms=["a", "h"]), placed({"gpu": "h"}), {"(gpu=a or gpu=h)": (4, 0), "(gpu=h)": (0, 4)}),
        # claimed from now on, and the same nodes
        (placed({"gpu": "a"}), placed({"gpu": "a"}, "big"), {"(big)": (4, 4)}),
        (placed({"gpu": "a"}), placed({"gpu": "h"}, "big"), {"(big)": (0, 4), "(gpu=a)": (4, 0)}),
        # of several claimed ones the first acts where nodes are selected, else any
        (placed({"gpu": "a"}, "a,h"), placed(flavor="a,h", terms=["a", "h"]), {"(a)": (4, 0), "(a or h)": (0, 4)}),
    ],
)
def test_the_kind_of_an_accelerator(before: Any, after: Any, gpus: Mapping[str, tuple[int, int]]) -> None:
    diff = compare(texts(before), texts(after))
    assert {gpu.name.removeprefix("nvidia.com/gpu "): gpu.peak for gpu in diff.gpus} == gpus


def claiming(count: int) -> list[dict[str, Any]]:
    """A workload of groups of two pods, each of which claims so many GPUs and a network device."""
    claimed = {"deviceClassName": "gpu.nvidia.com", "allocationMode": "ExactCount", "count": count}
    requests = [{"name": "a", "exactly": claimed}, {"name": "b", "exactly": {"deviceClassName": "nic.example.com"}}]
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": f"chat-{count}", "namespace": "llm"},
        "spec": {"spec": {"devices": {"requests": requests}}},
    }
    body = workload(size=2, resources={"claims": [{"name": "a"}]})
    pod = body["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
    pod["resourceClaims"] = [{"name": "a", "resourceClaimTemplateName": f"chat-{count}"}]
    return [template, body]


def test_claimed_devices_count() -> None:
    diff = compare(texts(*claiming(2)), texts(*claiming(4)))
    assert [(gpu.name, gpu.replica, gpu.peak) for gpu in diff.gpus] == [("gpu.nvidia.com (l4)", (4, 8), (8, 16))]
    assert "GPUs of this model 8 → 16" in FORMS["text"](diff, "")
    assert "| `gpu.nvidia.com (l4)` | 4 → 8 | 8 → 16 |" in FORMS["markdown"](diff, "")


def test_what_only_the_configuration_declares_counts() -> None:
    def declared(count: int) -> dict[str, Any]:
        body = workload(resources={"limits": {"squat.ai/nvidia": count, "example.com/fabric": 1}})
        template = body["spec"]["leaderWorkerTemplate"]["workerTemplate"]
        template["metadata"]["annotations"]["renderer.llmaz.io/accelerator"] = "squat.ai/nvidia"
        return body

    diff = compare(texts(declared(1)), texts(declared(2)))
    assert [(gpu.name, gpu.replica, gpu.peak) for gpu in diff.gpus] == [("squat.ai/nvidia (l4)", (1, 2), (2, 4))]


def test_claimed_devices_in_a_file_of_their_own() -> None:
    template, body = claiming(2)
    more = {**body, "spec": {**body["spec"], "replicas": 3}}
    file = texts(template, path="llm/template.yaml")
    [gpus] = compare([*file, *texts(body)], [*file, *texts(more)]).gpus
    assert gpus.peak == (8, 12)


def test_other_nodes_are_said() -> None:
    """Also where the flavor's name stays, and its nodes are others."""
    diff = compare(texts(placed({"gpu": "a"}, "big")), texts(placed({"gpu": "h"}, "big")))
    assert "nodes: gpu=a → gpu=h" in FORMS["text"](diff, "")
    assert "nodes `gpu=a` → `gpu=h`" in FORMS["markdown"](diff, "")


def test_kv_cache_outside_of_accelerators_is_said() -> None:
    before, after = workload(), workload()
    after["metadata"]["annotations"] = {"renderer.llmaz.io/kv-cache-memory": "64Gi"}
    diff = compare(texts(before), texts(after))
    assert "KV cache in memory: none → 64Gi" in FORMS["text"](diff, "")
    assert "KV cache in memory" in FORMS["markdown"](diff, "")


def loaded(revision: str = "", image: str = "loader:v1", args: str = "copy S:a", volume: Any = None, **env: str) -> Any:
    """A LeaderWorkerSet with a loader, of which the engine has the variable HTTP_PROXY too."""
    variables = [{"name": name, "value": value} for name, value in env.items()]
    body = workload(env=[variable for variable in variables if variable["name"] == "HTTP_PROXY"])
    body["metadata"]["annotations"] = {"renderer.llmaz.io/model-revision": revision}
    pod = body["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
    pod["initContainers"] = [{"name": "loader", "image": image, "args": args.split(), "env": variables}]
    pod["volumes"] = [{"name": "cache", "emptyDir": {}}, {"name": "weights", **(volume or {})}]
    return body


@pytest.mark.parametrize(
    ("before", "after", "facts"),
    [
        (loaded(BUCKET="a"), loaded(BUCKET="b"), [("env BUCKET of loader", "a", "b")]),
        (loaded(), loaded(args="copy S:b"), [("argument of loader", "copy, S:a", "copy, S:b")]),
        # once, where the engine or an annotation says it too
        (loaded(HTTP_PROXY="a"), loaded(HTTP_PROXY="b"), [("env HTTP_PROXY", "a", "b")]),
        (loaded("v1", REVISION="v1"), loaded("v2", REVISION="v2"), [("model revision", "v1", "v2")]),
        # another program is told another way
        (loaded(), loaded(image="other:v1", args="--x", A="1"), [("image of loader", "loader:v1", "other:v1")]),
        (
            loaded(volume={"image": {"reference": "r/a@sha256:1"}}),
            loaded(volume={"image": {"reference": "r/a@sha256:2"}}),
            [("volume weights", "r/a@sha256:1", "r/a@sha256:2")],
        ),
        (loaded(), loaded(volume={"hostPath": {"path": "/m"}}), [("volume weights", "", "/m")]),
    ],
)
def test_where_the_weights_come_from(before: Any, after: Any, facts: list[tuple[str, str, str]]) -> None:
    (model,) = compare(texts(before), texts(after)).models
    assert [astuple(fact) for fact in model.facts] == facts


def test_other_accelerators_are_no_unchanged_number() -> None:
    diff = compare(texts(placed({"gpu": "a"})), texts(placed({"gpu": "h"})))
    assert "GPUs of this model 4, of other kinds ·" in FORMS["text"](diff, "")


SLICE, SHARED = ({"limits": {name: "1"}} for name in ("nvidia.com/mig-1g.10gb", "nvidia.com/gpu.shared"))
HAMI = {"limits": {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "8k"}}


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ([workload()], [workload(), workload("b", resources=SLICE)], "GPUs unchanged · parts of GPUs 0 → 2"),
        ([workload()], [workload(), workload("b", resources=HAMI)], "GPUs unchanged · parts of GPUs 0 → 2"),
        ([workload(resources=SLICE)], [workload()], "GPUs of this model 0 → 4 · parts of GPUs 2 → 0"),
        ([workload(resources=SLICE)], [workload(resources=SHARED)], "GPUs unchanged · parts of GPUs 2, of other kinds"),
        ([workload(resources=SLICE)], [workload(resources=SLICE, image="x:2")], "GPUs unchanged"),
        (
            [workload()],
            [workload("b"), workload(resources=SHARED)],
            "GPUs of these models 4 in total, as before · parts of GPUs 0 → 2",
        ),
        (
            [placed({"nvidia.com/gpu.product": "NVIDIA-L40S"})],
            [placed({"nvidia.com/gpu.product": "NVIDIA-L40S-SHARED"})],
            "GPUs of this model 4 → 0 · parts of GPUs 0 → 4",
        ),
    ],
)
def test_cards_and_parts_of_them_are_counted_apart(before: list[Any], after: list[Any], words: str) -> None:
    diff = compare(texts(*before), texts(*after))
    headline = FORMS["text"](diff, "").splitlines()[-1]
    assert f" · {words} · " in headline
    json_gpus = json.loads(FORMS["json"](diff, ""))["gpus"]
    assert {gpu["part"] for gpu in json_gpus} == {gpu.is_part for gpu in diff.gpus}


def test_roles_with_parts() -> None:
    """A unit is said once, and again where it is another."""
    shown = [group(2, "--a"), group(2, "--b")]
    for body in shown:
        for side in ("workerTemplate",):
            body["spec"]["leaderWorkerTemplate"][side]["spec"]["containers"][0]["resources"] = SLICE
    diff = compare(texts(shown[0]), texts(shown[1]))
    (model,) = diff.models
    assert model.after
    assert model.after.replicas == "2 groups of 2 hosts, 4 parts of GPUs"


def test_an_autoscaler_in_a_file_of_its_own() -> None:
    """It did not change, and yet says how many there may be; and the other way round."""
    other = texts(scaler(1, 8), path="llm/chat/hpa.yaml")
    bare = workload()
    bare["spec"].pop("replicas")
    after = copy.deepcopy(bare)
    after["spec"]["leaderWorkerTemplate"]["size"] = 2
    diff = compare([*texts(bare, path="llm/chat/lws.yaml"), *other], [*texts(after, path="llm/chat/lws.yaml"), *other])
    assert [gpu.peak for gpu in diff.gpus] == [(16, 32)]
    assert [change.state for change in diff.objects] == ["changed"]
    diff = compare(
        [*texts(bare, path="llm/chat/lws.yaml"), *other],
        [*texts(bare, path="llm/chat/lws.yaml"), *texts(scaler(1, 9), path="llm/chat/hpa.yaml")],
    )
    assert [(model.state, model.gpus[0].peak) for model in diff.models] == [("changed", (16, 18))]
    assert [change.key.kind for change in diff.objects] == ["HorizontalPodAutoscaler"]


def test_a_rename_is_no_loss() -> None:
    gone, came = workload(), workload("assistant")
    diff = compare(texts(gone), texts(came, path="llm/assistant.yaml"))
    assert [(model.state, model.was and model.was.name) for model in diff.models] == [("renamed", "chat")]
    assert [kind for kind, _ in risks(diff)] == ["renamed"]


def test_the_heir_keeps_the_public_name() -> None:
    """Also where that holds the old name: of two that are gone, the one whose name it had."""
    gone = [workload(name, args=["serve", "--name", f"pub-{name}"]) for name in ("c", "d")]
    diff = compare(texts(*gone), texts(workload("dd", args=["serve", "--name", "pub-d"])))
    assert [(model.state, model.key.name, model.was and model.was.name) for model in diff.models] == [
        ("removed", "c", None),
        ("renamed", "dd", "d"),
    ]


def test_another_model_is_no_rename() -> None:
    other = workload("mails", image="other:v2", args=["other", "--x", "1"])
    other["spec"]["leaderWorkerTemplate"]["workerTemplate"]["metadata"]["labels"] = {"llmaz.io/model-name": "green"}
    diff = compare(texts(workload()), texts(other, path="llm/mails.yaml"))
    assert [model.state for model in diff.models] == ["removed", "added"]
    assert risks(diff) == [("model-deleted", "2 replicas of blue")]
