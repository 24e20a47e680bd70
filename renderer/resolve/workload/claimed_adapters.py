"""The LoRA adapters of a claim, with their weights for the engine."""

from __future__ import annotations

from renderer.diagnostics import Origin
from renderer.resolve import claims
from renderer.resolve.claims import ClaimedModel
from renderer.resolve.engine import adapters
from renderer.resolve.engine.adapters import EngineAdapter
from renderer.resolve.engine.backend_runtime import Engine
from renderer.resolve.weight_sources import Weights
from renderer.resolve.workload.claimed import AppBase


def engine_adapters(base: AppBase, engine: Engine) -> tuple[EngineAdapter, ...]:
    """The adapters of a claim, for its engine; none where the engine loads none."""
    if not adapters.can_load(engine):
        return ()
    pairs = zip(base.claim.models, base.weights, strict=True)
    return tuple([_engine_adapter(base, claimed, weights) for claimed, weights in pairs if claimed.role == "lora"])


def _engine_adapter(base: AppBase, claimed: ClaimedModel, weights: Weights) -> EngineAdapter:
    model, by_address = claimed.model, base.skip_loaders and weights.kind in ("hub", "objectStore")
    return EngineAdapter(
        model=model.name,
        name=claims.public_name(model),
        path=weights.address if by_address else weights.path,
        rank=((model.spec.get("facts") or {}).get("adapter") or {}).get("rank", 0),
        origin=base.app.origin(*claimed.path),
        facts=Origin(model.document, ("spec", "facts", "adapter")),
    )
