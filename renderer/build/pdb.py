"""PodDisruptionBudget: never two leaders at once."""

from __future__ import annotations

from renderer.plan import Manifest, Plan, named


def pdb(plan: Plan) -> list[Manifest]:
    """One when at least two groups always run; below that it could only block a drain.

    docs/design/contract.md#disruption-budget
    """
    if not plan.disruptable:
        return []
    selector = {"leaderworkerset.sigs.k8s.io/name": plan.name, "leaderworkerset.sigs.k8s.io/worker-index": "0"}
    body = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": plan.name, "namespace": plan.namespace, "labels": plan.labels},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": selector}},
    }
    return [Manifest(body, lambda: named(plan))]
