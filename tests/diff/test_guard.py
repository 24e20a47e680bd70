"""A change cannot loosen what judges it: the settings of the base hold too, and each change of them is told."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from renderer.output import file_header
from tests.diff.repository import CHAT, CONFIG, MAILS, Repository

if TYPE_CHECKING:
    from tests.conftest import Llmaz, Outcome

EVIL = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: evil}\n"
FORGED = file_header.header("chat.yaml") + EVIL
FOREIGN = f'{CONFIG}  output: {{foreign: ["**"]}}\n'
ENVIRONMENTS = f"{CONFIG}  environments: {{dev: {{}}, prod: {{}}}}\n"
# The later side as a commit, and as the work tree.
RISK = "* **changes what is checked**: `llmaz.yaml`:"  # in Markdown
REMEDY = "<br>Remedy: change it in a pull request of its own, before the files that it allows"
SIDES = ["commit", "work tree"]


@pytest.fixture
def rendered(repository: Repository, llmaz: Llmaz) -> Repository:
    """A repository whose rendered files are committed."""
    assert llmaz("render").code == 0
    repository.commit("rendered")
    return repository


def put(repository: Repository, **files: str) -> None:
    """Files by their path, with `__` for `/` and `_` for nothing else; `.yaml` is added."""
    for name, text in files.items():
        path = repository.folder / f"{name.replace('__', '/')}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def compare(repository: Repository, llmaz: Llmaz, side: str, *words: str) -> Outcome:
    """What the diff says of all that there is now, against the last commit."""
    if side == "work tree":
        return llmaz("diff", *words)
    repository.commit("later")
    return llmaz("diff", "HEAD~1...HEAD", *words)


def guards(done: Outcome) -> list[tuple[str, str]]:
    """The files and messages of changed settings."""
    assert done.code == 0, done.err
    risks: list[dict[str, Any]] = json.loads(done.out)["risks"]
    changes = [(risk["object"]["name"], risk["message"]) for risk in risks if risk["risk"] == "guard"]
    assert risks[: len(changes)] == [risk for risk in risks if risk["risk"] == "guard"]  # they come first
    return changes


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ("optionLists: flags", "optionLists"),
        ("environments: {dev: {config: {optionLists: flags}}}", "environments.dev.config.optionLists"),
    ],
)
@pytest.mark.parametrize("side", SIDES)
def test_a_list_of_options_that_changes(side: str, config: str, path: str, rendered: Repository, llmaz: Llmaz) -> None:
    """What decides which options are refused: its folder and each list there, also of an environment."""
    flags = rendered.folder / "flags"
    flags.mkdir()
    (flags / "vllm-9.0.0.txt").write_text("learnt 9.0.0\n--port 1\n")
    put(rendered, llmaz=f"{CONFIG}  {config}\n")
    shutil.rmtree(rendered.folder / "rendered")
    assert llmaz("render").code == 0
    changes = guards(compare(rendered, llmaz, side, "--format", "json"))
    assert ("llmaz.yaml", f'{path}: none → "flags"') in changes
    assert changes[-1] == ("flags/vllm-9.0.0.txt", "a list of options: added")
    for text, change in (("learnt 9.0.0\n--port +\n", "changed"), (None, "removed")):
        if side == "work tree":
            rendered.commit("the step before")
        if text is None:
            (flags / "vllm-9.0.0.txt").unlink()
        else:
            (flags / "vllm-9.0.0.txt").write_text(text)
        assert guards(compare(rendered, llmaz, side, "--format", "json")) == [
            ("flags/vllm-9.0.0.txt", f"a list of options: {change}")
        ]


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", SIDES)
def test_a_change_allows_itself_no_file(side: str, rendered: Repository, llmaz: Llmaz) -> None:
    put(rendered, llmaz=FOREIGN, rendered__evil=EVIL)
    assert llmaz("render", "--check").code == 0  # by the later side's own settings
    done = compare(rendered, llmaz, side)
    assert (done.code, done.err.splitlines()[0]) == (
        2,
        "rendered/evil.yaml: not written by llmaz, and the settings of the base do not allow it [E863]",
    )
    assert 'llmaz.yaml: changes what is checked: output.foreign: none → ["**"]' in done.err


def test_two_changes_may_loosen(rendered: Repository, llmaz: Llmaz) -> None:
    """The settings first, then what they allow; and a file that is there already is no news."""
    put(rendered, llmaz=FOREIGN)
    first = compare(rendered, llmaz, "commit", "--format", "json")
    assert guards(first) == [("llmaz.yaml", 'output.foreign: none → ["**"]')]
    assert json.loads(first.out)["different"] is False
    put(rendered, rendered__evil=EVIL)
    assert guards(compare(rendered, llmaz, "commit", "--format", "json")) == []
    put(rendered, llmaz=CONFIG)
    tightened = compare(rendered, llmaz, "commit")
    assert (tightened.code, "rendered/evil.yaml: not written by llmaz, and Argo CD" in tightened.err) == (2, True)
    put(rendered, llmaz=FOREIGN)
    assert compare(rendered, llmaz, "commit").code == 0  # it is as it was


def test_without_a_config_nothing_is_allowed(rendered: Repository, llmaz: Llmaz) -> None:
    (rendered.folder / "llmaz.yaml").unlink()
    assert llmaz("render").code == 0
    rendered.commit("no llmaz.yaml")
    put(rendered, llmaz=FOREIGN, rendered__evil=EVIL)
    assert (
        "rendered/evil.yaml: not written by llmaz, and the settings of the base"
        in compare(rendered, llmaz, "commit").err
    )


def test_a_base_that_is_no_yaml_allows_nothing(rendered: Repository, llmaz: Llmaz) -> None:
    put(rendered, llmaz="spec: [")
    rendered.commit("broken")
    put(rendered, llmaz=FOREIGN, rendered__evil=EVIL)
    done = compare(rendered, llmaz, "commit")
    assert (done.code, "rendered/evil.yaml" in done.err) == (2, True)
    assert "llmaz.yaml: changes what is checked: not valid YAML → valid YAML" in done.err


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", ["rendered/llm/evil.yaml", "rendered/evil.yml", "rendered/.x/evil.json"])
def test_a_file_with_our_line_that_no_input_makes(name: str, side: str, rendered: Repository, llmaz: Llmaz) -> None:
    path = rendered.folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(FORGED, "utf-8")
    done = compare(rendered, llmaz, side)
    assert (done.code, done.err.splitlines()[0]) == (
        2,
        f"{name}: no input makes this file, although it begins with the first line of rendered files [E861]",
    )
    assert llmaz("diff", "--base", "inputs", *(["HEAD~1"] if side == "commit" else [])).code == 2


def test_a_file_of_the_line_of_an_input_that_is_not_compared(rendered: Repository, llmaz: Llmaz) -> None:
    put(rendered, rendered__llm__evil=FORGED)
    assert compare(rendered, llmaz, "work tree", "--", "mails.yaml").code == 0
    assert compare(rendered, llmaz, "work tree", "--", "chat.yaml").code == 2


def test_a_rendered_file_that_is_changed_by_hand_is_stale(rendered: Repository, llmaz: Llmaz) -> None:
    """`render --check` says so; it is made by an input."""
    put(rendered, rendered__llm__chat=FORGED)
    assert compare(rendered, llmaz, "commit").code == 0


@pytest.mark.parametrize("side", SIDES)
def test_what_render_deletes_is_a_note_of_a_commit(side: str, rendered: Repository, llmaz: Llmaz) -> None:
    (rendered.folder / "mails.yaml").unlink()
    done = compare(rendered, llmaz, side, "--format", "json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["notes"] == (
        ["no input makes rendered/llm/mails.yaml any more: llmaz render deletes it"] if side == "commit" else []
    )


@pytest.mark.parametrize("side", SIDES)
def test_the_old_output_folder(side: str, rendered: Repository, llmaz: Llmaz) -> None:
    put(rendered, llmaz=f"{CONFIG}  output: {{dir: out}}\n")
    assert llmaz("render").code == 0
    assert llmaz("render", "--check").code == 0
    done = compare(rendered, llmaz, side)
    assert done.code == 2
    assert done.err.splitlines()[0] == (
        "rendered/llm/chat.yaml: no input makes this file any more, and Argo CD or Flux may still sync rendered/, "
        "which the base rendered [E862]"
    )
    assert 'llmaz.yaml: changes what is checked: output.dir: none → "out"' in done.err
    shutil.rmtree(rendered.folder / "rendered")
    (rendered.folder / "rendered").mkdir()
    (rendered.folder / "rendered" / "evil.yaml").write_text(EVIL, "utf-8")
    rendered.git("reset", "--quiet", "HEAD~1" if side == "commit" else "HEAD")
    again = compare(rendered, llmaz, side)
    assert (again.code, [text for text in again.err.splitlines() if "[E" in text]) == (
        2,
        ["rendered/evil.yaml: not written by llmaz, and the settings of the base do not allow it [E863]"],
    )
    shutil.rmtree(rendered.folder / "rendered")
    rendered.git("reset", "--quiet", "HEAD~1" if side == "commit" else "HEAD")
    assert compare(rendered, llmaz, side).code == 0


def test_a_folder_of_somebody_else_is_no_old_output_folder(repository: Repository, llmaz: Llmaz) -> None:
    put(repository, rendered__theirs=EVIL)
    repository.commit("theirs")
    put(repository, llmaz=f"{CONFIG}  output: {{dir: out}}\n")
    assert llmaz("render").code == 0
    assert compare(repository, llmaz, "commit").code == 0


def test_an_output_folder_that_becomes_a_link(rendered: Repository, llmaz: Llmaz) -> None:
    (rendered.folder / "rendered").rename(rendered.folder / ".elsewhere")
    (rendered.folder / "rendered").symlink_to(".elsewhere")
    for side in reversed(SIDES):
        done = compare(rendered, llmaz, side)
        assert (done.code, done.err.splitlines()[0][-6:]) == (2, "[E144]")


@pytest.mark.parametrize("side", SIDES)
def test_the_folder_of_an_environment_that_is_gone(side: str, rendered: Repository, llmaz: Llmaz) -> None:
    put(rendered, llmaz=ENVIRONMENTS)
    assert llmaz("render").code == 0
    rendered.commit("environments")
    put(rendered, llmaz=f"{CONFIG}  environments: {{prod: {{}}, test: {{}}}}\n")
    compare(rendered, llmaz, side)
    for name in ("prod", "dev"):
        done = llmaz("diff", "HEAD~1...HEAD" if side == "commit" else "HEAD", "--env", name)
        if side == "work tree":  # llmaz render deletes it
            assert done.code == 0, done.err
        else:
            assert (done.code, done.err.splitlines()[0]) == (
                2,
                "rendered/dev/llm/chat.yaml: no input makes this file any more, and Argo CD or Flux may still sync "
                "rendered/dev/, which the base rendered [E862]",
            )
    assert llmaz("render").code == 0
    rendered.git("add", "--all")
    rendered.git("commit", "--quiet", "--amend" if side == "commit" else "--all", "--message", "rendered")
    for name in ("prod", "dev", "test"):
        done = llmaz("diff", "HEAD~1...HEAD", "--env", name, "--format", "json")
        assert guards(done) == [("llmaz.yaml", 'environments: ["dev", "prod"] → ["prod", "test"]')]


def test_from_no_environments_to_some(rendered: Repository, llmaz: Llmaz) -> None:
    old = {path: path.read_text("utf-8") for path in (rendered.folder / "rendered").rglob("*.yaml")}
    put(rendered, llmaz=ENVIRONMENTS)
    assert llmaz("render").code == 0
    for path, text in old.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    done = compare(rendered, llmaz, "commit", "--env", "prod")
    assert (done.code, "rendered/llm/chat.yaml: no input makes this file any more" in done.err) == (2, True)


def test_an_environment_may_allow_more(rendered: Repository, llmaz: Llmaz) -> None:
    allowed = f'{CONFIG}  environments: {{dev: {{config: {{output: {{foreign: ["dev/more.yaml"]}}}}}}, prod: {{}}}}\n'
    put(rendered, llmaz=allowed)
    assert llmaz("render").code == 0
    rendered.commit("environments")
    put(rendered, rendered__dev__more=EVIL)
    assert compare(rendered, llmaz, "commit", "--env", "dev").code == 0
    put(
        rendered,
        rendered__prod__more=EVIL,
        llmaz=allowed.replace("prod: {}", "prod: {from: dev}").replace("dev/", "*/"),
    )
    done = compare(rendered, llmaz, "commit", "--env", "prod")
    assert (done.code, "rendered/prod/more.yaml" in done.err) == (2, True)
    assert 'environments.prod.from: none → "dev"' in done.err


def test_a_gone_config(rendered: Repository, llmaz: Llmaz) -> None:
    put(rendered, llmaz=FOREIGN)
    rendered.commit("foreign")
    (rendered.folder / "llmaz.yaml").unlink()
    assert llmaz("render").code == 0
    assert guards(compare(rendered, llmaz, "commit", "--format", "json")) == [
        ("llmaz.yaml", 'output.foreign: ["**"] → none')
    ]


def test_a_config_that_moves(rendered: Repository, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    team = rendered.folder / "team"
    team.mkdir()
    for name in ("chat", "models", "mails", "llmaz"):
        (rendered.folder / f"{name}.yaml").rename(team / f"{name}.yaml")
    monkeypatch.chdir(team)
    assert llmaz("render").code == 0
    rendered.git("add", "--all")
    rendered.git("commit", "--quiet", "--message", "moved")
    done = llmaz("diff", "HEAD~1...HEAD")
    assert done.code == 2
    assert "../rendered/llm/chat.yaml: no input makes this file any more" in done.err
    assert "llmaz.yaml: changes what is checked: moved here from ../llmaz.yaml" in done.err


def test_a_config_that_becomes_a_link(rendered: Repository, llmaz: Llmaz) -> None:
    (rendered.folder / "llmaz.yaml").rename(rendered.folder / "config.txt")
    (rendered.folder / "llmaz.yaml").symlink_to("config.txt")
    for side in reversed(SIDES):
        done = compare(rendered, llmaz, side)
        assert (done.code, "so its settings cannot be checked [E864]" in done.err) == (2, True)


@pytest.mark.parametrize(
    "change",
    ["output: {kustomization: true}", "output: {layout: app}", "output: {layout: object}"],
)
def test_other_layouts(change: str, rendered: Repository, llmaz: Llmaz) -> None:
    """What is rendered anew is fine, and what was left behind is told."""
    old = {path: path.read_text("utf-8") for path in (rendered.folder / "rendered").rglob("*.yaml")}
    put(rendered, llmaz=f"{CONFIG}  {change}\n")
    assert llmaz("render").code == 0
    done = compare(rendered, llmaz, "commit", "--format", "json")
    assert [key for key, _ in guards(done)] == ["llmaz.yaml"]
    assert json.loads(done.out)["notes"] == []
    put(rendered, llmaz=CONFIG)
    assert llmaz("render").code == 0
    assert {path: path.read_text("utf-8") for path in (rendered.folder / "rendered").rglob("*.yaml")} == old
    assert compare(rendered, llmaz, "commit").code == 0


def test_links_and_charts_in_the_output_folder(rendered: Repository, llmaz: Llmaz) -> None:
    put(rendered, llmaz=FOREIGN, rendered__x__Chart=EVIL, rendered__x__templates__forged=FORGED)
    (rendered.folder / "rendered" / "linked.yaml").symlink_to("llm/chat.yaml")
    done = compare(rendered, llmaz, "commit")
    assert sorted(text.partition(":")[0] for text in done.err.splitlines() if "[E863]" in text) == [
        "rendered/linked.yaml",
        "rendered/x/Chart.yaml",
        "rendered/x/templates/forged.yaml",
    ]
    os.unlink(rendered.folder / "rendered" / "linked.yaml")


# --- settings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ('ignore: ["docs/**"]', 'ignore: none → ["docs/**"]'),
        ('passThrough: ["extra/*.yaml"]', 'passThrough: none → ["extra/*.yaml"]'),
        ("external: [Secret/llm/hf]", 'external: none → ["Secret/llm/hf"]'),
        ('hardening: "off"', 'hardening: none → "off"'),
        ('targets: {kubernetes: "1.33"}', 'targets.kubernetes: none → "1.33"'),
        ("environments: {one: {config: {hardening: restricted}}}", 'environments: none → ["one"]'),
    ],
)
def test_each_key_is_told(change: str, message: str, repository: Repository, llmaz: Llmaz) -> None:
    put(repository, llmaz=f"{CONFIG}  {change}\n")
    changes = guards(compare(repository, llmaz, "work tree", "--format", "json"))
    assert changes[0] == ("llmaz.yaml", message)
    if "environments" in change:
        assert changes[1:] == [("llmaz.yaml", 'environments.one.config.hardening: none → "restricted"')]


def test_other_keys_are_none(repository: Repository, llmaz: Llmaz) -> None:
    put(repository, llmaz=f"{CONFIG}  schedulerName: mine\n  pods: {{labels: {{a: b}}}}\n")
    assert guards(compare(repository, llmaz, "work tree", "--format", "json")) == []


def test_the_policy_is_one_of_them(repository: Repository, llmaz: Llmaz) -> None:
    policy = "apiVersion: renderer.llmaz.io/v1alpha1\nkind: RenderPolicy\nmetadata: {name: policy}\n"
    put(repository, **{"llmaz-policy": f"{policy}spec: {{pods: {{priorityClasses: [batch]}}}}\n"})
    assert guards(compare(repository, llmaz, "work tree", "--format", "json")) == [
        ("llmaz-policy.yaml", 'pods.priorityClasses: none → ["batch"]'),
        ("llmaz-policy.yaml", "added"),
    ]


def test_a_secret_is_hidden(repository: Repository, llmaz: Llmaz) -> None:
    put(repository, llmaz=f'{CONFIG}  ignore: ["https://me:hunter2hunter2@host/x"]\n')
    done = compare(repository, llmaz, "work tree", "--format", "json")
    assert len(guards(done)) == 1
    assert "hunter2" not in done.out


def test_a_long_list_hides_nothing(repository: Repository, llmaz: Llmaz) -> None:
    """Of many patterns the shortest, which allows most, comes first."""
    long = [f'"docs/{i:03}/some/folder/with/a/long/name/**"' for i in range(60)]
    patterns = ", ".join([*long, '"**"'])
    put(repository, llmaz=f"{CONFIG}  ignore: [{patterns}]\n")
    done = compare(repository, llmaz, "work tree", "--allow-empty", "--format", "markdown")
    head = done.out.splitlines().index(f"* **changes what is checked**{REMEDY}")
    guarded = [row for row in done.out.splitlines()[head + 1 :] if row.startswith("  * `llmaz.yaml`: `ignore`: with ")]
    assert guarded[0] == "  * `llmaz.yaml`: `ignore`: with <code>&#34;&#42;&#42;&#34;</code>"
    assert len(guarded) == 61


def test_they_stand_at_the_top(repository: Repository, llmaz: Llmaz) -> None:
    put(repository, llmaz=FOREIGN, chat=CHAT.replace("replicas: 2", "replicas: 3"))
    text, comment = (llmaz("diff", "--format", form).out.splitlines() for form in ("text", "markdown"))
    assert text[:2] == ["Guard", '  changes what is checked: llmaz.yaml: output.foreign: none → ["**"]']
    assert comment[1:4] == [
        "### llmaz: 1 risk · 1 model changed · GPUs of this model 8 → 12 · 1 object changed",
        "",
        f"{RISK} `output.foreign`: `none` → <code>&#91;&#34;&#42;&#42;&#34;&#93;</code>{REMEDY}",
    ]
    put(repository, chat=CHAT, mails=MAILS.replace("qwen3-8b", "nobody"))
    refused = llmaz("diff", "--format", "markdown").out.splitlines()
    assert refused[1:3] == ["### llmaz: 1 risk · 1 error, nothing to compare", ""]
    assert refused[3].startswith(RISK)


def test_no_risk_between_environments(repository: Repository, llmaz: Llmaz) -> None:
    put(repository, llmaz=ENVIRONMENTS)
    done = llmaz("diff", "--env-a", "dev", "--env-b", "prod", "--format", "json")
    assert guards(done) == []


def test_a_path_that_is_absolute(rendered: Repository, llmaz: Llmaz, tmp_path: Path) -> None:
    put(rendered, rendered__llm__evil=FORGED)
    assert llmaz("diff", "--", str(rendered.folder)).code == 2
