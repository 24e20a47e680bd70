"""The records of an InferenceModel: its targets, the pool that it names, and what each target gets."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from renderer.api import App, TrafficInput
from renderer.diagnostics import Origin, suggestion
from renderer.plan import Plan
from renderer.resolve.context import RunContext
from renderer.resolve.gateway.route_backends import BackendShare


class TargetModel(Struct, frozen=True):
    """A model that an InferenceModel leads to."""

    name: str
    weight: int | None  # None where none is said
    origin: Origin
    listed: bool  # in `targetModels`, else it is the public name itself


class TargetModels(Struct, frozen=True, eq=False):
    """An InferenceModel with its targets."""

    context: RunContext
    item: TrafficInput
    targets: Sequence[TargetModel]  # the public name itself where none is listed

    @property
    def listed(self) -> bool:
        """Whether `targetModels` lists any."""
        return self.targets[0].listed

    @property
    def public_name(self) -> str:
        """The name that clients ask for."""
        return str(self.item.spec["modelName"])


def read_targets(context: RunContext, item: TrafficInput) -> TargetModels:
    """The InferenceModel with its targets."""
    listed = [
        TargetModel(entry["name"], entry.get("weight"), item.origin("spec", "targetModels", i, "name"), listed=True)
        for i, entry in enumerate(item.spec.get("targetModels") or ())
    ]
    own = TargetModel(item.spec["modelName"], None, item.origin("spec", "modelName"), listed=False)
    return TargetModels(context, item, listed or [own])


class ServedPool(Struct, frozen=True, eq=False):
    """An InferenceModel with the workloads that `poolRef` names."""

    models: TargetModels
    app: App | None  # None where the pool is not one of ours
    plans: Sequence[Plan]  # its workloads
    in_pool: bool  # a picker chooses among them, else the gateway


class TargetShares(Struct, frozen=True, eq=False):
    """What each target of an InferenceModel gets of its requests."""

    pool: ServedPool
    shares: Sequence[BackendShare]  # of each target; none in a pool, whose picker shares requests out
    apps: Sequence[App]  # of each share; in a pool its own


def name_hint(target: TargetModel, served: Sequence[str]) -> str:
    """The hint about a target that nothing serves. `served`: the names that are served."""
    near = suggestion(target.name, served)
    advice = (
        "adapters are claimed with role lora, or loaded by the engine's options"
        if target.listed
        else "write targetModels to lead the name to others"
    )
    return f"{near}{' ' if near.endswith('?') else '; '}{advice}"
