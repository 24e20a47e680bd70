"""PodDisruptionBudget: never two leaders at once."""

from __future__ import annotations

from typing import Any

from renderer.plan import Body, Manifest, Plan, named
from renderer.yamlio import form


def pdb(plan: Plan) -> list[Manifest]:
    """One when at least two groups always run (contract, section 5); below that it could only block a drain."""
    if not plan.disruptable:
        return []
    body, filled = _one_at_a_time(plan.name, plan.namespace, plan.labels)
    return [Manifest(body, lambda: named(plan), filled)]


@form
def _one_at_a_time(name: str, namespace: str, labels: Body) -> dict[str, Any]:
    selector = {"leaderworkerset.sigs.k8s.io/name": name, "leaderworkerset.sigs.k8s.io/worker-index": "0"}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": selector}},
    }
