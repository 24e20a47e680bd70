"""What judge_helps.py says of a help that is as it should be, and of one from which too little is learnt."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.engine_helps import help_of
from tests.engines.judge_helps import compare

VERSION = "b11434"  # the newest that is listed


def faults_of(folder: Path, text: str) -> list[str]:
    (folder / "help.txt").write_text(text, "utf-8")
    return compare("llamacpp", VERSION, str(folder / "help.txt"))


def test_a_whole_help(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert faults_of(tmp_path, help_of("llamacpp")) == []
    assert "405 names, 405 in the help, 0 known to be hidden" in capsys.readouterr().out


def test_a_wrong_number_of_values_and_names_that_are_missing(tmp_path: Path) -> None:
    text = help_of("llamacpp").replace("--ctx-size, -c X ", "--ctx-size, -c X Y ")
    missing = tuple(re.findall(r"(?m)^(--spec-[a-z-]+)", text))
    assert len(missing) > 5
    lines = [line for line in text.splitlines() if not line.startswith(missing)]
    faults = faults_of(tmp_path, "\n".join(lines))
    assert faults[:2] == [
        "another number of values: --ctx-size, -c",
        "less than 99% of the names are in the help or known to be hidden",
    ]
    assert re.fullmatch(r"made up: \d+ contrary", faults[2])


def test_too_few_that_are_equal(tmp_path: Path) -> None:
    """Half of the options stand in it; the others only an older version is known to have."""
    lines = help_of("llamacpp").splitlines()
    assert "made up: less than 80% equal" in faults_of(tmp_path, "\n".join(lines[: len(lines) // 2]))
