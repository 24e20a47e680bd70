"""PodDisruptionBudgets with which no pod is evicted, so that no node with one of theirs can be drained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from renderer.check.finding import Body
from renderer.check.graph.pods import WorkloadPods, pods_by_namespace, selected_pods
from renderer.check.graph.rules import check_rules, side_rules
from renderer.check.graph.view import ObjectView
from renderer.diagnostics import Finding
from renderer.kubernetes.disaggregated_sets import slice_count
from renderer.kubernetes.json_values import map_at, number_at
from renderer.kubernetes.workloads import is_rendered, selects

_BUDGET = "PodDisruptionBudget.policy"
_NONE, _ALL = (0, "0", "0%"), ("100%",)


@check_rules.about(_BUDGET)
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


@side_rules.about(_BUDGET)
def validate_second_budget(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding for a budget whose pods another one selects too, at one that was written by hand, or at the later one.

    By Kubernetes 1.34, pkg/registry/core/pod/storage/eviction.go: an eviction with two budgets is answered with 500.
    """
    budgets = view.once("budgets of pods", _budgets_of_pods)
    for pods in () if is_rendered(body) else _selected(view, namespace, map_at(body, "spec")):
        for other, is_made in budgets.get((namespace, id(pods)), ()):
            if other != name and (is_made or name > other):
                words = {"name": name, "other": other, "workload": pods.workload}
                yield Finding("W576", ("spec", "selector"), words)
                return


def _selected(view: ObjectView, namespace: str, spec: Body) -> Sequence[WorkloadPods]:
    """The pods that a budget is about."""
    selector = map_at(spec, "selector")
    if map_at(selector, "matchLabels"):
        return selected_pods(view, namespace, selector)
    pods = pods_by_namespace(view).get(namespace, ()) if "selector" in spec else ()
    return [entry for entry in pods if selects(selector, entry.labels)]


def _budgets_of_pods(view: ObjectView) -> dict[tuple[str, int], list[tuple[str, bool]]]:
    """The budgets of some pods, by their namespace and the id of the pods, which the view keeps: the name of each, and
    whether it is rendered.
    """
    budgets: dict[tuple[str, int], list[tuple[str, bool]]] = {}
    for namespace, name, body in view.all(_BUDGET):
        for pods in _selected(view, namespace, map_at(body, "spec")):
            budgets.setdefault((namespace, id(pods)), []).append((name, is_rendered(body)))
    return budgets
