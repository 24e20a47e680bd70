"""Roles of a DisaggregatedSet are compared as models of their own."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from renderer.diff.comparison import compare
from tests.diff.objects import between, risks, scaler, texts, workload

SET: dict[str, Any] = {
    "apiVersion": "disaggregatedset.x-k8s.io/v1",
    "kind": "DisaggregatedSet",
    "metadata": {"name": "chat", "namespace": "llm", "labels": {"app.kubernetes.io/name": "chat"}},
    "spec": {
        "roles": [
            {"name": "prefill", "spec": workload()["spec"]},
            {"name": "decode", "spec": workload(size=2, spec={"replicas": 1})["spec"]},
        ]
    },
}


def disaggregated(**spec: Any) -> dict[str, Any]:
    body = copy.deepcopy(SET)
    body["spec"] |= spec
    return body


def with_role(index: int, **spec: Any) -> dict[str, Any]:
    body = disaggregated()
    body["spec"]["roles"][index]["spec"] |= spec
    return body


def models(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[tuple[str, str, list[tuple[int, int]]]]:
    """State, name, and accelerators at the most replicas, of each model that differs."""
    diff = compare(texts(*before), texts(*after))
    return [(model.state, model.key.place, [gpu.peak for gpu in model.gpus]) for model in diff.models]


def test_accelerators_are_counted_by_role() -> None:
    """Two a pod: two replicas of one pod, and one of two."""
    assert models([], [SET]) == [("added", "llm/chat-prefill", [(0, 4)]), ("added", "llm/chat-decode", [(0, 4)])]
    assert models([SET], []) == [("removed", "llm/chat-prefill", [(4, 0)]), ("removed", "llm/chat-decode", [(4, 0)])]


def test_a_role_that_stays_is_no_change() -> None:
    assert models([SET], [with_role(0, replicas=3)]) == [("changed", "llm/chat-prefill", [(4, 6)])]


def test_every_slice_has_all_replicas() -> None:
    assert models([SET], [disaggregated(slices=3)]) == [
        ("changed", "llm/chat-prefill", [(4, 12)]),
        ("changed", "llm/chat-decode", [(4, 12)]),
    ]


def test_the_autoscaler_of_a_role() -> None:
    """It targets what the controller makes for the role."""
    target = {
        "apiVersion": "disaggregatedset.x-k8s.io/v1",
        "kind": "DisaggregatedSetRoleScaler",
        "name": "chat-decode",
    }
    hpa = scaler(1, 5, name="chat-decode")
    hpa["spec"] |= {"scaleTargetRef": target}
    after = disaggregated()
    after["spec"]["roles"][1]["scaling"] = {"mode": "External"}
    del after["spec"]["roles"][1]["spec"]["replicas"]
    assert models([SET], [after, hpa]) == [("changed", "llm/chat-decode", [(4, 20)])]


def test_a_renamed_set() -> None:
    after = disaggregated()
    after["metadata"] = {**after["metadata"], "name": "talk", "labels": {"app.kubernetes.io/name": "talk"}}
    assert [(state, name) for state, name, _ in models([SET], [after])] == [
        ("renamed", "llm/talk-prefill"),
        ("renamed", "llm/talk-decode"),
    ]


def renamed_role() -> dict[str, Any]:
    body = disaggregated()
    body["spec"]["roles"][1]["name"] = "decoder"
    return body


@pytest.mark.parametrize(
    ("after", "messages"),
    [
        (with_role(0, replicas=4), []),
        (with_role(0, networkConfig={"subdomainPolicy": "Shared"}), []),
        (
            with_role(0, leaderWorkerTemplate=workload(image="engine:v1.1")["spec"]["leaderWorkerTemplate"]),
            ["image in prefill: all roles roll out together"],
        ),
        (renamed_role(), ["role decode, role decoder: all roles roll out together"]),
    ],
    ids=str,
)
def test_what_restarts_pods(after: dict[str, Any], messages: list[str]) -> None:
    assert [text for kind, text in risks(between(SET, after)) if kind == "restart"] == messages


def test_what_does_not_run_is_not_restarted() -> None:
    before, after = with_role(0, replicas=0), with_role(0, replicas=0)
    before["spec"]["roles"][1]["spec"]["replicas"] = after["spec"]["roles"][1]["spec"]["replicas"] = 0
    after["spec"]["roles"][0]["spec"]["leaderWorkerTemplate"]["size"] = 2
    assert [kind for kind, _ in risks(between(before, after))] == []
