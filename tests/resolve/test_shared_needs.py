"""What apps need together crosses processes and is put in order, whatever kinds there are."""

from __future__ import annotations

import pickle
from itertools import permutations
from typing import get_args

from renderer import plan
from renderer.plan import GatewayNeed, HeldName, ModelNeed, NameClaim, PackedRule, RewriteClaim, RouteTarget, SharedNeed
from renderer.resolve.shared_needs import needs_of

GATEWAY = ("llmaz-system", "gateway")
NEEDS: list[SharedNeed] = [
    ModelNeed("qwen"),
    plan.CacheNeed("llm", "qwen"),
    plan.MonitorNeed("llm", "llmaz-engines"),
    plan.PickerMonitorNeed("llm"),
    plan.NetworkPolicyNeed("llm"),
    GatewayNeed(GATEWAY, "llm"),
    plan.GrantNeed(GATEWAY, "llm"),
    PackedRule("llm", "llmaz-3", "a,b", (RouteTarget("chat", 1, "a"),), "300s", "me", ""),
    NameClaim(GATEWAY, "llm", "", "chat", "chat", ("a.example", "b.example"), "two\nlines"),
    RewriteClaim("", "chat", "chat", "name", "llm", "chat-adapters", (("asked", 0), ("other", 9))),
    HeldName("name", "llm/chat"),
    plan.UnroutedModel("llm", "labels", "classifier", ("labels-lb",)),
]


def test_each_kind_is_here() -> None:
    assert {type(need) for need in NEEDS} == {*get_args(SharedNeed)}


def test_needs_cross_processes() -> None:
    again = pickle.loads(pickle.dumps(set(NEEDS)))  # noqa: S301
    assert again == set(NEEDS)
    assert len(again) == len(NEEDS)


def test_needs_of_one_kind_are_sorted() -> None:
    models: list[SharedNeed] = [ModelNeed(name) for name in "abc"]
    for order in permutations(models):
        assert needs_of(ModelNeed, [*NEEDS[1:], *order]) == models
    assert needs_of(ModelNeed, NEEDS[1:]) == []


def test_kinds_with_equal_fields_are_different_needs() -> None:
    assert len({GatewayNeed(GATEWAY, "llm"), plan.GrantNeed(GATEWAY, "llm")}) == 2


def test_apps_claim_before_routes() -> None:
    route = NameClaim(GATEWAY, "llm", "ModelRoute", "a", "a", (), "name")
    app = NameClaim(GATEWAY, "llm", "", "b", "b", (), "name")
    assert needs_of(NameClaim, [route, app]) == [app, route]
    rewrites = [RewriteClaim(kind, "x", "p", "m", "llm", "x", (("y", 0),)) for kind in ("InferenceModel", "")]
    assert [claim.kind for claim in needs_of(RewriteClaim, rewrites)] == ["", "InferenceModel"]
