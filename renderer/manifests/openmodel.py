"""OpenModel: a model as upstream's CRD has it, for schedulers in the cluster that read flavors from it."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.plan import Joint, Manifest, Model
from renderer.problems import Origin, Path


def open_model(joint: Joint) -> Iterator[Manifest]:
    """One for each model that something in the cluster asks for, in the order of the plan."""
    for model in joint.models:
        yield Manifest(
            {
                "apiVersion": "llmaz.io/v1alpha1",
                "kind": "OpenModel",
                "metadata": {"name": model.name, "labels": model.labels},
                "spec": model.spec,
            },
            lambda model=model: _origins(model),  # type: ignore[misc]
        )


def _origins(model: Model) -> dict[Path, Origin]:
    made = model.origins()
    return {(): made[()], ("metadata", "name"): made["name",], ("spec",): made["spec",]}
