"""Manifests with a version of an engine that the tree has learnt, into which `llmaz adopt` writes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.engine_helps import help_of
from tests.inputs import CONFIG

if TYPE_CHECKING:
    from tests.conftest import Llmaz

LIST = "flags/vllm-9.0.0.txt"
ARGS = ("--model", "Qwen/Qwen3-8B", "--brand-new", "2", "--max-logprobs", "3")
# An object of the operator's API, whose version is not of its presets.
OF_OPERATOR = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: small}
spec:
  familyName: qwen3
  source: {modelHub: {modelID: Qwen/Qwen3-8B}}
  inferenceConfig: {flavors: [{name: gpu, limits: {nvidia.com/gpu: 1}}]}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: chat}
spec:
  replicas: 1
  modelClaim: {modelName: small}
  backendRuntimeConfig: {backendName: vllm, version: v9.0.0, args: [--brand-new, "2", --max-logprobs, "3"]}
"""


def deployment(version: str, args: tuple[str, ...] = ARGS) -> str:
    container = {
        "name": "engine",
        "image": f"vllm/vllm-openai:{version}",
        "args": list(args),
        "resources": {"limits": {"nvidia.com/gpu": 1}},
    }
    labels = {"app": "chat"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    metadata = {"name": "chat", "namespace": "llm"}
    return yaml.safe_dump({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec})


def playground(folder: Path) -> dict[str, Any]:
    """The settings of the engine in the only Playground below a folder."""
    documents = [document for path in folder.glob("*.yaml") for document in yaml.safe_load_all(path.read_text())]
    [body] = [document for document in documents if document["kind"] == "Playground"]
    settings: dict[str, Any] = body["spec"]["backendRuntimeConfig"]
    return settings


def learn(folder: Path, llmaz: Llmaz) -> None:
    """9.0.0 has an option that no known version has, and its help has no --max-logprobs."""
    (folder / "help.txt").write_text(help_of("vllm", "--brand-new N   words", without=("--max-logprobs",)))
    assert llmaz("presets", "learn", "vllm", "9.0.0", "help.txt").code == 0
    (folder / "help.txt").unlink()


@pytest.mark.parametrize("text", [deployment("v9.0.0"), OF_OPERATOR], ids=["deployment", "operator"])
def test_the_preset_starts_it(folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """The list judges, and goes along, so that the new tree is judged in the same way."""
    learn(folder, llmaz)
    (folder / "running.yaml").write_text(text)
    done = llmaz("adopt", "running.yaml", "-o", "adopted")
    assert done.code == 0, done.err
    assert playground(folder / "adopted")["backendName"] == "vllm"
    assert playground(folder / "adopted")["version"] == "v9.0.0"
    assert (folder / "adopted" / LIST).read_bytes() == (folder / LIST).read_bytes()
    for problems in (done.err, validated(folder / "adopted", llmaz, monkeypatch)):
        assert "the help of vllm 9.0.0 has no option '--max-logprobs' [W430]" in problems
        assert "W400" not in problems
        assert "E4" not in problems


def validated(folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> str:
    """What is said of the tree in a folder."""
    monkeypatch.chdir(folder)
    return llmaz("validate").err


def test_without_the_list_a_note_says_how_to_learn_it(folder: Path, llmaz: Llmaz) -> None:
    """Its hint, followed: the command line no longer stays as it is."""
    (folder / "llmaz.yaml").write_text(f"{CONFIG.rstrip()}\n  gateway: {{mode: off}}\n")
    (folder / "running.yaml").write_text(deployment("v9.0.0"))
    before = llmaz("adopt", "running.yaml", "-o", "before")
    assert (
        "hint: let llmaz learn that version in the tree, then adopt this again: "
        "vllm serve --help=all | llmaz presets learn vllm 9.0.0 -\n"
    ) in before.err
    assert playground(folder / "before")["backendName"] == "chat-llmaz"
    assert not (folder / "before" / "flags").exists()
    learn(folder, llmaz)
    assert "N955" not in llmaz("adopt", "running.yaml", "-o", "after").err
    assert playground(folder / "after")["backendName"] == "vllm"


def test_what_the_help_proves_refuses_the_result(folder: Path, llmaz: Llmaz) -> None:
    learn(folder, llmaz)
    (folder / "running.yaml").write_text(deployment("v9.0.0", (*ARGS, "--brandnew", "2")))
    done = llmaz("adopt", "running.yaml", "-o", "adopted")
    assert done.code == 2
    assert "vllm 9.0.0 has no option '--brandnew' [E958]" in done.err


@pytest.mark.parametrize(("version", "target"), [("v0.33.0", "tree/adopted"), ("v9.0.0", "adopted")])
def test_no_list_goes_along(
    folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch, version: str, target: str
) -> None:
    """Of a version that is known, and into a folder that is not of the tree."""
    tree = folder / "tree"
    tree.mkdir()
    monkeypatch.chdir(tree)
    learn(tree, llmaz)
    monkeypatch.chdir(folder)
    (folder / "running.yaml").write_text(deployment(version, ARGS[:2]))
    assert llmaz("adopt", "running.yaml", "-o", target).code == 0
    assert not (folder / target / "flags").exists()
    assert "optionLists" not in (folder / target / "llmaz.yaml").read_text()
