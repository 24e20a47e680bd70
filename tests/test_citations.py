"""Comments and docstrings cite pages of this repository, by path and heading, and what they cite is there.

A citation is `docs/design/contract.md#precedence`. Pages elsewhere are cited by a URL or by their project's own name.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.paths import ROOT
from tests.test_docs import anchors, plain, rows

FOLDERS = ("renderer", "tests", "scripts", "presets", "charts")
KINDS = {".md", ".py", ".sh", ".tpl", ".yaml", ".yml"}
DESIGN = ROOT / "docs" / "design"
BUGS = "docs/deviations.md#bugs-of-the-operator"
ELSEWHERE = {
    "release-notes/v1.2.0.md": "Agent Router's",
    "site/docs/compatibility.md": "Agent Router's",
}
_PAGE = re.compile(r"(?<![\w/.-])([\w./-]*\w\.md)(?:#([\w-]+))?(?:, (\d+)\b)?")
_YAML = re.compile(r"(?:^|\s)#(.*)$|^row: (.*)$")
_VAGUE = re.compile(
    r"\(contract\b|\bcontract,? (?:\(?sections?\b|\d)|\bcontract's section"
    r"|(?<!RFC \d{4}, )\bsections? \d[\d.]*"
    r"|\bsurprise \d+|\bissue \d+, \d+"
    r"|\bshared/(?:conformance|data|design|hooks|reference|tools)\b"
)


_BUG = re.compile(r"\bbugs? \d+")
_NUMBERED = ROOT / "tests" / "conformance"  # where bugs have their numbers alone, as its README says
_LINK = re.compile(r"\[[^\]]*\]\((?:https?:[^)]*\))?|https?://\S+")


class Line(NamedTuple):
    """A line that people read and no program does."""

    file: Path
    number: int
    text: str

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.number}"


def comments(file: Path, text: str) -> Iterator[Line]:
    """The comments and docstrings of a file, line by line; all lines of a page or of a Helm template."""
    if file.suffix == ".py":
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield Line(file, token.start[0], token.string)
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.Expr(value=ast.Constant(value=str(docstring))):
                    yield from (Line(file, node.lineno + i, line) for i, line in enumerate(docstring.splitlines()))
        return
    for i, line in enumerate(text.splitlines(), 1):
        if file.suffix in (".md", ".tpl"):
            yield Line(file, i, line)
        elif match := _YAML.search(line):
            yield Line(file, i, match[1] or match[2] or "")


@cache
def headings(page: Path) -> set[str]:
    return anchors(page)


@cache
def bugs() -> set[str]:
    """The numbers of the table that a citation of it may name."""
    return {number for row in rows("deviations.md", "bugs") for number in plain(row[0]).split(", ")}


def faults(line: Line) -> Iterator[str]:
    """What a reader of the line could not look up."""
    vague = [*_VAGUE.finditer(line.text)]
    if not line.file.is_relative_to(_NUMBERED):
        vague += _BUG.finditer(line.text)
    for match in vague:
        yield f"{line}: '{match[0]}' names no page: write docs/design/PAGE.md#HEADING"
    for path, anchor, number in _PAGE.findall(_LINK.sub(" ", line.text)):
        page = next((folder / path for folder in (ROOT, line.file.parent) if (folder / path).is_file()), None)
        if page is None:
            if path not in ELSEWHERE:
                yield f"{line}: there is no page {path}"
        elif anchor and anchor not in headings(page.resolve()):
            yield f"{line}: {path} has no heading #{anchor}"
        elif not anchor and page.resolve().parent == DESIGN:
            yield f"{line}: name a heading of {path}"
        elif number and f"{path}#{anchor}" == BUGS and number not in bugs():
            yield f"{line}: {path} has no bug {number}"


def read() -> Iterator[Line]:
    """Every line to judge; what tests expect of the program is its output, and no comment of ours."""
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix in KINDS and "expected" not in file.parts and file.is_file():
                text = file.read_text("utf-8", "replace")
                if ".md" in text or _VAGUE.search(text) or _BUG.search(text):  # to parse the others would take seconds
                    yield from comments(file, text)


def test_what_is_cited_is_there() -> None:
    lines = list(read())
    assert [fault for line in lines for fault in faults(line)] == []
    cited = {match[1] for line in lines for match in _PAGE.finditer(line.text)}
    assert set(ELSEWHERE) <= cited
    assert {path.relative_to(ROOT).as_posix() for path in DESIGN.glob("*.md")} <= cited


def judged(text: str, suffix: str = ".py") -> list[str]:
    """The faults of a file with this text."""
    return [fault for line in comments(ROOT / "renderer" / f"some{suffix}", text) for fault in faults(line)]


@pytest.mark.parametrize(
    "text",
    [
        '"""Who wins (docs/design/contract.md#precedence)."""\n',
        "x = 1  # docs/design/drift.md#rules\n",
        "x = 1  # docs/deviations.md#bugs-of-the-operator, 33\n",
        "x = 'drift.md'\n",
        "x = 1  # https://example.com/pages/contract.md, RFC 9110, section 5\n",
        'x = 1\n"""What x is: docs/output.md."""\n',
    ],
)
def test_a_citation_that_leads_somewhere(text: str) -> None:
    assert judged(text) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('"""Who wins (contract, section 2)."""\n', "'(contract' names no page"),
        ('"""Who wins is the contract\'s section 2."""\n', "'contract's section' names no page"),
        ('def f():\n    """See\n    section 4.11 there."""\n', "some.py:3: 'section 4.11' names no page"),
        ("x = 1  # surprise 2\n", "'surprise 2' names no page"),
        ("x = 1  # (bug 33)\n", "'bug 33' names no page"),
        ("x = 1  # ../shared/design/drift.md\n", "'shared/design' names no page"),
        ("x = 1  # (drift.md)\n", "there is no page drift.md"),
        ("x = 1  # design/drift.md\n", "there is no page design/drift.md"),
        ("x = 1  # docs/design/drifting.md#rules\n", "there is no page docs/design/drifting.md"),
        ("x = 1  # docs/design/drift.md#no-such\n", "docs/design/drift.md has no heading #no-such"),
        ("x = 1  # docs/output.md#no-such\n", "docs/output.md has no heading #no-such"),
        ("x = 1  # docs/design/drift.md\n", "name a heading of docs/design/drift.md"),
        ("x = 1  # docs/deviations.md#bugs-of-the-operator, 999\n", "docs/deviations.md has no bug 999"),
    ],
)
def test_a_citation_that_leads_nowhere(text: str, fault: str) -> None:
    (message, *_) = judged(text)
    assert fault in message


@pytest.mark.parametrize("text", ["a: 1  # (drift.md)\n", 'row: "drift.md: null"\n'])
def test_yaml_is_read_too(text: str) -> None:
    assert judged(text, ".yaml") == ["renderer/some.yaml:1: there is no page drift.md"]
