"""`scripts/diff_examples.py`, with a program in the place of llmaz that ends in each of its ways."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from scripts import diff_examples

STUB = """\
#!/bin/sh
case "$PWD" in
  */hpa) echo '<!-- llmaz -->'; echo "$*"; exit 1 ;;
  */gateway-teams) echo 'llmaz.yaml:1:1: no [E101]' >&2; exit 2 ;;
  */environments) echo "$*"; [ "${8}" = prod ]; exit $((1 - $?)) ;;
esac
"""


def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *examples: str) -> int:
    stub = tmp_path / "llmaz"
    stub.write_text(STUB)
    stub.chmod(0o755)
    monkeypatch.setattr(diff_examples, "LLMAZ", stub)
    monkeypatch.setattr(sys, "argv", ["diff_examples", "/old.whl", *examples])
    return diff_examples.main()


def test_what_changes_is_printed_and_the_rest_counted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, tmp_path, "environments", "hpa", "quickstart") == 0
    printed = capsys.readouterr()
    words = "diff --llmaz /old.whl --exit-code --format markdown"
    assert printed.out == (
        f"#### environments (prod)\n\n{words} --env prod\n\n"
        f"#### hpa\n\n<!-- llmaz -->\n{words}\n\n"
        "Nothing changes in 3 renderings of examples.\n"
    )
    assert printed.err == ""


def test_an_example_that_is_refused_is_told_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    examples = [path for path in diff_examples.EXAMPLES.iterdir() if path.is_dir()]
    assert run(monkeypatch, tmp_path) == 1
    printed = capsys.readouterr()
    assert printed.err == "gateway-teams: exit code 2\nllmaz.yaml:1:1: no [E101]\n\n"
    assert [line for line in printed.out.splitlines() if line.startswith("####")] == [
        "#### environments (prod)",
        "#### hpa",
    ]
    unchanged = len(examples) - 3 + 2  # two of the environments
    assert printed.out.endswith(f"Nothing changes in {unchanged} renderings of examples.\n")


def test_an_unknown_example_is_no_example(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        run(monkeypatch, tmp_path, "hpa", "nothing")
    assert "no example is called nothing\n" in capsys.readouterr().err
