"""OpenModel: a model with the fields of upstream's CRD, for schedulers in the cluster that read its flavors."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.diagnostics import Origin, Path
from renderer.plan import Manifest, ModelPlan, SharedPlan


def open_model(shared_plan: SharedPlan) -> Iterator[Manifest]:
    """One for each model of the plan, in its order."""
    for model in shared_plan.models:
        yield Manifest(
            {
                "apiVersion": "llmaz.io/v1alpha1",
                "kind": "OpenModel",
                "metadata": {"name": model.name, "labels": model.labels},
                "spec": model.spec,
            },
            lambda model=model: _origins(model),  # type: ignore[misc]
        )


def _origins(model: ModelPlan) -> dict[Path, Origin]:
    origins = model.origins()
    return {(): origins[()], ("metadata", "name"): origins["name",], ("spec",): origins["spec",]}
