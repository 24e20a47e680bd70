"""The edits of all cases: each is what its hint says, and applied it makes the finding go away."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import yaml

from tests.conftest import Llmaz
from tests.edits import apply_changes, json_edits, sarif_edits
from tests.error_pages.test_all_hints import cases, write
from tests.errors.test_errors import CASES, ERRORS, OURS, PROGRAMS
from tests.paths import TESTS
from tests.programs import tool

# The codes of the findings that have edits, by case; a case that is not here has none.
EDITED = yaml.safe_load((TESTS / "data" / "edited_cases.yaml").read_text("utf-8"))
# Codes of a higher rank that a finding hides: of a version whose options are known they are checked.
REVEALED = {("N448-options-by-version", "W231"): {"E430"}}
RANKS = "NWE"  # of codes, by their first letter
COMMANDS = ("check", "render", "validate")  # with these formats


def counts(output: str) -> Counter[tuple[str, str]]:
    """How often each code is told with each message."""
    return Counter((finding["code"], finding["message"]) for finding in json.loads(output or "[]"))


def command_of(name: str) -> list[str]:
    arguments = ERRORS / name / "args.txt"
    return shlex.split(arguments.read_text()) if arguments.exists() else ["render", "-o", "out", "-v"]


CHECKED = [name for name in CASES if command_of(name)[0] in COMMANDS and "--format" not in command_of(name)]


@pytest.mark.parametrize("name", CHECKED)
def test_edits_make_the_finding_go_away(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz
) -> None:
    case, words = ERRORS / name, command_of(name)
    for option, program in PROGRAMS.items():
        if option in words:
            monkeypatch.setenv("PATH", str(tool(program).parent), prepend=os.pathsep)

    def copy(number: int) -> Path:
        work = tmp_path / str(number)
        shutil.copytree(case, work, symlinks=True, ignore=lambda folder, names: OURS if Path(folder) == case else ())
        monkeypatch.chdir(work)
        return work

    follow_edits(name, words, copy, llmaz)


@pytest.mark.parametrize("name", sorted(EDITED.keys() - {*CASES}))
def test_edits_of_cases_elsewhere(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz) -> None:
    case = cases()[name]

    def copy(number: int) -> Path:
        work = tmp_path / str(number)
        work.mkdir()
        monkeypatch.chdir(work)
        write(case.inputs)
        return work

    follow_edits(name, shlex.split(case.command)[1:], copy, llmaz)


def follow_edits(name: str, words: Sequence[str], copy: Callable[[int], Path], llmaz: Llmaz) -> None:
    """Applies the edits of each finding of a case to a copy of its files."""
    as_json, as_sarif = ([*words, "--format", form] for form in ("json", "sarif"))
    copy(0)
    output = llmaz(*as_json).out
    findings = json_edits(output or "[]")
    assert [finding["code"] for finding, _ in findings] == EDITED.get(name, [])
    if not findings:
        return
    assert sarif_edits(llmaz(*as_sarif).out) == [changes for _, changes in findings]
    before = counts(output)
    for number, (finding, changes) in enumerate(findings, 1):
        work = copy(number)
        apply_changes(work, changes)
        printed = llmaz(*as_json).out
        after = counts(printed)
        itself = finding["code"], finding["message"]
        assert after[itself] < before[itself], (finding, printed)
        higher = {code for code, _ in after - before if RANKS.index(code[0]) > RANKS.index(finding["code"][0])}
        assert higher == REVEALED.get((name, finding["code"]), set()), (finding, printed)


def test_the_table_names_cases() -> None:
    assert sorted((EDITED.keys() & {*CASES}) - {*CHECKED}) == []
    assert all(EDITED.values())
