"""Topology spread constraints that count the leaders of groups are those of leaders alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from renderer.diagnostics import Origin, Path
from renderer.kubernetes import disaggregated_sets, wellknown
from renderer.kubernetes.json_values import map_at, maps_at
from renderer.plan import Body, Plan, Pod

_CONSTRAINTS = "topologySpreadConstraints"
_OWN_KEYS = {wellknown.GROUPS, wellknown.WORKER_INDEX, disaggregated_sets.SET, disaggregated_sets.ROLE}


def spread_leaders(plan: Plan) -> Plan:
    """The plan of groups of several pods, whose workers are without the constraints that count their leaders: a pod
    that a constraint does not count is drawn to where few of the others are, and so away from its own leader
    (https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/). Where one template makes all
    pods, leaders get one of their own.
    """
    if plan.size == 1 or not (constraints := maps_at(plan.worker.rest, _CONSTRAINTS)):
        return plan
    other_constraints = [constraint for constraint in constraints if not _counts_leaders(constraint)]
    if len(other_constraints) == len(constraints):
        return plan
    worker = replace(plan.worker, rest=_with_constraints(plan.worker, other_constraints))
    if plan.leader:
        return replace(plan, worker=worker)
    return replace(plan, leader=plan.worker, worker=worker, origins=lambda: _of_both(plan.origins()))


def _counts_leaders(constraint: Body) -> bool:
    """Whether it has the selector that `pod_defaults.spread_selector` gives to constraints of groups."""
    labels = map_at(constraint, "labelSelector", "matchLabels")
    return labels.get(wellknown.WORKER_INDEX) == "0" and labels.keys() <= _OWN_KEYS


def _with_constraints(pod: Pod, constraints: Sequence[Body]) -> Body:
    rest = {key: value for key, value in pod.rest.items() if key != _CONSTRAINTS}
    return {**rest, _CONSTRAINTS: [*constraints]} if constraints else rest


def _of_both(origins: Mapping[Path, Origin]) -> dict[Path, Origin]:
    """The origins of a plan, those of its one template for leaders too."""
    of_leaders: dict[Path, Origin] = {}
    for path, origin in origins.items():
        if path[0] == "worker":
            of_leaders["leader", *path[1:]] = origin
        elif path[:2] == ("explain", "workerTemplate"):
            of_leaders["explain", "leaderTemplate", *path[2:]] = origin
    return {**origins, **of_leaders}
