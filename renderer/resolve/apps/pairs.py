"""The plans of a Playground's prefill and decode workloads, behind one pool (docs/disaggregation.md)."""

from __future__ import annotations

from msgspec.structs import replace

from renderer.api import App
from renderer.diagnostics import Collector, Stop, has_errors
from renderer.kubernetes import disaggregated_sets
from renderer.plan import Plan
from renderer.resolve.apps import playground, role_apps
from renderer.resolve.context import RunContext
from renderer.resolve.rules import run_rules_or_stop
from renderer.resolve.workload.role_pair import RolePair
from renderer.resolve.workload.written_app import WrittenPair


def plan_roles(context: RunContext, app: App, diagnostics: Collector) -> list[Plan]:
    """The plans of prefill and decode. Raises Stop where their requests would not reach both, or where what an app says
    beside is nothing for two roles.
    """
    written = run_rules_or_stop(WrittenPair(context, app), diagnostics)
    if has_errors(diagnostics.problems):
        raise Stop
    plans = [playground.plan_playground(context, role, diagnostics) for role in role_apps.app_roles(app)]
    reported = frozenset(problem.code for problem in diagnostics.problems)
    run_rules_or_stop(RolePair(written, plans[0], plans[1], reported), diagnostics)
    return [replace(plan, kind=disaggregated_sets.KIND) for plan in plans] if written.in_one_set else plans
