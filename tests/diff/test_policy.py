"""RenderPolicy in `llmaz diff`: that of the base judges, and where the later side changes it, its own as well."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.diff.repository import CHAT, CONFIG, MAILS, MODEL, Repository

if TYPE_CHECKING:
    from tests.conftest import Llmaz

HEAD = "apiVersion: renderer.llmaz.io/v1alpha1\nkind: RenderPolicy\nmetadata: {name: policy}\nspec:\n"
STRICT = f'{HEAD}  folders: [{{path: "**", namespaces: [llm, default]}}]\n'
LOOSE = f'{HEAD}  folders: [{{path: "**", namespaces: ["*"]}}]\n'
BROKEN = f"{HEAD}  folders: [\n"
MOVED = CHAT.replace("namespace: llm", "namespace: prod")
POLICY = "llmaz-policy.yaml"


def start(repository: Repository, policy: str) -> None:
    """A base with this policy."""
    (repository.folder / POLICY).write_text(policy, "utf-8")
    repository.commit("policy")


@pytest.mark.parametrize("between", ["", "HEAD~1..HEAD", "HEAD~1...HEAD"])
def test_a_change_that_loosens_the_policy_and_needs_it_is_denied(
    between: str, repository: Repository, llmaz: Llmaz
) -> None:
    start(repository, STRICT)
    (repository.folder / POLICY).write_text(LOOSE, "utf-8")
    repository.write(chat=MOVED)
    if between:
        repository.commit("both at once")
    done = llmaz("diff", *([between] if between else []))
    assert (done.code, done.out) == (2, "")
    assert "chat.yaml:3:35: metadata.namespace: denied by llmaz-policy.yaml:5 of " in done.err
    assert "chat.yaml may not write to the namespace 'prod' [E810]\n" in done.err
    assert "a change of the policy counts once it is merged" in done.err
    assert llmaz("render", "-o", "out").code == 0  # by the tree's own policy, and so is --check


@pytest.mark.parametrize(("rule", "allowed", "denied", "what"), [
    ("revisions: commits", f", revision: {'0a' * 20}}}}}", ", revision: main}}", "is loaded at revision 'main'"),
    ("licences: [mit]", "}}\n  facts: {licence: MIT}", "}}\n  facts: {licence: other}", "the licence 'other' of"),
])  # fmt: skip
def test_weights_are_judged_by_the_base(
    rule: str, allowed: str, denied: str, what: str, repository: Repository, llmaz: Llmaz
) -> None:
    """The licence and the revision of a model: a change cannot allow itself another one."""
    (repository.folder / "mails.yaml").unlink()
    repository.write(models=MODEL.replace("}}", allowed, 1))
    start(repository, f"{HEAD}  weights: {{{rule}}}\n")
    repository.write(chat=CHAT.replace("replicas: 2", "replicas: 3"))
    assert llmaz("diff").code == 0
    repository.write(models=MODEL.replace("}}", denied, 1))
    (repository.folder / POLICY).write_text(f"{HEAD}  weights: {{}}\n", "utf-8")
    done = llmaz("diff")
    assert (done.code, done.out) == (2, "")
    assert "denied by llmaz-policy.yaml:5 of " in done.err
    assert what in done.err
    assert "a change of the policy counts once it is merged" in done.err


def test_a_change_that_loosens_the_policy_alone_passes_and_then_counts(repository: Repository, llmaz: Llmaz) -> None:
    start(repository, STRICT)
    start(repository, LOOSE)
    assert llmaz("diff", "HEAD~1..HEAD").code == 0
    repository.write(chat=MOVED)
    repository.commit("needs it")
    assert llmaz("diff", "HEAD~1..HEAD").code == 0


def test_what_is_unchanged_is_judged_by_a_policy_that_changed(repository: Repository, llmaz: Llmaz) -> None:
    """Objects that are the same on both sides are neither written out nor compared, and are judged all the same."""
    start(repository, f"{HEAD}  pods: {{serviceAccounts: [default]}}\n")
    start(repository, f"{HEAD}  pods: {{serviceAccounts: [robot]}}\n")
    done = llmaz("diff", "HEAD~1..HEAD")
    assert done.code == 2
    assert done.err.count("the service account 'default' [E819]") == 2
    assert "of HEAD" not in done.err  # it is the later side's own


def test_a_policy_that_is_new_or_gone_counts(repository: Repository, llmaz: Llmaz) -> None:
    start(repository, STRICT.replace("[llm, default]", "[other]"))
    assert "chat.yaml may not write to the namespace 'llm' [E810]" in llmaz("diff", "HEAD~1..HEAD").err
    (repository.folder / POLICY).unlink()
    repository.commit("no policy")
    done = llmaz("diff", "HEAD~1..HEAD")
    assert done.code == 2
    assert "denied by llmaz-policy.yaml:5 of HEAD~1 " in done.err


def test_both_deny_one_field_once(repository: Repository, llmaz: Llmaz) -> None:
    start(repository, STRICT)
    start(repository, f"{STRICT}  pods: {{privileged: false}}\n")
    repository.write(chat=MOVED)
    done = llmaz("diff", "HEAD~1")
    assert (done.code, done.err.count("[E810]")) == (2, 1)


def test_a_policy_of_the_command_line_beats_both(repository: Repository, llmaz: Llmaz, tmp_path: Path) -> None:
    start(repository, STRICT)
    repository.write(chat=MOVED)
    (tmp_path / "loose.yaml").write_text(LOOSE, "utf-8")
    assert llmaz("diff").code == 2
    assert llmaz("diff", "--policy", str(tmp_path / "loose.yaml")).code == 0


def test_a_link_in_the_place_of_the_policy_hides_none(repository: Repository, llmaz: Llmaz) -> None:
    """The base is read from git, so a link that lies in the work tree leads nowhere there."""
    start(repository, STRICT)
    (repository.folder / POLICY).unlink()
    os.symlink("loose.yml", repository.folder / POLICY)
    (repository.folder / "loose.yml").write_text("{}\n", "utf-8")
    repository.write(chat=MOVED)
    for between in ("HEAD", "HEAD~1..HEAD"):
        done = llmaz("diff", between)
        assert done.code == 2
        assert "llmaz-policy.yaml: a policy is not read through a link [E802]" in done.err
        if between == "HEAD":
            repository.commit("a link")


def test_a_tree_within_the_tree_does_not_get_out_of_the_policy(
    repository: Repository, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A llmaz.yaml in a team's folder would make that folder a tree of its own, without a policy."""
    start(repository, STRICT.replace('"**"', '"team/**"'))
    folder = repository.folder / "team"
    folder.mkdir()
    (folder / "llmaz.yaml").write_text(CONFIG, "utf-8")
    (folder / "chat.yaml").write_text(f"{MODEL}---\n{MOVED}", "utf-8")
    (folder / "mails.yaml").write_text(MAILS, "utf-8")
    repository.commit("a tree")
    done = llmaz("diff", "HEAD~1..HEAD", "--", "team")
    assert done.code == 2
    assert "team/chat.yaml may not write to the namespace 'prod' [E810]" in done.err
    assert "team/mails.yaml" not in done.err


def test_a_base_whose_policy_is_broken_allows_nothing(repository: Repository, llmaz: Llmaz) -> None:
    start(repository, BROKEN)
    repository.write(chat=MOVED)
    done = llmaz("diff")
    assert (done.code, done.out) == (2, "")
    assert "llmaz-policy.yaml: the policy of HEAD " in done.err
    assert "cannot be read, so nothing counts as allowed: a value is missing here in line 6 [E804]" in done.err
    (repository.folder / POLICY).write_text(LOOSE, "utf-8")
    assert "[E804]" in llmaz("diff").err  # mended, and used at once
    repository.commit("mended, and used at once")
    assert "[E804]" in llmaz("diff", "HEAD~1..HEAD").err


@pytest.mark.parametrize("broken", [BROKEN, f"{HEAD}  podz: {{}}\n", "---\n", f"{LOOSE}---\n{LOOSE}"])
def test_a_change_that_mends_the_policy_alone_passes(broken: str, repository: Repository, llmaz: Llmaz) -> None:
    start(repository, broken)
    (repository.folder / POLICY).write_text(STRICT, "utf-8")
    assert llmaz("diff").code == 0
    repository.commit("mended")
    assert llmaz("diff", "HEAD~1..HEAD").code == 0


def test_a_change_that_mends_the_policy_is_judged_by_it(repository: Repository, llmaz: Llmaz) -> None:
    start(repository, BROKEN)
    (repository.folder / POLICY).write_text(STRICT.replace("[llm, default]", "[other]"), "utf-8")
    assert "chat.yaml may not write to the namespace 'llm' [E810]" in llmaz("diff").err


def test_two_environments_are_judged_by_the_tree(repository: Repository, llmaz: Llmaz) -> None:
    repository.write(llmaz=f"{CONFIG}  environments: {{dev: {{}}, prod: {{config: {{namespace: prod}}}}}}\n")
    repository.write(mails=MAILS.replace(", namespace: llm", ""))
    start(repository, STRICT)
    done = llmaz("diff", "--env-a", "dev", "--env-b", "prod")
    assert done.code == 2
    assert "mails.yaml may not write to the namespace 'prod' [E810]" in done.err
