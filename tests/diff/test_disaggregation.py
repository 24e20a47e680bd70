"""Prefill and decode of an app as two LeaderWorkerSets: said together, and what both change that has to be alike."""

from __future__ import annotations

import json
from typing import Any

import pytest

from renderer.diff.comparison import TreeDiff, compare
from renderer.diff.disaggregation import describe_roles
from renderer.diff.formats import FORMS
from renderer.output.manifest_files import OutputFile
from tests.diff.objects import container, risks, scaler, texts, workload
from tests.diff.test_disaggregated_sets import SET


def role(name: str, backend: str = "vllm", replicas: int = 1, gpus: int = 8, **more: Any) -> dict[str, Any]:
    """A LeaderWorkerSet `chat-<role>` of the app `chat`."""
    resources = {"limits": {"nvidia.com/gpu": str(gpus)} if gpus else {}}
    body = workload(f"chat-{name}", spec={"replicas": replicas}, **{"resources": resources, **more})
    body["metadata"] |= {
        "labels": {"app.kubernetes.io/name": "chat"},
        "annotations": {"renderer.llmaz.io/backend": backend},
    }
    body["spec"]["leaderWorkerTemplate"]["workerTemplate"]["metadata"]["labels"]["llm-d.ai/role"] = name
    return body


PREFILL, DECODE = role("prefill", replicas=2), role("decode", gpus=16)


def describe(diff: TreeDiff) -> list[tuple[str, str, str]]:
    return [(app.place, describe_roles(app.before), describe_roles(app.after)) for app in diff.roles]


def test_all_roles_are_told_when_one_differs() -> None:
    """In the order in which a request meets them, whatever their order in the file."""
    before, after = texts(DECODE, PREFILL), texts(role("decode", gpus=16, replicas=3), PREFILL)
    assert describe(compare(before, after)) == [
        ("llm/chat", "2 prefill × 8 GPUs, 1 decode × 16", "2 prefill × 8 GPUs, 3 decode × 16")
    ]
    assert describe(compare(before, before)) == []
    assert describe(compare([], before)) == [("llm/chat", "", "2 prefill × 8 GPUs, 1 decode × 16")]
    assert describe(compare(before, [])) == [("llm/chat", "2 prefill × 8 GPUs, 1 decode × 16", "")]


@pytest.mark.parametrize(
    ("roles", "text"),
    [
        ([role("prefill", gpus=0), role("decode", gpus=0)], "1 prefill, 1 decode"),
        ([role("prefill", gpus=0), role("decode", gpus=1)], "1 prefill, 1 decode × 1 GPU"),
        ([role("prefill", gpus=1), role("decode", gpus=2)], "1 prefill × 1 GPU, 1 decode × 2"),
        ([PREFILL, scaler(1, 4, "chat-prefill"), DECODE], "1–4 prefill × 8 GPUs, 1 decode × 16"),
        ([SET], "2 prefill × 2 GPUs, 1 decode × 4"),
    ],
)
def test_words(roles: list[dict[str, Any]], text: str) -> None:
    assert describe(compare([], texts(*roles))) == [("llm/chat", "", text)]


def test_roles_in_files_of_their_own() -> None:
    """The other role is in a file that did not change, and its autoscaler in a third one."""
    rest = [
        OutputFile("llm/chat-decode.yaml", texts(DECODE)[0].text),
        OutputFile("llm/hpa-chat-decode.yaml", texts(scaler(1, 6, "chat-decode"))[0].text),
        OutputFile("llm/mails.yaml", texts(workload("mails"))[0].text),
    ]
    before, after = ([*texts(role("prefill", replicas=count), path="llm/chat-prefill.yaml"), *rest] for count in (1, 2))
    diff = compare(before, after)
    assert describe(diff) == [
        ("llm/chat", "1 prefill × 8 GPUs, 1–6 decode × 16", "2 prefill × 8 GPUs, 1–6 decode × 16")
    ]
    assert [(change.key.name, change.state) for change in diff.objects] == [("chat-prefill", "changed")]


@pytest.mark.parametrize("change", ["app", "label", "kind"])
def test_what_is_no_role(change: str) -> None:
    """A workload of a flavor that happens to be called so, or an app of its own."""
    body = role("prefill")
    if change == "app":
        body["metadata"]["labels"]["app.kubernetes.io/name"] = "chat-prefill"
    elif change == "label":
        del body["spec"]["leaderWorkerTemplate"]["workerTemplate"]["metadata"]["labels"]["llm-d.ai/role"]
    else:
        body["metadata"]["name"] = "prefill"
    assert describe(compare([], texts(body))) == []


def rolled(before: dict[str, Any], after: dict[str, Any], **more: Any) -> list[str]:
    """The risks of a change of both roles, each with `before` and `after` in its container."""
    sides = [[role(name, **more, **fields) for name in ("prefill", "decode")] for fields in (before, after)]
    return [text for kind, text in risks(compare(*(texts(*side) for side in sides))) if kind == "roles"]


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [
        ({"image": "engine:v1.0"}, {"image": "engine:v1.1"}, "image"),
        ({"command": ["serve"]}, {"command": ["serve", "now"]}, "command"),
        ({"args": ["--block-size", "64"]}, {"args": ["--block-size", "128"]}, "option --block-size"),
        ({"args": ["--max-num-seqs", "64"]}, {"args": ["--max-num-seqs", "128"]}, ""),
        ({"env": []}, {"env": [{"name": "A", "value": "1"}]}, ""),
        ({"args": ["--page-size", "64"]}, {"args": ["--page-size", "128"]}, ""),  # an option of another engine
    ],
)
def test_what_both_have_to_have_alike(before: dict[str, Any], after: dict[str, Any], names: str) -> None:
    texts_of_both = [f"{names}: requests may fail until both are done"] * 2 if names else []
    assert rolled(before, after) == texts_of_both


def with_adapters(names: str = "sql", revision: str = "v1", **more: Any) -> list[dict[str, Any]]:
    """Both roles; `more` for the container of what loads the first adapter."""
    roles = [role(name, args=["--lora-modules", f"{names}=/models"]) for name in ("prefill", "decode")]
    for body in roles:
        body["metadata"]["annotations"]["renderer.llmaz.io/adapters"] = names
        env = [{"name": "REVISION", "value": revision}]
        loader = {"name": "model-loader-1", "image": "loader:v1", "env": env, **more}
        body["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["initContainers"] = [loader]
    return roles


@pytest.mark.parametrize(
    ("after", "names"),
    [
        (with_adapters(revision="v2"), "env REVISION of model-loader-1"),
        (with_adapters("sql, mails"), "adapters"),
        (with_adapters(args=["s3://b/other"]), "argument of model-loader-1"),
        (with_adapters(image="loader:v2"), ""),
        (
            with_adapters(env=[{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}}]),
            "env REVISION",
        ),
    ],
)
def test_adapters_have_to_be_alike(after: list[dict[str, Any]], names: str) -> None:
    """Prefill would read with the old one while decode writes with the new one, or has none."""
    diff = compare(texts(*with_adapters()), texts(*after))
    tellings = [text for kind, text in risks(diff) if kind == "roles"]
    assert len(tellings) == (2 if names else 0)
    assert all(text.startswith(names) and "TOKEN" not in text for text in tellings)


def test_the_option_that_loads_adapters() -> None:
    """Its value may name other weights where the names stay."""
    before, after = with_adapters(), with_adapters()
    for body in after:
        [runner] = body["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"]
        runner["args"][1] = "sql=/other"
    tellings = [text for kind, text in risks(compare(texts(*before), texts(*after))) if kind == "roles"]
    assert tellings == ["option --lora-modules: requests may fail until both are done"] * 2


def test_options_are_those_of_the_engine() -> None:
    before, after = ({"args": ["--page-size", size]} for size in ("64", "128"))
    assert len(rolled(before, after, backend="sglang")) == 2
    assert rolled(before, after, backend="of-my-own") == []
    assert rolled(before, after, backend="../models/qwen3-8b") == []


def test_one_role_is_not_both() -> None:
    """What has to be alike and differs for good is an error of its own; and nobody is asked of what does not run."""
    newer: dict[str, Any] = {"image": "engine:v1.1"}
    before = texts(PREFILL, DECODE)
    alone = compare(before, texts(role("prefill", replicas=2, **newer), DECODE))
    assert [kind for kind, _ in risks(alone)] == ["restart"]
    stopped = [texts(role("prefill", replicas=0, **more), role("decode", **more)) for more in ({}, newer)]
    assert [kind for kind, _ in risks(compare(*stopped))] == ["restart"]


def test_a_set_rolls_both_together() -> None:
    after = json.loads(json.dumps(SET))
    for entry in after["spec"]["roles"]:
        entry["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"] = [container(image="engine:v1.1")]
    [(kind, text)] = risks(compare(texts(SET), texts(after)))
    assert (kind, text.rpartition(": ")[2]) == ("restart", "all roles roll out together")


def replaced(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    """Kind, object and message of all risks of a change of what runs an app."""
    diff = compare(texts(*before), texts(*after))
    return [(risk.kind, str(risk.key), risk.message) for risk in diff.risks]


def test_another_kind_of_object_for_the_same_roles() -> None:
    """What is told of as a role of the set is not an object of its own."""
    gone = "is deleted at once with its pods, and the"
    pair = [PREFILL, DECODE]
    diff = compare(texts(*pair), texts(SET))
    assert [(change.state, change.key.name, change.facts[0].name) for change in diff.models] == [
        ("changed", "chat-prefill", "workload"),
        ("changed", "chat-decode", "workload"),
    ]
    assert ("replaced", "DisaggregatedSet llm/chat") in [(risk.kind, str(risk.key)) for risk in diff.risks]
    assert "model-deleted" not in [risk.kind for risk in diff.risks]
    assert [entry for entry in replaced([SET], pair) if entry[0] == "replaced"] == [
        (
            "replaced",
            f"LeaderWorkerSet llm/chat-{name}",
            f"the DisaggregatedSet {gone} LeaderWorkerSet has to load first",
        )
        for name in ("decode", "prefill")
    ]


def test_roles_in_the_place_of_one_workload() -> None:
    whole, gone = workload("chat", args=["another"], image="engine:v0.9"), "is deleted at once with its pods, and"
    assert replaced([whole], [SET]) == [
        (
            "replaced",
            "LeaderWorkerSet llm/chat",
            f"the LeaderWorkerSet {gone} DisaggregatedSet llm/chat has to load first",
        )
    ]
    assert replaced([SET], [whole]) == [
        (
            "replaced",
            "DisaggregatedSet llm/chat",
            f"the DisaggregatedSet {gone} LeaderWorkerSet llm/chat has to load first",
        )
    ]
    whole = workload("chat", args=["--other"] * 40, image="engine:v0.9")
    assert replaced([whole], [PREFILL, DECODE]) == [
        (
            "replaced",
            "LeaderWorkerSet llm/chat",
            f"the LeaderWorkerSet {gone} llm/chat-prefill and llm/chat-decode have to load first",
        )
    ]
    states = [(change.state, str(change.key)) for change in compare(texts(whole), texts(SET)).objects]
    assert states == [("added", "DisaggregatedSet llm/chat"), ("removed", "LeaderWorkerSet llm/chat")]


def test_what_is_gone_with_its_roles_is_deleted() -> None:
    assert replaced([SET], []) == [
        ("model-deleted", "DisaggregatedSet llm/chat", "1 replica of blue in decode"),
        ("model-deleted", "DisaggregatedSet llm/chat", "2 replicas of blue in prefill"),
    ]


def test_names_of_roles_do_nothing_in_a_comment() -> None:
    body = json.loads(json.dumps(SET))
    body["spec"]["roles"][0]["name"] = "<img src=x> | `a`"
    comment = FORMS["markdown"](compare([], texts(body)), "")
    [line] = [line for line in comment.splitlines() if line.startswith("* `llm/chat`")]
    assert "<img" not in line
    assert "`a`" not in line
