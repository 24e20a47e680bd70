"""The names by which a workload serves its models, those beside the first one among them."""

from __future__ import annotations

from renderer.plan import NamedModel, Plan


def find_named(plan: Plan, name: str) -> NamedModel | None:
    """The adapter or further main model of a workload by the name of its OpenModel, or by the name that the engine's
    options give it.
    """
    return next((model for model in plan.named_models if (model.model or model.name) == name), None)


def served_names(plan: Plan) -> dict[str, str]:
    """The names that targets of a workload may have, each with what the engine is asked for: its own public name, those
    of its other models, and whatever its engine knows adapters by.
    """
    names = {plan.public_name: plan.name_in_engine}
    names |= {model.name: model.name_in_engine for model in plan.named_models if model.model}
    return names | {model.name_in_engine: model.name_in_engine for model in plan.named_models}
