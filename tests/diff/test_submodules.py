"""Submodules: git keeps the name of a commit, and no files that a diff could read (docs/diff.md#submodules)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.diff.repository import CHAT, CONFIG, MAILS, MODEL, Repository

if TYPE_CHECKING:
    from tests.conftest import Llmaz, Outcome

ONE, OTHER = "1" * 40, "2" * 40  # commits of other repositories
SIDES = ["commit", "work tree"]
BELOW = "    hint: take it out with git rm --cached, or name it under output.foreign of RenderConfig\n"
AROUND = "    hint: take it out with git rm --cached, or render to a folder of this repository, with -o or output.dir\n"


def error(path: str) -> str:
    return f"{path}: a submodule, whose files llmaz does not read, and Argo CD or Flux would sync it [E129]\n"


@pytest.fixture
def rendered(repository: Repository, llmaz: Llmaz) -> Repository:
    """A repository whose rendered files are committed."""
    assert llmaz("render").code == 0
    repository.commit("rendered")
    return repository


def stage(repository: Repository, path: str, commit: str = ONE) -> None:
    """A submodule, as git add would put it into the index, without a folder and without .gitmodules."""
    repository.git("update-index", "--add", "--replace", "--cacheinfo", f"160000,{commit},{path}")


def commit_index(repository: Repository) -> None:
    """The index as a commit, whatever lies on disk."""
    repository.git("commit", "--quiet", "--allow-empty", "--message", "index")


def compare(repository: Repository, llmaz: Llmaz, side: str, *words: str) -> Outcome:
    """What the diff says of the index, against the last commit."""
    if side == "work tree":
        return llmaz("diff", *words)
    commit_index(repository)
    return llmaz("diff", "HEAD~1...HEAD", *words)


def told(done: Outcome) -> tuple[list[tuple[str, str, str]], list[str]]:
    """The kind, name and message of each guard risk, and the notes."""
    assert done.code == 0, done.err
    data: dict[str, Any] = json.loads(done.out)
    risks = [(risk["object"]["kind"], risk["object"]["name"], risk["message"]) for risk in data["risks"]]
    assert {risk["risk"] for risk in data["risks"]} <= {"guard"}
    return risks, data["notes"]


def moved(before: str, after: str) -> str:
    return f"submodule: {before} → {after}; its files are not read from commits"


# --- in and above the output folder -----------------------------------------------------------------------------------


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("path", ["rendered/evil", "rendered/llm/evil.yaml", "rendered/llm/a/b", "rendered/.evil"])
def test_a_submodule_in_the_output_folder(path: str, side: str, rendered: Repository, llmaz: Llmaz) -> None:
    stage(rendered, path)
    done = compare(rendered, llmaz, side)
    assert (done.code, done.err.startswith(error(path) + BELOW)) == (2, True), done.err
    assert f"{path}: changes what is checked: {moved('none', ONE)}\n" in done.err
    check = llmaz("render", "--check")
    assert (check.code, check.err) == (2, f"{error(path)}{BELOW}1 error\n")


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("place", ["gitops", "gitops/out"])
def test_a_submodule_above_the_output_folder_and_in_its_place(
    place: str, side: str, repository: Repository, llmaz: Llmaz
) -> None:
    repository.write(llmaz=f'{CONFIG}  output: {{dir: gitops/out, foreign: ["**"]}}\n')
    assert llmaz("render").code == 0
    repository.commit("rendered")
    repository.git("rm", "-r", "--quiet", "--cached", place)
    stage(repository, place)
    done, check = compare(repository, llmaz, side), llmaz("render", "--check")
    assert (done.code, done.err.startswith(error(place) + AROUND)) == (2, True), done.err
    assert (check.code, check.err) == (2, f"{error(place)}{AROUND}1 error\n")


@pytest.mark.parametrize("side", SIDES)
def test_a_submodule_that_was_there_before_is_still_one(side: str, rendered: Repository, llmaz: Llmaz) -> None:
    stage(rendered, "rendered/evil")
    commit_index(rendered)
    done = compare(rendered, llmaz, side)
    assert (done.code, done.err) == (2, f"{error('rendered/evil')}{BELOW}1 error\n")


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("patterns", ['"evil"', '"evil/**"', '"**"', '"e*"', '"evil/*"'])
def test_what_output_foreign_allows_as_a_whole(patterns: str, side: str, repository: Repository, llmaz: Llmaz) -> None:
    repository.write(llmaz=f"{CONFIG}  output: {{foreign: [{patterns}]}}\n")
    assert llmaz("render").code == 0
    repository.commit("rendered")
    stage(repository, "rendered/evil")
    assert told(compare(repository, llmaz, side, "--format", "json")) == (
        [("Submodule", "rendered/evil", moved("none", ONE))],
        [],
    )
    assert llmaz("render", "--check").code == 0


@pytest.mark.parametrize(
    "patterns", ['"*.md"', '"evil/x"', '"evil/*.yaml"', '"evil/?"', '"**/x.yaml"', '"rendered/**"']
)
def test_a_pattern_of_some_files_allows_no_submodule(patterns: str, repository: Repository, llmaz: Llmaz) -> None:
    repository.write(llmaz=f"{CONFIG}  output: {{foreign: [{patterns}]}}\n")
    assert llmaz("render").code == 0
    repository.commit("rendered")
    stage(repository, "rendered/evil")
    assert error("rendered/evil") in compare(repository, llmaz, "commit").err
    assert error("rendered/evil") in llmaz("render", "--check").err


@pytest.mark.parametrize("side", SIDES)
def test_a_change_allows_itself_no_submodule(side: str, rendered: Repository, llmaz: Llmaz) -> None:
    rendered.write(llmaz=f'{CONFIG}  output: {{foreign: ["evil"]}}\n')
    rendered.git("add", "--all")
    stage(rendered, "rendered/evil")
    assert llmaz("render", "--check").code == 0  # by its own settings
    done = compare(rendered, llmaz, side)
    assert (done.code, done.err.splitlines()[0]) == (
        2,
        "rendered/evil: not written by llmaz, and the settings of the base do not allow it [E863]",
    )


@pytest.mark.parametrize(
    ("path", "codes"),
    [
        ("rendered/dev", (2, 0, 2)),
        ("rendered/dev/evil", (2, 0, 2)),
        ("rendered/prod", (0, 2, 2)),
        ("rendered/other", (2, 2, 2)),
        ("rendered/prod/allowed", (0, 0, 0)),
        ("rendered/dev/allowed", (2, 0, 2)),
        ("rendered/allowed", (0, 0, 0)),
    ],
)
def test_each_environment_has_its_own(
    path: str, codes: tuple[int, int, int], repository: Repository, llmaz: Llmaz
) -> None:
    prod = 'prod: {config: {output: {foreign: ["prod/allowed", allowed]}}}'
    config = f"{CONFIG}  output: {{foreign: [allowed]}}\n  environments:\n    dev: {{}}\n    {prod}\n"
    repository.write(llmaz=config)
    assert llmaz("render").code == 0
    repository.commit("rendered")
    stage(repository, path)
    diffs = [llmaz("diff", "--env", name) for name in ("dev", "prod")]
    checks = [llmaz("render", "--check", "--env", name) for name in ("dev", "prod")]
    whole = llmaz("render", "--check")
    assert (*(done.code for done in diffs), whole.code) == codes, [done.err for done in (*diffs, whole)]
    inside = (path + "/").startswith(("rendered/dev/", "rendered/prod/"))  # a check of one sees its folder alone
    assert tuple(done.code for done in checks) == (codes[:2] if inside else (0, 0))


def test_the_old_output_folder(rendered: Repository, llmaz: Llmaz) -> None:
    """What synced it may sync it still."""
    rendered.write(llmaz=f"{CONFIG}  output: {{dir: out}}\n")
    rendered.git("rm", "-r", "--quiet", "rendered")
    assert llmaz("render").code == 0
    rendered.git("add", "--all")
    stage(rendered, "rendered")
    done = compare(rendered, llmaz, "commit")
    assert (done.code, done.err.startswith(error("rendered") + AROUND)) == (2, True), done.err
    assert llmaz("render", "--check").code == 0  # which knows one tree
    assert llmaz("diff", "HEAD...HEAD").code == 0  # no longer of this change


def test_the_folder_of_llmaz_yaml_becomes_one(
    repository: Repository, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = repository.folder / "team"
    team.mkdir()
    for name in ("llmaz", "models", "chat", "mails"):
        (repository.folder / f"{name}.yaml").rename(team / f"{name}.yaml")
    monkeypatch.chdir(team)
    assert llmaz("render").code == 0
    repository.commit("rendered")
    repository.git("rm", "-r", "--quiet", "--cached", "team")
    stage(repository, "team")
    done = compare(repository, llmaz, "commit")
    assert (done.code, error(".") in done.err) == (2, True), done.err
    assert llmaz("render", "--check").err.startswith(error("."))


@pytest.mark.parametrize("at", [".", "models", "deep/er"])
def test_from_another_folder(at: str, rendered: Repository, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    stage(rendered, "rendered/evil")
    stage(rendered, "lib")
    (rendered.folder / at).mkdir(exist_ok=True, parents=True)
    monkeypatch.chdir(rendered.folder / at)
    name = os.path.relpath(rendered.folder / "rendered" / "evil")
    assert llmaz("render", "--check").err == f"{error(name)}{BELOW}1 error\n"
    done = llmaz("diff")
    assert done.err.startswith(error(name))
    assert f"{os.path.relpath(rendered.folder / 'lib')}: changes what is checked: " in done.err


# --- charts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("path", ["chart/charts/evil", "chart/templates/evil", "chart/evil"])
def test_a_submodule_in_a_chart_of_ours(path: str, side: str, repository: Repository, llmaz: Llmaz) -> None:
    assert llmaz("render", "--to", "helm").code == 0
    repository.commit("chart")
    stage(repository, path)
    done, check = compare(repository, llmaz, side), llmaz("render", "--to", "helm", "--check")
    assert (done.code, done.err.startswith(error(path) + BELOW)) == (2, True), done.err
    assert (check.code, check.err) == (2, f"{error(path)}{BELOW}1 error\n")


def test_a_submodule_in_place_of_a_chart_of_ours(repository: Repository, llmaz: Llmaz) -> None:
    assert llmaz("render", "--to", "helm").code == 0
    repository.commit("chart")
    repository.git("rm", "-r", "--quiet", "--cached", "chart")
    stage(repository, "chart")
    assert error("chart") + AROUND in compare(repository, llmaz, "commit").err
    assert error("chart") in llmaz("render", "--to", "helm", "--check").err


def test_the_chart_of_somebody_else_may_have_submodules(rendered: Repository, llmaz: Llmaz) -> None:
    (rendered.folder / "chart").mkdir()
    (rendered.folder / "chart" / "Chart.yaml").write_text("apiVersion: v2\nname: mine\nversion: 1.0.0\n")
    rendered.commit("a chart")
    stage(rendered, "chart/charts/library")
    risks, notes = told(compare(rendered, llmaz, "commit", "--format", "json"))
    assert (risks, notes) == ([("Submodule", "chart/charts/library", moved("none", ONE))], [])
    assert llmaz("render", "--check").code == 0


# --- elsewhere --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", SIDES)
def test_a_submodule_that_is_added_moved_or_removed(side: str, rendered: Repository, llmaz: Llmaz) -> None:
    stage(rendered, "models/lib")
    added = told(compare(rendered, llmaz, side, "--format", "json"))
    assert added == ([("Submodule", "models/lib", moved("none", ONE))], [])
    commit_index(rendered)
    assert told(compare(rendered, llmaz, side, "--format", "json")) == (
        [],
        ["files of submodules are not read from commits: models/lib"],
    )
    commit_index(rendered)
    stage(rendered, "models/lib", OTHER)
    assert told(compare(rendered, llmaz, side, "--format", "json"))[0] == [
        ("Submodule", "models/lib", moved(ONE, OTHER))
    ]
    commit_index(rendered)
    rendered.git("rm", "--quiet", "--cached", "models/lib")
    stage(rendered, "lib", OTHER)
    assert told(compare(rendered, llmaz, side, "--format", "json"))[0] == [
        ("Submodule", "lib", moved("none", OTHER)),
        ("Submodule", "models/lib", moved(OTHER, "none")),
    ]


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_the_reviewer_reads_of_it(form: str, rendered: Repository, llmaz: Llmaz) -> None:
    """With the names of both commits in full, since short ones can be made alike."""
    stage(rendered, "lib\n`<b>@all`")
    done = llmaz("diff", "--format", form)
    assert done.code == 0
    assert ("none → `" if form == "markdown" else "none → ") + ONE in done.out
    assert "lib\n" not in done.out
    assert "1 risk · no object changes" in done.out


def test_what_is_no_input_is_no_note(rendered: Repository, llmaz: Llmaz) -> None:
    rendered.write(llmaz=f"{CONFIG}  ignore: [docs/theme]\n")
    rendered.git("add", "--all")
    for path in ("docs/theme", ".github/actions/x", "node_modules/y", *(f"z{i:02}" for i in range(12))):
        stage(rendered, path)
    commit_index(rendered)
    names = ", ".join(f"z{i:02}" for i in range(10))
    notes = told(compare(rendered, llmaz, "commit", "--format", "json"))[1]
    assert notes == [f"files of submodules are not read from commits: {names} and 2 more"]


def test_a_submodule_outside_of_the_folder_of_llmaz_yaml(
    repository: Repository, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = repository.folder / "team"
    team.mkdir()
    for name, text in (("llmaz", CONFIG), ("models", MODEL), ("chat", CHAT), ("mails", MAILS)):
        (team / f"{name}.yaml").write_text(text)
    repository.commit("a team")
    stage(repository, "website")
    stage(repository, "teams")
    monkeypatch.chdir(team)
    assert told(compare(repository, llmaz, "commit", "--format", "json")) == ([], [])
    stage(repository, "team/lib")
    assert [name for _, name, _ in told(llmaz("diff", "--format", "json"))[0]] == ["lib"]


def test_the_files_of_a_submodule_on_disk_are_input(rendered: Repository, llmaz: Llmaz, tmp_path: Path) -> None:
    """As ever, of the work tree; its commits hold none of them, and the diff says so."""
    (tmp_path / "other").mkdir()
    other = Repository(tmp_path / "other")
    other.write(more=CHAT.replace("name: chat", "name: more").replace("spec:", "spec:\n  servedModelName: more"))
    other.commit("more")
    rendered.git("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(other.folder), "lib")
    rendered.commit("a submodule")
    shown = json.loads(llmaz("diff", "HEAD~1", "--format", "json").out)
    assert {"LeaderWorkerSet"} <= {change["kind"] for change in shown["objects"]}
    assert "LeaderWorkerSet" not in {
        change["kind"] for change in json.loads(llmaz("diff", "HEAD~1..", "--format", "json").out)["objects"]
    }
    assert "files of submodules are not read from commits: lib" in llmaz("diff").out


def test_a_submodule_and_a_file_of_one_name(rendered: Repository, llmaz: Llmaz) -> None:
    """No program of git makes such a tree, but somebody may push one."""

    def tree(*lines: str) -> str:
        text = "".join(f"{line}\n" for line in lines)
        done = subprocess.run(["git", "mktree", "--missing"], input=text, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def entries(name: str) -> list[str]:
        return rendered.git("ls-tree", name).splitlines()

    files = tree(*entries("HEAD:rendered/llm"), f"160000 commit {ONE}\tchat.yaml")
    folder = tree(f"040000 tree {files}\tllm")
    others = [line for line in entries("HEAD") if not line.endswith("\trendered")]
    head = rendered.git("commit-tree", "-m", "x", tree(*others, f"040000 tree {folder}\trendered")).strip()
    assert error("rendered/llm/chat.yaml") in llmaz("diff", f"HEAD..{head}").err
