"""The run context, with what is wrong with RenderConfig's Gateways and flavors."""

from __future__ import annotations

from msgspec.structs import replace

from renderer.api import Inputs
from renderer.diagnostics import Collector
from renderer.resolve.context import RunContext
from renderer.resolve.gateway import settings
from renderer.resolve.rules import facts, run_rules_or_stop
from renderer.resolve.workload import run_context as workload_context


def run_context(inputs: Inputs, *, strict: bool = False, tells_all: bool = False) -> RunContext:
    """The context of a run over these inputs, with empty caches. `strict`: warnings are errors; `tells_all`: what
    nobody knows is told.
    """
    context, diagnostics = workload_context.new_context(inputs), Collector()
    diagnostics.problems += facts.validate_catalog(context)
    gateways = run_rules_or_stop(settings.collect_gateways(inputs.config), diagnostics)
    for gateway in gateways.by_name.values():
        run_rules_or_stop(gateway, diagnostics)
    problems = (*context.problems, *diagnostics.problems)
    return replace(context, strict=strict, tells_all=tells_all, problems=problems)
