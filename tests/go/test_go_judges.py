"""What the Go programs of a cluster make of our manifests: the webhooks of LeaderWorkerSet and DisaggregatedSet, and
go-yaml: the programs beside this file.

`scripts/tools.sh lwscheck yamlread` builds them. Without them these tests are skipped, in CI they fail.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from renderer import yamlio
from renderer.yamlio.limits import MAX_KEY
from tests.paths import TESTS
from tests.programs import tool

if TYPE_CHECKING:
    from tests.conftest import Llmaz

DATA = TESTS / "go" / "testdata"
BAD, CHANGED, GOOD = (sorted((DATA / folder).glob("*.yaml")) for folder in ("bad", "changed", "good"))
EXTERNAL = "      scaling:\n        mode: External\n"
"""Of a DisaggregatedSet's role, since LeaderWorkerSet 0.10; lwscheck is that of 0.9."""
GOLDENS = sorted(path for path in TESTS.glob("cases/*/expected/**/*.yaml") if EXTERNAL not in path.read_text("utf-8"))


def names(files: Iterable[Path]) -> list[str]:
    return [file.stem for file in files]


# --- the LeaderWorkerSet webhook --------------------------------------------------------------------------------------


def lwscheck(files: Iterable[Path]) -> dict[str, list[dict[str, Any]]]:
    """Its findings, in lists by file."""
    run = subprocess.run([tool("lwscheck"), *files], capture_output=True, text=True, check=False)
    assert run.stderr == ""
    findings: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in run.stdout.splitlines():
        finding = json.loads(line)
        findings[finding["file"]].append(finding)
    wrong = any(finding["changed"] + finding["errors"] for of_file in findings.values() for finding in of_file)
    assert run.returncode == (1 if wrong else 0)
    return findings


@pytest.fixture(scope="module")
def verdicts() -> dict[str, list[dict[str, Any]]]:
    return lwscheck([*BAD, *CHANGED, *GOOD])


def test_the_webhook_accepts_every_golden_and_changes_nothing() -> None:
    findings = [finding for file_findings in lwscheck(GOLDENS).values() for finding in file_findings]
    assert len(findings) > 0
    assert [finding for finding in findings if finding["changed"] or finding["errors"]] == []


def test_goldens_leave_no_default_inside_a_list_to_the_crd() -> None:
    findings = [finding for file_findings in lwscheck(GOLDENS).values() for finding in file_findings]
    assert len(findings) > 0
    left = [(finding["file"], line) for finding in findings for line in finding["defaulted"]]
    assert [(file, line) for file, line in left if re.search(r"\[\d+\]", line)] == []


@pytest.mark.parametrize("file", BAD, ids=names(BAD))
def test_lwscheck_refuses_bad(file: Path, verdicts: dict[str, list[dict[str, Any]]]) -> None:
    """Each file breaks the one rule of its first line; the second line is what lwscheck says."""
    [finding] = verdicts[str(file)]
    message = file.read_text("utf-8").splitlines()[1].removeprefix("# lwscheck: ")
    assert message in "\n".join([*finding["errors"], *finding["changed"]])


@pytest.mark.parametrize("file", BAD, ids=names(BAD))
def test_llmaz_check_refuses_bad(file: Path, llmaz: Llmaz) -> None:
    run = llmaz("check", file)
    assert run.code == 2, run
    assert re.search(rf"{file.name}:\d+:\d+: .*\[E\d+\]", run.out + run.err)  # and not wrong usage


@pytest.mark.parametrize("file", CHANGED, ids=names(CHANGED))
def test_lwscheck_reports_changed(file: Path, verdicts: dict[str, list[dict[str, Any]]]) -> None:
    """Each file is accepted, but would stand otherwise in the cluster, as its second line says."""
    [finding] = verdicts[str(file)]
    message = file.read_text("utf-8").splitlines()[1].removeprefix("# lwscheck: ")
    assert message in finding["changed"]
    assert finding["errors"] == []


@pytest.mark.parametrize("file", GOOD, ids=names(GOOD))
def test_lwscheck_accepts_good(file: Path, verdicts: dict[str, list[dict[str, Any]]]) -> None:
    """Each file is at the edge of a rule; so a bad file, which varies the same manifest, is bad for its rule alone."""
    [finding] = verdicts[str(file)]
    assert finding["changed"] + finding["errors"] == []


@pytest.mark.parametrize("file", GOOD, ids=names(GOOD))
def test_llmaz_check_accepts_good(file: Path, llmaz: Llmaz) -> None:
    run = llmaz("check", file)
    assert run.code == 0, run
    assert "1 object checked" in run.out + run.err


# --- go-yaml ----------------------------------------------------------------------------------------------------------


def go_reads(data: bytes) -> list[Any]:
    """The documents that go-yaml finds, without null ones; one that it refuses is {'error': …}."""
    run = subprocess.run([tool("yamlread")], input=data, capture_output=True, check=False)
    documents = [json.loads(line) for line in run.stdout.split(b"\n") if line]
    refused = any(isinstance(document, dict) and document.keys() == {"error"} for document in documents)
    assert run.returncode == (1 if refused else 0), run.stderr
    return documents


def python_reads(data: bytes) -> list[Any]:
    documents, problems = yamlio.parse("test.yaml", data)
    assert problems == []
    return [document.value for document in documents]


def exact(value: Any) -> str:
    """A text that differs when the values differ, in their types too (1, 1.0 and true are three)."""
    return json.dumps(value, sort_keys=True)


def test_go_reads_every_golden_as_python_does() -> None:
    assert len(GOLDENS) > 0
    for file in GOLDENS:
        data = file.read_bytes()
        assert exact(go_reads(data)) == exact(python_reads(data)), file


# Whole scalars that some reader of YAML takes for something else than a string.
LOOKALIKES: list[str] = re.findall(
    r"\S+",
    """
y Y yes Yes YES n N no No NO on On ON off Off OFF true True TRUE false False FALSE tRUE nULL null Null NULL ~ = << . ..
... --- --- - -- ? ?? : :: , [ ] { } [] {} # & * ! | > ' " % @ ` !!str &a *a |- >+ -a ?a :a a: a:b a#b #a %TAG
0 00 07 08 09 010 0o14 0O14 -0o7 0x1F 0X1f 0xg 0b11 0B1 0b2 +1 -1 - 1 1_000 _1 1__0 1_ 0_ 0x_1 +0x1 -0b1 +.5 -.5e1
1e3 1E5 1e+3 1e-3 12e03 .1e3 1.e3 1. .1 . 1.0 1.50 0.10 1e 1e+ e1 1e1000 -1e400 1e21 1e20 123456789012345678901234567890
9223372036854775807 9223372036854775808 18446744073709551615 18446744073709551616 -9223372036854775809 4294967296
.inf -.inf +.inf .Inf .INF .nan .NaN .NAN inf nan NaN Infinity 1:20 1:20:30 190:20:30.15 1:60 60:1 -1:30 0:0 1.5:20
2001-01-01 2001-1-1 2001-01-01T00:00:00Z 2001-12-14t21:59:43.10-05:00 0001-01-01 01-01-2001 12:30 12:30:45
+_9 -_1 -__0 -_.9 -_9E0 +_1e3 +_0XA 0_x1F 0_b01 0b+1 0b-1 -0b+1 .7_98 .0_0 .7_ .7__8 1_.5 0_.5e1 0_o7 0o_7 0o+7 0x+1 0_8
0.9.1 v0.9 1.2.3.4 10.0.0.0/8 1,000 $1 1% 100% 5m 1Gi 0b 0o 0x 0_0 Yes! nO oN NuLL tru fals None True. undefined
""",
)
# Out of these the rest is put together: all that a string of JSON can hold, but for halves of surrogate pairs.
# fmt: off
PIECES = [
    *LOOKALIKES,
    *"abcXYZ019",
    *"-?:,[]{}#&*!|>'\"%@`~=<.+_/\\$()^;",
    *[" ", "  ", "\t", "\n", "\n\n", "\r", "\r\n", " \n", "\n ", "\n\t", "\t\n", "\n#", "\n---\n", "\n...\n", "\n- "],
    *[": ", " #", "- ", "? ", " :", ":\n", '": "', "': '", "{{ .ModelPath }}", "${A}", "$(A)", "%YAML 1.1\n", "!!int"],
    *["é", "ß", "漢字", "Ω", "😀", "👩‍🚀", "ﬁ", "e\u0301", "עברית", "\u202e", "\u200b", "\u200d", "\u00a0", "\u00ad"],
    *"\x00\x01\x07\x08\x0b\x0c\x1b\x1f\x7f\x80\x85\x9f\u2028\u2029",
    *["\ufeff", "\ufffd", "\ufffe", "\uffff", "\ue000", "\U0001f600", "\U0010ffff", "\\n", "\\u0041", "\\x", "\\"],
    *["x" * 79, "x" * 81 + " y", "word " * 40, "x" * 130, "z" * 1100],
]
# fmt: on


def nasty_text(dice: random.Random) -> str:
    if dice.random() < 0.3:
        return dice.choice(LOOKALIKES)
    text = "".join(dice.choices(PIECES, k=dice.choice((0, 1, 2, 2, 3, 3, 4, 6, 12))))
    return dice.choice(("", "", "", " ", "\n", "- ", "# ", "\t", "---")) + text if dice.random() < 0.3 else text


def nasty_key(dice: random.Random) -> str:
    """No longer than what we read of a key (E113)."""
    return nasty_text(dice)[:MAX_KEY]


def nasty_value(dice: random.Random, depth: int) -> Any:
    roll = dice.random()
    if depth < 4 and roll < 0.2:
        return {nasty_key(dice): nasty_value(dice, depth + 1) for _ in range(dice.randint(0, 3))}
    if depth < 4 and roll < 0.35:
        return [nasty_value(dice, depth + 1) for _ in range(dice.randint(0, 3))]
    if roll < 0.45:
        return dice.choice((0, 1, -1, 8080, 2**31, 2**63 - 1, -(2**63), True, False, 0.5, -1.25, 1e-7, 0.1, 3.3e40))
    return nasty_text(dice)


def nasty_documents(count: int, seed: int) -> list[dict[str, Any]]:
    dice = random.Random(seed)
    return [{nasty_key(dice): nasty_value(dice, 0) for _ in range(dice.randint(1, 6))} for _ in range(count)]


def test_go_and_python_read_1000_nasty_documents_as_they_were_dumped() -> None:
    documents = nasty_documents(1000, seed=20261121)
    texts = [yamlio.dump(document) for document in documents]
    assert all(text.endswith("\n") for text in texts)
    for document, text, go in zip(documents, texts, go_reads("---\n".join(texts).encode()), strict=True):
        assert exact(go) == exact(document), text
        assert exact(python_reads(text.encode())) == exact([document]), text


def test_go_and_python_read_1000_plain_scalars_alike() -> None:
    """Near numbers, dates and words, unquoted as a user writes them. What Go refuses, or takes as a tag, we refuse.

    An integer of more than 64 bits stays exact in Python and is rounded in Go; both are too large for any field.
    """
    dice = random.Random(20261121)
    scalars = [*LOOKALIKES]
    while len(scalars) < 1000:
        scalars.append("".join(dice.choices("0011789+-..__::eExXoObBaAfFtTzZyn ", k=dice.randint(1, 7))))
    texts = [f"a: {scalar}\n" for scalar in scalars]
    for text, go in zip(texts, go_reads("---\n".join(texts).encode()), strict=True):
        documents, problems = yamlio.parse("test.yaml", text.encode())
        if "error" in go or text.startswith("a: !"):
            assert problems, text
        else:
            assert problems == [], text
            value = documents[0].value["a"]
            huge = isinstance(value, int) and not -(2**63) <= value < 2**64
            assert exact(float(value) if huge else value) == exact(float(go["a"]) if huge else go["a"]), text
