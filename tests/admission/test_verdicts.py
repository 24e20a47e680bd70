"""What policies say offline of 300 objects each, beside what the real API server said: verdicts.json has its words.

`python -m tests.apiserver --only admission --record` writes them anew. Without `--record` it compares
what the server and we say now, and fails where that differs without a reason.
"""

from __future__ import annotations

import pytest

from tests.admission import policies
from tests.admission.objects import objects
from tests.admission.policies import Verdict

RECORDED = policies.recorded()
NAMES = sorted(policies.policies())


def test_what_is_recorded_is_about_these_policies_and_objects() -> None:
    assert RECORDED["digests"] == policies.digests()
    assert len(NAMES) >= 60
    assert len(RECORDED["accepted"]) == 300


@pytest.mark.parametrize("name", NAMES)
def test_the_server_said_the_same(name: str) -> None:
    every = list(objects())
    numbers = RECORDED["accepted"]
    denials = {number: text for text, those in RECORDED["denied"][name].items() for number in those}
    rules = policies.differences()
    for number, ours in zip(numbers, policies.ours(name, [every[number] for number in numbers]), strict=True):
        binding, _, message = denials.get(number, ": ").partition(": ")
        server = Verdict(binding, message)
        assert ours == server or any(rule.explains(name, ours, server) for rule in rules), (number, ours, server)


def test_policies_tell_objects_apart() -> None:
    """A policy that denies all or none would prove little."""
    counts = {name: sum(map(len, RECORDED["denied"][name].values())) for name in NAMES}
    assert {name for name, count in counts.items() if not 0 < count < 300} == set()


@pytest.mark.parametrize("rule", policies.differences(), ids=lambda rule: rule.reason[:40])
def test_a_difference_has_a_reason_and_one_policy(rule: policies.Difference) -> None:
    assert rule.policy in NAMES
    assert len(rule.reason) > 20
    assert not rule.explains(rule.policy, Verdict(), Verdict())
