"""A RenderPolicy that a pull request changes does not judge that pull request."""

from __future__ import annotations

import pytest

from tests.action.github import Act, Hub, Repository

POLICY = """\
apiVersion: renderer.llmaz.io/v1alpha1
kind: RenderPolicy
metadata: {name: policy}
spec:
  folders: [{path: "**", namespaces: [demo]}]
"""
LOOSE = POLICY.replace("[demo]", '["*"]')


def start(repository: Repository, policy: str) -> None:
    """A base with this policy."""
    (repository.folder / "llmaz-policy.yaml").write_text(policy, "utf-8")
    repository.base = repository.commit("policy")


def move(repository: Repository) -> None:
    """The app into a namespace of somebody else, rendered and committed as it has to be."""
    repository.change("namespace: demo", "namespace: kube-system")
    repository.llmaz("render")
    repository.commit("moved")


@pytest.mark.parametrize("inputs", [{}, {"INPUT_COMMENT": "false"}, {"INPUT_COMMITTED": "false"}])
def test_a_pull_request_that_loosens_the_policy_and_needs_it_is_denied(
    inputs: dict[str, str], act: Act, hub: Hub, repository: Repository
) -> None:
    start(repository, POLICY)
    (repository.folder / "llmaz-policy.yaml").write_text(LOOSE, "utf-8")
    move(repository)
    ran = act(**inputs)
    assert ran.code == 2
    ((kind, _, text),) = ran.annotations
    assert kind == "error"
    assert "chat.yaml may not write to the namespace 'kube-system' [E810]" in text
    assert "| `E810` |" in ran.summary
    commented = [] if "INPUT_COMMENT" in inputs else [True]
    assert ["| `E810` |" in comment["body"] for comment in hub.comments] == commented


def test_the_same_in_two_steps_passes(act: Act, repository: Repository) -> None:
    start(repository, POLICY)
    (repository.folder / "llmaz-policy.yaml").write_text(LOOSE, "utf-8")
    repository.commit("looser")
    assert act().code == 0
    repository.base = repository.git("rev-parse", "HEAD")
    move(repository)
    assert act().code == 0


def test_a_pull_request_that_deletes_the_policy_is_judged_by_it(act: Act, repository: Repository) -> None:
    start(repository, POLICY)
    (repository.folder / "llmaz-policy.yaml").unlink()
    move(repository)
    assert act().code == 2


def test_a_broken_policy_is_mended_first(act: Act, repository: Repository) -> None:
    start(repository, POLICY.replace("]}]", ""))
    (repository.folder / "llmaz-policy.yaml").write_text(LOOSE, "utf-8")
    mended = repository.commit("mended")
    assert act().code == 0
    move(repository)
    ran = act()
    assert (ran.code, "[E804]" in ran.annotations[0][2]) == (2, True)
    repository.base = mended
    assert act().code == 0
