"""Submodules in and above the output folder, which `llmaz render --check` looks for in the index of git."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from renderer.source import git
from tests.diff.repository import CONFIG, Repository
from tests.inputs import playground

if TYPE_CHECKING:
    from tests.conftest import Llmaz

ONE = "1" * 40  # a commit of another repository
ERROR = "rendered/evil: a submodule, whose files llmaz does not read, and Argo CD or Flux would sync it [E129]\n"


@pytest.fixture
def repository(folder: Path, llmaz: Llmaz) -> Repository:
    """With one app, whose rendered files are committed."""
    repo = Repository(folder)
    repo.write(llmaz=CONFIG, chat=playground("chat", "demo", backend="llamacpp"))
    assert llmaz("render").code == 0
    repo.commit("first")
    return repo


def stage(repository: Repository, path: str) -> None:
    """A submodule in the index alone: no folder, no .gitmodules."""
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{ONE},{path}")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[Any]]:
    """The commands that are run from now on."""
    commands: list[Sequence[Any]] = []
    begin = subprocess.Popen.__init__

    def noted(self: Any, command: Sequence[Any], *more: Any, **options: Any) -> None:
        commands.append(command)
        begin(self, command, *more, **options)

    monkeypatch.setattr(subprocess.Popen, "__init__", noted)
    return commands


# --- which commands ask git, and how often ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "calls"),
    [
        (("render", "--check"), 1),
        (("render", "--check", "chat.yaml"), 1),
        (("render", "--check", "--to", "helm"), 1),
        (("render", "--check", "--env", "dev"), 1),
        (("render",), 0),
        (("render", "--stdout"), 0),
        (("render", "--to", "helm"), 0),
        (("validate",), 0),
        (("check", "rendered"), 0),
    ],
    ids=str,
)
def test_git_is_asked_once_by_a_check(
    words: tuple[str, ...], calls: int, repository: Repository, llmaz: Llmaz, started: list[Sequence[Any]]
) -> None:
    if words[1:] != ("--stdout",) and "helm" not in words:  # which take one environment
        repository.write(llmaz=f"{CONFIG}  environments: {{dev: {{}}, prod: {{}}, test: {{}}}}\n")
    assert llmaz(*words).code in (0, 1)
    assert [command[0] for command in started] == ["git"] * calls
    assert all("ls-files" in command for command in started)


@pytest.mark.parametrize(
    "words", [("render", "--check"), ("render", "--check", "--to", "helm"), ("render", "--stdout")]
)
def test_git_is_not_asked_without_a_repository(
    words: tuple[str, ...], repository: Repository, llmaz: Llmaz, started: list[Sequence[Any]]
) -> None:
    """As in Argo CD's plugin."""
    stage(repository, "rendered/evil")
    shutil.rmtree(repository.folder / ".git")
    started.clear()
    done = llmaz(*words)
    assert (done.code, "E129" in done.err, started) == (1 if "helm" in words else 0, False, [])


# --- where git cannot answer ------------------------------------------------------------------------------------------


def test_without_git_it_is_a_note(repository: Repository, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an image without git the check goes on; whoever has no git chose so, and no commit can take it away."""
    stage(repository, "rendered/evil")
    monkeypatch.setenv("PATH", "/nowhere")
    done = llmaz("render", "--check", "--strict")
    note = "whether submodules lie here is not known: git did not run: No such file or directory [N788]"
    assert (done.code, done.err.splitlines()[0]) == (0, f"rendered: note: {note}")


@pytest.mark.parametrize("kind", ["an empty folder", "a worktree that is gone"])
def test_a_broken_repository_is_a_note(kind: str, repository: Repository, llmaz: Llmaz) -> None:
    """As of a worktree that is mounted into a container."""
    shutil.rmtree(repository.folder / ".git")
    if kind == "an empty folder":
        (repository.folder / ".git").mkdir()
    else:
        (repository.folder / ".git").write_text("gitdir: /nowhere/.git/worktrees/x\n")
    done = llmaz("render", "--check")
    assert (done.code, done.err.startswith("rendered: note: "), "[N788]" in done.err) == (0, True, True), done.err


def test_an_index_that_is_broken_is_a_note(repository: Repository, llmaz: Llmaz) -> None:
    (repository.folder / ".git" / "index").write_bytes(b"DIRC\0\0\0\2\0\0\0\1")
    done = llmaz("render", "--check")
    assert (done.code, "[N788]" in done.err) == (0, True)
    assert llmaz("diff").code == 2  # which cannot judge without


# --- whatever the index is like ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [("--skip-worktree",), ("--assume-unchanged",)], ids=str)
def test_bits_of_the_index_hide_nothing(words: tuple[str, ...], repository: Repository, llmaz: Llmaz) -> None:
    stage(repository, "rendered/evil")
    repository.git("update-index", *words, "rendered/evil")
    assert llmaz("render", "--check").err.startswith(ERROR)
    assert llmaz("diff").err.startswith(ERROR)


@pytest.mark.parametrize("words", [("--index-version", "4"), ("--split-index",)], ids=str)
def test_forms_of_the_index(words: tuple[str, ...], repository: Repository, llmaz: Llmaz) -> None:
    stage(repository, "rendered/evil")
    repository.git("update-index", *words)
    assert llmaz("render", "--check").err.startswith(ERROR)


def test_a_sparse_index(repository: Repository, llmaz: Llmaz) -> None:
    """Which names folders in place of the files in them."""
    stage(repository, "rendered/evil")
    repository.git("commit", "--quiet", "--message", "a submodule")
    repository.git("sparse-checkout", "set", "--cone", "--sparse-index", "models")
    assert "rendered/demo/\n" in repository.git("ls-files", "--sparse")
    assert ERROR in llmaz("render", "--check").err


def test_a_conflict(repository: Repository, llmaz: Llmaz) -> None:
    lines = "".join(f"160000 {str(stage) * 40} {stage}\trendered/evil\n" for stage in (1, 2, 3))
    subprocess.run(["git", "update-index", "--index-info"], input=lines, check=True, text=True)
    assert llmaz("render", "--check").err.startswith(ERROR)


@pytest.mark.parametrize("size", [1, 7, 64])
def test_a_large_index_is_read_in_parts(size: int, repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [f"lib-{'x' * length}-ü\n\t" for length in (1, 20, 200)]
    for path in paths:
        stage(repository, path)
    monkeypatch.setattr(git, "_MAX_ANSWER_BYTES", size)
    (repository.folder / "x" / "chat.yaml").parent.mkdir()
    (repository.folder / "x" / "chat.yaml").write_text("")
    repository.git("add", "x")
    submodules = [(path, "160000") for path in paths]
    assert sorted((entry.path, entry.mode) for entry in git.staged(git.top())) == submodules
    files = [("chat.yaml", "100644"), ("x/chat.yaml", "100644")]
    assert sorted((entry.path, entry.mode) for entry in git.staged(git.top(), "chat.yaml")) == sorted(
        [*submodules, *files, ("rendered/demo/chat.yaml", "100644")]
    )


def test_without_an_index(folder: Path) -> None:
    Repository(folder)
    assert git.staged(git.top()) == []


def test_variables_of_a_hook_lead_to_no_other_index(
    repository: Repository, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index of the repository is read, whatever else the environment names."""
    stage(repository, "rendered/evil")
    for name, value in (("INDEX_FILE", "/nowhere"), ("DIR", "/nowhere"), ("LITERAL_PATHSPECS", "1")):
        monkeypatch.setenv(f"GIT_{name}", value)
    assert llmaz("render", "--check").err.startswith(ERROR)


def test_nothing_of_the_configuration_runs_and_nothing_is_written(
    repository: Repository, llmaz: Llmaz, tmp_path: Path
) -> None:
    """A monitor, a hook, a filter: git starts none of them to read the index."""
    canary = tmp_path / "CANARY"
    stage(repository, "rendered/evil")
    (repository.folder / ".gitattributes").write_text("* filter=x diff=x\n")
    for name in ("core.fsmonitor", "filter.x.clean", "filter.x.smudge", "filter.x.process", "diff.x.textconv"):
        repository.git("config", name, f"touch {canary}")
    repository.git("config", "submodule.recurse", "true")
    hook = repository.folder / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {canary}\n")
    hook.chmod(0o755)
    index = repository.folder / ".git" / "index"
    before = index.read_bytes(), index.stat().st_mtime_ns
    assert llmaz("render", "--check").err.startswith(ERROR)
    assert (index.read_bytes(), index.stat().st_mtime_ns, canary.exists()) == (*before, False)


# --- which repository -------------------------------------------------------------------------------------------------


def test_a_linked_worktree_has_its_own_index(
    repository: Repository, llmaz: Llmaz, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "other"
    repository.git("worktree", "add", "--quiet", str(place))
    monkeypatch.chdir(place)
    assert llmaz("render", "--check").code == 0
    subprocess.run(["git", "update-index", "--add", "--cacheinfo", f"160000,{ONE},rendered/evil"], check=True)
    assert llmaz("render", "--check").err.startswith(ERROR)
    monkeypatch.chdir(repository.folder)
    assert llmaz("render", "--check").code == 0


def inner(repository: Repository, path: str) -> Repository:
    """A repository inside of another one, with a file."""
    (repository.folder / path).mkdir(parents=True, exist_ok=True)
    repo = Repository(repository.folder / path)
    (repo.folder / "README.md").write_text("x\n")
    repo.commit("first")
    return repo


@pytest.mark.parametrize("path", ["rendered/evil", "rendered"])
def test_a_submodule_with_its_files(path: str, repository: Repository, llmaz: Llmaz) -> None:
    """Its `.git` makes it a repository of its own, which is not the one to ask."""
    if path == "rendered":
        repository.git("rm", "--quiet", "-r", "--cached", "rendered")
    inner(repository, path)
    repository.git("-c", "advice.addEmbeddedRepo=false", "add", "--all")
    assert "160000 " in repository.git("ls-files", "--stage", path)
    done = llmaz("render", "--check")
    assert (done.code, done.err.splitlines()[0]) == (2, ERROR.replace("rendered/evil", path).strip())


@pytest.mark.parametrize("path", ["rendered", "rendered/evil"])
def test_a_repository_that_is_no_submodule(path: str, repository: Repository, llmaz: Llmaz) -> None:
    """Such as the worktree of a branch for rendered files. Its YAML is judged as all on disk."""
    inside = inner(repository, path)
    assert llmaz("render", "--check").code == 0
    (inside.folder / "x.yaml").write_text("kind: Secret\n")
    assert f"{path}/x.yaml: not written by llmaz" in llmaz("render", "--check").err


def test_the_worktree_of_a_branch_has_submodules(repository: Repository, llmaz: Llmaz) -> None:
    """What lies below the output folder is the business of the repository there."""
    stage(inner(repository, "rendered"), "evil")
    assert llmaz("render", "--check").err.startswith(ERROR)


def test_an_output_folder_elsewhere(repository: Repository, llmaz: Llmaz, tmp_path: Path) -> None:
    """With -o, in another repository or in none."""
    stage(repository, "rendered/evil")
    (tmp_path / "gitops").mkdir()
    other = Repository(tmp_path / "gitops")
    stage(other, "apps/out/evil")
    stage(other, "lib")
    for place, submodule in (("gitops/apps/out", "gitops/apps/out/evil"), ("gitops/out", ""), ("none", "")):
        where = os.path.relpath(tmp_path / place)
        assert llmaz("render", "-o", where).code == 0
        done = llmaz("render", "--check", "-o", where)
        assert (done.code, "E129" in done.err) == ((2, True) if submodule else (0, False)), done.err
        if submodule:
            assert done.err.startswith(f"{os.path.relpath(tmp_path / submodule)}: a submodule")


@pytest.mark.parametrize("state", ["staged", "committed", "with a file"])
def test_what_the_hint_says_takes_it_out(state: str, repository: Repository, llmaz: Llmaz) -> None:
    stage(repository, "rendered/evil")
    if state != "staged":
        repository.git("commit", "--quiet", "--message", "a submodule")
        (repository.folder / "rendered" / "evil").mkdir()
    if state == "with a file":
        (repository.folder / "rendered" / "evil" / "README.md").write_text("x\n")
    hint = "take it out with git rm --cached, or name it under output.foreign of RenderConfig"
    assert hint in llmaz("render", "--check").err
    repository.git("rm", "--cached", "rendered/evil")
    assert llmaz("render", "--check").code == 0


def test_the_hint_about_a_submodule_above(repository: Repository, llmaz: Llmaz) -> None:
    repository.git("rm", "--quiet", "-r", "--cached", "rendered")
    stage(repository, "rendered")
    repository.git("commit", "--quiet", "--message", "a submodule")
    hint = "take it out with git rm --cached, or render to a folder of this repository, with -o or output.dir"
    assert hint in llmaz("render", "--check").err
    assert llmaz("render", "-o", "out").code == 0
    assert llmaz("render", "--check", "-o", "out").code == 0
    repository.git("rm", "--quiet", "--cached", "rendered")
    assert llmaz("render", "--check").code == 0


def test_patterns_begin_at_the_folder_of_all_environments(repository: Repository, llmaz: Llmaz) -> None:
    """For files and submodules beside the folders of environments too."""
    config = f"{CONFIG}  output: {{foreign: [lib, x.yaml]}}\n  environments: {{dev: {{}}, prod: {{}}}}\n"
    repository.write(llmaz=config)
    shutil.rmtree(repository.folder / "rendered")
    assert llmaz("render").code == 0
    (repository.folder / "rendered" / "x.yaml").write_text("kind: Secret\n")
    stage(repository, "rendered/lib")
    assert llmaz("render", "--check").code == 0
    stage(repository, "rendered/dev/lib")
    assert llmaz("render", "--check").err.startswith("rendered/dev/lib: a submodule")


def test_it_is_loaded_where_it_is_needed(repository: Repository) -> None:
    """`render` does not pay for it."""
    code = (
        "import sys; from renderer import cli\n"
        "try: cli.run(sys.argv[1:])\n"
        "except SystemExit: print('renderer.source.git' in sys.modules)"
    )
    for words, loaded in ((("render",), "False\n"), (("render", "--check"), "True\n")):
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
        assert done.stdout == loaded, words
