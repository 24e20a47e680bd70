"""Committed charts: compared with their actions undone, and judged by what Helm would install of them."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from renderer.output import file_header
from tests.diff.repository import CONFIG, Repository

if TYPE_CHECKING:
    from tests.conftest import Llmaz, Outcome

EVIL = "kind: ClusterRoleBinding\napiVersion: rbac.authorization.k8s.io/v1\nmetadata: {name: evil}\n"
CHAT_TEMPLATE = "chart/templates/llm/chat.yaml"


@pytest.fixture
def chart(repository: Repository, llmaz: Llmaz) -> Repository:
    """A repository whose chart is committed, and no other rendered file."""
    assert llmaz("render", "--to", "helm").code == 0
    repository.commit("chart")
    return repository


def edit(repository: Repository, name: str, old: str, new: str) -> None:
    path = repository.folder / name
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def compared(done: Outcome) -> dict[str, Any]:
    assert done.code == 0, done.err
    diff: dict[str, Any] = json.loads(done.out)
    return diff


def later(repository: Repository, llmaz: Llmaz, *words: str) -> Outcome:
    """What the diff says of the last commit, which holds all that there is now."""
    repository.commit("later")
    return llmaz("diff", "HEAD~1...HEAD", *words)


def test_nothing_changes(chart: Repository, llmaz: Llmaz) -> None:
    done = compared(llmaz("diff", "--base", "rendered", "--format", "json"))
    assert (done["objects"], done["notes"], done["different"]) == ([], [], False)


def test_the_chart_is_the_base(chart: Repository, llmaz: Llmaz) -> None:
    """As rendered files are: somebody else's renderer wrote another image, and the values another number."""
    edit(chart, CHAT_TEMPLATE, "vllm-openai:v0.32.0", "vllm-openai:v0.31.0")
    edit(chart, "chart/values.yaml", "replicas: 2", "replicas: 5")
    chart.commit("by hand")
    done = llmaz("diff")
    assert "image: vllm/vllm-openai:v0.31.0 → vllm/vllm-openai:v0.32.0" in done.out
    assert "replicas: 5 → 2" in done.out
    assert llmaz("diff", "--base", "inputs").out == "no object changes\n"
    edit(chart, "chart/values.yaml", 'imageRegistry: ""', "imageRegistry: mirror.example")
    chart.commit("mirror")
    assert "image: mirror.example/vllm/vllm-openai:v0.31.0 → " in llmaz("diff").out


def test_in_place_of_rendered_files(repository: Repository, llmaz: Llmaz) -> None:
    assert llmaz("render", "--to", "helm", "-o", "rendered").code == 0
    repository.commit("chart")
    edit(repository, "chat.yaml", "replicas: 2", "replicas: 3")
    done = compared(llmaz("diff", "--format", "json"))
    assert [(model["name"], model["state"]) for model in done["models"]] == [("chat", "changed")]
    for name in ("evil.yaml", "templates/evil.txt"):
        (repository.folder / "rendered" / name).write_text(EVIL)
    done_wrong = later(repository, llmaz)
    assert done_wrong.code == 2
    for name in ("evil.yaml", "templates/evil.txt"):
        assert f"rendered/{name}: not written by llmaz" in done_wrong.err


def test_rendered_files_do_not_become_a_chart(repository: Repository, llmaz: Llmaz) -> None:
    """Argo CD takes a folder with a Chart.yaml for a chart, and syncs none of its other files."""
    assert llmaz("render").code == 0
    repository.commit("rendered")
    forged = file_header.header("llmaz.yaml")
    for name, text in (("Chart.yaml", "name: x\n"), ("values.yaml", EVIL), ("templates/x.yaml", EVIL)):
        path = repository.folder / "rendered" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(forged + text)
    done = later(repository, llmaz)
    assert done.code == 2
    for name in ("Chart.yaml", "values.yaml", "templates/x.yaml"):
        assert f"rendered/{name}: no input makes this file" in done.err


def test_rendered_files_come_first(chart: Repository, llmaz: Llmaz) -> None:
    assert llmaz("render").code == 0
    chart.commit("rendered")
    edit(chart, "chart/values.yaml", "replicas: 2", "replicas: 5")
    chart.commit("by hand")
    assert llmaz("diff").out == "no object changes\n"


def test_an_environment_has_a_chart_of_its_own(repository: Repository, llmaz: Llmaz) -> None:
    config = f"{CONFIG}  environments: {{dev: {{}}, prod: {{playgrounds: {{chat: {{replicas: 6}}}}}}}}\n"
    repository.write(llmaz=config)
    for name in ("dev", "prod"):
        assert llmaz("render", "--to", "helm", "--env", name).code == 0
    repository.commit("charts")
    edit(repository, "llmaz.yaml", "replicas: 6", "replicas: 7")
    assert "replicas: 6 → 7" in llmaz("diff", "--env", "prod").out
    assert llmaz("diff", "--env", "dev").out.endswith("dev: no object changes\n")
    repository.write(llmaz=f"{CONFIG}  environments: {{dev: {{}}}}\n")
    done = later(repository, llmaz, "--env", "dev")
    assert "chart/prod/templates/llm/chat.yaml: no input makes this file any more" in done.err


def test_what_cannot_be_undone_is_told(chart: Repository, llmaz: Llmaz) -> None:
    edit(chart, CHAT_TEMPLATE, "  name: chat\n", '  name: {{ lookup "v1" "Secret" "llm" "x" | quote }}\n')
    (chart.folder / "chart" / "templates" / "mine.txt").write_text(EVIL)
    chart.commit("by hand")
    edit(chart, "llmaz.yaml", "spec:", "spec:\n  output: {foreign: [templates/mine.txt]}")
    done = compared(llmaz("diff", "--format", "json"))
    assert done["notes"] == [
        f"{CHAT_TEMPLATE} is not compared: line 6 has an action that llmaz does not write",
        "chart/templates/mine.txt is not compared: llmaz did not write it",
    ]
    assert {(model["name"], model["state"]) for model in done["models"]} == {("chat", "added")}


# --- the later side ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["templates/x.tpl", "templates/_x.yaml", "crds/x.yaml", "charts/x.tgz"])
def test_files_that_helm_installs(name: str, chart: Repository, llmaz: Llmaz) -> None:
    path = chart.folder / "chart" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(EVIL)
    assert f"chart/{name}: not written by llmaz, and Argo CD" in llmaz("diff").err
    edit(chart, "llmaz.yaml", "spec:", f"spec:\n  output: {{foreign: [{name}]}}")
    done = later(chart, llmaz)
    assert (done.code, done.err.splitlines()[0]) == (
        2,
        f"chart/{name}: not written by llmaz, and the settings of the base do not allow it [E863]",
    )


def test_a_template_that_no_input_makes(chart: Repository, llmaz: Llmaz) -> None:
    (chart.folder / "chart" / "templates" / "llm" / "x.txt").write_text(file_header.header("chat.yaml") + EVIL)
    done = later(chart, llmaz)
    assert (done.code, "chart/templates/llm/x.txt: no input makes this file" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("name", "old", "new", "what"),
    [
        (CHAT_TEMPLATE, "  name: chat\n", "  name: evil\n", "LeaderWorkerSet llm/evil differs"),
        (CHAT_TEMPLATE, "  name: chat\n", "  name: {{ `x` | quote }}\n", "it has an action that llmaz does not write"),
        (CHAT_TEMPLATE, "v0.32.0", "v0.31.0", "LeaderWorkerSet llm/chat differs"),
        ("chart/values.yaml", "replicas: 2", "replicas: 9", "LeaderWorkerSet llm/chat differs"),
        ("chart/Chart.yaml", "type: application", "dependencies: []", "it has keys that llmaz does not write"),
        ("chart/Chart.yaml", "# Rendered by", "# Written by", "its first line is missing"),
    ],
)
def test_a_chart_that_is_changed_by_hand(
    name: str, old: str, new: str, what: str, chart: Repository, llmaz: Llmaz
) -> None:
    edit(chart, name, old, new)
    done = later(chart, llmaz)
    assert done.code == 2
    assert f"differs from what the input renders to: {what}" in done.err
    assert "[E865]" in done.err


def test_a_chart_that_is_written_again(chart: Repository, llmaz: Llmaz) -> None:
    edit(chart, "chat.yaml", "replicas: 2", "replicas: 3")
    (chart.folder / "mails.yaml").unlink()
    stale = compared(later(chart, llmaz, "--format", "json"))
    assert stale["notes"] == [
        f"{CHAT_TEMPLATE} differs from what the input renders to: run llmaz render --to helm",
        "no input makes chart/templates/llm/mails.yaml any more: llmaz render --to helm deletes it",
    ]
    assert llmaz("render", "--to", "helm").code == 0
    chart.commit("chart")
    done = compared(llmaz("diff", "HEAD~2...HEAD", "--format", "json"))
    assert done["notes"] == []
    assert {(model["name"], model["state"]) for model in done["models"]} == {("chat", "changed"), ("mails", "removed")}


def test_templates_that_helm_ignores(chart: Repository, llmaz: Llmaz) -> None:
    (chart.folder / "chart" / ".helmignore").write_text("llm/\n")
    done = later(chart, llmaz)
    assert (done.code, done.err.splitlines()[0]) == (
        2,
        "chart/.helmignore:1:1: 'llm/' hides templates/llm/chat.yaml from Helm [E860]",
    )
    shutil.rmtree(chart.folder / "chart")
    assert later(chart, llmaz).code == 0
