"""A commit is rendered as the folder that it was: the same files, problems and bytes, without a checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from renderer import load, pipeline
from renderer.api import RenderOptions
from renderer.diagnostics import RenderError
from renderer.source import git
from renderer.source.commit import commit_tree
from renderer.source.memory import memory_tree
from tests.inputs import gpu_model
from tests.paths import TESTS

CASES = sorted(path for path in (TESTS / "cases").iterdir() if (path / "input").is_dir())
PLAYGROUND = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: chat}
spec: {modelClaim: {modelName: small}, backendRuntimeConfig: {backendName: vllm, args: [--max-model-len, "4096"]}}
"""
CONFIG = "apiVersion: renderer.llmaz.io/v1alpha1\nkind: RenderConfig\nmetadata: {name: c}\nspec: {ignore: [drafts]}\n"


def run(*words: str, at: Path) -> str:
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    command = ["git", "-c", "init.defaultBranch=main", "-C", str(at), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **who}).stdout.strip()


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository, as the current folder."""
    place = tmp_path / "repo"
    place.mkdir()
    run("init", "-q", at=place)
    monkeypatch.chdir(place)
    return place


def committed(repo: Path) -> str:
    run("add", "-A", at=repo)
    run("commit", "-q", "--allow-empty", "-m", "x", at=repo)
    return run("rev-parse", "HEAD", at=repo)


def emptied(repo: Path) -> None:
    """The work tree is gone, git's objects are there."""
    for path in repo.iterdir():
        if path.name != ".git":
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def seen(options: RenderOptions) -> Any:
    """All that a run brings to light."""
    try:
        done = pipeline.render(replace(options, texts=True))
    except RenderError as error:
        return list(error.problems)
    return done.problems, sorted(done.texts), done.objects, done.inputs.foreign


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_commit_is_rendered_as_its_folder(case: Path, repo: Path) -> None:
    shutil.copytree(case / "input", repo, dirs_exist_ok=True)
    on_disk = seen(RenderOptions())
    commit = committed(repo)
    emptied(repo)
    assert seen(RenderOptions(file_system=commit_tree(git.top(), commit))) == on_disk


def fill(repo: Path, *names: str) -> None:
    for number, name in enumerate(names):
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(gpu_model(f"m{number}") if path.suffix in (".yaml", ".yml", ".json") else "x\n")


FILES = (
    "a.yaml",
    "b.yml",
    "c.json",
    "d.txt",
    "kustomization.yaml",
    "models/e.yaml",
    "models/.hidden/f.yaml",
    "models/node_modules/g.yaml",
    "venv/lib/python3.13/site-packages/g.yaml",
    "chart/Chart.yaml",
    "chart/templates/h.yaml",
    "chartless/h.yaml",
    "rendered/i.yaml",
    "drafts/j.yaml",
    "drafts.yaml",
    "models/deep/er/k.yaml",
    ".l.yaml",
)


@pytest.mark.parametrize("paths", [(), (".",), ("models",), ("models/e.yaml", "chart"), ("models/deep", "a.yaml")])
@pytest.mark.parametrize("at", [".", "models"])
def test_the_same_files_are_input(paths: tuple[str, ...], at: str, repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(repo, *FILES)
    (repo / "llmaz.yaml").write_text(CONFIG)
    commit = committed(repo)
    monkeypatch.chdir(repo / at)
    named = tuple(os.path.relpath(repo / path) for path in paths)

    def list_inputs(options: RenderOptions) -> Any:
        tree = load.scope(options).tree
        return [
            [(os.path.realpath(file.path), file.name, file.key, file.read()) for file in files]
            for files in (tree.files, tree.other_files)
        ]

    on_disk = list_inputs(RenderOptions(paths=named))
    assert list_inputs(RenderOptions(paths=named, file_system=commit_tree(git.top(), commit))) == on_disk
    assert on_disk[0]


def test_a_path_that_the_commit_has_not(repo: Path) -> None:
    fill(repo, "a.yaml")
    commit = committed(repo)
    fill(repo, "later/b.yaml")
    (problem,) = seen(RenderOptions(paths=("later",), file_system=commit_tree(git.top(), commit)))
    assert problem.code == "E122"


def test_links_of_a_commit_are_left_aside(repo: Path) -> None:
    fill(repo, "a.yaml")
    (repo / "b.yaml").symlink_to("a.yaml")
    (repo / "out.yaml").symlink_to("/etc/hostname")
    file_system = commit_tree(git.top(), committed(repo))
    assert [file.key for file in load.scope(RenderOptions(file_system=file_system)).tree.files] == ["a.yaml"]


def test_links_of_the_disk_lead_no_reader_of_a_commit(repo: Path) -> None:
    """A later commit that puts a link in the place of a folder does not change what the earlier one says."""
    for folder, text in (("a", "kind: Namespace\n"), ("b", "kind: Secret\n")):
        (repo / folder).mkdir()
        (repo / folder / "x.yaml").write_text(text, "utf-8")
    file_system = commit_tree(git.top(), committed(repo))
    shutil.rmtree(repo / "a")
    (repo / "a").symlink_to("b")
    assert file_system.read("a/x.yaml", ".") == b"kind: Namespace\n"


def test_lists_of_options_beside_a_backend_are_those_of_the_commit(repo: Path) -> None:
    """A repository's own list wins over ours, in its own revision."""
    backends = Path(load.PRESETS, "backends")
    shutil.copy(backends / "vllm.yaml", repo)
    shutil.copytree(backends / "flags", repo / "flags")
    (repo / "apps.yaml").write_text(f"{gpu_model('small')}---\n{PLAYGROUND}")
    on_disk = seen(RenderOptions())
    assert on_disk[0] == []
    commit = committed(repo)
    (repo / "flags" / "vllm.txt").write_text("versions 0.33.0\n--nothing 0\n")
    assert seen(RenderOptions()) != on_disk
    assert seen(RenderOptions(file_system=commit_tree(git.top(), commit))) == on_disk


def test_files_that_somebody_hands_over(repo: Path) -> None:
    fill(repo, "a.yaml", "models/b.yaml")
    on_disk = seen(RenderOptions())
    files = {path.relative_to(repo).as_posix(): path.read_bytes() for path in repo.rglob("*.yaml")}
    emptied(repo)
    assert seen(RenderOptions(file_system=memory_tree(str(repo), files))) == on_disk


# --- git


def test_names_of_commits(repo: Path) -> None:
    fill(repo, "a.yaml")
    first = committed(repo)
    run("tag", "-a", "-m", "t", "v1", at=repo)
    second = committed(repo)
    top = git.top()
    assert [git.commit(top, name) for name in ("HEAD", "HEAD~1", "v1", "main", first[:9])] == [
        second,
        first,
        first,
        second,
        first,
    ]
    assert git.merge_base(top, "v1", "main") == first


@pytest.mark.parametrize("name", ["nope", "HEAD~9", "--all", "-x", "", "a b", "HEAD:a.yaml", "@{9}"])
def test_a_name_of_no_commit(name: str, repo: Path) -> None:
    committed(repo)
    with pytest.raises(RenderError) as raised:
        git.commit(git.top(), name)
    (problem,) = raised.value.problems
    assert problem.code == "E782"
    assert "git log" in problem.hint


def test_a_name_that_only_the_remote_has(repo: Path, tmp_path: Path) -> None:
    committed(repo)
    run("branch", "feature/wider", at=repo)
    run("clone", "-q", str(repo), "clone", at=tmp_path)
    for name, branch in (("feature/wider", "origin/feature/wider"), ("mian", "main")):
        with pytest.raises(RenderError) as raised:
            git.commit(str(tmp_path / "clone"), name)
        assert raised.value.problems[0].hint == f"did you mean '{branch}'?"


def test_a_repository_without_commits(repo: Path) -> None:
    with pytest.raises(RenderError) as raised:
        git.commit(git.top(), "HEAD")
    (problem,) = raised.value.problems
    assert (problem.code, problem.hint.partition(":")[0]) == ("E782", "nothing is committed yet")


def test_a_shallow_clone_says_so(repo: Path, tmp_path: Path) -> None:
    committed(repo)
    committed(repo)
    run("clone", "-q", "--depth=1", f"file://{repo}", "shallow", at=tmp_path)
    with pytest.raises(RenderError) as raised:
        git.commit(str(tmp_path / "shallow"), "HEAD~1")
    assert "fetch-depth: 0" in raised.value.problems[0].hint


def test_commits_without_a_common_one(repo: Path) -> None:
    committed(repo)
    run("checkout", "-q", "--orphan", "other", at=repo)
    fill(repo, "a.yaml")
    committed(repo)
    with pytest.raises(RenderError) as raised:
        git.merge_base(git.top(), "main", "other")
    assert raised.value.problems[0].code == "E783"


def test_outside_of_a_repository(tmp_path: Path) -> None:
    with pytest.raises(RenderError) as raised:
        git.top(str(tmp_path))
    (problem,) = raised.value.problems
    assert problem.code == "E781"
    assert "not a git repository" in problem.message


def test_without_git(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(RenderError) as raised:
        git.commit(git.top(), "HEAD")
    assert raised.value.problems[0].code == "E780"


def test_odd_names_of_files(repo: Path) -> None:
    names = ["ä b.yaml", "quote'.yaml", 'double".yaml', "tab\t.yaml"]
    fill(repo, *names)
    commit, top = committed(repo), git.top()
    entries = git.files(top, commit)
    assert sorted(entry.path for entry in entries) == sorted(names)
    assert [data.decode() for data in git.contents(top, [entry.blob for entry in entries])] == [
        (repo / entry.path).read_text() for entry in entries
    ]
    on_disk = load.scope(RenderOptions()).tree
    in_commit = load.scope(RenderOptions(file_system=commit_tree(top, commit))).tree
    assert (in_commit.unprintable_names, [file.key for file in in_commit.files]) == (
        on_disk.unprintable_names,
        [file.key for file in on_disk.files],
    )


@pytest.mark.parametrize("names", ["sha1", "sha256"])
def test_git_is_not_asked_for_what_is_at_hand(names: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / names
    run("init", "-q", f"--object-format={names}", str(place), at=tmp_path)
    texts = {"a": b"one\n", "b": b"", "c": b"two\r\n", "d": b"one\n"}
    for name, text in texts.items():
        (place / name).write_bytes(text)
    file_system = commit_tree(str(place), committed(place))
    read_blobs: list[str] = []
    ask = git.contents

    def noted(top: str, blobs: list[str], largest: int) -> list[bytes]:
        read_blobs.extend(blobs)
        return ask(top, blobs, largest)

    monkeypatch.setattr(git, "contents", noted)
    file_system.keep_known([b"", b"two\n", b"one\n", b"else"])
    assert [file_system.read(str(place / name), str(place)) for name in texts] == [*texts.values()]
    assert read_blobs == [file_system.entries["c"].blob]


def test_a_blob_that_the_clone_has_not(repo: Path) -> None:
    with pytest.raises(RenderError) as raised:
        git.contents(git.top(), ["0" * 40])
    assert raised.value.problems[0].code == "E781"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://github.com/a/b.git", "https://github.com/a/b.git"),
        ("https://user:secret@github.com/a/b.git", "https://github.com/a/b.git"),
        ("git@github.com:a/b.git", "git@github.com:a/b.git"),
        ("ssh://git@host/a/b", "ssh://git@host/a/b"),
    ],
)
def test_the_remote_without_what_is_secret(url: str, expected: str, repo: Path) -> None:
    assert git.remote(git.top()) == ""
    run("remote", "add", "origin", url, at=repo)
    assert git.remote(git.top()) == expected


def test_dirty_work_trees_are_left_as_they_are(repo: Path) -> None:
    fill(repo, "a.yaml")
    commit = committed(repo)
    fill(repo, "a.yaml", "b.yaml")
    (repo / "a.yaml").write_text("broken: [")
    before = run("status", "--porcelain", at=repo)
    problems, *_ = seen(RenderOptions(file_system=commit_tree(git.top(), commit)))
    assert problems == []
    assert run("status", "--porcelain", at=repo) == before
