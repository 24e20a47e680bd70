"""Some of the made-up hostile repositories of `python -m tests.hostile`, which says what must never come of them."""

from __future__ import annotations

import pytest

from tests.hostile.trial import trial
from tests.programs import tool

COUNT, PARTS = 800, 8


@pytest.mark.parametrize("part", range(PARTS))
def test_made_up_repositories(part: int) -> None:
    for name in ("helm", "kubeconform"):
        tool(name)
    outcomes = [trial(number, seed=19) for number in range(part, COUNT, PARTS)]
    assert [fault for outcome in outcomes for fault in outcome.faults] == []
    assert 2 * sum(outcome.renders for outcome in outcomes) >= len(outcomes), "most are refused at once"
