"""OpenModel: a model with the fields of upstream's CRD, for schedulers in the cluster that read its flavors."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from renderer.build.metadata import name_origins
from renderer.diagnostics import Origin, Path
from renderer.plan import Manifest, SharedPlan


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
            partial(_origins, model.origin),
        )


def _origins(origin: Origin) -> dict[Path, Origin]:
    return {**name_origins(origin), ("spec",): origin.at("spec")}
