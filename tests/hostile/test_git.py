"""Git, and a proposed tree that wants more than to be read: no program of its runs, no other machine is asked, and what
is too large is refused. A test a promise.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from renderer import load
from renderer.api import RenderOptions
from renderer.diagnostics import RenderError
from renderer.source import git
from renderer.source.commit import CommitTree, commit_tree
from renderer.source.tree import MAX_BYTES
from tests.inputs import playground
from tests.paths import ROOT

if TYPE_CHECKING:
    from tests.conftest import Llmaz

ACTION = ROOT / "scripts" / "action" / "run.py"
# What a folder needs so that git takes it for a repository, and asks a program for the commits that it lacks.
PLAYGROUND = playground("chat", "demo", backend="llamacpp")
CONFIG = """\
[core]
	repositoryformatversion = 1
	bare = false
	worktree = .
	fsmonitor = touch CANARY
	hooksPath = hooks
	pager = touch CANARY
[extensions]
	partialClone = origin
[remote "origin"]
	url = "ext::sh -c touch% CANARY"
	promisor = true
[protocol]
	allow = always
[protocol "ext"]
	allow = always
[diff]
	external = touch CANARY
[diff "x"]
	textconv = touch CANARY
"""


class Run(NamedTuple):
    """What a program came to, and the seconds that it took."""

    code: int
    out: str
    err: str
    seconds: float


def run(*words: str | Path, at: Path, stdin: str = "", megabytes: int = 0, **variables: str) -> Run:
    """A program, in a process of its own; with no more memory than that, where it is said."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (megabytes * 1024 * 1024,) * 2)

    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", **variables}
    before = time.monotonic()
    done = subprocess.run(
        words,
        cwd=at,
        env=environment,
        input=stdin,
        preexec_fn=limit if megabytes else None,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    return Run(done.returncode, done.stdout, done.stderr, time.monotonic() - before)


class Repository:
    """A git repository at a folder, and what is done in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *words: str, stdin: str = "") -> str:
        roles = {f"GIT_{role}_{what}": "a@b" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        done = run("git", *words, at=self.folder, stdin=stdin, megabytes=0, **roles, **alone)
        assert done.code == 0, done.err
        return done.out.strip()

    def commit(self, files: Mapping[str, str]) -> str:
        """These files, by their paths, and all others that there are, as a commit; its name."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message=x")
        return self.git("rev-parse", "HEAD")

    def tree(self, *lines: str) -> str:
        """A tree of these lines, as `git ls-tree` prints them; its name."""
        return self.git("mktree", "--missing", stdin="".join(f"{line}\n" for line in lines))

    def blob(self, data: str) -> str:
        return self.git("hash-object", "-w", "--stdin", stdin=data)

    def commit_tree(self, tree: str) -> str:
        return self.git("commit-tree", "-m", "x", tree)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """An empty one, as the current folder."""
    repo = Repository(tmp_path / "repository")
    monkeypatch.chdir(repo.folder)
    return repo


class Hostile(NamedTuple):
    """A clone of a repository in which the folder `models` is a repository for git: its folder, the commit before, the
    proposed one, and the file that appears when anything of it runs.
    """

    folder: Path
    base: str
    head: str
    canary: Path


@pytest.fixture
def hostile(tmp_path: Path) -> Hostile:
    origin, canary = Repository(tmp_path / "origin"), tmp_path / "CANARY"
    base = origin.commit({"models/chat.yaml": PLAYGROUND})
    files = {"HEAD": "ref: refs/heads/main\n", "config": CONFIG.replace("CANARY", str(canary))}
    files |= {"objects/.keep": "", "refs/heads/.keep": ""}
    files["hooks/reference-transaction"] = f"#!/bin/sh\ntouch {canary}\n"
    head = origin.commit({f"models/{name}": text for name, text in files.items()})
    origin.git("clone", "--quiet", str(origin.folder), str(tmp_path / "clone"))
    return Hostile(tmp_path / "clone", base, head, canary)


def test_the_hostile_folder_is_one(hostile: Hostile) -> None:
    """Plain git, where nobody tells it not to, runs what the folder names; else the tests below would show nothing."""
    run("git", "-C", "models", "cat-file", "-e", hostile.base, at=hostile.folder, GIT_ALLOW_PROTOCOL="ext")
    assert hostile.canary.exists()


LLMAZ = (sys.executable, "-m", "renderer")
# Where, the words, and what is said at the end: the remote that git names is a folder of this machine.
WAYS: Mapping[str, tuple[str, tuple[str, ...], str]] = {
    "diff of a part": (".", ("diff", "BASE", "--", "models"), ""),
    "diff of two commits": (".", ("diff", "BASE...HEAD", "--", "models"), ""),
    "diff inside": ("models", ("diff", "BASE"), ""),
    "validate inside": ("models", ("validate",), ""),
    "applications inside": ("models", ("argocd", "application"), "[E723]"),
    "flux inside": ("models", ("flux", "kustomization"), "[E723]"),
    "init inside": ("models", ("init", "new"), "[E723]"),
}


@pytest.mark.parametrize("way", WAYS)
def test_nothing_of_a_proposed_tree_runs(way: str, hostile: Hostile) -> None:
    at, words, refusal = WAYS[way]
    words = tuple(word.replace("BASE", hostile.base) for word in words)
    done = run(*LLMAZ, *words, at=hostile.folder / at, PYTHONPATH=str(ROOT))
    assert not hostile.canary.exists()
    assert done.code == (2 if refusal else 0), done.err
    assert refusal in done.err


@pytest.mark.parametrize("inputs", [{}, {"PATHS": "models"}, {"WORKING_DIRECTORY": "models"}], ids=str)
def test_nothing_of_a_proposed_tree_runs_in_the_action(
    inputs: dict[str, str], hostile: Hostile, tmp_path: Path
) -> None:
    pull = {"number": 1, "base": {"sha": hostile.base}, "head": {"sha": hostile.head, "repo": {"full_name": "a/b"}}}
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": pull}))
    variables = {
        "GITHUB_WORKSPACE": str(hostile.folder),
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(event),
        "RUNNER_TEMP": str(tmp_path),
        "INPUT_COMMITTED": "false",
        "PYTHONPATH": str(ROOT),
        **{f"INPUT_{name}": value for name, value in inputs.items()},
    }
    done = run(sys.executable, ACTION, at=hostile.folder, stdin="", megabytes=0, **variables)
    assert not hostile.canary.exists()
    assert (done.code, "not compared" in done.out) == (0, False), done.out + done.err


def test_nothing_runs_that_the_repository_itself_names(hostile: Hostile) -> None:
    """Should anybody get hold of `.git` too: no hook, monitor, pager or driver, and no remote is asked."""
    config = (hostile.folder / "models" / "config").read_text("utf-8")
    (hostile.folder / ".git" / "config").write_text(config.replace("\tworktree = .\n", ""), "utf-8")
    top, missing = git.top(str(hostile.folder)), "1" * 40
    assert (git.commit(top, "HEAD"), git.branch(top)) == (hostile.head, "main")
    assert git.merge_base(top, hostile.base, hostile.head) == hostile.base
    questions: list[Callable[[], object]] = [
        lambda: git.commit(top, missing),
        lambda: git.files(top, missing),
        lambda: git.contents(top, [missing]),
    ]
    for question in questions:
        with pytest.raises(RenderError):
            question()
    assert git.remote(top).startswith("ext::")
    assert not hostile.canary.exists()


def test_variables_of_git_lead_nowhere_else(
    repository: Repository, hostile: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a hook, or where somebody set them for another repository."""
    commit = repository.commit({"a": "1"})
    monkeypatch.setenv("GIT_DIR", str(hostile.folder / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", "/")
    monkeypatch.setenv("GIT_COMMON_DIR", str(hostile.folder / ".git"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(hostile.folder / ".git" / "objects"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", f"touch {hostile.canary}")
    assert (git.top(), git.commit(git.top(), "HEAD")) == (str(repository.folder.resolve()), commit)
    assert [entry.path for entry in git.files(git.top(), commit)] == ["a"]


@pytest.mark.parametrize("git_is", ["a folder", "a file", "a link"])
def test_the_repository_is_where_git_lies(git_is: str, repository: Repository, tmp_path: Path) -> None:
    """Also of a worktree, whose `.git` is a file, and below a link."""
    commit, place = repository.commit({"models/a": "1"}), repository.folder
    if git_is == "a file":
        place = tmp_path / "other"
        repository.git("worktree", "add", "--quiet", str(place))
    if git_is == "a link":
        (tmp_path / "link").symlink_to(place)
        assert git.top(str(tmp_path / "link" / "models")) == str(place.resolve())
    top = git.top(str(place / "models" / "none"))
    assert (top, git.commit(top, "HEAD")) == (str(place.resolve()), commit)


def test_a_folder_named_git_is_no_reason_to_look_further_up(repository: Repository) -> None:
    """An empty `.git`, as of a copy: git would take the repository around it."""
    repository.commit({"inner/a": "1"})
    (repository.folder / "inner" / ".git").mkdir()
    with pytest.raises(RenderError, match="not a git repository"):
        git.commit(git.top("inner"), "HEAD")


def test_a_path_of_another_repository(repository: Repository, tmp_path: Path, llmaz: Llmaz) -> None:
    """A link of the proposed tree leads to whatever else a runner has checked out."""
    other = Repository(tmp_path / "other")
    other.commit({"secret.yaml": PLAYGROUND})
    repository.commit({"a": "1"})
    (repository.folder / "models").symlink_to(other.folder)
    done = llmaz("diff", "--", "models")
    assert (done.code, done.out) == (2, "")
    top = repository.folder.resolve()
    assert done.err.startswith(f"models: this is in the repository {other.folder.resolve()}, not in {top} [E786]")


def test_the_repository_of_a_path_from_outside_of_any(
    repository: Repository, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit({"chat.yaml": PLAYGROUND})
    monkeypatch.chdir(repository.folder.parent)
    assert llmaz("diff", "--", "repository").out == "no object changes\n"


def test_a_repository_of_somebody_else(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz
) -> None:
    """Git trusts none whose owner is another user; that stays so."""
    repository.commit({"chat.yaml": PLAYGROUND})
    program = Path(run("sh", "-c", "command -v git", at=tmp_path).out.strip())
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text(f'#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec {program} "$@"\n')
    (tmp_path / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    for name, value in (("COUNT", "0"), ("GLOBAL", os.devnull), ("NOSYSTEM", "1")):
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    done = llmaz("diff")
    assert done.code == 2
    assert "git does not trust the repository: detected dubious ownership" in done.err
    assert "[E787]" in done.err
    for name, value in (("COUNT", "1"), ("KEY_0", "safe.directory"), ("VALUE_0", str(repository.folder.resolve()))):
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    assert llmaz("diff").out == "no object changes\n"


@pytest.mark.parametrize("filtered", ["blob:none", "tree:0"])
def test_a_partial_clone_asks_nobody(
    filtered: str, repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz
) -> None:
    """What it lacks is an error that says how to get it."""
    repository.commit({"chat.yaml": PLAYGROUND})
    repository.commit({"chat.yaml": PLAYGROUND.replace("demo", "other")})
    repository.git("config", "uploadpack.allowFilter", "true")
    source = f"file://{repository.folder}"
    repository.git("clone", "--quiet", f"--filter={filtered}", source, str(tmp_path / "partial"))
    monkeypatch.chdir(tmp_path / "partial")
    done = llmaz("diff", "HEAD~1")
    assert (done.code, done.out) == (2, "")
    assert "this is a partial clone, and objects are missing: could not fetch" in done.err
    assert "[E784]\n    hint: fetch all of it: git fetch --refetch --no-filter" in done.err
    run("git", "fetch", "--quiet", "--refetch", "--no-filter", at=tmp_path / "partial")
    assert llmaz("diff", "HEAD~1").code == 0


# --- What is judged: the objects of the commit as they were pushed


EVIL = PLAYGROUND.replace("name: chat", "name: evil").replace("spec:", "spec:\n  servedModelName: evil")


def test_no_replacement_takes_the_place_of_what_was_pushed(repository: Repository, llmaz: Llmaz) -> None:
    """Of a blob, a tree or a commit; plain git shows them, without a word."""
    base = repository.commit({"models/chat.yaml": PLAYGROUND})
    head = repository.commit({"models/evil.yaml": EVIL})
    names = ("HEAD:models/evil.yaml", "HEAD^{tree}", "HEAD")
    pushed = [repository.git("rev-parse", name) for name in names]
    harmless = (repository.blob("a: 1\n"), repository.git("rev-parse", f"{base}^{{tree}}"), base)
    for name, other in zip(pushed, harmless, strict=True):
        repository.git("replace", name, other)
        commit_tree.cache_clear()
        assert repository.git("cat-file", "-p", name) == repository.git("cat-file", "-p", other)
        done = llmaz("diff", f"{base}..{head}")
        assert "LeaderWorkerSet demo/evil" in done.out, name
        repository.git("replace", "--delete", name)


def test_no_graft_leads_to_another_base(repository: Repository) -> None:
    """A file by which git takes other commits for the parents."""
    first, second = (repository.commit({"a": text}) for text in "12")
    third = repository.commit({"a": "3"})
    (repository.folder / ".git" / "info" / "grafts").write_text(f"{third} {first}\n")
    assert repository.git("merge-base", second, third) == first
    assert git.merge_base(git.top(), second, third) == second


ATTRIBUTES = """\
* ident
*.yaml text eol=crlf working-tree-encoding=UTF-16 filter=x diff=x export-ignore
"""


def test_no_filter_or_attribute_changes_what_is_judged(repository: Repository, llmaz: Llmaz, tmp_path: Path) -> None:
    """A commit is read as it was pushed, not as a checkout makes it."""
    base = repository.commit({"chat.yaml": PLAYGROUND})
    expected = PLAYGROUND + "# $Id$\n"
    head = repository.commit({"chat.yaml": expected})
    (repository.folder / ".git" / "info" / "attributes").write_text(ATTRIBUTES)
    for name in ("clean", "smudge", "process", "textconv"):
        repository.git("config", f"{'diff' if name == 'textconv' else 'filter'}.x.{name}", f"touch {tmp_path}/CANARY")
    repository.git("config", "core.autocrlf", "true")
    assert CommitTree(git.top(), head).contents(["chat.yaml"]) == [expected.encode()]
    assert llmaz("diff", f"{base}..{head}").out == "no object changes\n"
    assert not (tmp_path / "CANARY").exists()


@pytest.mark.parametrize("words", [("--no-cone", "/other"), ("--cone", "--sparse-index", "other")], ids=str)
def test_a_sparse_checkout_hides_nothing_of_commits(
    words: tuple[str, ...], repository: Repository, llmaz: Llmaz
) -> None:
    base = repository.commit({"models/chat.yaml": PLAYGROUND})
    head = repository.commit({"models/evil.yaml": EVIL})
    whole = llmaz("diff", f"{base}..{head}")
    repository.git("sparse-checkout", "set", *words)
    assert not (repository.folder / "models").exists()
    assert llmaz("diff", f"{base}..{head}") == whole
    assert "LeaderWorkerSet demo/evil" in whole.out


def test_a_shallow_clone_knows_the_base_or_says_so(repository: Repository, tmp_path: Path) -> None:
    commits = [repository.commit({"a": str(number)}) for number in range(4)]
    repository.git("checkout", "--quiet", "-b", "topic", commits[2])
    repository.commit({"b": "1"})
    for depth, base in ((1, ""), (3, commits[2])):
        place = tmp_path / f"depth-{depth}"
        source = f"file://{repository.folder}"
        repository.git("clone", "--quiet", f"--depth={depth}", "--no-single-branch", source, str(place))
        if base:
            assert git.merge_base(git.top(str(place)), "origin/main", "origin/topic") == base
        else:
            with pytest.raises(RenderError, match="E783"):
                git.merge_base(git.top(str(place)), "origin/main", "origin/topic")


def test_the_index_of_a_partial_clone_asks_nobody(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz
) -> None:
    """No object is needed to name its submodules."""
    repository.commit({"chat.yaml": PLAYGROUND})
    assert llmaz("render").code == 0
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},rendered/evil")
    repository.git("add", "rendered/demo")
    repository.git("commit", "--quiet", "--message=x")
    repository.git("config", "uploadpack.allowFilter", "true")
    place = tmp_path / "partial"
    repository.git("clone", "--quiet", "--filter=tree:0", f"file://{repository.folder}", str(place))
    repository.folder.rename(tmp_path / "gone")
    monkeypatch.chdir(place)
    assert llmaz("render", "--check").err.startswith("rendered/evil: a submodule")


# --- What is too large


def test_a_tree_of_ten_thousand_million_files(repository: Repository) -> None:
    """Ten levels of ten times the same: a few hundred bytes in the repository."""
    blob = repository.blob("a: 1\n")
    tree = repository.tree(*(f"100644 blob {blob}\tf{i}.yaml" for i in range(10)))
    for _ in range(9):
        tree = repository.tree(*(f"040000 tree {tree}\td{i}" for i in range(10)))
    repository.git("update-ref", "HEAD", repository.commit_tree(tree))
    done = run(*LLMAZ, "diff", "HEAD..HEAD", at=repository.folder, megabytes=300, PYTHONPATH=str(ROOT))
    assert done.code == 2
    assert (
        f"this is too large to read: the list of its files has more than {git.MAX_LIST_BYTES:,} bytes [E785]"
        in done.err
    )
    assert done.seconds < 60  # without the bound it never ends


def test_files_that_are_too_large_are_not_loaded(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only as many zeros as it takes to refuse one, the same for all."""
    large = repository.blob("x" * (MAX_BYTES + 1))
    small = [repository.blob(text) for text in ("one", "", "two\n")]
    contents = git.contents(git.top(), [small[0], large, small[1], large, small[2], small[0]], MAX_BYTES)
    assert [contents[i] for i in (0, 2, 4, 5)] == [b"one", b"", b"two\n", b"one"]
    assert contents[1] is contents[3]
    assert contents[1] == bytes(MAX_BYTES + 1)


def test_files_that_are_too_much_together(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git, "MAX_CONTENT_BYTES", 1000)
    blobs = [repository.blob(f"{i}" * 250) for i in range(5)]
    assert len(git.contents(git.top(), blobs[:4])) == 4
    with pytest.raises(RenderError, match=r"its files have more than 1,000 bytes \[E785\]"):
        git.contents(git.top(), blobs)


# --- Odd names


def test_names_that_git_would_never_check_out_are_left_alone(repository: Repository) -> None:
    blob = repository.blob(PLAYGROUND)
    inner = repository.tree(f"100644 blob {blob}\tchat.yaml")
    names = ("..", ".", ".git", ".GIT")
    tree = repository.tree(
        f"100644 blob {blob}\tchat.yaml", *(f"040000 tree {inner}\t{name}" for name in (*names, "ok"))
    )
    file_system = CommitTree(git.top(), repository.commit_tree(tree))
    assert [*file_system.entries] == ["chat.yaml", "ok/chat.yaml"]
    assert [file.key for file in load.scope(RenderOptions(file_system=file_system)).tree.files] == [
        "chat.yaml",
        "ok/chat.yaml",
    ]


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_names_that_no_command_line_holds(name: str, repository: Repository) -> None:
    with pytest.raises(RenderError, match="E780"):
        git.commit(git.top(), name)


def test_whatever_git_says(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However much of it there is, on whichever pipe: nobody waits for ever, and nobody keeps it."""
    repository.commit({"a": "1"})
    (tmp_path / "bin").mkdir()
    chatty = "import sys; print('fatal: so be it', 'x' * 5000000, sep='\\n', file=sys.stderr); sys.exit(128)"
    (tmp_path / "bin" / "git").write_text(f'#!/bin/sh\nexec {sys.executable} -c "{chatty}"\n')
    (tmp_path / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(RenderError, match=r"so be it \[E781\]"):
        git.files(git.top(), "HEAD")
    with pytest.raises(RenderError, match=r"so be it \[E781\]"):
        git.contents(git.top(), [f"{i:040}" for i in range(20_000)])
