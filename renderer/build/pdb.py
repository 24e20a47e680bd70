"""PodDisruptionBudget: at most one replica is evicted at a time."""

from __future__ import annotations

from renderer.build.metadata import name_origins
from renderer.build.selectors import group_selector, serving_selector
from renderer.plan import Manifest, Plan


def pdb(plan: Plan) -> list[Manifest]:
    """One when at least two groups always run; with fewer it could only block the drain of a node. Over all pods of
    groups of several, since an eviction of one makes the whole group anew.

    docs/design/contract.md#disruption-budget
    """
    if not plan.disruption_budget:
        return []
    selector = group_selector(plan) if plan.size > 1 else serving_selector(plan)
    body = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": plan.name, "namespace": plan.namespace, "labels": plan.labels},
        "spec": {**plan.disruption_budget, "selector": {"matchLabels": selector}},
    }
    return [Manifest(body, lambda: name_origins(plan.origin))]
