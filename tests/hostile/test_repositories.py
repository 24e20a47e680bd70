"""Some of the made-up hostile inputs of `python -m tests.hostile`, which says what must never come of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Llmaz
from tests.hostile import policies
from tests.hostile.listeners import listeners
from tests.hostile.trial import AIMS, trial
from tests.programs import tool

COUNT, PARTS = 800, 8


@pytest.mark.parametrize("part", range(PARTS))
def test_made_up_repositories(part: int) -> None:
    for name in ("helm", "kubeconform", "kustomize"):
        tool(name)
    with listeners() as listening:
        outcomes = [trial(number, 19, listening) for number in range(part, COUNT, PARTS)]
    assert [fault for outcome in outcomes for fault in outcome.faults] == []
    assert 2 * sum(outcome.reaches for outcome in outcomes) >= len(outcomes), "most are refused at once"


@pytest.mark.parametrize("name", [aim.name for aim in AIMS])
def test_most_inputs_reach_the_last_stage(name: str) -> None:
    for program in ("helm", "kubeconform", "kustomize"):
        tool(program)
    with listeners() as listening:
        outcomes = [trial(number, 19, listening, name) for number in range(COUNT, COUNT + 96)]
    assert {outcome.aim for outcome in outcomes} == {name}
    assert 2 * sum(outcome.reaches for outcome in outcomes) >= len(outcomes)


def test_what_surrounds_the_objects_of_a_policy_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz
) -> None:
    policies.write_base(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert llmaz("validate").code == 0
