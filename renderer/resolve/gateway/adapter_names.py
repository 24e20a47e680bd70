"""The names by which a workload serves its models, those of adapters among them."""

from __future__ import annotations

from renderer.plan import Adapter, Plan


def find_adapter(plan: Plan, name: str) -> Adapter | None:
    """The adapter of a workload by the name of its OpenModel, or by the name that the engine's options give it."""
    return next((adapter for adapter in plan.adapters if (adapter.model or adapter.name) == name), None)


def served_names(plan: Plan) -> dict[str, str]:
    """The names that targets of a workload may have, each with what the engine is asked for: its own public name, those
    of claimed adapters, and whatever its engine knows adapters by.
    """
    names = {plan.public_name: plan.name_in_engine}
    names |= {adapter.name: adapter.name_in_engine for adapter in plan.adapters if adapter.model}
    return names | {adapter.name_in_engine: adapter.name_in_engine for adapter in plan.adapters}
