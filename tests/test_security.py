"""docs/security.md, promise by promise; each has many more tests in the module that is named beside it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from renderer import diagnostics, template
from renderer.admission import limits as admission_limits
from renderer.cel import texts
from renderer.cli.console import FORMATS
from renderer.engines import help_text
from renderer.source import git, paths
from renderer.text import patterns, suggestions
from renderer.yamlio import limits
from tests.inputs import CONFIG, backend_runtime, playground

if TYPE_CHECKING:
    from tests.conftest import Llmaz

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")
PLAYGROUND = playground("chat", "demo", backend="llamacpp")


def own_runtime(arg: str = "--a", pattern: str = "(.+)", listed: str = "none-1.txt", tag: str = "1") -> str:
    """A runtime with this argument, and with a list of options that a pattern finds for its version."""
    options = f'{{style: exact, version: "{pattern}", list: {listed}}}'
    return "---\n" + backend_runtime(options, f'"{arg}"', f'"{tag}"')


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one Playground, the current folder; beside it `home` with a secret."""
    folder = tmp_path / "repository"
    folder.mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "token-1.txt").write_text("SECRET\n")
    monkeypatch.chdir(folder)
    subprocess.run(["git", "init", "--quiet"], check=True)
    (folder / "chat.yaml").write_text(PLAYGROUND)
    return folder


def test_nothing_runs(repository: Path, tmp_path: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    """See hostile/test_git.py."""
    subprocess.run(["git", "add", "."], check=True)
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "base"], check=True)
    subprocess.run(["git", "remote", "add", "origin", "https://git.example.com/a/b.git"], check=True)
    started: list[Sequence[Any]] = []
    begin = subprocess.Popen.__init__

    def noted(self: Any, command: Sequence[Any], *more: Any, **options: Any) -> None:
        started.append(command)
        begin(self, command, *more, **options)

    monkeypatch.setattr(subprocess.Popen, "__init__", noted)
    bare = repository / "models"
    for name in ("objects", "refs/heads"):
        (bare / name).mkdir(parents=True)
    (bare / "HEAD").write_text("ref: refs/heads/main\n")
    (bare / "config").write_text(f'[core]\n\tfsmonitor = "touch {tmp_path}/RUN"\n\thooksPath = hooks\n')
    (bare / "x.yaml").write_text("!!python/object/apply:os.system [id] # llmaz.io/\n")
    (repository / "a.yaml").write_text(own_runtime("{{ ModelName.__class__.__mro__ }}"))
    for words, code, message in (
        (["render"], 2, "an attribute is not allowed in a template [E420]"),
        (["diff"], 2, "an attribute is not allowed in a template [E420]"),
        (["diff", "--", "models"], 2, "the tag !!python/object/apply:os.system is not allowed [E107]"),
        (["check", "."], 0, "not checked, not a Kubernetes object: models/x.yaml"),
        (["argocd", "application"], 0, ""),
    ):
        done = llmaz(*words)
        assert (done.code, message in done.err) == (code, True), done.err
    assert {command[0] for command in started} <= {"git"}
    assert not (tmp_path / "RUN").exists()


def test_nothing_outside_of_the_tree_is_read(repository: Path, llmaz: Llmaz) -> None:
    """See hostile/test_files.py."""
    (repository / "linked-1.txt").symlink_to("../home/token-1.txt")
    (repository / "linked.yaml").symlink_to("../home/token-1.txt")
    for listed in ("../home/token-1.txt", "linked-1.txt"):
        text = PLAYGROUND.replace("llamacpp", "mine") + own_runtime(listed=listed)
        (repository / "chat.yaml").write_text(text)
        done = llmaz("validate")
        assert done.code == 2
        assert "SECRET" not in done.err


def test_nothing_outside_of_the_output_folder_is_written(repository: Path, tmp_path: Path, llmaz: Llmaz) -> None:
    """See hostile/test_files.py."""
    for make in (
        lambda: (repository / "rendered").symlink_to("../home"),
        lambda: (repository / "llmaz.yaml").write_text(CONFIG + "{output: {dir: ../home}}\n"),
    ):
        make()
        assert llmaz("render", "chat.yaml").code == 2
        (repository / "rendered").unlink(missing_ok=True)
    assert os.listdir(tmp_path / "home") == ["token-1.txt"]


def test_nothing_hides(repository: Path, llmaz: Llmaz) -> None:
    """See hostile/test_files.py."""
    assert llmaz("render").code == 0
    (repository / "rendered" / "zz.yaml").write_text("kind: ClusterRoleBinding\n")
    assert llmaz("render", "--check").code == 2


def test_no_change_loosens_its_own_guard(repository: Path, llmaz: Llmaz) -> None:
    """See diff/test_guard.py and diff/test_policy.py."""
    (repository / "llmaz.yaml").write_text(CONFIG + "{}\n")
    subprocess.run(["git", "add", "."], check=True)
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "base"], check=True)
    (repository / "llmaz.yaml").write_text(CONFIG + '{output: {foreign: ["**"]}}\n')
    (repository / "rendered").mkdir()
    (repository / "rendered" / "zz.yaml").write_text("kind: ClusterRoleBinding\n")
    assert llmaz("render").code == 0
    done = llmaz("diff")
    assert done.code == 2
    assert "rendered/zz.yaml: not written by llmaz, and the settings of the base do not allow it [E863]" in done.err
    assert "changes what is checked: output.foreign" in done.err


def test_a_value_stays_a_value(repository: Path, llmaz: Llmaz) -> None:
    """See hostile/test_quoting.py, hostile/test_languages.py and hostile/test_charts.py."""
    (repository / "chat.yaml").write_text(PLAYGROUND.replace("spec:", "spec:\n  servedModelName: '{{ fail }}'", 1))
    assert llmaz("render", "--to", "helm").code == 0
    (template,) = (repository / "chart" / "templates" / "demo").glob("*.yaml")
    assert "{{ fail" not in template.read_text("utf-8")
    assert "{{`{{`}} fail }}" in template.read_text("utf-8")


@pytest.mark.parametrize("form", FORMATS)
def test_text_stays_text(form: str, repository: Path, llmaz: Llmaz) -> None:
    """See hostile/test_text.py."""
    odd = "x\n::error::spoofed\x1b]52;c;cHduZWQ=\x07\u202e\u2028"
    (repository / "chat.yaml").write_text(PLAYGROUND + json.dumps({"metadata": odd}).replace("{", "").replace("}", ""))
    done = llmaz("validate", "--format", form)
    assert done.code == 2
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2028]", done.out + done.err)
    assert not re.search("^::error::", done.out + done.err, re.MULTILINE)


@pytest.mark.parametrize(
    ("arg", "version", "tag"),
    [("{{ 'a' * 3000000000 }}", "(.+)", "1"), ("--a", "^(a+)+$", "a" * 60 + "!"), ("{{ 9 ** 9 ** 9 }}", "(.+)", "1")],
)
def test_work_is_bounded(arg: str, version: str, tag: str, repository: Path) -> None:
    """See hostile/test_work.py."""
    text = own_runtime(arg, version, tag=tag)
    (repository / "chat.yaml").write_text(PLAYGROUND.replace("llamacpp", "mine") + text)
    program = [sys.executable, "-c", "from renderer.cli import main; main()", "validate"]
    done = subprocess.run(program, capture_output=True, timeout=60, check=False)
    assert done.returncode == 2


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is full")
def test_failing_is_honest(repository: Path) -> None:
    """See hostile/test_text.py and hostile/test_processes.py."""
    for buffering in ("", "1"):
        with open("/dev/full", "w") as full:
            program = [sys.executable, "-c", "from renderer.cli import main; main()", "render", "--stdout"]
            environment = {**os.environ, "PYTHONUNBUFFERED": buffering}
            done = subprocess.run(program, stdout=full, stderr=subprocess.PIPE, env=environment, text=True, check=False)
        assert done.returncode == 2
        assert "No space left on device" in done.stderr
        assert "Traceback" not in done.stderr


def test_the_bounds_of_the_page_are_those_of_the_code() -> None:
    lists = yaml.safe_load((ROOT / "scripts" / "extensions.yaml").read_text("utf-8"))["lists"]
    bounds = {
        "a file": [paths.MAX_BYTES],
        "a line of YAML": [limits.MAX_LINE],
        "a key": [limits.MAX_KEY],
        "keys and values of a file": [limits.MAX_VALUES],
        "what aliases expand to": [limits.MAX_EXPANDED],
        "levels of nesting": [limits.MAX_DEPTH],
        "findings of one file that are told": [limits.MAX_PROBLEMS],
        "problems of one object that are told": [diagnostics.MAX_PROBLEMS],
        "`args`, `command`, `env` and `envs` of our extensions": [lists["arguments"]],
        "another list of our extensions, where its schema has no bound of its own": [lists["others"]],
        "a regular expression, a glob": [patterns.MAX_PATTERN],
        "a template": [template.MAX_TEMPLATE, template.MAX_VALUE],
        "a text that a template makes": [template.MAX_TEXT],
        "the list of a commit's files": [git.MAX_LIST_BYTES],
        "the files of a commit that are read at once": [git.MAX_CONTENT_BYTES],
        "a help text that `llmaz presets learn` reads": [help_text.MAX_BYTES, 5],
        "a name for which a similar one is looked for": [suggestions.MAX_WORD],
        "what an expression of a ValidatingAdmissionPolicy makes": [admission_limits.MAX_MEMORY, texts.MAX_TEXT],
        "the values that an expression of a ValidatingAdmissionPolicy looks at": [
            admission_limits.MAX_WORK,
            admission_limits.MAX_WORK_OF_POLICY,
        ],
    }
    rows = dict(re.findall(r"^\| ([^|]+) \| (\d[^|]*) \|$", PAGE, re.MULTILINE))
    assert {
        what: [int(n.replace(",", "")) for n in re.findall(r"[\d,]*\d", text)] for what, text in rows.items()
    } == bounds


def test_every_promise_stands_here() -> None:
    promises = re.findall(r"^\*\*([^*.]+)\.\*\*", PAGE.partition("## What is promised")[2], re.MULTILINE)
    tests = [name.removeprefix("test_").replace("_", " ") for name in globals() if name.startswith("test_")]
    assert [promise for promise in promises if not any(promise.lower().startswith(test) for test in tests)] == []


def test_how_to_report_is_at_the_top() -> None:
    assert "docs/security.md" in (ROOT / "SECURITY.md").read_text("utf-8")
