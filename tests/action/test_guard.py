"""A pull request that loosens what judges it, with the real program: the check of its own tree alone sees nothing."""

from __future__ import annotations

import re

import pytest

from renderer.output import file_header
from tests.action.github import Act, Hub, Repository
from tests.inputs import CONFIG

EVIL = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: evil}\n"
FOREIGN = f'{CONFIG}{{output: {{foreign: ["**"]}}}}\n'


def write(repository: Repository, name: str, text: str) -> None:
    path = repository.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def test_a_pull_request_allows_itself_nothing(act: Act, hub: Hub, repository: Repository) -> None:
    write(repository, "llmaz.yaml", FOREIGN)
    write(repository, "rendered/evil.yaml", EVIL)
    repository.llmaz("render", "--check")
    repository.commit("evil")
    ran = act()
    assert ran.code == 2
    assert "rendered/evil.yaml: not written by llmaz, and the settings of the base" in ran.annotations[-1][2]
    comment = hub.comments[0]["body"].splitlines()
    assert comment[1:4] == [
        "### llmaz: 1 risk · 1 error, nothing to compare",
        "",
        "* **changes what is checked**: `llmaz.yaml`: `output.foreign`: `none` → "
        "<code>&#91;&#34;&#42;&#42;&#34;&#93;</code>"
        "<br>Remedy: change it in a pull request of its own, before the files that it allows",
    ]
    assert "E863" in hub.comments[0]["body"]


def test_loosening_alone_is_told(act: Act, hub: Hub, repository: Repository) -> None:
    """Though no object changes there is a comment, and what is allowed then may follow."""
    write(repository, "llmaz.yaml", FOREIGN)
    repository.commit("loosen")
    ran = act()
    assert (ran.code, ran.outputs["changed"], len(hub.comments)) == (0, "false", 1)
    assert "* **changes what is checked**" in hub.comments[0]["body"]
    repository.base = repository.git("rev-parse", "HEAD")
    write(repository, "rendered/evil.yaml", EVIL)
    repository.commit("allowed")
    assert act().code == 0


@pytest.mark.parametrize("committed", ["true", "false"])
@pytest.mark.parametrize("what", ["output", "environment", "forged"])
def test_files_that_nothing_makes(what: str, committed: str, act: Act, repository: Repository) -> None:
    if what == "output":  # the old folder stays
        write(repository, "llmaz.yaml", f"{CONFIG}{{output: {{dir: out}}}}\n")
        repository.llmaz("render")
    elif what == "environment":
        write(repository, "llmaz.yaml", f"{CONFIG}{{environments: {{dev: {{}}, prod: {{}}}}}}\n")
        repository.llmaz("render")
        repository.base = repository.commit("two")
        text = (repository.folder / "rendered/dev/demo/chat.yaml").read_text("utf-8")
        write(repository, "llmaz.yaml", f"{CONFIG}{{environments: {{prod: {{}}}}}}\n")
        repository.llmaz("render")
        write(repository, "rendered/dev/demo/chat.yaml", text)
    else:
        write(repository, "rendered/demo/x.yaml", file_header.header("chat.yaml") + EVIL)
    repository.commit(what)
    ran = act(INPUT_COMMITTED=committed)
    assert ran.code == (1 if committed == "true" and what != "output" else 2)  # llmaz render --check sees it as well
    assert re.search(r"no input makes this file", ran.summary)


def test_what_render_deletes_is_left_to_the_check(act: Act, repository: Repository) -> None:
    """Where a job renders and commits, the pull request has to come that far."""
    text = (repository.folder / "rendered/demo/chat.yaml").read_text("utf-8")
    repository.change("name: chat\n", "name: talk\n")
    repository.llmaz("render")
    write(repository, "rendered/demo/chat.yaml", text)
    repository.commit("renamed")
    assert act(INPUT_COMMITTED="false").code == 0
    ran = act()
    assert ran.code == 1
    assert "no input makes rendered/demo/chat.yaml any more" in ran.summary
