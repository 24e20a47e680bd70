"""How a replica gets more accelerators on one host."""

from __future__ import annotations

from renderer.resolve import flavors
from renderer.resolve.workload.engine_run import EngineRun
from renderer.resolve.workload.gpu_fit import flavor_card, own_labels

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
    model = base.claim.main
    if name := _sized_flavor(run, size):
        return f"claim inferenceFlavors: [{name}]"
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


def _sized_flavor(run: EngineRun, size: int) -> str:
    """The flavor with so many accelerators: one of the claimed flavor's type, which the catalog may have too, else one
    of the model's own; '' where there is none.
    """
    base, inputs = run.base, run.base.context.inputs
    own = [*flavors.model_flavors(inputs, base.context.catalog, base.claim.main)]
    names = {flavor.name for flavor in own}
    others = [flavor for name, flavor in base.context.catalog.items() if flavor and name not in names]
    sized = [flavor for flavor in (*own, *others) if flavors.accelerator_count(inputs, flavor) == size]
    types, labels = inputs.accelerator_types(), own_labels(base.app)
    cards = {flavor_card(types, flavor, labels) for flavor in base.placement.flavors} - {None}
    same = [flavor.name for flavor in sized if flavor_card(types, flavor, labels) in cards]
    of_model = [flavor.name for flavor in sized if flavor.name in names]
    return next(iter((*same, *of_model)), "")
