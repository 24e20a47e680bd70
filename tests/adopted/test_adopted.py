"""Deployments of other projects, written for llmaz: each folder here renders to its expected/, and checks well.

A folder is `input/`, `expected/**`, a table (what differs from the original, and why), and `stderr.txt` where the
render warns. `pytest --snapshot-update` writes what is expected.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cases.test_cases import contents
from tests.paths import TESTS

if TYPE_CHECKING:
    from tests.conftest import Golden, Llmaz

ADOPTED = TESTS / "adopted"
FOLDERS = sorted(path.parent.name for path in ADOPTED.glob("*/input"))
_HEAD = "| theirs | ours | why |\n|---|---|---|\n"


@pytest.mark.parametrize("name", FOLDERS)
def test_adopted(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    llmaz: Llmaz,
    golden: Golden,
    superfluous: Callable[..., list[Path]],
) -> None:
    folder, work = ADOPTED / name, tmp_path / "input"
    shutil.copytree(folder / "input", work)
    monkeypatch.chdir(work)

    done = llmaz("render")
    assert done.code == 0, done.err
    rendered = contents(work / done.folder)
    checked = llmaz("check", done.folder)
    assert checked.code == 0, checked.err

    for path, (text, _) in rendered.items():
        golden(f"adopted/{name}/expected/{path}", text)
    assert superfluous(folder / "expected", {folder / "expected" / path for path in rendered}) == []
    if done.warnings:
        golden(f"adopted/{name}/stderr.txt", done.warnings)
    else:
        assert not (folder / "stderr.txt").exists(), "nothing warns any more"


@pytest.mark.parametrize("name", FOLDERS)
def test_every_difference_has_its_reason(name: str) -> None:
    text = (ADOPTED / name / "table.md").read_text("utf-8")
    assert _HEAD in text
    rows = re.findall(r"^\|(.*)\|$", text.partition(_HEAD)[2], re.MULTILINE)
    assert rows
    assert [row for row in rows if len(cells := row.split("|")) != 3 or not all(cell.strip() for cell in cells)] == []
