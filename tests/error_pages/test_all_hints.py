"""The hint of every code is followed somewhere, each of its ways word for word, or a table says why no test can.

data/followed_hints.yaml has those that no other test follows: the finding is gone, and no other of its rank or above it
has come.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from renderer.diagnostics.wordings import WORDINGS
from scripts.make_error_pages import Case, all_cases
from tests.check.engines import test_followed_hints, test_followed_lines
from tests.conftest import Llmaz
from tests.console import Shell
from tests.error_pages.test_sessions import SESSIONS
from tests.error_pages.test_written_hints import FOLLOWED, followed_cases
from tests.errors.test_errors import ERRORS, PROGRAMS
from tests.paths import TESTS
from tests.programs import tool

TABLE: Mapping[str, Any] = yaml.safe_load((TESTS / "data" / "followed_hints.yaml").read_text("utf-8"))
WAYS = [(code, way) for code, ways in TABLE["followed"].items() for way in ways]
WORDS = [code for codes in TABLE["words"].values() for code in codes.split()]
RANKS = "NWE"  # of codes, by their first letter
_CODE = re.compile(r"^\S.*\[([ENW]\d{3})\]$", re.MULTILINE)


@cache
def cases() -> Mapping[str, Case]:
    return {case.name: case for case in all_cases()}


def hints_of(case: Case, code: str) -> list[str]:
    """The hints that a case prints under a code."""
    hints = re.findall(rf"\[{code}\]\n    hint: (.*)$", case.output, re.MULTILINE)
    return hints or re.findall(r'"hint": "(.*)"', case.output)


def replaced(text: str, old: str, new: str, line: int) -> str:
    """The text with `new` in place of the first `old` from the document on that has the line, else of the first."""
    starts = [match.end() for match in re.finditer(r"^---\n", text, re.MULTILINE)]
    before = sum(map(len, text.splitlines(keepends=True)[: line - 1]))
    start = max((start for start in starts if start <= before), default=0)
    at = text.find(old, start)
    at = text.find(old) if at < 0 else at
    assert at >= 0, f"not in the input: {old}"
    return text[:at] + new + text[at + len(old) :]


def write(files: Mapping[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, "utf-8")


def edit(code: str, way: Mapping[str, Any], case: Case) -> None:
    """Does to the files what a hint says."""
    lines = {match["file"].removeprefix("./"): int(match["line"] or 1) for match in found(case, code, way["hint"])}
    for name, change in way.get("edits", {}).items():
        if change is None:
            Path(name).unlink()
        elif isinstance(change, str):
            write({name: change})
        else:
            text = Path(name).read_text("utf-8")
            for old, new in change.items():
                text = replaced(text, old, new, lines.get(name, 1))
            write({name: text})


def found(case: Case, code: str, hint: str) -> list[re.Match[str]]:
    """What the case says with that hint, the first of it last."""
    return [match for match in case.diagnostics(code) if match["hint"] == hint][::-1]


def counts(text: str) -> Counter[str]:
    """How often each code is printed."""
    return Counter(_CODE.findall(text))


@pytest.mark.parametrize(("code", "way"), WAYS, ids=[f"{code}-{i}" for i, (code, _) in enumerate(WAYS)])
def test_a_hint_is_followed(
    code: str, way: Mapping[str, Any], folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz
) -> None:
    case = cases()[way["case"]]
    assert way["hint"] in hints_of(case, code)
    command = way.get("command", case.command)
    if case.is_session:
        shutil.copytree(SESSIONS / case.name, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("console.txt"))
        shell = Shell(tmp_path / "bin")
        before = "".join(f"{line}\n" for line in case.before.splitlines() if line.startswith("$ "))
        runs = f"$ {way['run']}\n" if "run" in way else ""
        printed = shell.session(f"{before}{runs}$ {command}\n").rpartition("$ ")[2].partition("\n")[2]
    else:
        write(case.fixed if way.get("fixed") else case.inputs)
        edit(code, way, case)
        words = shlex.split(command)[1:]
        for option, program in PROGRAMS.items():
            if option in words:
                monkeypatch.setenv("PATH", str(tool(program).parent), prepend=os.pathsep)
        if words[0] in ("render", "validate") and "-v" not in words:
            words.append("-v")
        done = llmaz(*words)
        printed = done.out + done.err
    before_it, after = counts(case.output), counts(printed)
    assert "[E901]" not in printed
    reveals = {*way.get("reveals", ())}
    assert after[code] < max(before_it[code], 1) or code in reveals, printed
    assert f'"{code}"' not in printed
    more = {other for other in after - before_it if RANKS.index(other[0]) >= RANKS.index(code[0])}
    assert more - {code} == reveals - {code}, printed


def followed_elsewhere() -> Iterator[str]:
    """The codes whose hints other tests follow."""
    yield from (advice.code for advice in test_followed_hints.ADVICE)
    yield from {**test_followed_lines.FAULTS, **test_followed_lines.UNCERTAIN}
    for name in followed_cases():
        text = (ERRORS / name / "stderr.txt").read_text("utf-8")
        yield from (
            code
            for code, hint in re.findall(r"\[([ENW]\d{3})\]\n    hint: (.*)$", text, re.MULTILINE)
            if FOLLOWED.fullmatch(hint)
        )


def test_the_hint_of_each_code_is_followed_or_words() -> None:
    hints = {code for code, wording in WORDINGS.items() if wording.hint}
    followed = {*TABLE["followed"], *followed_elsewhere()}
    assert sorted(hints - followed - {*WORDS}) == [], "write how each is followed into data/followed_hints.yaml"
    assert sorted({*WORDS} & followed) == [], "these are followed: the table need not list them"
    assert sorted({*WORDS, *TABLE["followed"]} - hints) == []
    assert len(WORDS) == len({*WORDS})
