"""The two sides that `llmaz diff` compares: commits, the work tree, rendered files, environments, parts of a tree."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from renderer.source.git import commit
from tests.diff.repository import CHAT, CONFIG, MAILS, MODEL, Repository

if TYPE_CHECKING:
    from tests.conftest import Llmaz, Outcome


def parse_json(done: Outcome) -> dict[str, Any]:
    """The JSON that was printed."""
    assert done.code == 0, done.err
    data: dict[str, Any] = json.loads(done.out)
    return data


def test_the_work_tree_against_head(repository: Repository, llmaz: Llmaz) -> None:
    same = llmaz("diff", "--exit-code")
    assert (same.code, same.out) == (0, "no object changes\n")
    repository.write(chat=CHAT.replace("replicas: 2", "replicas: 3"))
    dirty = llmaz("diff", "--exit-code")
    assert dirty.code == 1
    assert "replicas: 2 → 3" in dirty.out
    assert llmaz("diff").code == 0
    assert llmaz("diff", "HEAD..HEAD", "--exit-code").code == 0
    assert llmaz("diff", "HEAD..").out == "no object changes\n"
    assert llmaz("diff", "..HEAD").out == "no object changes\n"


def test_three_dots_leave_out_what_others_did(repository: Repository, llmaz: Llmaz) -> None:
    repository.git("switch", "--quiet", "--create", "mine")
    repository.write(chat=CHAT.replace("replicas: 2", "replicas: 3"))
    repository.commit("mine")
    repository.git("switch", "--quiet", "main")
    repository.write(mails=MAILS.replace("name: mails", "name: letters"))
    repository.commit("theirs")
    both, mine = (parse_json(llmaz("diff", f"main{dots}mine", "--format", "json")) for dots in ("..", "..."))
    assert [model["name"] for model in mine["models"]] == ["chat"]
    assert sorted(model["name"] for model in both["models"]) == ["chat", "mails"]


def test_nothing_is_written(repository: Repository, llmaz: Llmaz) -> None:
    repository.write(chat=CHAT.replace("replicas: 2", "replicas: 3"))
    before = {path: path.read_bytes() for path in repository.folder.rglob("*") if path.is_file()}
    assert llmaz("diff", "HEAD").code == 0
    assert {path: path.read_bytes() for path in repository.folder.rglob("*") if path.is_file()} == before


def test_rendered_files_of_the_base_are_the_base(repository: Repository, llmaz: Llmaz) -> None:
    """So an upgrade of the renderer shows; here somebody else's renderer wrote another image."""
    assert llmaz("render").code == 0
    path = repository.folder / "rendered" / "llm" / "chat.yaml"
    path.write_text(path.read_text("utf-8").replace("vllm-openai:v0.32.0", "vllm-openai:v0.31.0"), "utf-8")
    repository.commit("rendered")
    rendered = llmaz("diff")
    assert "image: vllm/vllm-openai:v0.31.0 → vllm/vllm-openai:v0.32.0" in rendered.out
    assert llmaz("diff", "--base", "rendered").out == rendered.out
    assert llmaz("diff", "--base", "inputs").out == "no object changes\n"


def test_a_base_without_rendered_files(repository: Repository, llmaz: Llmaz) -> None:
    done = parse_json(llmaz("diff", "--base", "rendered", "--format", "json"))
    assert {model["state"] for model in done["models"]} == {"added"}
    assert [note.partition(" holds ")[2] for note in done["notes"]] == [
        "no rendered files, so everything counts as added"
    ]


def test_a_part_of_the_tree(repository: Repository, llmaz: Llmaz) -> None:
    assert llmaz("render").code == 0
    repository.commit("rendered")
    for path in ("chat.yaml", "mails.yaml"):
        text = (repository.folder / path).read_text("utf-8")
        (repository.folder / path).write_text(text.replace("spec:\n", "spec:\n  hardening: restricted\n"), "utf-8")
    for base in ("inputs", "rendered"):
        some = parse_json(llmaz("diff", "--format", "json", "--base", base, "--", "mails.yaml"))
        assert [model["name"] for model in some["models"]] == ["mails"]
        every = parse_json(llmaz("diff", "--format", "json", "--base", base))
        assert [model["name"] for model in every["models"]] == ["chat", "mails"]


@pytest.mark.parametrize("base", ["inputs", "rendered"])
def test_a_path_of_one_side(base: str, repository: Repository, llmaz: Llmaz) -> None:
    assert llmaz("render").code == 0
    repository.commit("rendered")
    repository.write(letters=MAILS.replace("name: mails", "name: letters"))
    (repository.folder / "mails.yaml").unlink()
    for path, state in (("letters.yaml", "added"), ("mails.yaml", "removed")):
        done = parse_json(llmaz("diff", "--base", base, "--format", "json", "--", path))
        assert ([model["state"] for model in done["models"]], done["notes"]) == ([state], [])
    assert llmaz("diff", "--base", base, "--", "nowhere.yaml").code == 2


def test_in_a_folder_that_one_side_does_not_have(folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = Repository(folder)
    (folder / "README.md").write_text("Models.\n", "utf-8")
    repository.commit("first")
    team = folder / "team"
    team.mkdir()
    (team / "all.yaml").write_text(MAILS, "utf-8")
    monkeypatch.chdir(team)
    added = llmaz("diff")
    assert (added.code, added.err) == (0, "")
    assert added.out.startswith("Models\n  + llm/mails (qwen3-8b): added\n")
    repository.commit("second")
    assert llmaz("diff", "HEAD~1..HEAD").out == added.out
    assert "llm/mails (qwen3-8b): removed" in llmaz("diff", "HEAD..HEAD~1").out


def test_below_the_top_of_the_repository(repository: Repository, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repository.folder / "team"
    folder.mkdir()
    for path in repository.folder.glob("*.yaml"):
        path.rename(folder / path.name)
    monkeypatch.chdir(folder)
    assert llmaz("render").code == 0
    repository.commit("moved")
    (folder / "mails.yaml").write_text(MAILS.replace("spec:\n", "spec:\n  replicas: 4\n"), "utf-8")
    for base in ("inputs", "rendered"):
        assert "replicas: 1 → 4" in llmaz("diff", "--base", base).out
    monkeypatch.chdir(repository.folder)
    assert "replicas: 1 → 4" in llmaz("diff", "--", "team").out


ENVIRONMENTS = """\
  environments:
    dev: {playgrounds: {chat: {replicas: 1}}}
    prod: {playgrounds: {chat: {replicas: 6}}}
"""


def test_environments(repository: Repository, llmaz: Llmaz) -> None:
    repository.write(llmaz=CONFIG + ENVIRONMENTS)
    several = llmaz("diff")
    assert (several.code, "[E756]" in several.err) == (2, True)
    dev = llmaz("diff", "--env-a", "dev", "--env-b", "prod", "--format", "markdown")
    assert (dev.code, dev.out.splitlines()[0]) == (0, "<!-- llmaz:dev-prod -->")
    assert "| `llm/chat` (`blue-30b`) | replicas | 1 → 6 |" in dev.out
    less = llmaz("diff", "--env-a", "prod", "--env-b", "dev")
    assert ("replicas: 6 → 1" in less.out, "Risks" in less.out) == (True, False)  # nothing happens to either
    same = parse_json(llmaz("diff", "--env-a", "dev", "--env-b", "dev", "--format", "json", "--exit-code"))
    assert same["objects"] == []
    nobody = llmaz("diff", "--env-a", "dev", "--env-b", "nobody")
    assert (nobody.code, "[E750]" in nobody.err) == (2, True)
    first = parse_json(llmaz("diff", "--env", "prod", "--format", "json"))  # the base has no environments
    assert [(model["name"], model["state"]) for model in first["models"]] == [("chat", "changed")]
    assert "has no environments: all that it renders is compared" in first["notes"][0]
    assert llmaz("render").code == 0
    repository.commit("environments")
    repository.write(chat=CHAT.replace("args: [", 'args: [--seed, "1", '))
    for base in ("inputs", "rendered"):
        for name in ("dev", "prod"):
            report = llmaz("diff", "--env", name, "--format", "markdown", "--base", base)
            assert report.out.startswith(f"<!-- llmaz:{name} -->\n### llmaz `{name}`: 1 risk · 1 model changed")
    repository.write(chat=CHAT, llmaz=CONFIG + ENVIRONMENTS.replace("    dev:", "    test:"))
    for base in ("inputs", "rendered"):
        gone = parse_json(llmaz("diff", "--env", "dev", "--format", "json", "--base", base))
        assert {change["state"] for change in gone["objects"]} == {"removed"}
        assert gone["notes"] == ["there is no environment 'dev' any more"]


def test_a_base_that_does_not_render(repository: Repository, llmaz: Llmaz) -> None:
    repository.write(mails=MAILS.replace("qwen3-8b", "nobody"), chat=CHAT)
    repository.commit("broken")
    repository.write(mails=MAILS, chat=CHAT.replace("replicas: 2", "replicas: 3"))
    done = parse_json(llmaz("diff", "--format", "json"))
    assert [(model["name"], model["state"]) for model in done["models"]] == [("chat", "changed"), ("mails", "added")]
    assert "has errors, and what is wrong there counts as added" in done["notes"][0]
    assert "mails.yaml:5:27" in done["notes"][1]
    assert "nobody" in done["notes"][1]


def test_a_base_that_cannot_be_read(repository: Repository, llmaz: Llmaz) -> None:
    repository.write(llmaz="spec: [")
    repository.commit("broken")
    repository.write(llmaz=CONFIG)
    done = parse_json(llmaz("diff", "--format", "json"))
    assert {model["state"] for model in done["models"]} == {"added"}
    assert "cannot be rendered, so everything counts as added" in done["notes"][0]


def test_a_base_before_there_was_any_input(folder: Path, llmaz: Llmaz) -> None:
    repository = Repository(folder)
    (folder / "README.md").write_text("nothing yet\n")
    repository.commit("first")
    repository.write(llmaz=CONFIG, models=MODEL, chat=CHAT)
    done = parse_json(llmaz("diff", "--format", "json"))
    assert ([model["state"] for model in done["models"]], done["notes"]) == (["added"], [])


@pytest.mark.parametrize("base", ["inputs", "rendered"])
def test_the_last_model_is_deleted(base: str, repository: Repository, llmaz: Llmaz) -> None:
    assert llmaz("render").code == 0
    repository.commit("rendered")
    for name in ("chat", "mails", "models"):
        (repository.folder / f"{name}.yaml").unlink()
    done = parse_json(llmaz("diff", "--base", base, "--format", "json"))
    assert [(model["name"], model["state"]) for model in done["models"]] == [("chat", "removed"), ("mails", "removed")]
    assert {change["state"] for change in done["objects"]} == {"removed"}
    assert [risk["risk"] for risk in done["risks"]].count("model-deleted") == 2
    assert "### llmaz: 4 risks · 2 models removed" in llmaz("diff", "--base", base, "--format", "markdown").out
    shutil.rmtree(repository.folder / "rendered")
    repository.commit("nothing left")
    none = llmaz("diff", "--base", base)
    assert (none.code, "[E123]" in none.err) == (2, True)
    assert llmaz("diff", "--base", base, "--allow-empty").code == 0


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_an_invalid_head(form: str, repository: Repository, llmaz: Llmaz) -> None:
    repository.write(mails=MAILS.replace("qwen3-8b", "nobody"))
    done = llmaz("diff", "--format", form, "--exit-code")
    assert done.code == 2
    assert done.err.startswith("mails.yaml:5:27: ")
    assert done.err.endswith("\n1 error\n")
    assert bool(done.out) == (form == "markdown")  # the comment says so; an older one would be wrong


def test_warnings_of_the_head(repository: Repository, llmaz: Llmaz) -> None:
    repository.write(mails=f"{MAILS}  backendRuntimeConfig: {{backendName: tgi}}\n")
    done = llmaz("diff")
    assert (done.code, "[W230]" in done.err, bool(done.out)) == (0, True, True)
    strict = llmaz("diff", "--strict", "--format", "markdown")
    assert (strict.code, "1 error," in strict.out) == (2, True)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["nobody"], "[E782]"),
        (["HEAD..nobody"], "[E782]"),
        (["nobody...HEAD"], "[E782]"),
        (["--", "nowhere.yaml"], "[E122]"),
        (["--set", "nonsense"], "[E130]"),
        (["--", "/"], ""),
        (["--output=x"], "No such option"),
        (["HEAD", "HEAD"], "unexpected extra argument"),
        ([""], "BASE is empty"),
        (["", "--", "chat.yaml"], "BASE is empty"),
        (["--format", "html"], "Invalid value"),
        (["--base", "none"], "Invalid value"),
        (["--env-a", "dev"], "have to be used together"),
        (["--env-a", "dev", "--env-b", "prod", "HEAD"], "without BASE"),
        (["-1"], "No such option"),
        (["--", "chat.yaml", "--exit-code"], "[E122]"),
    ],
    ids=" ".join,
)
def test_refusals(words: list[str], code: str, repository: Repository, llmaz: Llmaz) -> None:
    done = llmaz("diff", *words)
    assert (done.code, done.out) == (2, ""), done.err
    assert code in done.err
    assert "Traceback" not in done.err
    with pytest.raises(ChildProcessError):  # git, which was begun early, is gone too
        os.waitpid(-1, os.WNOHANG)


def test_outside_of_a_repository(folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(folder.parent))
    (folder / "chat.yaml").write_text(MAILS)
    done = llmaz("diff")
    assert (done.code, "[E781]" in done.err) == (2, True)


def test_a_shallow_clone(repository: Repository, llmaz: Llmaz, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = repository.git("rev-parse", "HEAD").strip()
    repository.write(chat=CHAT.replace("replicas: 2", "replicas: 3"))
    repository.commit()
    repository.git("clone", "--quiet", "--depth=1", f"file://{repository.folder}", str(tmp_path / "shallow"))
    monkeypatch.chdir(tmp_path / "shallow")
    done = llmaz("diff", f"{base}..HEAD")
    assert (done.code, "fetch-depth: 0" in done.err) == (2, True)


def test_a_changed_chat_template_restarts_pods(repository: Repository, llmaz: Llmaz) -> None:
    """Each side reads its own file: of a Playground, and of a model, whose YAML both stay the same."""
    repository.write(chat=f"{CHAT}  chatTemplate: {{file: chat.jinja}}\n", mails=MAILS)
    engines = "  engines: {vllm: {chatTemplate: {file: model.jinja}}}\n"
    talk = CHAT.replace("name: chat", "name: talk").replace("spec:", "spec:\n  servedModelName: talk")
    repository.write(models=MODEL + engines, talk=talk)
    for name in ("chat.jinja", "model.jinja"):
        (repository.folder / name).write_text("{{ messages[0].content }}\n")
    base = repository.commit()
    for name, app in (("chat.jinja", "chat"), ("model.jinja", "talk")):
        (repository.folder / name).write_text("{{ messages[1].content }}\n")
        repository.commit()
        for words in ([base], [f"{base}..HEAD"]):
            done = llmaz("diff", *words)
            assert (done.code, done.err) == (0, "")
            assert f"restarts pods: llm/{app}: annotations config-hash\n" in done.out
            assert re.findall(r"\S+-config", done.out) == [f"llm/{app}-config"]
            assert "{{ messages[0].content }}\\n → {{ messages[1].content }}\\n" in done.out
        base = repository.commit_of("HEAD")
    (repository.folder / "chat.jinja").unlink()
    gone = llmaz("diff")
    assert (gone.code, "[E835]" in gone.err) == (2, True)


def test_the_commit_is_a_commit(repository: Repository) -> None:
    assert commit(str(repository.folder), "HEAD") == repository.git("rev-parse", "HEAD").strip()


def test_git_is_there() -> None:
    assert shutil.which("git")
