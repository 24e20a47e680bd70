"""The check of the action: wrong inputs, stale output, warnings, and their log for code scanning."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from jsonschema import Draft4Validator

from tests.action.github import Act, Hub, Repository, neutral, says
from tests.diagnostics.test_formats import SARIF

if TYPE_CHECKING:
    from tests.conftest import Golden


def test_a_wrong_input(act: Act, hub: Hub, repository: Repository, golden: Golden) -> None:
    repository.change("modelName: qwen2--5-0--5b", "modelName: qwen2--5-0--5")
    repository.commit("wrong")
    ran = act()
    assert ran.code == 2
    ((kind, place, text),) = ran.annotations
    assert kind == "error"
    assert place == {"file": "chat.yaml", "line": "22", "col": "16", "title": "llmaz E203"}
    assert text.startswith("spec.modelClaim.modelName: no OpenModel is named 'qwen2--5-0--5' [E203]\n")
    assert (ran.outputs["errors"], ran.outputs["changed"]) == ("1", "")
    golden("action/expected/wrong.md", neutral(hub.comments[0]["body"], repository))


def test_a_stale_output(
    act: Act, hub: Hub, repository: Repository, golden: Golden, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.change("8192", "4096")
    repository.commit("forgot to render")
    says(monkeypatch, "<!-- llmaz -->\nNo change.\n", code=0)
    ran = act()
    assert ran.code == 1
    ((kind, place, _),) = ran.annotations
    assert (kind, place["file"]) == ("error", "rendered/demo/chat.yaml")
    assert (ran.outputs["stale"], ran.outputs["errors"]) == ("1", "0")
    golden("action/expected/stale.md", neutral(hub.comments[0]["body"], repository))


def test_rendered_files_that_nobody_commits(act: Act, repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(repository.folder / "rendered")
    repository.commit("not committed")
    says(monkeypatch, "<!-- llmaz -->\nNo change.\n", code=0)
    assert act().code == 1
    assert act(INPUT_COMMITTED="false").code == 0


def test_manifests_that_nobody_renders(act: Act, repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository.folder / "pod.yaml").write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: b}\n"
        'spec: {containers: [{name: e, image: "vllm/vllm-openai:v0.24.0", args: [--no-such-option], '
        "resources: {limits: {nvidia.com/gpu: 1}}}]}\n"
    )
    repository.commit("a pod of others")
    says(monkeypatch, "<!-- llmaz -->\nNo change.\n", code=0)
    assert act().code == 0
    ran = act(INPUT_MANIFESTS="pod.yaml")
    assert ran.code == 2
    titles = [(kind, place["file"], place["line"], place["title"]) for kind, place, _ in ran.annotations]
    assert titles == [("error", "pod.yaml", "4", f"llmaz {code}") for code in ("E430", "E467")]
    assert ran.outputs["errors"] == "2"
    assert act(INPUT_MANIFESTS="'pod.yaml").code == 2
    assert act(INPUT_MANIFESTS="none.yaml").code == 2


def test_warnings(act: Act, hub: Hub, repository: Repository, golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.change("metadata:\n  name: chat\n", "metadata:\n  name: chat\n  annotations: {llmaz.io/hm: x}\n")
    repository.llmaz("render")
    repository.commit("warned")
    says(monkeypatch, "<!-- llmaz -->\n### llmaz: 1 object changed\n")
    ran = act()
    assert (ran.code, ran.outputs["warnings"]) == (0, "1")
    assert [kind for kind, _, _ in ran.annotations] == ["warning"]
    golden("action/expected/warned.md", neutral(hub.comments[0]["body"], repository))
    strict = act(INPUT_STRICT="true")
    assert strict.code == 2
    golden("action/expected/strict.md", neutral(hub.comments[0]["body"], repository))


def test_places_are_those_of_the_repository(act: Act, repository: Repository) -> None:
    """Wherever llmaz runs: GitHub knows files from the top of the repository."""
    (repository.folder / "teams" / "a").mkdir(parents=True)
    repository.git("mv", "chat.yaml", "rendered", "teams/a/")
    repository.change("backendName: llamacpp", "backendName: llamacp", "teams/a/chat.yaml")
    repository.base = repository.commit("moved")
    ran = act(INPUT_WORKING_DIRECTORY="teams/a")
    assert ran.code == 2
    assert ran.annotations[0][1]["file"] == "teams/a/chat.yaml"
    log = json.loads(Path(ran.outputs["sarif-file"]).read_text("utf-8"))
    (result,) = log["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "teams/a/chat.yaml"


def test_one_path_of_several(act: Act, repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths may hold blanks when quoted, and begin with a dash."""
    says(monkeypatch, "<!-- llmaz -->\nNo change.\n", code=0)
    (repository.folder / "-x y.yaml").write_text("apiVersion: llmaz.io/v1alpha1\nkind: OpenModel\nspec: [\n")
    assert act(INPUT_PATHS="chat.yaml").code == 0
    ran = act(INPUT_PATHS="chat.yaml '-x y.yaml'")
    assert ran.code == 2
    assert ran.annotations[0][1]["file"] == "-x y.yaml"


def test_words_of_an_input_are_no_commands(act: Act, hub: Hub, repository: Repository) -> None:
    """Neither for the runner, nor as Markdown, nor as a mention."""
    wrong = "x`````\\n::set-output name=a::b\\n<!-- llmaz:evil --> @everyone <script>"
    repository.change("backendName: llamacpp", f'backendName: "{wrong}"')
    repository.commit("evil")
    ran = act()
    assert ran.code == 2
    assert {kind for kind, _, _ in ran.annotations} == {"error"}
    body = hub.comments[0]["body"]
    fences = re.findall(r"^(`{3,})", body, re.MULTILINE)
    assert len(fences) == 2
    assert "`````" in body
    assert len(fences[0]) > 5


def test_a_fault_of_llmaz(act: Act, repository: Repository, hub: Hub) -> None:
    """What llmaz refuses in words only stands there too."""
    ran = act(INPUT_PATHS="nowhere")
    assert ran.code == 2
    assert len(ran.annotations) == 1
    assert "nowhere" in ran.log


def test_goldens_are_all_made(superfluous: Callable[[Path, set[Path]], list[Path]]) -> None:
    folder = Path(__file__).resolve().parent / "expected"
    text = Path(__file__).read_text("utf-8")
    goldens = {folder / name for name in re.findall(r'golden\("action/expected/([^"]+)"', text)}
    assert superfluous(folder, goldens) == []


# --- SARIF


def test_the_log_of_the_action(act: Act, hub: Hub, repository: Repository) -> None:
    repository.change("backendName: llamacpp", "backendName: llamacp")
    head = repository.commit("wrong")
    ran = act(INPUT_SARIF="true")
    text = Path(ran.outputs["sarif-file"]).read_text("utf-8")
    log = json.loads(text)
    assert [error.message for error in Draft4Validator(SARIF).iter_errors(log)] == []
    (run,) = log["runs"]
    assert run["automationDetails"] == {"id": "llmaz/"}
    assert re.fullmatch(r"[0-9a-f]{32}:1", run["results"][0]["partialFingerprints"]["primaryLocationLineHash"])
    (upload,) = hub.uploads
    assert gzip.decompress(base64.b64decode(upload.pop("sarif"))).decode() == text
    assert upload == {"commit_sha": head, "ref": "refs/pull/7/merge", "tool_name": "llmaz"}


def test_the_upload_names_the_head_where_that_is_checked_out(
    act: Act, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    says(monkeypatch, "<!-- llmaz -->\nNo change.\n", code=0)
    act(INPUT_SARIF="true", GITHUB_SHA="1" * 40)
    assert hub.uploads[0]["ref"] == "refs/pull/7/head"


@pytest.mark.parametrize(("fork", "kind"), [(True, "notice"), (False, "warning")])
def test_no_code_scanning(fork: bool, kind: str, act: Act, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    says(monkeypatch, "<!-- llmaz -->\nNo change.\n", code=0)
    hub.refuse("POST", 403, "Code scanning is not enabled")
    ran = act(fork=fork, INPUT_SARIF="true")
    assert ran.code == 0
    assert [level for level, _, _ in ran.annotations] == [kind]
