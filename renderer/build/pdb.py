"""PodDisruptionBudget: at most one leader is evicted at a time."""

from __future__ import annotations

from renderer.plan import Manifest, Plan, leader_selector, name_origins


def pdb(plan: Plan) -> list[Manifest]:
    """One when at least two groups always run; with fewer it could only block the drain of a node.

    docs/design/contract.md#disruption-budget
    """
    if not plan.disruption_budget:
        return []
    body = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": plan.name, "namespace": plan.namespace, "labels": plan.labels},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": leader_selector(plan)}},
    }
    return [Manifest(body, lambda: name_origins(plan))]
