"""Models that are gone, replaced or renamed, and replicas that get few."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from renderer.diff.disaggregation import successors
from renderer.diff.models import ModelChange
from renderer.diff.risks.kinds import Risk, marked
from renderer.kubernetes.wellknown import HPA, SCALED_OBJECT

_TAKEOVERS = {
    SCALED_OBJECT: "HorizontalPodAutoscaler → ScaledObject: KEDA takes over the HPA of this name, replicas stay",
    HPA: "ScaledObject → HorizontalPodAutoscaler: both scale until the ScaledObject and its HPA are deleted",
}


def replica_risks(models: Sequence[ModelChange]) -> Iterator[Risk]:
    """The risks of all models."""
    followers = successors(models)
    for model in models:
        yield from _model_risks(model, followers.get(model.key, ()))


def _model_risks(change: ModelChange, followers: Sequence[ModelChange]) -> Iterator[Risk]:
    """The risks of a model; `followers`: what comes in the place of one that is gone."""
    before, after, key = change.before, change.after, change.object_key
    model = after or before
    role = f" in {marked(model.role)}" if model and key != change.key else ""
    keys = dict.fromkeys(other.object_key for other in followers if other.object_key != key)
    if names := [marked(other if other.place == key.place else other.place) for other in keys]:
        have = "has" if len(names) == 1 else "have"
        what = f"the {key.kind} is deleted at once with its pods, and {' and '.join(names)} {have} to load first"
        yield Risk("replaced", key, what)
        return
    if before and not after:
        yield Risk("model-deleted", key, f"{_plural(before.high)} of {marked(before.name or change.key.name)}{role}")
        return
    if not before or not after:
        return
    if change.was and change.was.kind != change.key.kind:
        what = f"the {change.was.kind} is deleted at once with its pods, and the {change.key.kind} has to load first"
        yield Risk("replaced", key, what)
    elif old := change.renamed_from:
        what = f"{marked(old.place)} is deleted at once, and this one has to load first"
        yield Risk("renamed", key, what)
        return
    if before.scaled and after.scaled and before.scaler != after.scaler:
        yield Risk("autoscaler", key, _TAKEOVERS.get(after.scaler, "") + role)
    if before.spec_replicas is not None and after.spec_replicas is None and before.spec_replicas > 1:
        yield Risk(
            "hand-over", key, f"replicas {before.spec_replicas} → left out: 1 runs until the autoscaler acts{role}"
        )
    elif before.high > 0 and after.high == 0:
        yield Risk("scale-to-zero", key, f"replicas {before.replicas} → 0{role}")
    elif before.low > 0 and after.low == 0:
        yield Risk("scale-to-zero", key, f"replicas {before.replicas} → {after.replicas}{role}")
    elif (before.low > 1 and after.low == 1) or (before.high > 1 and after.high == 1):
        yield Risk("scale-to-one", key, f"replicas {before.replicas} → {after.replicas}{role}")


def _plural(replicas: int) -> str:
    return f"{replicas} replica{'' if replicas == 1 else 's'}"
