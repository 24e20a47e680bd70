"""Who wins of preset, user and flavor; and what happens to a request above its limit."""

from __future__ import annotations

from typing import Any

import pytest

from renderer.diagnostics import Collector, Origin, Path
from renderer.resolve.kube.resources import merge_resources, order_resources
from renderer.resolve.layers import Position, ValueLayer


class Said:
    """A source by name, without places."""

    def __init__(self, name: str) -> None:
        self.name = name

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        return 0, 0


PRESET, MODEL, USER = (Origin(Said(name), ("resources",)) for name in ("preset", "model", "user"))


def of(
    preset: dict[str, Any], user: dict[str, Any], flavor: dict[str, str] | None = None
) -> tuple[dict[str, dict[str, str]], list[tuple[str, str, str]]]:
    """What comes of it: the resources, and code, author and field of each finding."""
    collector = Collector()
    merged = merge_resources([ValueLayer(preset, PRESET), ValueLayer(user, USER)], flavor or {}, collector)
    return {side: dict(values) for side, values in merged.sides.items()}, [
        (problem.code, problem.file, problem.field) for problem in collector.problems
    ]


def fine(preset: dict[str, Any], user: dict[str, Any], flavor: dict[str, str] | None = None) -> dict[str, Any]:
    resources, problems = of(preset, user, flavor)
    assert problems == []
    return resources


def test_nothing_makes_nothing() -> None:
    assert fine({}, {}) == {}
    assert fine({"limits": {}}, {"requests": {}}) == {}


def test_the_user_wins_by_key_and_no_limit_is_invented() -> None:
    preset = {"requests": {"cpu": "4", "memory": "16Gi"}}
    assert fine(preset, {}) == preset
    assert fine(preset, {"requests": {"memory": "8Gi"}}) == {"requests": {"cpu": "4", "memory": "8Gi"}}
    assert fine(preset, {"requests": {"ephemeral-storage": "1Gi"}})["requests"].keys() == {
        "cpu",
        "memory",
        "ephemeral-storage",
    }


def test_claims_of_the_inputs_stay_untouched() -> None:
    preset, user = {"limits": {"cpu": "2"}}, {"requests": {"cpu": "4"}}
    fine(preset, user, {"nvidia.com/gpu": "1"})
    assert (preset, user) == ({"limits": {"cpu": "2"}}, {"requests": {"cpu": "4"}})


def test_quantities_are_canonical() -> None:
    preset, user = {"limits": {"cpu": 1.5, "memory": "2048Mi"}}, {"requests": {"cpu": "1000m", "memory": 1024}}
    assert fine(preset, user) == {
        "limits": {"cpu": "1500m", "memory": "2Gi"},
        "requests": {"cpu": "1", "memory": "1024"},
    }


def test_the_flavor_is_over_both() -> None:
    preset = {"limits": {"nvidia.com/gpu": "1", "cpu": "8"}}
    user = {"requests": {"nvidia.com/gpu": "2", "cpu": "4"}, "limits": {"nvidia.com/gpu": "2"}}
    resources, problems = of(preset, user, {"nvidia.com/gpu": "4", "rdma/hca": "1"})
    assert resources == {
        "limits": {"cpu": "8", "nvidia.com/gpu": "4", "rdma/hca": "1"},
        "requests": {"cpu": "4", "nvidia.com/gpu": "4", "rdma/hca": "1"},
    }
    assert problems == [("W215", "user", f"resources.{side}[nvidia.com/gpu]") for side in ("limits", "requests")]
    assert fine({}, {"limits": {"nvidia.com/gpu": 4}}, {"nvidia.com/gpu": "4"})  # the same said twice
    assert fine({}, {}, {"nvidia.com/gpu": "1"}) == {
        "limits": {"nvidia.com/gpu": "1"},
        "requests": {"nvidia.com/gpu": "1"},
    }


def test_the_flavor_settles_what_would_contradict() -> None:
    both = {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}
    resources, problems = of({}, both, {"cpu": "3"})
    assert resources == {"limits": {"cpu": "3"}, "requests": {"cpu": "3"}}
    assert {code for code, _, _ in problems} == {"W215"}
    assert fine(both, {}, {"cpu": "3"}) == {"limits": {"cpu": "3"}, "requests": {"cpu": "3"}}


@pytest.mark.parametrize("name", ["cpu", "memory", "ephemeral-storage", "nvidia.com/gpu"])
def test_the_other_side_follows_the_user(name: str) -> None:
    assert fine({"requests": {name: "4"}}, {"limits": {name: "2"}}) == {"limits": {name: "2"}, "requests": {name: "2"}}
    assert fine({"limits": {name: "2"}}, {"requests": {name: "4"}}) == {"limits": {name: "4"}, "requests": {name: "4"}}


def test_a_request_at_or_below_its_limit_stays() -> None:
    assert fine({"requests": {"cpu": "2"}}, {"limits": {"cpu": "2000m"}})["requests"] == {"cpu": "2"}
    assert fine({"requests": {"cpu": "1999m"}}, {"limits": {"cpu": "2"}})["requests"] == {"cpu": "1999m"}
    assert fine({"requests": {"memory": "1G"}}, {"limits": {"memory": "1Gi"}})["requests"] == {"memory": "1G"}
    assert fine({"requests": {"memory": "1Gi"}}, {"limits": {"memory": "1G"}})["requests"] == {"memory": "1G"}


def test_one_who_contradicts_himself() -> None:
    wrong = {"limits": {"memory": "1G"}, "requests": {"memory": "1Gi"}}
    assert of({}, wrong)[1] == [("E260", "user", "resources.requests.memory")]
    assert of(wrong, {})[1] == [("E261", "preset", "resources.requests.memory")]
    # The user gives both sides again: the preset's contradiction is gone, his own is his.
    assert fine(wrong, {"limits": {"memory": "2Gi"}}) == {"limits": {"memory": "2Gi"}, "requests": {"memory": "1Gi"}}
    assert of(wrong, {**wrong})[1] == [("E260", "user", "resources.requests.memory")]


def test_all_contradictions_are_said() -> None:
    wrong = {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "2", "memory": "2Gi"}}
    assert [(code, field) for code, _, field in of({}, wrong)[1]] == [
        ("E260", "resources.requests.cpu"),
        ("E260", "resources.requests.memory"),
    ]


@pytest.mark.parametrize("value", ["lots", "", "1 Gi", True])
def test_what_is_no_quantity(value: object) -> None:
    resources, problems = of({"requests": {"cpu": "1"}}, {"limits": {"cpu": value}})
    assert problems == [("E305", "user", "resources.limits.cpu")]
    assert resources == {"requests": {"cpu": "1"}}
    assert of({"requests": {"cpu": value}}, {})[1] == [("E305", "preset", "resources.requests.cpu")]


def test_order() -> None:
    names = ["nvidia.com/gpu", "memory", "ephemeral-storage", "cpu", "a"]
    assert list(order_resources(dict.fromkeys(names, "1"))) == [
        "cpu",
        "memory",
        "a",
        "ephemeral-storage",
        "nvidia.com/gpu",
    ]
    collector = Collector()
    layers = [ValueLayer({"requests": dict.fromkeys(names, 1)}, PRESET), ValueLayer({"limits": {"b": 1}}, USER)]
    sides = merge_resources(layers, {}, collector).sides
    assert list(sides) == ["limits", "requests"]
    assert list(sides["requests"])[:2] == ["cpu", "memory"]


def test_what_is_kept_of_who_says_an_amount() -> None:
    specs = (
        {"requests": {"memory": "8Gi"}},
        {"limits": {"memory": "4Gi"}},
        {"requests": {"cpu": "1", "memory": "6Gi"}},
    )
    layers = [ValueLayer(spec, origin) for spec, origin in zip(specs, (PRESET, MODEL, USER), strict=True)]
    collector = Collector()
    merged = merge_resources(layers, {"cpu": "2"}, collector)
    sides, history = merged.sides, merged.history
    assert [problem.code for problem in collector.problems] == ["W215"]
    assert sides == {"limits": {"cpu": "2", "memory": "6Gi"}, "requests": {"cpu": "2", "memory": "6Gi"}}
    request, limit = ("requests", "memory"), ("limits", "memory")
    # The request followed the model's limit, then the limit followed the user's request.
    assert history[request] == [Position(0, request), Position(1, limit), Position(2, request)]
    assert history[limit] == [Position(1, limit), Position(2, request)]
    assert history["limits", "cpu"] == [Position(3, ("limits", "cpu"))]


def test_one_contradiction_is_said_once() -> None:
    wrong = {"limits": {"memory": "1G"}, "requests": {"memory": "1Gi"}}
    for preset, model in ((wrong, {"limits": {"cpu": "1"}}), ({}, wrong)):
        layers = [ValueLayer(preset, PRESET), ValueLayer(model, MODEL), ValueLayer({"limits": {"cpu": "1"}}, USER)]
        collector = Collector()
        merge_resources(layers, {}, collector)
        assert len(collector.problems) == 1
