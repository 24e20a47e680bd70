"""How many GiB of a GPU an engine leaves for its KV cache."""

from __future__ import annotations

from msgspec import Struct

from renderer.fit.weights import GIB

OVERHEAD = 0.04
"""The part of a GPU's memory that goes to the driver, activations and graphs: of start logs between 0 and 10 %."""
ACTIVATION_BYTES = 40
"""Of the activations, for each token of a step and each value of a hidden state: of start logs with steps of 10,000
tokens and more between 26 and 43 (tests/fit/test_start_logs.py). More GPUs that share each layer change little of it,
and smaller steps stay within OVERHEAD.
"""

TOTAL, FREE_BEFORE, REST, WHOLE = "totalFraction", "freeFraction", "restFraction", "wholeContext"


class Budget(Struct, frozen=True):
    """How an engine decides."""

    form: str
    fraction: float = 1.0


def activations_gib(step: int, width: int) -> float:
    """The GiB of activations of a step of so many tokens, in a model with hidden states of this width."""
    return ACTIVATION_BYTES * step * width / GIB


def cache_room(budget: Budget, card_gib: float, weights_gib: float, activations: float = 0) -> float:
    """The GiB that are left for the KV cache; below 0 where the weights alone are too large. `activations`: their GiB,
    which count where they are more than what is left for them in any case.

    totalFraction: the engine takes a part of the GPU, and the cache is what weights and the rest leave of it.
    freeFraction: the same, of what was free before the weights, and the rest lies outside of it.
    restFraction: a part of what is free once the engine is there.
    wholeContext: all that is left.
    """
    overhead = max(OVERHEAD * card_gib, activations)
    if budget.form == TOTAL:
        return card_gib * budget.fraction - weights_gib - overhead
    if budget.form == FREE_BEFORE:
        return min(card_gib * budget.fraction, card_gib - overhead) - weights_gib
    rest = card_gib - weights_gib - overhead
    return rest * budget.fraction if budget.form == REST else rest
