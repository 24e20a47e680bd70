"""How a replica gets more accelerators on one host."""

from __future__ import annotations

from renderer.resolve import flavors
from renderer.resolve.workload.engine_run import EngineRun

_MOST_OF_HOST = 8
"""Accelerators that the hosts of most kinds have at most."""


def raised_limits(run: EngineRun, size: int) -> str:
    """What to write for so many accelerators; '' where no host has them, or the flavor has none."""
    return limits_of_one_host(run, size) if run.size.accelerator.number and size <= _MOST_OF_HOST else ""


def limits_of_one_host(run: EngineRun, size: int) -> str:
    """What to write for a replica of so many accelerators on one host."""
    base, accelerator = run.base, run.size.accelerator
    if not accelerator.number:
        return f'leave parallelism out and write params: {{TP: "{size}"}} in the flavor'
    if size > _MOST_OF_HOST:
        return "leave parallelism out"
    model, inputs = base.claim.main, base.context.inputs
    for flavor in flavors.model_flavors(inputs, base.context.catalog, model):
        if flavors.accelerator_count(inputs, flavor) == size:
            return f"claim inferenceFlavors: [{flavor.name}]"
    name, what = accelerator.resource, f"limits: {{{accelerator.resource}: {size}}}"
    if accelerator.claimed:
        what = f"claims: {{deviceClassName: {name}, count: {size}}}"
    chosen = base.placement.flavors[0] if base.placement.flavors else None
    if chosen is None:
        return f"write {what} in backendRuntimeConfig.resources"
    if model.ours and not chosen.catalog:
        new = f"{chosen.name}-{size}"
        return f"write flavors: {{{new}: {{{what}}}}} in RenderConfig and claim inferenceFlavors: [{new}]"
    return f"write {what} in flavor '{chosen.name}'"
