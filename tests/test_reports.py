"""Problems as machines read them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

from renderer import __version__
from renderer.problems import Problem
from renderer.reports import as_github, as_json, as_sarif

SARIF = json.loads((Path(__file__).parent / "data" / "sarif-2.1.0-rtm.5.json").read_text("utf-8"))
# What may stand in a URI reference (RFC 3986), a first segment without a colon.
REFERENCE = re.compile(
    r"(?:[A-Za-z0-9._~!$&'()*+,;=@/-]|%[0-9A-F]{2})(?:[A-Za-z0-9._~!$&'()*+,;=:@/?#-]|%[0-9A-F]{2})*"
)

ERROR = Problem("apps/chat.yaml", 9, 16, "E203", "spec.model", "no model 'x'", "did you mean 'y'?")
WARNING = Problem("apps/chat.yaml", 3, 1, "W202", "", "no effect", warning=True)
NOWHERE = Problem("nowhere", 0, 0, "E122", "", "no such file or folder")


def test_json() -> None:
    common = {"file": "apps/chat.yaml", "hint": ""}
    assert json.loads(as_json([ERROR, WARNING, NOWHERE])) == [
        {
            "file": "apps/chat.yaml",
            "line": 9,
            "column": 16,
            "code": "E203",
            "severity": "error",
            "field": "spec.model",
            "message": "no model 'x'",
            "hint": "did you mean 'y'?",
        },
        {**common, "line": 3, "column": 1, "code": "W202", "severity": "warning", "field": "", "message": "no effect"},
        {
            **common,
            "file": "nowhere",
            "line": 0,
            "column": 0,
            "code": "E122",
            "severity": "error",
            "field": "",
            "message": "no such file or folder",
        },
    ]
    assert json.loads(as_json([])) == []
    assert "é" in as_json([ERROR._replace(message="é")])


# --- GitHub's workflow commands


@pytest.mark.parametrize(
    ("problem", "line"),
    [
        (
            ERROR,
            "::error file=apps/chat.yaml,line=9,col=16,title=llmaz E203::"
            "spec.model: no model 'x' [E203]%0Adid you mean 'y'?",
        ),
        (WARNING, "::warning file=apps/chat.yaml,line=3,col=1,title=llmaz W202::no effect [W202]"),
        (NOWHERE, "::error file=nowhere,title=llmaz E122::no such file or folder [E122]"),
        # In the text, only what would end or change it is escaped; % first, so that nothing is escaped twice.
        (
            NOWHERE._replace(message="100%0A, a:b\r\n::stop"),
            "::error file=nowhere,title=llmaz E122::100%250A, a:b%0D%0A::stop [E122]",
        ),
        # In a property, what parts properties too.
        (
            NOWHERE._replace(file="a,line=1:2%\n.yaml", message="m"),
            "::error file=a%2Cline=1%3A2%25%0A.yaml,title=llmaz E122::m [E122]",
        ),
    ],
)
def test_github(problem: Problem, line: str) -> None:
    assert as_github([problem]) == line


def test_github_is_one_line_a_problem() -> None:
    assert as_github([ERROR, NOWHERE._replace(message="a\nb")]).count("\n") == 1
    assert as_github([]) == ""


# --- SARIF


def sarif(*problems: Problem) -> dict[str, Any]:
    """The log, which the schema takes."""
    log: dict[str, Any] = json.loads(as_sarif(problems))
    assert [error.message for error in Draft4Validator(SARIF).iter_errors(log)] == []
    return log


def test_the_schema_would_say_no() -> None:
    log = sarif(ERROR)
    log["runs"][0]["results"][0]["level"] = "fatal"
    log["runs"][0]["tool"]["driver"].pop("name")
    assert len(list(Draft4Validator(SARIF).iter_errors(log))) == 2


def test_sarif() -> None:
    (run,) = sarif(ERROR, WARNING, NOWHERE)["runs"]
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("llmaz", __version__)
    assert [rule["id"] for rule in driver["rules"]] == ["E122", "E203", "W202"]
    assert [(each["ruleId"], each["level"]) for each in run["results"]] == [
        ("E203", "error"),
        ("W202", "warning"),
        ("E122", "error"),
    ]
    assert [each["message"]["text"] for each in run["results"]] == [
        "spec.model: no model 'x'. did you mean 'y'?",
        "no effect",
        "no such file or folder",
    ]
    places = [each["locations"][0]["physicalLocation"] for each in run["results"]]
    assert places == [
        {"artifactLocation": {"uri": "apps/chat.yaml"}, "region": {"startLine": 9, "startColumn": 16}},
        {"artifactLocation": {"uri": "apps/chat.yaml"}, "region": {"startLine": 3, "startColumn": 1}},
        {"artifactLocation": {"uri": "nowhere"}},
    ]


def test_sarif_of_nothing() -> None:
    """A run without results closes the alerts of the last one."""
    (run,) = sarif()["runs"]
    assert run["results"] == []


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("a/b.yaml", "a/b.yaml"),
        ("../a.yaml", "../a.yaml"),
        ("/abs/a.yaml", "/abs/a.yaml"),
        ("a b/c.yaml", "a%20b/c.yaml"),
        ("ä.yaml", "%C3%A4.yaml"),
        ("100%.yaml", "100%25.yaml"),
        ("a#b?c.yaml", "a%23b%3Fc.yaml"),
        ("c:d.yaml", "c%3Ad.yaml"),
        ("--set a.b=c", "--set%20a.b%3Dc"),
        ("\udcff", "%FF"),  # a byte of a path that is no UTF-8
    ],
)
def test_sarif_names_files_by_uri(file: str, uri: str) -> None:
    (result,) = sarif(ERROR._replace(file=file))["runs"][0]["results"]
    made = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert made == uri
    assert REFERENCE.fullmatch(made)
