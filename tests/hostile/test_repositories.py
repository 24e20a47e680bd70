"""Some of the made-up hostile repositories of `python -m tests.hostile`, which says what must never come of them."""

from __future__ import annotations

import pytest

from tests.hostile.trial import trial

COUNT, PARTS = 800, 8


@pytest.mark.parametrize("part", range(PARTS))
def test_made_up_repositories(part: int) -> None:
    faults = [fault for number in range(part, COUNT, PARTS) for fault in trial(number, seed=19)]
    assert faults == []
