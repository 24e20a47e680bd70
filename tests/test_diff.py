"""`llmaz diff`: a repository of a few commits, and what the command says of each; then the core, side by side."""

from __future__ import annotations

import copy
import json
import os
import random
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from renderer import yamlio
from renderer.diff.comparing import Diff, compare
from renderer.diff.fields import differing
from renderer.diff.forms import FORMS
from renderer.diff.options import flags
from renderer.diff.risks import KINDS, floating, restarting
from renderer.emit import Text
from renderer.git import commit
from renderer.secrets import literal, veiled

if TYPE_CHECKING:
    from tests.conftest import Golden, Llmaz, Outcome

HERE = Path(__file__).resolve().parent
CONFIG = """\
apiVersion: renderer.llmaz.io/v1alpha1
kind: RenderConfig
metadata: {name: config}
spec:
  gateway: {mode: backend}
"""
MODEL = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: blue-30b}
spec:
  familyName: blue
  source: {modelHub: {modelID: example/Blue-30B}}
  inferenceConfig:
    flavors:
      - {name: l4, limits: {nvidia.com/gpu: 4}, nodeSelector: {gpu: l4}}
      - {name: h100, limits: {nvidia.com/gpu: 1}, nodeSelector: {gpu: h100}}
"""
CHAT = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: chat, namespace: llm}
spec:
  replicas: 2
  modelClaim: {modelName: blue-30b, inferenceFlavors: [l4]}
  backendRuntimeConfig:
    backendName: vllm
    version: v0.32.0
    args: [--max-model-len, "16384"]
"""
MAILS = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: mails, namespace: llm}
spec:
  modelClaim: {modelName: qwen3-8b}
"""
ELASTIC = """\
  elasticConfig:
    minReplicas: 1
    maxReplicas: 4
    scaleTrigger:
      hpa:
        metrics:
          - type: Pods
            pods: {metric: {name: vllm_num_requests_waiting}, target: {type: AverageValue, averageValue: "5"}}
"""
# What each commit does: words of the Playground, and what stands in their place.
COMMITS = {
    "bump-engine": ("version: v0.32.0", "version: v0.33.0"),
    "change-flavor": ("[l4]", "[h100]"),
    "add-hpa": ("  replicas: 2\n", ELASTIC),
    "rename-model": ("name: chat,", "name: assistant,"),
    "break-flag": ("--max-model-len,", "--max-model-length,"),
}


class Repository:
    """A git repository in a folder, of which nothing depends on who runs the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *words: str) -> str:
        """What git says."""
        who = {f"GIT_{role}_{what}": "a@example.com" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        dates = {f"GIT_{role}_DATE": "2026-01-01T00:00:00Z" for role in ("AUTHOR", "COMMITTER")}
        around = {**os.environ, **who, **dates, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        done = subprocess.run(["git", *words], cwd=self.folder, env=around, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def write(self, **files: str) -> None:
        """Files by their stem."""
        for stem, text in files.items():
            (self.folder / f"{stem}.yaml").write_text(text, "utf-8")

    def commit(self, message: str = "more") -> str:
        """All that there is, as a commit; its name."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)
        return self.git("rev-parse", "HEAD").strip()


@pytest.fixture
def repository(here: Path) -> Repository:
    """With two models, in one commit."""
    made = Repository(here)
    made.write(llmaz=CONFIG, models=MODEL, chat=CHAT, mails=MAILS)
    made.commit("first")
    return made


# Five commits, five comments


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
@pytest.mark.parametrize("name", COMMITS)
def test_commits(name: str, form: str, repository: Repository, llmaz: Llmaz, golden: Golden) -> None:
    text = CHAT
    for each, (old, new) in COMMITS.items():
        assert old in text
        text = text.replace(old, new)
        repository.write(chat=text)
        repository.commit(each)
        if each == name:
            break
    done = llmaz("diff", "HEAD~1..HEAD", "--format", form)
    assert done.code == (2 if name == "break-flag" else 0), done.err
    golden(f"diff/commits/{name}.{'md' if form == 'markdown' else 'json' if form == 'json' else 'txt'}", done.out)
    golden(f"diff/commits/{name}.stderr.txt", done.err)


def test_no_golden_is_left(superfluous: Callable[[Path, set[Path]], list[Path]]) -> None:
    ends = ("md", "txt", "json", "stderr.txt")
    made = {HERE / "diff" / "commits" / f"{name}.{end}" for name in COMMITS for end in ends}
    assert superfluous(HERE / "diff", made) == []


# The sides


def said(done: Outcome) -> dict[str, Any]:
    """The JSON that was printed."""
    assert done.code in (0, 1), done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


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
    both, mine = (said(llmaz("diff", f"main{dots}mine", "--format", "json")) for dots in ("..", "..."))
    assert [each["name"] for each in mine["models"]] == ["chat"]
    assert sorted(each["name"] for each in both["models"]) == ["chat", "mails"]


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
    done = said(llmaz("diff", "--base", "rendered", "--format", "json"))
    assert {each["state"] for each in done["models"]} == {"added"}
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
        some = said(llmaz("diff", "--format", "json", "--base", base, "--", "mails.yaml"))
        assert [each["name"] for each in some["models"]] == ["mails"]
        every = said(llmaz("diff", "--format", "json", "--base", base))
        assert [each["name"] for each in every["models"]] == ["chat", "mails"]


@pytest.mark.parametrize("base", ["inputs", "rendered"])
def test_a_path_of_one_side(base: str, repository: Repository, llmaz: Llmaz) -> None:
    assert llmaz("render").code == 0
    repository.commit("rendered")
    repository.write(letters=MAILS.replace("name: mails", "name: letters"))
    (repository.folder / "mails.yaml").unlink()
    for path, state in (("letters.yaml", "added"), ("mails.yaml", "removed")):
        done = said(llmaz("diff", "--base", base, "--format", "json", "--", path))
        assert ([each["state"] for each in done["models"]], done["notes"]) == ([state], [])
    assert llmaz("diff", "--base", base, "--", "nowhere.yaml").code == 2


def test_in_a_folder_that_one_side_does_not_have(here: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = Repository(here)
    (here / "README.md").write_text("Models.\n", "utf-8")
    repository.commit("first")
    team = here / "team"
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
    assert "| `llm/chat`<br>`blue-30b` | replicas | 1 → 6 |" in dev.out
    less = llmaz("diff", "--env-a", "prod", "--env-b", "dev")
    assert ("replicas: 6 → 1" in less.out, "Risks" in less.out) == (True, False)  # nothing happens to either
    same = said(llmaz("diff", "--env-a", "dev", "--env-b", "dev", "--format", "json", "--exit-code"))
    assert same["objects"] == []
    nobody = llmaz("diff", "--env-a", "dev", "--env-b", "nobody")
    assert (nobody.code, "[E750]" in nobody.err) == (2, True)
    first = said(llmaz("diff", "--env", "prod", "--format", "json"))  # the base has no environments
    assert [(each["name"], each["state"]) for each in first["models"]] == [("chat", "changed")]
    assert "has no environments: all that it renders is compared" in first["notes"][0]
    assert llmaz("render").code == 0
    repository.commit("environments")
    repository.write(chat=CHAT.replace("args: [", 'args: [--seed, "1", '))
    for base in ("inputs", "rendered"):
        for name in ("dev", "prod"):
            found = llmaz("diff", "--env", name, "--format", "markdown", "--base", base)
            assert found.out.startswith(f"<!-- llmaz:{name} -->\n### llmaz `{name}`: 1 model changed")
    repository.write(chat=CHAT, llmaz=CONFIG + ENVIRONMENTS.replace("    dev:", "    test:"))
    for base in ("inputs", "rendered"):
        gone = said(llmaz("diff", "--env", "dev", "--format", "json", "--base", base))
        assert {each["state"] for each in gone["objects"]} == {"removed"}
        assert gone["notes"] == ["there is no environment 'dev' any more"]


def test_a_base_that_does_not_render(repository: Repository, llmaz: Llmaz) -> None:
    repository.write(mails=MAILS.replace("qwen3-8b", "nobody"), chat=CHAT)
    repository.commit("broken")
    repository.write(mails=MAILS, chat=CHAT.replace("replicas: 2", "replicas: 3"))
    done = said(llmaz("diff", "--format", "json"))
    assert [(each["name"], each["state"]) for each in done["models"]] == [("chat", "changed"), ("mails", "added")]
    assert "has errors, and what is wrong there counts as added" in done["notes"][0]
    assert "mails.yaml:5:27" in done["notes"][1]
    assert "nobody" in done["notes"][1]


def test_a_base_that_cannot_be_read(repository: Repository, llmaz: Llmaz) -> None:
    repository.write(llmaz="spec: [")
    repository.commit("broken")
    repository.write(llmaz=CONFIG)
    done = said(llmaz("diff", "--format", "json"))
    assert {each["state"] for each in done["models"]} == {"added"}
    assert "cannot be rendered, so everything counts as added" in done["notes"][0]


def test_a_base_before_there_was_any_input(here: Path, llmaz: Llmaz) -> None:
    made = Repository(here)
    (here / "README.md").write_text("nothing yet\n")
    made.commit("first")
    made.write(llmaz=CONFIG, models=MODEL, chat=CHAT)
    done = said(llmaz("diff", "--format", "json"))
    assert ([each["state"] for each in done["models"]], done["notes"]) == (["added"], [])


@pytest.mark.parametrize("base", ["inputs", "rendered"])
def test_the_last_model_is_deleted(base: str, repository: Repository, llmaz: Llmaz) -> None:
    assert llmaz("render").code == 0
    repository.commit("rendered")
    for name in ("chat", "mails", "models"):
        (repository.folder / f"{name}.yaml").unlink()
    done = said(llmaz("diff", "--base", base, "--format", "json"))
    assert [(each["name"], each["state"]) for each in done["models"]] == [("chat", "removed"), ("mails", "removed")]
    assert {each["state"] for each in done["objects"]} == {"removed"}
    assert [each["risk"] for each in done["risks"]].count("model-deleted") == 2
    assert "### llmaz: 2 models removed" in llmaz("diff", "--base", base, "--format", "markdown").out
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
        (["--env-a", "dev"], "need each other"),
        (["--env-a", "dev", "--env-b", "prod", "HEAD"], "no BASE"),
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


def test_outside_of_a_repository(here: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(here.parent))
    (here / "chat.yaml").write_text(MAILS)
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


def test_the_commit_is_a_commit(repository: Repository) -> None:
    assert commit(str(repository.folder), "HEAD") == repository.git("rev-parse", "HEAD").strip()


# The core


def texts(*bodies: dict[str, Any], path: str = "llm/chat.yaml") -> list[Text]:
    """A rendered file of these objects."""
    return [Text(path, "# Rendered by llmaz from a.yaml. Do not edit.\n" + "---\n".join(map(yamlio.dump, bodies)))]


def container(**more: Any) -> dict[str, Any]:
    limits = {"nvidia.com/gpu": "2", "cpu": "4"}
    made = {"name": "model-runner", "image": "engine:v1.0", "args": ["serve", "--port", "80"]}
    return {**made, "resources": {"limits": limits}, **more}


def workload(name: str = "chat", flavor: str = "l4", size: int = 1, spec: Any = None, **more: Any) -> dict[str, Any]:
    """A LeaderWorkerSet; `more` for its container, `spec` for its spec."""
    labels = {"llmaz.io/model-name": "blue"}
    pod = {
        "metadata": {"labels": labels, "annotations": {"llmaz.io/inference-service-flavors": flavor}},
        "spec": {"containers": [container(**more)]},
    }
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": name, "namespace": "llm", "labels": {"app.kubernetes.io/name": name}},
        "spec": {"replicas": 2, "leaderWorkerTemplate": {"size": size, "workerTemplate": pod}, **(spec or {})},
    }


def scaler(low: int, high: int, name: str = "chat") -> dict[str, Any]:
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name, "namespace": "llm"},
        "spec": {
            "scaleTargetRef": {"kind": "LeaderWorkerSet", "name": name},
            "minReplicas": low,
            "maxReplicas": high,
        },
    }


def route(name: str, *backends: tuple[str, int], priority: int = 0) -> dict[str, Any]:
    refs = [{"name": to, "weight": weight, "priority": priority, "modelNameOverride": "m"} for to, weight in backends]
    match = {"headers": [{"type": "Exact", "name": "x-ai-eg-model", "value": name}]}
    return {
        "apiVersion": "aigateway.envoyproxy.io/v1beta1",
        "kind": "AIGatewayRoute",
        "metadata": {"name": "chat", "namespace": "llm"},
        "spec": {
            "parentRefs": [{"kind": "Gateway", "name": "g", "namespace": "s"}],
            "rules": [{"matches": [match], "backendRefs": refs}],
        },
    }


def policy(kind: str = "SecurityPolicy", target: str = "chat", **spec: Any) -> dict[str, Any]:
    targets = [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": target}]
    return {
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": kind,
        "metadata": {"name": "chat", "namespace": "llm"},
        "spec": {"targetRefs": targets, **spec},
    }


def risks(found: Diff) -> list[tuple[str, str]]:
    return [(each.kind, each.what) for each in found.risks]


def between(before: dict[str, Any], after: dict[str, Any]) -> Diff:
    return compare(texts(before), texts(after))


def test_what_is_the_same_is_not_parsed() -> None:
    odd = Text("odd.yaml", "\tthis is no YAML: [")
    found = compare([odd, *texts(workload())], [odd, *texts(workload(image="engine:v1.1"))])
    assert [each.key.kind for each in found.objects] == ["LeaderWorkerSet"]


def test_another_file_is_a_move() -> None:
    found = compare(texts(workload(), path="a.yaml"), texts(workload(), path="b.yaml"))
    assert [each.state for each in found.objects] == ["moved"]
    assert (found.different, found.models, found.risks) == (False, (), ())
    assert "1 object moved" in FORMS["markdown"](found, "")


def test_what_is_no_yaml_is_compared_as_text() -> None:
    found = compare([Text("a.yaml", "a: [\n")], [Text("a.yaml", "b: [\n")])
    assert [(each.state, each.key.kind) for each in found.objects] == [("changed", "File")]
    for form in FORMS.values():
        assert form(found, "")


@pytest.mark.parametrize(
    ("before", "after", "fields"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": True}, ["a"]),
        ({"a": 1}, {"a": "1"}, ["a"]),
        ({"a": None}, {}, ["a"]),
        ({"a": 0}, {"a": False}, ["a"]),
        ({"l": ["a", "b", "c"]}, {"l": ["a", "c"]}, ["l[1]"]),
        ({"l": ["a", "c"]}, {"l": ["a", "b", "c"]}, ["l[1]"]),
        ({"l": [{"name": "b", "v": 1}]}, {"l": [{"name": "a"}, {"name": "b", "v": 2}]}, ["l[b].v", "l[a]"]),
        ({"l": [{"name": "a"}, {"name": "b"}]}, {"l": [{"name": "b"}, {"name": "a"}]}, ["l[*]"]),
        ({"l": [{"name": "a"}, {"name": "a"}]}, {"l": [{"name": "a"}]}, ["l[1]"]),
        ({"l": [{"key": "a", "v": 1}]}, {"l": [{"key": "a", "v": 2}]}, ["l[0].v"]),
        ({"m": {"x/y.z": 1}}, {"m": {"x/y.z": 2}}, ['m["x/y.z"]']),
        ({"l": []}, {"l": {}}, ["l"]),
        ({"l": [1]}, {"l": []}, ["l[0]"]),
    ],
)
def test_fields(before: Any, after: Any, fields: list[str]) -> None:
    assert [each.field for each in differing(before, after)] == fields


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("a --x 1", "a --x 2", ["--x 1 → 2"]),
        ("a --x=1", "a --x 1", []),
        ("a --x 1 --y", "a --y --x 1", []),
        ("a", "a --y", ["+ --y"]),
        ("a --x -1", "a --x -2", ["--x -1 → -2"]),
        ("a --x 1 2", "a --x 1", ["--x 1 2 → 1"]),
        ("a --x 1 --x 2", "a --x 2 --x 1", ["--x 1, 2 → 2, 1"]),
        ("a b", "b a", ["argument a, b → b, a"]),
        ("--x", "", ["- --x"]),
        ("--x", "--x 1", ["--x (no value) → 1"]),
        ("-tp 2", "-tp 4", ["-tp 2 → 4"]),
    ],
)
def test_options(before: str, after: str, said: list[str]) -> None:
    assert [str(each) for each in flags(before.split(), after.split())] == said


def test_gpus_are_counted_by_flavor() -> None:
    """leader + (size - 1) × worker, times the most replicas that there may be."""
    leader = {"spec": {"containers": [container(resources={"limits": {"nvidia.com/gpu": "1"}})]}}
    split = workload(size=3, flavor="h100", spec={"replicas": None})
    split["spec"].pop("replicas")
    split["spec"]["leaderWorkerTemplate"]["leaderTemplate"] = leader
    found = compare(texts(workload()), texts(split, scaler(1, 5)))
    assert {each.name: (each.replica, each.most) for each in found.gpus} == {
        "nvidia.com/gpu": ((0, 1), (0, 5)),
        "nvidia.com/gpu (h100)": ((0, 4), (0, 20)),
        "nvidia.com/gpu (l4)": ((2, 0), (4, 0)),
    }
    assert "GPUs 4 → 25" in FORMS["text"](found, "")


def placed(selector: Any = (), flavor: str = "", terms: Sequence[str] = ()) -> dict[str, Any]:
    """A LeaderWorkerSet whose pods select nodes, by labels or by terms of an affinity."""
    body = workload(flavor=flavor)
    spec = body["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
    spec["nodeSelector"] = dict(selector)
    required = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "gpu", "values": [each]}]} for each in terms]}
    spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    return body


@pytest.mark.parametrize(
    ("before", "after", "gpus"),
    [
        # a model's own flavor has no name in what is rendered: the nodes tell it
        (placed({"gpu": "a"}), placed({"gpu": "h"}), {"(gpu=a)": (4, 0), "(gpu=h)": (0, 4)}),
        (placed({"x/gpu": "a", "kubernetes.io/os": "linux"}), placed({"x/gpu": "a"}), {"(gpu=a)": (4, 4)}),
        (placed(terms=["a", "h"]), placed({"gpu": "h"}), {"(gpu=a or gpu=h)": (4, 0), "(gpu=h)": (0, 4)}),
        # claimed from now on, and the same nodes
        (placed({"gpu": "a"}), placed({"gpu": "a"}, "big"), {"(big)": (4, 4)}),
        (placed({"gpu": "a"}), placed({"gpu": "h"}, "big"), {"(big)": (0, 4), "(gpu=a)": (4, 0)}),
        # of several claimed ones the first acts where nodes are selected, else any
        (placed({"gpu": "a"}, "a,h"), placed(flavor="a,h", terms=["a", "h"]), {"(a)": (4, 0), "(a or h)": (0, 4)}),
    ],
)
def test_the_kind_of_an_accelerator(before: Any, after: Any, gpus: Mapping[str, tuple[int, int]]) -> None:
    found = compare(texts(before), texts(after))
    assert {each.name.removeprefix("nvidia.com/gpu "): each.most for each in found.gpus} == gpus


def test_other_nodes_are_said() -> None:
    """Also where the flavor's name stays, and its nodes are others."""
    found = compare(texts(placed({"gpu": "a"}, "big")), texts(placed({"gpu": "h"}, "big")))
    assert "nodes: gpu=a → gpu=h" in FORMS["text"](found, "")
    assert "nodes `gpu=a` → `gpu=h`" in FORMS["markdown"](found, "")


def loaded(revision: str = "", image: str = "loader:v1", args: str = "copy S:a", volume: Any = None, **env: str) -> Any:
    """A LeaderWorkerSet with a loader, of which the engine has the variable HTTP_PROXY too."""
    variables = [{"name": name, "value": value} for name, value in env.items()]
    body = workload(env=[each for each in variables if each["name"] == "HTTP_PROXY"])
    body["metadata"]["annotations"] = {"renderer.llmaz.io/model-revision": revision}
    pod = body["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
    pod["initContainers"] = [{"name": "loader", "image": image, "args": args.split(), "env": variables}]
    pod["volumes"] = [{"name": "cache", "emptyDir": {}}, {"name": "weights", **(volume or {})}]
    return body


@pytest.mark.parametrize(
    ("before", "after", "facts"),
    [
        (loaded(BUCKET="a"), loaded(BUCKET="b"), [("env BUCKET of loader", "a", "b")]),
        (loaded(), loaded(args="copy S:b"), [("argument of loader", "copy, S:a", "copy, S:b")]),
        # once, where the engine or an annotation says it too
        (loaded(HTTP_PROXY="a"), loaded(HTTP_PROXY="b"), [("env HTTP_PROXY", "a", "b")]),
        (loaded("v1", REVISION="v1"), loaded("v2", REVISION="v2"), [("model revision", "v1", "v2")]),
        # another program is told another way
        (loaded(), loaded(image="other:v1", args="--x", A="1"), [("image of loader", "loader:v1", "other:v1")]),
        (
            loaded(volume={"image": {"reference": "r/a@sha256:1"}}),
            loaded(volume={"image": {"reference": "r/a@sha256:2"}}),
            [("volume weights", "r/a@sha256:1", "r/a@sha256:2")],
        ),
        (loaded(), loaded(volume={"hostPath": {"path": "/m"}}), [("volume weights", "", "/m")]),
    ],
)
def test_where_the_weights_come_from(before: Any, after: Any, facts: list[tuple[str, str, str]]) -> None:
    (model,) = compare(texts(before), texts(after)).models
    assert [tuple(each) for each in model.facts] == facts


def test_other_accelerators_are_no_unchanged_number() -> None:
    found = compare(texts(placed({"gpu": "a"})), texts(placed({"gpu": "h"})))
    assert "GPUs 4, of other kinds ·" in FORMS["text"](found, "")


def test_an_autoscaler_in_a_file_of_its_own() -> None:
    """It did not change, and yet says how many there may be; and the other way round."""
    other = texts(scaler(1, 8), path="llm/chat/hpa.yaml")
    bare = workload()
    bare["spec"].pop("replicas")
    after = copy.deepcopy(bare)
    after["spec"]["leaderWorkerTemplate"]["size"] = 2
    found = compare([*texts(bare, path="llm/chat/lws.yaml"), *other], [*texts(after, path="llm/chat/lws.yaml"), *other])
    assert [each.most for each in found.gpus] == [(16, 32)]
    assert [each.state for each in found.objects] == ["changed"]
    found = compare(
        [*texts(bare, path="llm/chat/lws.yaml"), *other],
        [*texts(bare, path="llm/chat/lws.yaml"), *texts(scaler(1, 9), path="llm/chat/hpa.yaml")],
    )
    assert [(each.state, each.gpus[0].most) for each in found.models] == [("changed", (16, 18))]
    assert [each.key.kind for each in found.objects] == ["HorizontalPodAutoscaler"]


def test_a_rename_is_no_loss() -> None:
    gone, came = workload(), workload("assistant")
    found = compare(texts(gone), texts(came, path="llm/assistant.yaml"))
    assert [(each.state, each.was and each.was.name) for each in found.models] == [("renamed", "chat")]
    assert [kind for kind, _ in risks(found)] == ["renamed"]


def test_the_heir_keeps_the_public_name() -> None:
    """Also where that holds the old name: of two that are gone, the one whose name it had."""
    gone = [workload(name, args=["serve", "--name", f"pub-{name}"]) for name in ("c", "d")]
    found = compare(texts(*gone), texts(workload("dd", args=["serve", "--name", "pub-d"])))
    assert [(each.state, each.key.name, each.was and each.was.name) for each in found.models] == [
        ("removed", "c", None),
        ("renamed", "dd", "d"),
    ]


def test_another_model_is_no_rename() -> None:
    other = workload("mails", image="other:v2", args=["other", "--x", "1"])
    other["spec"]["leaderWorkerTemplate"]["workerTemplate"]["metadata"]["labels"] = {"llmaz.io/model-name": "green"}
    found = compare(texts(workload()), texts(other, path="llm/mails.yaml"))
    assert [each.state for each in found.models] == ["removed", "added"]
    assert risks(found) == [("model-deleted", "2 replicas of blue")]


@pytest.mark.parametrize(
    ("change", "causes"),
    [
        ({"image": "engine:v1.1"}, ["image of model-runner"]),
        ({"args": ["serve", "--port", "81"]}, ["args of model-runner"]),
        ({"env": [{"name": "A", "value": "1"}]}, ["env of model-runner"]),
        ({"size": 2}, ["size"]),
        ({"flavor": "h100"}, ["annotations llmaz.io/inference-service-flavors"]),
        ({"spec": {"networkConfig": {"subdomainPolicy": "UniquePerReplica"}}}, ["networkConfig"]),
        ({"resources": {"limits": {"nvidia.com/gpu": 2, "cpu": "4000m"}}}, []),
        ({"resources": {"limits": {"nvidia.com/gpu": 2, "cpu": "4001m"}}}, ["resources limits of model-runner"]),
        ({"spec": {"replicas": 5}}, []),
        ({"spec": {"rolloutStrategy": {"type": "RollingUpdate"}}}, []),
        ({"spec": {"startupPolicy": "LeaderCreated"}}, []),
    ],
)
def test_what_restarts_pods(change: dict[str, Any], causes: list[str]) -> None:
    after = workload(**change)
    found = restarting(differing(workload(), after))
    assert [each.replace("resources of", "resources limits of") for each in found] == causes
    assert [kind for kind, _ in risks(between(workload(), after)) if kind == "restart"] == ["restart"][: len(causes)]


@pytest.mark.parametrize("name", ["exclusive-topology", "subgroup-exclusive-topology"])
def test_annotations_that_are_copied_into_pods(name: str) -> None:
    after = workload()
    after["metadata"]["annotations"] = {f"leaderworkerset.sigs.k8s.io/{name}": "rack"}
    assert [kind for kind, _ in risks(between(workload(), after))] == ["restart"]
    other = workload()
    other["metadata"]["annotations"] = {"example.com/team": "a"}
    assert risks(between(workload(), other)) == []
    both = copy.deepcopy(other)
    both["metadata"]["annotations"] |= after["metadata"]["annotations"]
    assert [kind for kind, _ in risks(between(other, both))] == ["restart"]


def test_what_does_not_run_is_not_restarted() -> None:
    still = {"replicas": 0}
    assert risks(between(workload(spec=still), workload(spec=still, image="engine:v1.1"))) == []


@pytest.mark.parametrize(("before", "after"), [(None, 2), (2, None), (2, 4)])
def test_the_immutable_field(before: int | None, after: int | None) -> None:
    pair = [workload(size=4), workload(size=4)]
    for each, size in zip(pair, (before, after), strict=True):
        if size:
            each["spec"]["leaderWorkerTemplate"]["subGroupPolicy"] = {"subGroupSize": size}
    assert [kind for kind, _ in risks(between(*pair))] == ["immutable", "restart"]


@pytest.mark.parametrize(
    ("before", "after", "kinds"),
    [
        ((3, None), (0, None), ["scale-to-zero"]),
        ((3, None), (1, None), ["scale-to-one"]),
        ((3, None), (2, None), []),
        ((1, None), (0, None), ["scale-to-zero"]),
        ((1, None), (3, None), []),
        ((3, None), (None, (1, 4)), ["hand-over"]),
        ((3, None), (None, (3, 4)), ["hand-over"]),
        ((1, None), (None, (1, 4)), []),
        ((3, None), (None, None), ["hand-over"]),
        ((None, (2, 4)), (None, (0, 4)), ["scale-to-zero"]),
        ((None, (2, 4)), (None, (1, 4)), ["scale-to-one"]),
        ((None, (2, 4)), (3, None), []),
        ((None, (1, 6)), (1, None), ["scale-to-one"]),
        ((None, (1, 6)), (None, (1, 1)), ["scale-to-one"]),
        ((None, (1, 1)), (1, None), []),
    ],
)
def test_replicas(before: Any, after: Any, kinds: list[str]) -> None:
    sides = []
    for fixed, scaled in (before, after):
        body = workload(spec={"replicas": fixed})
        if fixed is None:
            body["spec"].pop("replicas")
        sides.append(texts(body, scaler(*scaled)) if scaled else texts(body))
    assert [kind for kind, _ in risks(compare(*sides))] == kinds


def test_volumes_secrets_and_tags() -> None:
    after = workload(
        image="engine:latest",
        args=["serve", "--api-key", "hunter2", "--hf-token=hunter3", "--max-tokens", "5"],
        env=[
            {"name": "API_KEY", "value": "hunter4"},
            {"name": "HF_TOKEN", "value": "$(OTHER)"},
            {"name": "DB_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
            {"name": "KEY_FILE", "value": "/etc/key"},
        ],
    )
    pod = after["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
    pod["volumes"] = [{"name": "data", "hostPath": {"path": "/data"}}]
    found = between(workload(), after)
    assert risks(found) == [
        ("plaintext-secret", "env API_KEY is written out; use a secretKeyRef"),
        ("plaintext-secret", "option --api-key is written out; use an env of a Secret"),
        ("plaintext-secret", "option --hf-token is written out; use an env of a Secret"),
        ("host-path", "volume data is /data of the node"),
        ("floating-tag", "engine:latest names no fixed image"),
        ("restart", "image of model-runner, args of model-runner, env of model-runner, volumes"),
    ]
    for form in FORMS.values():
        assert "hunter" not in form(found, "")
    assert [kind for kind, _ in risks(between(after, after | {"x": 1}))] == []  # it was there before


def test_another_secret_shows_and_is_not_said() -> None:
    one, two = (workload(env=[{"name": "API_KEY", "value": value}]) for value in ("hunter2", "hunter3"))
    found = between(one, two)
    assert [kind for kind, _ in risks(found)] == ["plaintext-secret", "restart"]
    for form in FORMS.values():
        text = form(found, "")
        assert "hunter" not in text
        assert "another one" in text.replace("&#60;hidden&#44; another one&#62;", "another one")
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    found = between(
        {**secret, "data": {"a": "aHVudGVy", "b": "eA=="}}, {**secret, "data": {"a": "aHVudGVzzz", "b": "eA=="}}
    )
    for form in FORMS.values():
        assert "aHVudGV" not in form(found, "")


@pytest.mark.parametrize(
    ("name", "value", "is_one"),
    [
        ("HF_TOKEN", "x", True),
        ("AWS_SECRET_ACCESS_KEY", "x", True),
        ("OPENAI_API_KEY", "x", True),
        ("APIKEY", "x", True),
        ("password", "x", True),
        ("HF_TOKEN", "", False),
        ("HF_TOKEN", "$(OTHER)", False),
        ("HF_TOKEN", "${OTHER}", True),
        ("PASSWORD", "$hunter2", True),
        ("HF_TOKEN_2", "x", True),
        ("HF_TOKEN2", "x", True),
        ("VLLM_API_KEYS", "x", True),
        ("API_TOKENS", "x", True),
        ("INPUT_TOKEN", "x", True),
        ("DB_PASS", "x", True),
        ("GITHUB_PAT", "x", True),
        ("AZURE_CREDENTIALS", "{}", True),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/etc/google.json", False),
        ("MAX_INPUT_TOKENS", "x", False),
        ("TOKENS", "4096", False),
        ("EOS_TOKEN", "</s>", False),
        ("KEYSPACE", "x", False),
        ("VLLM_LOGGING", "x", False),
        ("COMPASS", "x", False),
        ("TOKENIZERS_PARALLELISM", "x", False),
        ("MAX_TOKENS", "5", False),
        ("KEY_FILE", "x", False),
        (None, "x", False),
        ("HF_TOKEN", None, False),
    ],
)
def test_a_secret_in_plain_text(name: object, value: object, is_one: bool) -> None:
    assert literal(name, value) is is_one


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        ("--api-key a b --port 80", "--api-key <hidden> <hidden> --port 80"),
        ("--token=a --secret-key b --api-token=c", "--token=<hidden> --secret-key <hidden> --api-token=<hidden>"),
        ("--api-keys a --db-password-2 b", "--api-keys <hidden> --db-password-2 <hidden>"),
        ("--api-key $(A) b", "--api-key $(A) <hidden>"),
        ("--password $hunter2", "--password <hidden>"),
        ("--password-file /a --api-key-file /b --ssl-keyfile c", ""),
        ("--max-tokens x --spec-tokens 5 --stop-token a --tokenizer b --key-value c", ""),
        ("--proxy=http://user:pw@host/x http://token@host", "--proxy=http://<hidden>@host/x http://<hidden>@host"),
        ("http://user:$(PW)@host ssh://git@host http://host/@x a@b", ""),
    ],
)
def test_a_secret_in_a_command_line(args: str, shown: str) -> None:
    assert " ".join(veiled(args.split())) == (shown or args)
    after = workload(args=args.split())
    kinds = {kind for kind, _ in risks(between(workload(), after))}
    assert kinds == ({"plaintext-secret", "restart"} if shown else {"restart"})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"args": ["--api-key", "a0", "b0"]}, {"args": ["--api-key", "a0", "c0"]}),
        ({"args": ["--api-key=a0", "--api-key=b0"]}, {"args": ["--api-key=c0", "--api-key=b0"]}),
        ({"args": ["--api-key=a0", "--api-key=b0"]}, {"args": ["--api-key=b0", "--api-key=a0"]}),
        ({"env": [{"name": "P", "value": "http://u:a0@h"}]}, {"env": [{"name": "P", "value": "http://u:b0@h"}]}),
        ({"args": ["http://a0@h"]}, {"args": ["--x", "http://b0@h"]}),
    ],
)
def test_another_of_several_secrets(before: dict[str, Any], after: dict[str, Any]) -> None:
    """It shows that one changed, though nobody sees which it is; pods restart."""
    found = between(workload(**before), workload(**after))
    assert "restart" in {kind for kind, _ in risks(found)}
    assert all(change.path for each in found.objects for change in each.changes)
    for form in FORMS.values():
        text = form(found, "")
        assert not re.search("[abc]0", text)
        assert "another one" in text.replace("&#44;", ",")


def test_a_restart_that_does_not_show() -> None:
    """Both sides look alike when a secret moves from one place to another."""
    one, two = (workload(args=[f"http://{a}@h", f"http://{b}@h"]) for a, b in ("ab", "ba"))
    found = between(one, two)
    assert [kind for kind, _ in risks(found)] == ["restart"]
    assert "args[0]: <hidden> → <hidden, another one>" in FORMS["text"](found, "")


@pytest.mark.parametrize(
    ("image", "moves"),
    [
        ("a/b:latest", True),
        ("a/b", True),
        ("host:5000/a/b", True),
        ("a/b:main-cuda", True),
        ("a/b:v1.2", False),
        ("a/b:latest@sha256:0", False),
        ("", False),
        ("a/b:server-b11434", False),
    ],
)
def test_floating_tags(image: str, moves: bool) -> None:
    assert floating(image) is moves


def test_a_route_loses_its_last_backend() -> None:
    before = route("blue", ("chat", 2), ("next", 1))
    assert risks(between(before, route("blue", ("chat", 1)))) == []
    words = "blue has no backend left that takes requests"
    assert risks(between(before, route("blue", ("chat", 0), ("next", 0)))) == [("no-backend", words)]
    assert risks(between(before, route("blue"))) == [("no-backend", words)]
    assert risks(between(before, route("green", ("chat", 2)))) == [("no-backend", "nobody answers to blue any more")]
    found = compare(texts(before), [])
    assert risks(found) == [("no-backend", "nobody answers to blue any more")]
    backend = {"apiVersion": "aigateway.envoyproxy.io/v1beta1", "kind": "AIServiceBackend"}
    chat = {**backend, "metadata": {"name": "chat", "namespace": "llm"}}
    only = route("blue", ("chat", 2))
    after = route("blue", ("chat", 3))
    assert risks(compare(texts(only, chat), texts(after))) == [("no-backend", words)]


def at_door(body: dict[str, Any], namespace: str = "llm", gateway: str = "g", hosts: tuple[str, ...] = ()) -> Any:
    """A route in this namespace, at this Gateway and these hosts."""
    made = copy.deepcopy(body)
    made["metadata"]["namespace"] = namespace
    made["spec"]["parentRefs"][0]["name"] = gateway
    return made | {"spec": made["spec"] | ({"hostnames": list(hosts)} if hosts else {})}


@pytest.mark.parametrize(
    ("before", "after", "where"),
    [
        ({}, {"namespace": "other"}, ""),
        ({}, {"gateway": "h"}, "Gateway s/g"),
        ({"hosts": ("a.io", "b.io")}, {"hosts": ("a.io",)}, "b.io of Gateway s/g"),
        ({"hosts": ("a.io",)}, {"hosts": ("a.io", "b.io")}, ""),
        ({"hosts": ("a.io",)}, {"hosts": ("*.io",)}, ""),
        ({"hosts": ("a.io",)}, {}, ""),
        ({}, {"hosts": ("a.io",)}, "Gateway s/g, but for a.io,"),
        ({"hosts": ("a.io",)}, {"hosts": ("a.io",), "gateway": "h"}, "Gateway s/g"),
        ({"hosts": ("a.io",)}, {"hosts": ("b.io",), "namespace": "other"}, "a.io of Gateway s/g"),
    ],
)
def test_a_name_belongs_to_a_gateway(before: dict[str, Any], after: dict[str, Any], where: str) -> None:
    body = route("blue", ("chat", 1))
    found = between(at_door(body, **before), at_door(body, **after))
    assert risks(found) == ([("no-backend", f"nobody answers to blue at {where} any more")] if where else [])
    if "namespace" in after:
        assert ("blue", "namespace", "llm", "other") in [tuple(each) for each in found.traffic]
        assert "public name" not in [each.what for each in found.traffic]


def test_the_sum_of_many_accelerators_is_not_cut() -> None:
    """It stands first, and the lines of single models give way."""
    sides = [[placed({"gpu": kind}) for _ in range(80)] for kind in "ah"]
    for side in sides:
        for i, each in enumerate(side):
            each["metadata"]["name"] = f"model-{i}"
    shown = FORMS["markdown"](compare(*(texts(*side) for side in sides)), "")
    rows = shown.partition("| GPUs of |")[2].splitlines()
    assert rows[2:4] == [
        "| all of these models | `nvidia.com/gpu (gpu=a)` | 160 → 0 | 320 → 0 |",
        "| all of these models | `nvidia.com/gpu (gpu=h)` | 0 → 160 | 0 → 320 |",
    ]
    assert re.search(r"^and \d+ more lines$", shown, re.MULTILINE)


def test_two_clusters_beside_each_other() -> None:
    """What a step from one to the other would do to pods is no risk; what one of them has is."""
    gone = workload("gone")
    now = workload(image="engine:latest", spec={"replicas": 1}, env=[{"name": "API_KEY", "value": "sk-1"}])
    found = compare(texts(workload(), gone), texts(now), step=False)
    assert [kind for kind, _ in risks(found)] == ["plaintext-secret", "floating-tag"]


def test_many_that_move_to_another_namespace() -> None:
    """Pairs of one name are few, however many there are of a namespace."""
    sides: list[list[dict[str, Any]]] = [[], []]
    for side, namespace in zip(sides, "ab", strict=True):
        for i in range(40):
            side.append(workload(f"m{i}"))
            side[-1]["metadata"]["namespace"] = namespace
    found = compare(texts(*sides[0]), texts(*sides[1]))
    assert {(each.state, each.was and each.was.name == each.key.name) for each in found.models} == {("renamed", True)}


def test_renames_in_two_namespaces_to_one_name() -> None:
    """Each is the heir of its own."""
    backend = {"apiVersion": "aigateway.envoyproxy.io/v1beta1", "kind": "AIServiceBackend"}
    sides: list[list[dict[str, Any]]] = [[], []]
    for side, names in zip(sides, (("chat", "foo"), ("new", "new")), strict=True):
        for namespace, name, public in zip("ab", names, ("p1", "p2"), strict=True):
            model = workload(name)
            model["metadata"]["namespace"] = namespace
            labels = {"app.kubernetes.io/name": name}
            metadata = {"name": name, "namespace": namespace, "labels": labels}
            side += [model, {**backend, "metadata": metadata}]
            side.append(at_door(route(public, (name, 1)), namespace))
    found = compare(texts(*sides[0]), texts(*sides[1]))
    assert [each.state for each in found.models] == ["renamed", "renamed"]
    assert found.traffic == ()


def at_host(body: Any, name: str, host: str) -> Any:
    """A route under another name of its own, for a host."""
    made = copy.deepcopy(body)
    made["metadata"]["name"] = name
    made["spec"]["hostnames"] = [host]
    return made


def test_one_public_name_at_two_hosts() -> None:
    """Each route is compared with itself; what is gone is said of its host."""
    one, other = at_host(route("blue", ("a", 90), ("b", 10)), "r1", "x.example"), route("blue", ("a", 50), ("c", 50))
    other = at_host(other, "r2", "y.example")
    less = at_host(route("blue", ("a", 70), ("b", 30)), "r1", "x.example")
    for after in ([less], [at_host(less, "r3", "x.example")]):
        assert sorted(tuple(each) for each in compare(texts(one, other), texts(*after)).traffic) == [
            ("blue at x.example", "weight of a", "90", "70"),
            ("blue at x.example", "weight of b", "10", "30"),
            ("blue at y.example", "public name", "a, weight 50; c, weight 50", ""),
        ]
    both = compare(texts(one, other), texts(other, less))
    assert [each.name for each in both.traffic] == ["blue at x.example"] * 2


def test_traffic() -> None:
    limits: dict[str, Any] = {
        "clientSelectors": [{"headers": [{"name": "x-tenant-id", "type": "Distinct"}]}],
        "limit": {"requests": 1000, "unit": "Hour"},
        "cost": {"response": {"from": "Metadata", "metadata": {"key": "llm_total_token"}}},
    }
    more = {**limits, "limit": {"requests": 20000, "unit": "Hour"}}
    host = {
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": "Backend",
        "metadata": {"name": "outer", "namespace": "llm"},
        "spec": {"endpoints": [{"fqdn": {"hostname": "api.example.com", "port": 443}}]},
    }
    before = [route("blue", ("chat", 1)), policy("BackendTrafficPolicy", rateLimit={"global": {"rules": [limits]}})]
    after = [
        route("blue", ("chat", 9), ("next", 1), priority=1),
        policy("BackendTrafficPolicy", rateLimit={"global": {"rules": [more]}}, retry={"numRetries": 2}),
        host,
    ]
    found = compare(texts(*before), texts(*after))
    assert [tuple(each) for each in found.traffic] == [
        ("blue", "weight of chat", "1", "9"),
        ("blue", "priority of chat", "0", "1"),
        ("blue", "leads to", "", "next, weight 1, priority 1"),
        ("llm/outer", "provider", "", "api.example.com:443"),
        ("llm/chat", "limit of llm_total_token for each x-tenant-id an hour", "1,000", "20,000"),
        ("llm/chat", "retries", "", "2"),
    ]


def authorization(*tenants: str, action: str = "Deny") -> dict[str, Any]:
    principal = {"headers": [{"name": "x-tenant-id", "values": list(tenants)}]}
    return {"defaultAction": action, "rules": [{"action": "Allow", "principal": principal}]}


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (
            {"jwt": {}, "authorization": authorization("a")},
            None,
            "the policy is gone: whoever the Gateway lets in may call",
        ),
        ({"jwt": {"x": 1}}, {}, "jwt is gone"),
        ({"authorization": authorization("a")}, {}, "authorization is gone: everybody who is known may call"),
        (
            {"authorization": authorization("a")},
            {"authorization": authorization("a", action="Allow")},
            "defaultAction Deny → Allow",
        ),
        ({"authorization": authorization("a")}, {"authorization": authorization("b", "a")}, "also for b"),
        ({"authorization": authorization("a", "b")}, {"authorization": authorization("a")}, ""),
        ({}, {"authorization": authorization("a")}, ""),
        (None, {"authorization": authorization("a")}, ""),
    ],
)
def test_rights(before: Any, after: Any, words: str) -> None:
    sides = [texts(policy(**spec)) if spec is not None else [] for spec in (before, after)]
    assert risks(compare(*sides)) == ([("rights", words)] if words else [])


def test_a_policy_that_goes_with_its_route_opens_nothing() -> None:
    both = texts(route("blue", ("chat", 1)), policy(jwt={}))
    assert [kind for kind, _ in risks(compare(both, []))] == ["no-backend"]
    assert [kind for kind, _ in risks(compare(both, texts(route("blue", ("chat", 1)))))] == ["rights"]


def test_grants_and_headers() -> None:
    grant: dict[str, Any] = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "ReferenceGrant",
        "metadata": {"name": "g", "namespace": "s"},
        "spec": {"from": [{"kind": "SecurityPolicy", "namespace": "a"}], "to": [{"kind": "Secret", "name": "keys"}]},
    }
    more: dict[str, Any] = copy.deepcopy(grant)
    more["spec"]["from"].append({"kind": "SecurityPolicy", "namespace": "b"})
    assert risks(between(grant, more)) == [("rights", "SecurityPolicy of namespace b may use Secret keys")]
    assert risks(between(more, grant)) == []
    door = policy("ClientTrafficPolicy", headers={"earlyRequestHeaders": {"remove": ["x-tenant-id", "x"]}})
    less = policy("ClientTrafficPolicy", headers={"earlyRequestHeaders": {"remove": ["x"]}})
    assert risks(between(door, less)) == [("rights", "clients may send x-tenant-id themselves")]


def test_listeners() -> None:
    def gateway(*listeners: dict[str, Any]) -> dict[str, Any]:
        made = {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway"}
        return {**made, "metadata": {"name": "g", "namespace": "s"}, "spec": {"listeners": list(listeners)}}

    https = {"name": "https", "port": 443, "protocol": "HTTPS"}
    found = between(gateway(https, {"name": "b"}), gateway({**https, "port": 8443, "hostname": "x"}, {"name": "a"}))
    assert [what for _, what in risks(found)] == ["a is new", "b is gone", "https: port, hostname"]
    assert {kind for kind, _ in risks(found)} == {"listener"}


# The forms


def test_nothing_breaks_out_of_the_comment() -> None:
    """Names and values that mean something to Markdown, HTML, a table or GitHub."""
    nasty = [
        "a | b",
        "`x`",
        "```\n</details>\n<script>alert(1)</script>",
        "</code></summary></details><img src=x>",
        "@octocat #1 https://example.com/?a=b",
        "[x](http://example.com)",
        "<!-- llmaz -->",
        "-->",
        "\u202egnp.exe\x1b[31m",
        "**bold** _it_ ~~no~~ $x$",
        "\\|",
        "|\n|---|\n",
    ]
    for text in nasty:
        before = workload(args=["--x", "1"], env=[{"name": "E", "value": "v"}])
        after = workload(args=["--x", text, f"--{text}", "1"], image=text, env=[{"name": text, "value": text}])
        after["metadata"] |= {"annotations": {"renderer.llmaz.io/engine-version": text, text: text}}
        route_of = route(text, (text, 1))
        page = FORMS["markdown"](compare(texts(before, route("b", ("b", 1))), texts(after, route_of)), text)
        head, *rest = page.splitlines()
        assert re.fullmatch(r"<!-- llmaz(:(?:[A-Za-z0-9.]|-(?!-))+)? -->", head)
        assert "\x1b" not in page
        assert "\u202e" not in page
        outside = outside_of_fences(rest)
        for line in outside:
            bare = re.sub(r"`[^`]*`|<code>[A-Za-z0-9 →–…&#;/.,()=-]*</code>", "", line)
            bare = re.sub(r"</?details>|</?summary>|<br>", "", bare)
            assert not re.search(r"[<>@`\[\\$~_]", bare), (text, line)
            if line.startswith("|"):
                assert line.count("|") in (4, 5), (text, line)


def outside_of_fences(lines: list[str]) -> list[str]:
    """The lines of a page that stand in no fence; every fence is closed."""
    found, fence = [], ""
    for line in lines:
        if not fence and (begin := re.fullmatch(r"(`{3,})diff", line)):
            fence = begin[1]
        elif fence:
            assert line[:1] in ("+", "-", " ", "@", "`"), line
            if re.fullmatch(r" {0,3}`{3,} *", line) and len(line.strip()) >= len(fence):
                assert line == fence
                fence = ""
        else:
            found.append(line)
    assert fence == ""
    return found


@pytest.mark.parametrize("count", [3, 60, 400])
@pytest.mark.parametrize("wide", ["x", "\U0001f600"])
def test_a_comment_has_an_end(count: int, wide: str) -> None:
    """65,536 characters, whatever comes; every fence and fold closed, and what is missing is counted."""
    before = [workload(f"chat-{i}") for i in range(count)]
    lots = [f"{wide * 40}-{n}" for n in range(200)]
    after = [workload(f"chat-{i}", args=["serve", *lots], image=f"{wide * 300}:v1") for i in range(count)]
    page = FORMS["markdown"](compare(texts(*before), texts(*after)), "prod")
    assert len(page.encode("utf-16-le")) // 2 <= 65_536
    outside = outside_of_fences(page.splitlines())
    assert page.count("<details>") == page.count("</details>") > 0
    assert "**restarts pods**" in page
    left = [line for line in outside if line.startswith("Not shown")]
    assert len(left) == (count > 3)
    if left:
        (number,) = re.findall(r"([\d,]+) objects? more", left[0])
        assert int(number.replace(",", "")) + page.count("<details>") == count


def test_it_is_deterministic() -> None:
    before = texts(*(workload(f"chat-{i}") for i in range(20)), route("blue", ("a", 1)))
    after = texts(*(workload(f"talk-{i}", image="engine:v2") for i in range(20)), route("blue", ("b", 1)))
    for form in FORMS.values():
        assert len({form(compare(before[::step], after[::step]), "") for step in (1, -1, 1)}) == 1


ODD: tuple[Any, ...] = (None, "", 1, 0, -1, 1.5, True, [], {}, [None], [[]], ["a"], {"name": 1}, [{"name": "x"}])


def mutated(value: Any, dice: random.Random) -> Any:
    """The value with something odd somewhere in it."""
    if isinstance(value, dict) and value and dice.random() < 0.95:
        key = dice.choice(list(value))
        return {**value, key: mutated(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < 0.95:
        place = dice.randrange(len(value))
        return [mutated(each, dice) if i == place else each for i, each in enumerate(value)]
    return copy.deepcopy(dice.choice(ODD))


@pytest.mark.parametrize("seed", range(8))
def test_whatever_manifests_hold(seed: int) -> None:
    """Files of others are compared too: nothing of them is taken for granted, and no difference is lost."""
    dice = random.Random(seed)
    found: dict[str, list[Any]] = {}
    for path in sorted((HERE / "cases").glob("*gate*/expected/**/*.yaml")) + sorted(
        (HERE / "cases").glob("example-*/expected/**/*.yaml")
    ):
        for document in yamlio.parse(path.name, path.read_bytes())[0]:
            found.setdefault(document.value["kind"], []).append(document.value)
    assert len(found) > 12
    for kind in sorted(found):
        for _ in range(20):
            body = dice.choice(found[kind])
            sides = [texts(each) for each in (body, mutated(mutated(body, dice), dice)) if isinstance(each, dict)]
            if len(sides) == 2:
                diff = compare(*sides)
                assert diff.different == (sides[0] != sides[1])
                for form in FORMS.values():
                    assert form(diff, "")


def test_json_has_all_keys() -> None:
    empty = json.loads(FORMS["json"](compare([], []), ""))
    assert empty == {
        "environment": None,
        "different": False,
        "models": [],
        "gpus": [],
        "traffic": [],
        "risks": [],
        "objects": [],
        "notes": [],
    }


def test_every_risk_is_documented() -> None:
    page = (HERE.parent / "docs" / "diff.md").read_text("utf-8")
    table = page[page.index("<!-- risks -->") : page.index("<!-- /risks -->")]
    assert re.findall(r"^\| `([\w-]+)` \| ([^|]+) \|", table, re.MULTILINE) == list(KINDS.items())


def test_the_goldens_hold_no_secret() -> None:
    """What we render by ourselves writes out no secret: all that is found is what inputs of cases write out."""
    found = {}
    for folder in sorted((HERE / "cases").iterdir()):
        made = [Text(path.name, path.read_text("utf-8")) for path in (folder / "expected").rglob("*.yaml")]
        kinds = [each.kind for each in compare([], made).risks]
        if "plaintext-secret" in kinds:
            found[folder.name] = kinds.count("plaintext-secret")
    assert set(found) <= {"environment-who-wins", "likely-not-what-is-meant", "loaders-and-secrets"}


def test_one_of_a_thousand_is_quick() -> None:
    """What did not change costs nothing: well under a tenth of a second."""
    case = (HERE / "cases" / "example-hpa" / "expected" / "llm" / "chat.yaml").read_text("utf-8")
    before = [Text(f"llm/chat-{i}.yaml", case.replace("chat", f"chat-{i}")) for i in range(1000)]
    after = [*before]
    after[500] = Text(before[500].path, before[500].text.replace("maxReplicas: 6", "maxReplicas: 7"))
    compare(before[:1], after[:1])
    began = time.perf_counter()
    found = compare(before, after)
    took = time.perf_counter() - began
    assert [each.state for each in found.objects] == ["changed"]
    assert took < 0.1, f"{took:.3f} s"


def test_git_is_there() -> None:
    assert shutil.which("git")
