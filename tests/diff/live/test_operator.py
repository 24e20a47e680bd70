"""What the operator makes of the conformance cases, against our render: everything is explained, by the numbers that
`make conformance` prints.
"""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from tests.diff.live.dumps import read, report_of
from tests.paths import TESTS

if TYPE_CHECKING:
    from tests.conftest import Llmaz

CONFORMANCE = TESTS / "conformance"
REFUSED = {"025-unknown-flavor", "028-elastic-no-trigger"}  # by us
CASES = sorted(path.parent.name for path in CONFORMANCE.glob("cases/*/expected.yaml"))


def conformance() -> ModuleType:
    """tests/conformance/compare.py, which is a program of its own."""
    spec = importlib.util.spec_from_file_location("conformance_compare", CONFORMANCE / "compare.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


COMPARE = conformance()


@pytest.mark.parametrize("name", [name for name in CASES if name not in REFUSED])
def test_every_difference_has_the_number_of_a_deviation(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz
) -> None:
    folder = CONFORMANCE / "cases" / name
    shutil.copy(folder / "input.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    done = llmaz("render", "-o", "out", "--set", "gateway.mode=off")
    assert done.code == 0, done.err
    files = list(Path("out").rglob("*.yaml"))
    numbers, lines = COMPARE.compare(COMPARE.Case(folder), COMPARE.load(files))
    assert [line for line in lines if line.startswith("DIFF")] == []

    report = report_of(read([folder / "expected.yaml"]), read(files))
    assert [difference.path for difference in report.differences() if not difference.rule] == []
    assert (report.lost, report.unexplained) == (0, 0)
    assert report.deviations == sorted(numbers)


def test_what_is_refused_is_no_case() -> None:
    assert set(CASES) > REFUSED
    assert len(CASES) > 30
