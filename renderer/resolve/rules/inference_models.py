"""What does not go with an InferenceModel: its targets, its pool, and the rights of its apps."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.resolve.gateway.name_characters import can_be_sent
from renderer.resolve.gateway.named_models import served_names
from renderer.resolve.traffic.inference_model import ServedPool, TargetModels, TargetShares, name_hint


@rule(of=TargetModels)
def unsendable_names(models: TargetModels) -> Iterator[Diagnostic]:
    """Errors for names that no request can have."""
    names = [(models.public_name, models.item.origin("spec", "modelName"))]
    names += [(target.name, target.origin) for target in models.targets if target.listed]
    for name, origin in names:
        if not can_be_sent(name):
            yield make_diagnostic("E654", origin, name=name)


@rule(of=TargetModels, when=lambda models: models.listed)
def repeated_targets(models: TargetModels) -> Iterator[Diagnostic]:
    """An error for each target with the name of one before it."""
    names: set[str] = set()
    for target in models.targets:
        if target.name in names:
            yield make_diagnostic("E657", target.origin, name=target.name)
        names.add(target.name)


@rule(of=TargetModels, when=lambda models: models.listed)
def weights_of_nothing(models: TargetModels) -> Iterator[Diagnostic]:
    """Errors for weights of 0, which v1alpha2 does not have, and for targets of which some have none."""
    item, targets = models.item, models.targets
    for i, target in enumerate(targets):
        if item.version == "v1alpha2" and target.weight == 0:
            yield make_diagnostic("E656", item.origin("spec", "targetModels", i, "weight"))
    if len({target.weight is None for target in targets}) > 1:
        missing = next(i for i, target in enumerate(targets) if target.weight is None)
        yield make_diagnostic("E655", item.origin("spec", "targetModels", missing))


@rule(of=ServedPool, when=lambda pool: pool.in_pool and pool.plans)
def unserved_names(pool: ServedPool) -> Iterator[Diagnostic]:
    """Errors for targets that are neither the served name of the pool's engine nor one of its adapters."""
    names = list(served_names(pool.plans[0]))
    for target in pool.models.targets:
        if target.name not in names:
            params = {"name": target.name, "where": f"in the pool '{pool.plans[0].shared_name}'"}
            yield make_diagnostic("E660", target.origin, **params, hint=name_hint(target, names))


@rule(of=ServedPool, when=lambda pool: not pool.in_pool)
def unread_criticality(pool: ServedPool) -> Iterator[Diagnostic]:
    """A warning for a criticality that no picker reads."""
    item = pool.models.item
    if item.spec.get("criticality"):
        yield make_diagnostic("W244", item.origin("spec", "criticality"))


@rule(of=TargetShares, when=lambda shares: len(shares.apps) > 1)
def different_rights(shares: TargetShares) -> Iterator[Diagnostic]:
    """An error where the apps of the targets allow different tenants."""
    rights = [set((app.spec.get("gateway") or {}).get("allow") or ()) for app in shares.apps]
    for app, allowed in zip(shares.apps, rights, strict=True):
        if allowed != rights[0]:
            hint = "let all of its apps allow the same, or write a ModelRoute with spec.gateway.allow"
            origin, guarded = shares.pool.models.item.origin("spec", "targetModels"), app if allowed else shares.apps[0]
            yield make_diagnostic("E664", origin, name=guarded.name, hint=hint)
            return
