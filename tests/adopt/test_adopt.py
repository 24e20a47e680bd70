"""`llmaz adopt`: each folder of cases/ and originals/ becomes exactly what lies beside its input.

A folder is `input/`, what is written as `expected/**`, and `report.txt`: the exit code and all that is printed; more
words of the command line are in `arguments.txt`.
Those of originals/ are deployments of other projects in our words, those of cases/ what a reader may stumble over.
`pytest --snapshot-update` writes what is expected.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.paths import TESTS

if TYPE_CHECKING:
    from tests.conftest import Golden, Llmaz

ADOPT = TESTS / "adopt"
FOLDERS = sorted(str(path.parent.relative_to(ADOPT)) for path in ADOPT.glob("*/*/input"))
NOTHING = 2
# What is something else when it is adopted again: a Service that selects the rendered pods no more, as its warning
# says, is nobody's; a Playground that was made is one of llmaz's own API now, in a file of another name; site-packages/
# is not read.
LEFT = {
    "cases/service-over-two-by-reserved-labels",
    "cases/files-of-one-name",
    "cases/names-that-differ-in-case",
    "cases/namespaces-that-are-reserved",
}
_HEAD = "| input | what becomes of it |\n|---|---|\n"


def texts(folder: Path) -> dict[str, str]:
    """The files below a folder, by their paths in it; those that llmaz renders are left out."""
    paths = [path for path in folder.rglob("*") if path.is_file() and "rendered" not in path.parts]
    return {str(path.relative_to(folder)): path.read_text("utf-8") for path in sorted(paths)}


@pytest.mark.parametrize("name", FOLDERS)
def test_adopt(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    llmaz: Llmaz,
    golden: Golden,
    superfluous: Callable[..., list[Path]],
) -> None:
    shutil.copytree(ADOPT / name / "input", tmp_path / "input")
    monkeypatch.chdir(tmp_path)
    arguments = ADOPT / name / "arguments.txt"
    words = arguments.read_text("utf-8").split() if arguments.exists() else []
    done = llmaz("adopt", "input", "-o", "out", *words)
    assert "Traceback" not in done.err
    golden(f"adopt/{name}/report.txt", f"exit {done.code}\n{done.err}{done.out}")
    written = texts(tmp_path / "out")
    for path, text in written.items():
        golden(f"adopt/{name}/expected/{path}", text)
    expected = ADOPT / name / "expected"
    assert superfluous(expected, {expected / path for path in written}) == []
    assert bool(written) == (done.code != NOTHING)


@pytest.mark.parametrize(
    "name", [name for name in FOLDERS if (ADOPT / name / "expected").exists() and name not in LEFT]
)
def test_what_is_rendered_is_adopted_again(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz
) -> None:
    shutil.copytree(ADOPT / name / "expected", tmp_path / "one")
    monkeypatch.chdir(tmp_path / "one")
    if any(tmp_path.glob("one/openmodel-*.yaml")):  # objects of llmaz's own API, of which no file is made anew
        source = "."
    else:
        done = llmaz("render")
        assert done.code == 0, done.err
        source = "rendered"
    assert llmaz("adopt", source, "-o", "../two").code != NOTHING
    later = {path for path in texts(tmp_path / "one") if path.startswith("later/")}  # which is not rendered
    assert texts(tmp_path / "two") == {
        path: text for path, text in texts(tmp_path / "one").items() if path not in later
    }


def test_the_table_names_each_input(golden: Golden) -> None:
    """table.md says of each input whether it is adopted, in part (what is lost) or refused (why)."""
    rows = []
    for name in FOLDERS:
        lines = (ADOPT / name / "report.txt").read_text("utf-8").splitlines()
        became = [line for line in lines if line.startswith(("adopted ", "in part ", "refused ", "left "))]
        lost = [line.partition(": ")[2].partition(" [")[0] for line in lines if "[W95" in line]
        rows.append(f"| {name} | {'<br>'.join([*became, *dict.fromkeys(lost)]) or lines[1]} |\n")
    golden("adopt/table.md", "# What becomes of each input of `llmaz adopt`\n\n" + _HEAD + "".join(rows))


LOSES = re.compile(
    r"[1-9]\d* (?:lost|unexplained|in part|objects? refused)|^[^ ].*: warning: .*\[W9[56]\d\]|^[^ ].* \[E\d+\]$",
    re.MULTILINE,
)


@pytest.mark.parametrize("name", FOLDERS)
def test_the_exit_code_says_whether_all_came_over(name: str) -> None:
    """0: all did; 1: something is lost, differs without a rule or is refused; 2: nothing was adopted. What is equal in
    effect, added, immutable or told in a note is no loss.
    """
    code, _, text = (ADOPT / name / "report.txt").read_text("utf-8").partition("\n")
    expected = NOTHING if "nothing was written" in text else int(bool(LOSES.search(text)))
    assert code == f"exit {expected}"


MANY = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: app-{i}, namespace: llm}}
spec:
  selector: {{matchLabels: {{app: app-{i}}}}}
  template:
    metadata: {{labels: {{app: app-{i}}}}}
    spec:
      containers:
        - name: server
          image: vllm/vllm-openai:v0.33.0
          args: [--model, Qwen/Qwen3-8B, --port, "8000"]
          resources: {{limits: {{nvidia.com/gpu: 1}}}}
---
apiVersion: v1
kind: Service
metadata: {{name: app-{i}, namespace: llm}}
spec: {{selector: {{app: app-{i}}}, ports: [{{port: 80, targetPort: 8000}}]}}
"""


def test_what_holds_of_each_of_many_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz) -> None:
    """With its first place and the number of the others; what became of each workload is one line, and -v has all."""
    monkeypatch.chdir(tmp_path)
    count, sentence = 12, "The preset's command starts the same engine."
    (tmp_path / "many.yaml").write_text("---\n".join(MANY.format(i=i) for i in range(count)), "utf-8")
    done = llmaz("adopt", "many.yaml", "-o", "brief")
    assert done.out.count(sentence) == done.out.count("since the selector") == 1
    assert done.out.count("and 11 more") == 4  # Deployments, Services, Services that ours adds, new names
    assert done.err.count("→ later/") == done.err.count("and 11 more in later/: -v") == 1
    assert all(f"adopted  Deployment llm/app-{i} → Playground app-{i}-llmaz" in done.err for i in range(count))
    done = llmaz("adopt", "many.yaml", "-o", "verbose", "-v")
    assert done.out.count(sentence) == done.out.count("since the selector") == done.err.count("→ later/") == count
    assert "more" not in done.err
    assert texts(tmp_path / "brief") == texts(tmp_path / "verbose")
