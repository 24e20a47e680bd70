"""The disruption budget of the leaders."""

from __future__ import annotations

from msgspec.structs import replace

from renderer.build.pdb import pdb
from renderer.diagnostics import Origin
from renderer.plan import Plan
from tests.build.conftest import Input


def test_none_where_a_drain_would_hang(plan: Plan) -> None:
    assert list(pdb(plan)) == []


def test_one_leader_at_a_time(plan: Plan) -> None:
    (manifest,) = pdb(replace(plan, disruption_budget={"maxUnavailable": 1}))
    assert manifest.body == {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "chat", "namespace": "llm", "labels": plan.labels},
        "spec": {
            "maxUnavailable": 1,
            "selector": {
                "matchLabels": {
                    "leaderworkerset.sigs.k8s.io/name": "chat",
                    "leaderworkerset.sigs.k8s.io/worker-index": "0",
                }
            },
        },
    }
    assert list(manifest.body) == ["apiVersion", "kind", "metadata", "spec"]


def test_what_is_wrong_with_it_stands_where_the_app_is_named(plan: Plan, source: Input) -> None:
    (manifest,) = pdb(replace(plan, disruption_budget={"maxUnavailable": 1}))
    assert manifest.origin(("metadata", "name")) == Origin(source, ("metadata", "name"))
    assert manifest.origin(("spec", "maxUnavailable")).source is source
