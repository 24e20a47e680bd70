"""Golden cases: every folder beside this file renders to exactly what lies in its expected/, and every example does.

A case is `input/` and `expected/**`, with `args.txt` (further arguments, one line) and `stderr.txt` (warnings) where it
needs them. Dropping a folder is writing a test; `pytest --snapshot-update` writes what is expected.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.paths import ROOT, TESTS

if TYPE_CHECKING:
    from tests.conftest import Golden, Llmaz

CASES = TESTS / "cases"
EXAMPLES = ROOT / "examples"
# What a case is called → where its input lies.
INPUTS = {path.parent.name: path for path in sorted(CASES.glob("*/input"))} | {
    f"example-{path.name}": path for path in sorted(EXAMPLES.iterdir()) if path.is_dir()
}


def contents(folder: Path) -> dict[str, tuple[str, int]]:
    """Every file below the folder: its text, and when it was last written."""
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes().decode(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("name", INPUTS)
def test_case(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    llmaz: Llmaz,
    golden: Golden,
    superfluous: Callable[..., list[Path]],
) -> None:
    case, work = CASES / name, tmp_path / "input"
    shutil.copytree(INPUTS[name], work, symlinks=True)
    monkeypatch.chdir(work)
    arguments = case / "args.txt"
    args = shlex.split(arguments.read_text()) if arguments.exists() else []

    first = llmaz("render", *args)
    assert first.code == 0, first.err
    assert first.out == ""
    files = contents(work / first.folder)
    assert first.counts["new"] == len(files) > 0
    assert first.counts["changed"] == first.counts["unchanged"] == first.counts["gone"] == 0

    # The same again: nothing is written.
    again = llmaz("render", *args)
    assert (again.code, again.warnings) == (0, first.warnings)
    assert contents(work / first.folder) == files
    assert again.counts == {**first.counts, "new": 0, "unchanged": len(files)}
    check = llmaz("render", "--check", *args)
    assert check.code == 0, check.err

    for path, (text, _) in files.items():
        golden(f"cases/{name}/expected/{path}", text)
    if first.warnings:
        golden(f"cases/{name}/stderr.txt", first.warnings)
    expected = {case / "expected" / path for path in files}
    assert superfluous(case / "expected", expected) == [], "nothing renders these any more"
    if not first.warnings:
        assert not (case / "stderr.txt").exists(), "nothing warns any more"


def test_every_folder_is_a_case() -> None:
    """A folder below cases/ without input would be tested by nobody."""
    folders = {path.name for path in CASES.iterdir() if path.is_dir()}
    assert folders - {"__pycache__"} <= set(INPUTS)
