"""How many pods may be away at once."""

from __future__ import annotations

import pytest

from renderer.plan import Scaler
from renderer.resolve.disruptions import needs_disruption_budget


@pytest.mark.parametrize(
    ("size", "scaler", "replicas", "budget"),
    [
        (1, None, 1, False),
        (1, None, 2, True),
        (2, None, 1, False),
        (2, None, 2, True),
        (1, Scaler(1, 3, ()), 0, False),
        (2, Scaler(1, 3, ()), 0, True),
        (2, Scaler(1, 1, ()), 0, False),
    ],
)
def test_disruption_budget(size: int, scaler: Scaler | None, replicas: int, budget: bool) -> None:
    assert needs_disruption_budget(size, scaler, replicas) == budget
