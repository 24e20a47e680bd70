"""The end of each command's help: two examples, which run; completion, and the man pages."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from renderer.cli.commands import cli
from scripts import make_man
from tests.diff.repository import Repository
from tests.engine_helps import help_of
from tests.paths import ROOT, TESTS

if TYPE_CHECKING:
    from tests.conftest import Llmaz

WIDTH = 76  # of an example, so that a terminal of 80 columns does not break it
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat, namespace: llm}
spec:
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec:
      containers:
        - name: engine
          image: vllm/vllm-openai:v0.24.0
          args: [--model, Qwen/Qwen3-8B, --port, "8000"]
          ports: [{containerPort: 8000}]
          resources: {limits: {nvidia.com/gpu: 1}}
"""


def commands(command: click.Command, words: tuple[str, ...] = ("llmaz",)) -> Iterator[tuple[str, click.Command]]:
    """Each command below this one, with all of its words."""
    yield " ".join(words), command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below
            yield from commands(below, (*words, name))


COMMANDS = dict(commands(cli))


def examples_of(name: str) -> list[str]:
    """The lines of the examples at the end of a command's help."""
    context = click.Context(COMMANDS[name], info_name=name, **cli.context_settings)
    text = COMMANDS[name].get_help(context)
    match = re.search(r"\n\n  Examples:\n((?:    \S.*\n?)+)\Z", text)
    assert match, text
    return [line.strip() for line in match[1].splitlines()]


EXAMPLES = [(name, line) for name in COMMANDS for line in examples_of(name)]


def test_every_command_is_asked() -> None:
    assert len(COMMANDS) > 25
    assert {name: len(examples_of(name)) for name in COMMANDS} == dict.fromkeys(COMMANDS, 2)


@pytest.mark.parametrize("name", COMMANDS)
def test_an_example_is_of_its_command_and_fits(name: str) -> None:
    for line in examples_of(name):
        assert f"{name} " in f"{line} ".replace(")", " ")
        assert len(line) <= WIDTH


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with whatever the examples name."""
    folder = tmp_path_factory.mktemp("world")
    shutil.copy(ROOT / "examples" / "quickstart" / "chat.yaml", folder)
    repository = Repository(folder)
    llmaz = [sys.executable, "-m", "renderer"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([*llmaz, "render"], cwd=folder, env=environment, check=True, capture_output=True)
    repository.git("remote", "add", "origin", "https://git.example.com/models.git")
    repository.commit("models")
    repository.git("branch", "topic")
    for words in (["vllm", "--to", "backends"], ["qwen3-8b", "--to", "models"]):
        (folder / words[-1]).mkdir()
        subprocess.run([*llmaz, "presets", "vendor", *words], cwd=folder, env=environment, check=True)
    return folder


def prepare(name: str, folder: Path) -> None:
    """Puts into the folder what the examples of some commands need in place of, or beside, the repository's files."""
    if name in ("llmaz", "llmaz init"):
        (folder / "chat.yaml").rename(folder.parent / "chat.yaml")
        shutil.rmtree(folder / "backends")
    if name == "llmaz":
        shutil.rmtree(folder / "rendered")
        (folder / "README.md").unlink(missing_ok=True)
    if name == "llmaz presets vendor":
        for part in ("backends", "models"):
            (folder / part).rename(folder.parent / part)
        (folder / "models").mkdir()
    if name == "llmaz cutover":
        shutil.rmtree(folder / "models")
        shutil.rmtree(folder / "backends")
        for part in ("dump", "tree"):
            shutil.copytree(TESTS / "cutover" / "two-models" / part, folder / part)
    if name == "llmaz nodepools":
        shutil.rmtree(folder / "rendered")
        (folder / "chat.yaml").unlink()
        shutil.copytree(TESTS / "data" / "nodepools" / "fleet" / "input", folder, dirs_exist_ok=True)
    if name == "llmaz kustomize":
        shutil.copytree(TESTS / "data" / "kustomize" / "lists" / "transformer", folder, dirs_exist_ok=True)
    if name == "llmaz presets learn":
        (folder / "help.txt").write_text(help_of("vllm"), "utf-8")
    (folder / "running.yaml").write_text(DEPLOYMENT)


@pytest.mark.parametrize(("name", "line"), EXAMPLES, ids=[line for _, line in EXAMPLES])
def test_an_example_runs(
    name: str, line: str, world: Path, tmp_path: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "here"
    shutil.copytree(world, folder)
    prepare(name, folder)
    monkeypatch.chdir(folder)
    if not re.search(r"[=<>$]", line):
        done = llmaz(*shlex.split(line)[1:])
        code, text = done.code, done.out + done.err
    else:
        script = f'llmaz() {{ "{sys.executable}" -m renderer "$@"; }}\n{line}\n'
        variables = {"BACKEND": "vllm", "VERSION": "v9.0.0", "MODEL": "qwen3-8b", "PYTHONPATH": str(ROOT)}
        run = subprocess.run(
            ["bash", "-ec", script], env={**os.environ, **variables}, capture_output=True, text=True, check=False
        )
        code, text = run.returncode, run.stdout + run.stderr
    assert code == 0, text


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_parses_its_script(shell: str, llmaz: Llmaz, tmp_path: Path) -> None:
    done = llmaz("completion", shell)
    assert (done.code, done.err) == (0, "")
    assert "_LLMAZ_COMPLETE" in done.out
    script = tmp_path / "script"
    script.write_text(done.out)
    if shell != "bash" and not shutil.which(shell):
        return  # what the script holds is tested above; these shells parse it where they are installed
    run = subprocess.run([shell, "-n", script], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_the_man_pages_are_fresh() -> None:
    texts = dict(make_man.pages(cli))
    assert sorted(texts) == sorted(f"{name.replace(' ', '-')}.1" for name in COMMANDS)
    current = {path.name: path.read_text("utf-8") for path in make_man.FOLDER.iterdir()}
    assert current == texts, "run make man"


def test_a_man_page_escapes_what_troff_would_read() -> None:
    @click.command("odd", help=".SH no heading\n\n'quoted' a\\b --c", epilog="Exit codes: 0 fine.")
    @click.option("--name", help=".x")
    def odd() -> None:
        pass

    [(name, text)] = make_man.pages(odd, name="odd")
    assert name == "odd.1"
    assert "\n\\&.SH no heading\n.PP\n\\&'quoted' a\\eb \\-\\-c\n" in text
    assert "\n.B \\-\\-name TEXT\n\\&.x\n" in text
    assert text.endswith("\n.SH EXIT STATUS\n0 fine.\n")


@pytest.mark.parametrize("page", sorted(make_man.FOLDER.glob("*.1")), ids=lambda path: path.name)
def test_troff_takes_a_man_page(page: Path) -> None:
    if shutil.which("mandoc"):
        command: list[str | Path] = ["mandoc", "-T", "lint", "-W", "error", page]
    elif shutil.which("man") and sys.platform == "linux":
        command = ["man", "--warnings=w", "--local-file", page]
    else:
        pytest.skip("neither mandoc nor man is here")
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_unknown_shell(llmaz: Llmaz) -> None:
    done = llmaz("completion", "tcsh")
    assert done.code == 2
    assert "'tcsh' is not one of 'bash', 'zsh', 'fish'" in done.err


@pytest.mark.parametrize(
    ("words", "answers"),
    [
        (["ren"], ["plain,render"]),
        (["diff", "--llm"], ["plain,--llmaz"]),
        (["render", "--to", "h"], ["plain,helm"]),
        (["render", "cha"], ["file,cha"]),
        (["presets", "ven"], ["plain,vendor"]),
        (["presets", "show", "qwen3-coder-4"], ["plain,qwen3-coder-480b-a35b", "plain,qwen3-coder-480b-a35b-fp8"]),
        (["presets", "vendor", "sg"], ["plain,sglang"]),
        (["presets", "show", "x", "--backend", "v"], ["plain,vllm"]),
        (["presets", "list", "--fits", "l40s"], ["plain,l40s-48g"]),
        (["errors", "e203"], ["plain,E203"]),
        (["schema", "play"], ["plain,playground"]),
    ],
)
def test_bash_is_answered(words: list[str], answers: list[str]) -> None:
    variables = {
        "_LLMAZ_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(["llmaz", *words]),
        "COMP_CWORD": str(len(words)),
    }
    command = [sys.executable, "-m", "renderer"]
    done = subprocess.run(
        command, env={**os.environ, **variables}, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, answers, "")
