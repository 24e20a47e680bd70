"""`render --kubeconform`: its findings are problems at the input's place. (The true one judges every golden in CI.)"""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.paths import ROOT
from tests.programs import tool

if TYPE_CHECKING:
    from tests.conftest import Llmaz

PLAYGROUND = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata:
  name: chat
spec:
  modelClaim:
    modelName: qwen3-0--6b-gguf
  backendRuntimeConfig:
    backendName: llamacpp
    args: [--kv-unified-per-slot, "8192"]
"""
# Stands in for kubeconform: says what it was told to say, of the file that it is given.
FAKE = """\
#!{python}
import json, os, pathlib, sys
answer = json.loads(os.environ["ANSWER"])
pathlib.Path("seen.json").write_text(json.dumps(sys.argv[1:]))
if isinstance(answer, str):
    sys.exit(answer)
[file] = pathlib.Path(sys.argv[-1]).rglob("*.yaml")
assert file.read_text().startswith("# Rendered by llmaz from chat.yaml. Do not edit.")
print(json.dumps({{"resources": [{{"filename": str(file), **each}} for each in answer]}}))
sys.exit(1 if answer else 0)
"""


@pytest.fixture
def fake(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes a program of that name in the current folder, which answers with these, or fails with that text."""
    (folder / "chat.yaml").write_text(PLAYGROUND)

    def make(answer: list[dict[str, Any]] | str) -> str:
        program = folder / "fake-kubeconform"
        program.write_text(FAKE.format(python=sys.executable))
        program.chmod(0o755)
        monkeypatch.setenv("ANSWER", json.dumps(answer))
        return f"--kubeconform={program}"

    return make


def finding(kind: str, name: str, *errors: tuple[str, str], msg: str = "problem") -> dict[str, Any]:
    validation_errors = [{"path": path, "msg": text} for path, text in errors]
    return {"kind": kind, "name": name, "status": "statusInvalid", "msg": msg, "validationErrors": validation_errors}


def test_kubeconform_finding(fake: Any, folder: Path, llmaz: Llmaz) -> None:
    """E560: the place is the input's, the message names the object and its field."""
    runner = "/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0"
    flag = fake(
        [
            finding("LeaderWorkerSet", "chat", (f"{runner}/args/14", "too large"), (f"{runner}/image", "too old")),
            finding("Service", "chat-lb", ("/metadata/name", "too long")),
            finding("Service", "chat-lb", msg="no schema for it"),
        ]
    )
    done = llmaz("render", flag, "-o", "out")
    assert done.code == 2
    template = "spec.leaderWorkerTemplate.workerTemplate.spec.containers[0]"
    lines = done.err.splitlines()

    def find_line(text: str) -> str:
        [line] = [line for line in lines if f"{text} [E560]" in line]
        return line

    large = find_line("too large")
    assert large.startswith("chat.yaml:10:35: spec.backendRuntimeConfig.args[1]: ")
    assert f"in LeaderWorkerSet {template}.args[14]: " in large
    assert find_line("too long").startswith("chat.yaml:4:9: metadata.name: ")
    assert find_line("too old").startswith("presets/backends/llamacpp.yaml:")
    assert "in Service" in find_line("no schema for it")
    assert lines[-1] == "4 errors; nothing was written"
    assert not (folder / "out").exists()


def test_kubeconform_is_strict_and_stays_at_home(fake: Any, folder: Path, llmaz: Llmaz) -> None:
    """It is asked with our schemas only, and then everything is written."""
    done = llmaz("render", fake([]), "-o", "out")
    assert done.code == 0, done.err
    assert (folder / "out" / "default" / "chat.yaml").exists()
    args = json.loads((folder / "seen.json").read_text())
    assert "-strict" in args
    locations = [value for flag, value in itertools.pairwise(args) if flag == "-schema-location"]
    assert locations
    assert all(location.startswith(str(ROOT / "renderer" / "schemas")) for location in locations)
    assert not any("://" in location for location in args)


def test_kubeconform_that_fails(fake: Any, folder: Path, llmaz: Llmaz) -> None:
    """E561 with what it says."""
    done = llmaz("render", fake("it is broken"), "-o", "out")
    assert done.code == 2
    assert "it is broken [E561]" in done.err
    assert not (folder / "out").exists()


def test_kubeconform_is_not_asked_when_something_else_is_wrong(fake: Any, folder: Path, llmaz: Llmaz) -> None:
    (folder / "wrong.yaml").write_text(PLAYGROUND.replace("qwen3", "nowhere").replace("chat", "wrong"))
    assert llmaz("render", fake([]), "-o", "out").code == 2
    assert not (folder / "seen.json").exists()


@pytest.mark.parametrize("layout", ["file", "app", "object"])
def test_the_true_one_is_content(layout: str, folder: Path, llmaz: Llmaz) -> None:
    program = tool("kubeconform")
    (folder / "chat.yaml").write_text(PLAYGROUND)
    done = llmaz("render", f"--kubeconform={program}", "--set", f"output.layout={layout}")
    assert done.code == 0, done.err
