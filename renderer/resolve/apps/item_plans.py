"""The plans of one item, whatever its kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from renderer.api import App, TrafficInput
from renderer.diagnostics import Collector, Diagnostic, Stop, has_errors
from renderer.kubernetes import disaggregated_sets
from renderer.plan import Plan, SharedNeed, TrafficPlan
from renderer.resolve.apps import inference_models, model_routes
from renderer.resolve.apps.app_routes import with_route
from renderer.resolve.apps.leader_spread import spread_leaders
from renderer.resolve.apps.workloads import plan_workloads
from renderer.resolve.context import RunContext

if TYPE_CHECKING:
    from renderer.fit.verdict import FitVerdict


def plan(context: RunContext, item: App | TrafficInput) -> tuple[tuple[Plan | TrafficPlan, ...], list[Diagnostic]]:
    """The plans of a Playground or Service, one a workload, or of a ModelRoute or InferenceModel, and the diagnostics;
    no plans when there is an error.
    """
    diagnostics = Collector()
    plans: Sequence[Plan | TrafficPlan]
    try:
        if isinstance(item, TrafficInput):
            make_plan = (
                model_routes.plan_model_route if item.kind == "ModelRoute" else inference_models.plan_inference_model
            )
            plans = [make_plan(context, item, diagnostics)]
        else:
            workloads = with_route(context, item, plan_workloads(context, item, diagnostics), diagnostics)
            first, *others = [spread_leaders(workload) for workload in workloads]
            if first.kind == disaggregated_sets.KIND:
                first = replace(first, partner=others[-1] if others else first)
            plans = [first, *others]
    except Stop:
        return (), diagnostics.problems
    return () if diagnostics.problems and has_errors(diagnostics.problems) else tuple(plans), diagnostics.problems


def shared_needs(plans: Sequence[Plan | TrafficPlan]) -> tuple[SharedNeed, ...]:
    """The shared objects that the workloads of an app need."""
    return plans[0].shared if len(plans) == 1 else tuple(need for plan in plans for need in plan.shared)


def fit_verdicts(plans: Sequence[Plan | TrafficPlan]) -> dict[tuple[str, str], FitVerdict]:
    """Whether the models of workloads fit on their accelerators, by namespace and name of the workload; without those
    of which that is not known.
    """
    return {(plan.namespace, plan.name): plan.fit for plan in plans if isinstance(plan, Plan) and plan.fit}


def referenced_objects(plans: Sequence[Plan | TrafficPlan]) -> frozenset[tuple[str, str, str]]:
    """The objects that these plans refer to: kind, namespace and name."""
    return frozenset(key for plan in plans if isinstance(plan, TrafficPlan) for key in plan.references)
