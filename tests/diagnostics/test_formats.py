"""Problems as machines read them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft4Validator
from msgspec.structs import replace

from renderer import __version__
from renderer.diagnostics import Diagnostic, Edit, addresses
from renderer.diagnostics.formats import FORMATS, as_github, as_gitlab, as_json, as_sarif, fingerprints
from renderer.text import escapes
from tests.paths import TESTS

SARIF = json.loads((TESTS / "data" / "sarif-2.1.0-rtm.5.json").read_text("utf-8"))
# What may stand in a URI reference (RFC 3986), a first segment without a colon.
REFERENCE = re.compile(
    r"(?:[A-Za-z0-9._~!$&'()*+,;=@/-]|%[0-9A-F]{2})(?:[A-Za-z0-9._~!$&'()*+,;=:@/?#-]|%[0-9A-F]{2})*"
)

ERROR = Diagnostic("apps/chat.yaml", 9, 16, "E203", "spec.model", "no model 'x'", "did you mean 'y'?")
WARNING = Diagnostic("apps/chat.yaml", 3, 1, "W202", "", "no effect", warning=True)
EDITS = (Edit("apps/chat.yaml", 9, 20, 9, 23, "😀y"), Edit("apps/ä b.yaml", 2, 1, 3, 4, ""))
EDITED = replace(ERROR, end_line=10, end_column=2, edits=EDITS)
NOWHERE = Diagnostic("nowhere", 0, 0, "E122", "", "no such file or folder")


def test_json(monkeypatch: pytest.MonkeyPatch) -> None:
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
    monkeypatch.setattr(addresses, "SITE", "https://docs.example/llmaz/")
    urls = {problem["code"]: problem["url"] for problem in json.loads(as_json([ERROR]))}
    assert urls == {"E203": "https://docs.example/llmaz/errors/E203/"}
    assert as_github([ERROR]).endswith("%0Ahttps://docs.example/llmaz/errors/E203/")
    assert json.loads(as_json([])) == []
    assert "é" in as_json([replace(ERROR, message="é")])


def test_json_of_edits() -> None:
    (item,) = json.loads(as_json([EDITED]))
    assert (item["endLine"], item["endColumn"]) == (10, 2)
    assert item["edits"] == [
        {"file": "apps/chat.yaml", "line": 9, "column": 20, "endLine": 9, "endColumn": 23, "text": "😀y"},
        {"file": "apps/ä b.yaml", "line": 2, "column": 1, "endLine": 3, "endColumn": 4, "text": ""},
    ]
    (item,) = json.loads(as_json([ERROR]))
    assert not {"endLine", "endColumn", "edits"} & item.keys()


def test_findings_that_differ_in_their_edits_are_one() -> None:
    assert EDITED == ERROR
    assert {EDITED, ERROR} == {ERROR}
    assert sorted([EDITED, WARNING, ERROR]) == [WARNING, ERROR, EDITED]
    assert replace(ERROR, document=1) != ERROR


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
        # What cannot be printed is shown. Of the rest only what would end or change it is escaped; % first, so that
        # nothing is escaped twice.
        (
            replace(NOWHERE, message="100%0A, a:b\r\n::stop"),
            "::error file=nowhere,title=llmaz E122::100%250A, a:b\\r\\n::stop [E122]",
        ),
        # In a property, what parts properties too.
        (
            replace(NOWHERE, file="a,line=1:2%\n.yaml", message="m"),
            "::error file=a%2Cline=1%3A2%25\\n.yaml,title=llmaz E122::m [E122]",
        ),
    ],
)
def test_github(problem: Diagnostic, line: str) -> None:
    assert as_github([problem]) == f"{line}%0Allmaz errors {problem.code}"


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """The annotations of a log, read strictly as GitHub documents them: kind, properties and message, unescaped."""
    annotations = []
    stopped = ""
    for line in re.split(r"\r\n|\r|\n", text):
        if stopped:
            stopped = "" if line == f"::{stopped}::" else stopped
            continue
        if match := re.fullmatch(r"::stop-commands::([0-9a-f]{32})", line):
            stopped = match[1]
            continue
        if "::" not in line[:2]:
            continue
        match = re.fullmatch(r"::(error|warning|notice) ([^:]+)::(.+)", line)
        assert match, line
        properties: dict[str, str] = {}
        for pair in match[2].split(","):
            name, _, value = pair.partition("=")
            assert name in ("file", "line", "endLine", "col", "endColumn", "title"), line
            assert name not in properties, line
            assert re.fullmatch(r"[^%,:]+(?:%(?:25|0D|0A|3A|2C)[^%,:]*)*|(?:%(?:25|0D|0A|3A|2C)[^%,:]*)+", value), line
            properties[name] = re.sub("%(25|0D|0A|3A|2C)", lambda code: chr(int(code[1], 16)), value)
        for name in ("line", "col"):
            assert int(properties.get(name, "1")) >= 1
        assert ("col" in properties) <= ("line" in properties)
        assert not re.search("%(?!25|0D|0A)", match[3]), line
        annotations.append((match[1], properties, re.sub("%(25|0D|0A)", lambda code: chr(int(code[1], 16)), match[3])))
    assert stopped == ""
    return annotations


WORDS = st.text(st.sampled_from("ab%,:=\r\n05ADC2é😀 ") | st.characters(exclude_categories=["Cs"]), max_size=20)


@given(file=WORDS, message=WORDS, hint=WORDS, line=st.integers(0, 99))
def test_github_reads_back(file: str, message: str, hint: str, line: int) -> None:
    """Whatever is in it, with what cannot be printed as an escape."""
    problem = replace(ERROR, file=f"a{file}", message=message, hint=hint, line=line)
    where = {"line": str(line), "col": "16"} if line else {}
    text = escapes.line(f"spec.model: {message} [E203]") + (f"\n{escapes.line(hint)}" if hint else "")
    text += "\nllmaz errors E203"
    expected = ("error", {"file": escapes.line(f"a{file}"), **where, "title": "llmaz E203"}, text)
    assert commands(as_github([problem])) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "::error file=a,line=0::m",
        "::error file=a,col=3::m",
        "::error file=a:b::m",
        "::error file=a,file=b::m",
        "::error file=a%::m",
        "::error file=a,colour=b::m",
        "::error file=a::100%",
        "::set-output name=a::b",
        "::error file=a,line=1::",
    ],
)
def test_the_reader_would_say_no(text: str) -> None:
    with pytest.raises(AssertionError):
        commands(text)


def test_github_is_one_line_a_problem() -> None:
    assert as_github([ERROR, replace(NOWHERE, message="a\nb")]).count("\n") == 1
    assert as_github([]) == ""


# --- SARIF


def sarif(*problems: Diagnostic) -> dict[str, Any]:
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
    assert [(result["ruleId"], result["level"]) for result in run["results"]] == [
        ("E203", "error"),
        ("W202", "warning"),
        ("E122", "error"),
    ]
    assert [result["message"]["text"] for result in run["results"]] == [
        "spec.model: no model 'x'. did you mean 'y'?",
        "no effect",
        "no such file or folder",
    ]
    places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    assert places == [
        {"artifactLocation": {"uri": "apps/chat.yaml"}, "region": {"startLine": 9, "startColumn": 16}},
        {"artifactLocation": {"uri": "apps/chat.yaml"}, "region": {"startLine": 3, "startColumn": 1}},
        {"artifactLocation": {"uri": "nowhere"}},
    ]


def test_sarif_of_edits() -> None:
    """Columns of the log are characters, not UTF-16's units."""
    (run,) = sarif(EDITED, ERROR)["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    edited, plain = run["results"]
    region = {"startLine": 9, "startColumn": 16, "endLine": 10, "endColumn": 2}
    assert edited["locations"][0]["physicalLocation"]["region"] == region
    (fix,) = edited["fixes"]
    assert fix["description"] == {"text": "did you mean 'y'?"}
    assert fix["artifactChanges"] == [
        {
            "artifactLocation": {"uri": "apps/chat.yaml"},
            "replacements": [
                {
                    "deletedRegion": {"startLine": 9, "startColumn": 20, "endLine": 9, "endColumn": 23},
                    "insertedContent": {"text": "😀y"},
                }
            ],
        },
        {
            "artifactLocation": {"uri": "apps/%C3%A4%20b.yaml"},
            "replacements": [
                {
                    "deletedRegion": {"startLine": 2, "startColumn": 1, "endLine": 3, "endColumn": 4},
                    "insertedContent": {"text": ""},
                }
            ],
        },
    ]
    assert "fixes" not in plain


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
        ("\udcff", "%FF"),  # a byte of a path that is not UTF-8
    ],
)
def test_sarif_names_files_by_uri(file: str, uri: str) -> None:
    (result,) = sarif(replace(ERROR, file=file))["runs"][0]["results"]
    reported = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert reported == uri
    assert REFERENCE.fullmatch(reported)


# --- GitLab's Code Quality report


def quality(*problems: Diagnostic) -> list[dict[str, Any]]:
    """The report, of the shape that GitLab documents: every key that it needs, and none that it does not know."""
    text = as_gitlab(problems)
    assert not text.startswith("\ufeff")
    items: list[dict[str, Any]] = json.loads(text)
    for item in items:
        assert set(item) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert all(isinstance(item[key], str) and item[key] for key in ("description", "check_name", "fingerprint"))
        assert item["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert set(item["location"]) == {"path", "lines"}
        assert item["location"]["path"]
        assert not item["location"]["path"].startswith("./")
        assert set(item["location"]["lines"]) == {"begin"}
        assert type(item["location"]["lines"]["begin"]) is int
        assert item["location"]["lines"]["begin"] >= 1
    assert len({item["fingerprint"] for item in items}) == len(items)
    return items


def test_gitlab() -> None:
    note = replace(WARNING, code="N101", message="not judged")
    report = quality(ERROR, WARNING, replace(NOWHERE, file="./nowhere"), note)
    assert [item["severity"] for item in report] == ["critical", "minor", "critical", "info"]
    assert report[0]["description"] == "spec.model: no model 'x' (did you mean 'y'?)"
    assert report[0]["check_name"] == "E203"
    assert report[0]["location"] == {"path": "apps/chat.yaml", "lines": {"begin": 9}}
    assert report[2]["location"] == {"path": "nowhere", "lines": {"begin": 1}}
    assert json.loads(as_gitlab([])) == []


def test_a_fingerprint_outlives_edits_above_it() -> None:
    assert fingerprints([ERROR]) == fingerprints([replace(ERROR, line=99, column=1, hint="other")])
    others = [
        replace(ERROR, code="E204"),
        replace(ERROR, file="b.yaml"),
        replace(ERROR, field="spec"),
        replace(ERROR, message="no model 'z'"),
    ]
    assert len({*fingerprints([ERROR, *others])}) == 5
    twice = quality(ERROR, replace(ERROR, line=12))
    assert twice[0]["fingerprint"] == fingerprints([ERROR])[0]


def test_fingerprints_of_odd_names() -> None:
    """A byte of a path that is not UTF-8; and parts do not run into each other."""
    assert len(set(fingerprints([replace(ERROR, file="\udcff"), replace(ERROR, file="\ud800")]))) == 2
    one, other = replace(ERROR, field="a", message="b"), replace(ERROR, field="", message="ab")
    assert fingerprints([one]) != fingerprints([other])


def test_the_command_knows_every_format() -> None:
    from renderer.cli import console

    assert set(console.FORMATS) == {"text", *FORMATS}
