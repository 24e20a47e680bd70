"""What is rendered is the same as itself, also in the form in which a server gives it back."""

from __future__ import annotations

from pathlib import Path

import pytest

from renderer.diff.live.server_fields import comparable
from renderer.kubernetes.variable_references import fill_in
from tests.diff.live.dumps import read, report_of
from tests.paths import TESTS

FOLDERS = [
    *sorted(path for path in (TESTS / "adopted").glob("*/expected")),
    *sorted(path for path in (TESTS / "cases").glob("example-*/expected")),
]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.parent.name)
def test_a_render_and_itself(folder: Path) -> None:
    for path in folder.rglob("*.yaml"):
        bodies = [body for body in read([path]) if "kind" in body]
        report = report_of(bodies, bodies)
        assert list(report.differences()) == []
        assert (report.lost, report.unexplained) == (0, 0)
        filled_in = report_of([comparable(body) for body in bodies], bodies)
        assert {difference.rule for difference in filled_in.differences()} <= {"scaled-replicas"}
        assert (filled_in.lost, filled_in.unexplained) == (0, 0)


def test_two_dollar_signs_are_one() -> None:
    """As Kubernetes reads them: what stands in parentheses behind is no reference."""
    assert fill_in("$(A) $$(A) $(B)", {"A": "1"}) == "1 $$(A) $(B)"
