"""What the action compares with what, and the inputs and environments that say so."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from scripts.action import run as action
from tests.action.github import ROOT, Act, Hub, Repository, says
from tests.inputs import CONFIG

# --- The comparison


def test_the_merge_base_is_the_base(act: Act, repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """What others merged into main meanwhile is none of this change's."""
    start = repository.base
    repository.git("switch", "--quiet", "--create", "topic")
    repository.change("8192", "4096")
    repository.llmaz("render")
    head = repository.commit("ours")
    repository.git("switch", "--quiet", "main")
    (repository.folder / "notes.txt").write_text("theirs")
    repository.base = repository.commit("theirs")
    repository.git("switch", "--quiet", "topic")
    says(monkeypatch, "<!-- llmaz -->\nnew\n")
    ran = act()
    assert ran.code == 0
    assert f"<sub>{head} against {start}</sub>" in ran.summary


def test_a_clone_without_the_base(act: Act, hub: Hub, repository: Repository, tmp_path: Path) -> None:
    """The comment says so too, in place of what it said before."""
    hub.add("<!-- llmaz -->\nold")
    repository.change("8192", "4096")
    repository.llmaz("render")
    repository.commit("ours")
    shallow = tmp_path / "shallow"
    repository.git("clone", "--quiet", "--depth", "1", f"file://{repository.folder}", str(shallow))
    ran = act(GITHUB_WORKSPACE=str(shallow))
    assert ran.code == 2
    assert "fetch-depth: 0" in ran.annotations[-1][2]
    assert repository.base in ran.annotations[-1][2]
    assert ran.summary.startswith(f"### llmaz: not compared\n\n```text\n{repository.base} is not in this clone")
    assert "fetch-depth: 0" in ran.summary
    assert hub.comments[0]["body"] == f"<!-- llmaz -->\n{ran.summary}"
    assert (ran.outputs["changed"], ran.outputs["gpus-before"]) == ("", "")


def test_a_clone_without_the_commits_between(act: Act, repository: Repository, tmp_path: Path) -> None:
    """Both ends are there, but not where they parted."""
    repository.git("switch", "--quiet", "--create", "topic")
    (repository.folder / "a.txt").write_text("ours")
    repository.commit("ours")
    repository.git("switch", "--quiet", "main")
    (repository.folder / "b.txt").write_text("theirs")
    repository.base = repository.commit("theirs")
    repository.git("switch", "--quiet", "topic")
    shallow = tmp_path / "shallow"
    source = f"file://{repository.folder}"
    repository.git("clone", "--quiet", "--depth", "1", "--no-single-branch", "--branch", "topic", source, str(shallow))
    ran = act(GITHUB_WORKSPACE=str(shallow))
    assert ran.code == 2
    assert "fetch-depth: 0" in ran.annotations[-1][2]


def test_no_repository_at_all(act: Act, repository: Repository, tmp_path: Path) -> None:
    folder = tmp_path / "unpacked"
    shutil.copytree(repository.folder, folder, ignore=shutil.ignore_patterns(".git"))
    ran = act(GITHUB_WORKSPACE=str(folder))
    assert ran.code == 2
    assert "nothing to compare with: git says: not a git repository" in ran.annotations[-1][2]


def test_a_base_by_name(act: Act, repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A runner's clone knows branches as origin's only."""
    repository.git("switch", "--quiet", "--create", "topic")
    clone = tmp_path / "clone"
    repository.git("clone", "--quiet", str(repository.folder), str(clone))
    says(monkeypatch, "<!-- llmaz -->\nnew\n")
    assert act(GITHUB_WORKSPACE=str(clone), INPUT_BASE="main").outputs["changed"] == "true"
    wrong = act(GITHUB_WORKSPACE=str(clone), INPUT_BASE="nowhere")
    assert wrong.code == 2
    assert "nowhere is not in this clone" in wrong.log


@pytest.mark.parametrize(
    ("name", "event", "compared"),
    [
        ("push", {"before": "BASE"}, "true"),
        ("push", {"before": "0" * 40}, ""),  # a new branch
        ("push", {"before": "1" * 40}, ""),  # forced over
        ("merge_group", {"merge_group": {"base_sha": "BASE", "head_sha": "HEAD"}}, "true"),
        ("workflow_dispatch", {"inputs": {}}, ""),
        ("schedule", {}, ""),
    ],
)
def test_other_events(
    name: str,
    event: dict[str, Any],
    compared: str,
    act: Act,
    hub: Hub,
    repository: Repository,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    says(monkeypatch, "<!-- llmaz -->\nnew\n")
    text = json.dumps(event).replace("BASE", repository.base).replace("HEAD", repository.git("rev-parse", "HEAD"))
    ran = act(name=name, event=json.loads(text))
    assert (ran.code, ran.outputs["changed"], hub.requests) == (0, compared, [])


@pytest.mark.parametrize("code", [2, 3])
def test_a_diff_that_fails(code: int, act: Act, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    says(monkeypatch, "", code=code, err="git is broken\n")
    ran = act()
    assert ran.code == code
    assert ran.annotations == [("error", {"title": "llmaz"}, "llmaz diff: git is broken")]
    assert "git is broken" in hub.comments[0]["body"]
    assert ran.outputs["changed"] == ""


def test_the_true_diff(act: Act, hub: Hub, repository: Repository) -> None:
    """All of it with the real program: one comment for three pushes, and the accelerators as outputs."""
    for name in ("model.yaml", "playground.yaml"):
        shutil.copy(ROOT / "examples" / "vllm-gpu" / name, repository.folder)
    repository.llmaz("render")
    repository.base = repository.commit("two apps")
    repository.change("replicas: 2", "replicas: 3", "playground.yaml")
    repository.llmaz("render")
    repository.commit("one replica more")
    ran = act()
    assert (ran.code, ran.annotations, ran.outputs["changed"]) == (0, [], "true")
    assert json.loads(ran.outputs["gpus-before"]) == {
        "nvidia.com/gpu (gpu.product=NVIDIA-L4 or gpu.product=NVIDIA-L40S)": 2
    }
    assert json.loads(ran.outputs["gpus-after"]) == {
        "nvidia.com/gpu (gpu.product=NVIDIA-L4 or gpu.product=NVIDIA-L40S)": 3
    }
    body = hub.comments[0]["body"]
    assert body.startswith("<!-- llmaz -->\n### llmaz: no risks found · 1 model changed")
    assert "-  replicas: 2\n+  replicas: 3\n" in body
    assert body.endswith(f"<sub>{repository.git('rev-parse', 'HEAD')} against {repository.base}</sub>\n")
    repository.change("replicas: 3", "replicas: 3.5", "playground.yaml")
    repository.commit("wrong")
    assert act().code == 2
    assert "playground.yaml:" in hub.comments[0]["body"]
    repository.change("replicas: 3.5", "replicas: 2", "playground.yaml")
    repository.llmaz("render")
    repository.commit("back again")
    ran = act()
    assert (ran.code, ran.outputs["changed"]) == (0, "false")
    assert json.loads(ran.outputs["gpus-before"]) == {}
    assert len(hub.comments) == 1
    assert "replicas" not in hub.comments[0]["body"]


# --- Inputs


@pytest.mark.parametrize(
    ("variables", "text"),
    [
        ({"INPUT_COMMENT": "ja"}, "comment: 'ja' is neither true nor false"),
        ({"INPUT_STRICT": "1"}, "strict: '1' is neither true nor false"),
        ({"INPUT_PATHS": "'open"}, "paths: No closing quotation"),
        ({"INPUT_WORKING_DIRECTORY": "nowhere"}, "working-directory: 'nowhere' is not a folder"),
        ({"INPUT_WORKING_DIRECTORY": "../.."}, "working-directory: '../..' lies outside of the workspace"),
        ({"INPUT_WORKING_DIRECTORY": "/"}, "working-directory: '/' lies outside of the workspace"),
        ({"GITHUB_EVENT_PATH": "nowhere.json"}, "GITHUB_EVENT_PATH: 'nowhere.json' cannot be read: "),
        ({"INPUT_BASE": "main..topic"}, "base: 'main..topic' is not a commit"),
        ({"INPUT_BASE": "--upload-pack=x"}, "base: '--upload-pack=x' is not a commit"),
        ({"INPUT_ENVIRONMENT": "--all"}, "environment: '--all' is not a name"),
        ({"INPUT_ENVIRONMENT": "a b"}, "environment: 'a b' is not a name"),
        ({"GITHUB_EVENT_NAME": "pull_request_target"}, "does not run under pull_request_target"),
        ({"GITHUB_API_URL": "file:///etc/passwd"}, "GITHUB_API_URL: 'file:///etc/passwd' is not an address"),
    ],
)
def test_wrong_inputs(
    variables: dict[str, str], text: str, act: Act, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    says(monkeypatch, "<!-- llmaz -->\nnew\n")
    ran = act(**variables)
    assert ran.code == 2
    assert text in ran.annotations[-1][2]
    assert hub.requests == []


def test_environments(act: Act, hub: Hub, repository: Repository) -> None:
    """With the real program: one comment each; an environment that is new counts as added."""
    config = f"{CONFIG}\n  environments:\n    dev: {{}}\n    prod:\n      playgrounds:\n        chat: {{replicas: 3}}\n"
    (repository.folder / "llmaz.yaml").write_text(config.partition("    prod:")[0])
    repository.llmaz("render")
    repository.base = repository.commit("dev")
    (repository.folder / "llmaz.yaml").write_text(config)
    repository.llmaz("render")
    repository.commit("prod")
    dev, prod = act(INPUT_ENVIRONMENT="dev"), act(INPUT_ENVIRONMENT="prod")
    assert (dev.code, dev.outputs["changed"]) == (0, "false"), dev.log
    assert (prod.code, prod.outputs["changed"]) == (0, "true"), prod.log
    marks = [comment["body"].splitlines()[0] for comment in hub.comments]
    assert marks == ["<!-- llmaz:dev -->", "<!-- llmaz:prod -->"]
    guard = "**changes what is checked**: `llmaz.yaml`"
    assert all(guard in comment["body"] for comment in hub.comments)
    assert ["+  replicas: 3\n" in comment["body"] for comment in hub.comments] == [False, True]
    repository.change("replicas: 3", "replicas: 2", "llmaz.yaml")
    repository.commit("forgot to render")
    assert [act(INPUT_ENVIRONMENT=name).code for name in ("dev", "prod")] == [0, 1]
    assert act().code == 1
    assert len(hub.comments) == 3  # of all of them together


def configure(repository: Repository, environments: str, message: str) -> str:
    """A commit with these environments."""
    (repository.folder / "llmaz.yaml").write_text(f"{CONFIG}\n  environments:\n{environments}")
    repository.llmaz("render")
    return repository.commit(message)


def test_several_environments_have_a_section_each(act: Act, hub: Hub, repository: Repository) -> None:
    repository.base = configure(repository, "    dev: {}\n    old: {}\n    prod: {}\n", "three")
    chat = "      playgrounds:\n        chat: {replicas: 3}\n"
    configure(repository, f"    dev: {{}}\n    new: {{}}\n    prod:\n{chat}", "one is new, one is gone, one changes")
    ran = act()
    assert (ran.code, ran.annotations, ran.outputs["changed"]) == (0, [], "true"), ran.log
    (comment,) = hub.comments
    assert comment["body"] == f"<!-- llmaz -->\n{ran.summary}"
    assert re.findall("^### llmaz `(.*)`: (.*)$", ran.summary, re.MULTILINE) == [
        ("dev", "1 risk · no object changes"),
        ("new", "1 risk · 1 model added · 6 objects added"),
        ("prod", "1 risk · 1 model changed · 1 object added, 1 changed"),
        ("old", "3 risks · 1 model removed · 6 objects removed"),
    ]
    assert ran.summary.count("+  replicas: 3\n") == 1
    assert ran.summary.count("<!--") == 0
    assert json.loads(ran.outputs["gpus-after"]) == {"dev": {}, "new": {}, "prod": {}, "old": {}}
    repository.base = repository.git("rev-parse", "HEAD")
    assert (act().code, act().outputs["changed"], len(hub.comments)) == (0, "false", 1)


def test_several_environments_share_a_comment(
    act: Act, hub: Hub, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None is cut away by another one."""
    repository.base = configure(repository, "    dev: {}\n    prod: {}\n    staging: {}\n", "three")
    says(monkeypatch, "<!-- llmaz:x -->\n### a head\n" + f"{'x' * 99}\n" * 500, gpus=[])
    ran = act()
    assert ran.code == 0, ran.log
    body = hub.comments[0]["body"]
    assert 60_000 < action.units(body) <= 65_536
    assert (body.count("### a head"), body.count("… cut")) == (3, 3)
    assert ran.summary.count("x" * 99) == 1500
    assert [*map(len, action.shared(["a" * 10, "b\n" * 5000, "c" * 10], 5000))][::2] == [10, 10]


def test_an_environment_that_cannot_be_compared(
    act: Act, hub: Hub, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.base = configure(repository, "    dev: {}\n    prod: {}\n", "two")
    says(monkeypatch, "", code=3, err="git is broken\n")
    ran = act()
    assert (ran.code, ran.outputs["changed"], ran.outputs["gpus-after"]) == (3, "", "")
    assert [text for _, _, text in ran.annotations] == [
        f"llmaz diff --env {name}: git is broken" for name in ("dev", "prod")
    ]
    assert re.findall("^### llmaz `(.*)`: not compared$", hub.comments[0]["body"], re.MULTILINE) == ["dev", "prod"]


def test_one_environment_has_one_comment_whatever_comes_out(act: Act, hub: Hub, repository: Repository) -> None:
    """Good, wrong, not compared, good: the mark is the same."""
    repository.base = configure(repository, "    prod: {}\n", "one")
    repository.change("8192", "4096")
    repository.llmaz("render")
    repository.commit("shorter")
    outcomes = []
    for variables, wrong in (({}, False), ({}, True), ({"INPUT_BASE": "nowhere"}, False), ({}, False)):
        file = repository.folder / "chat.yaml"
        good = file.read_text("utf-8")
        file.write_text(good.replace("backendName: llamacpp", "backendName: llamacp") if wrong else good, "utf-8")
        ran = act(**variables)
        file.write_text(good, "utf-8")
        (comment,) = hub.comments
        outcomes.append((ran.code, *comment["body"].splitlines()[:2]))
    assert outcomes == [
        (0, "<!-- llmaz -->", "### llmaz `prod`: 1 risk · 1 model changed · 1 object changed"),
        (2, "<!-- llmaz -->", "### llmaz: 1 error"),
        (2, "<!-- llmaz -->", "### llmaz: not compared"),
        (0, "<!-- llmaz -->", "### llmaz `prod`: 1 risk · 1 model changed · 1 object changed"),
    ]


def test_an_environment_that_is_not_there(act: Act, hub: Hub) -> None:
    ran = act(INPUT_ENVIRONMENT="nowhere")
    assert ran.code == 2
    assert "there is no environment 'nowhere'" in ran.log
    assert hub.comments[0]["body"].startswith("<!-- llmaz:nowhere -->\n")
