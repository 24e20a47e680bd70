"""PodDisruptionBudgets that let no pod be evicted, so that no node with one of theirs can be drained."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.finding import Body
from renderer.check.graph.pods import WorkloadPods, selected_pods
from renderer.check.graph.rules import check_rules
from renderer.check.graph.view import ObjectView
from renderer.diagnostics import Finding
from renderer.kubernetes.disaggregated_sets import slice_count
from renderer.kubernetes.json_values import map_at, number_at

_NONE, _ALL = (0, "0", "0%"), ("100%",)


@check_rules.about("PodDisruptionBudget.policy")
def validate_blocking_budget(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding for a budget that keeps all pods that it selects, as far as their number is known."""
    spec = map_at(body, "spec")
    selected = (
        selected_pods(view, namespace, map_at(spec, "selector")) if map_at(spec, "selector", "matchLabels") else []
    )
    if not selected:
        return
    words = {"name": name, "workload": selected[0].workload, "replaced": " in place of minAvailable"}
    if spec.get("maxUnavailable") in _NONE:
        yield Finding(
            "W518",
            ("spec", "maxUnavailable"),
            {**words, "replaced": "", "why": f"maxUnavailable is {spec['maxUnavailable']}"},
        )
    least = spec.get("minAvailable")
    if least in _ALL:
        yield Finding("W518", ("spec", "minAvailable"), {**words, "why": f"minAvailable is {least}"})
    count = sum(_pods(pods) for pods in {id(pods.replica.spec): pods for pods in selected}.values())
    if isinstance(least, int) and count and least >= count:
        why = f"minAvailable is {least}, and there {'is' if count == 1 else 'are'} {count:g}"
        yield Finding("W518", ("spec", "minAvailable"), {**words, "why": why})


def _pods(pods: WorkloadPods) -> float:
    """The pods of a workload that says its replicas; infinitely many of another one, which an autoscaler may have."""
    if "replicas" not in pods.replica.spec:
        return float("inf")
    slices = slice_count(pods.body) if pods.replica.set_role else 1
    return slices * number_at(pods.replica.spec, "replicas") * pods.replica.size
