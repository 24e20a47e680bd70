"""`scripts/make_schemas.py --only input`: the schemas of our own kinds, without Go and without a change of others."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT

KEY = "        teamLabel: {type: string, description: A label of teams.}\n"
BEHIND = "        definitions:\n          description: Which files may define what others use.\n"  # of RenderPolicy


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Scripts and schemas, as in a clone."""
    for path in ("scripts", "renderer/schemas"):
        shutil.copytree(ROOT / path, tmp_path / path, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "renderer" / "input_types.pyi", tmp_path / "renderer")
    return tmp_path


def run(checkout: Path, script: str, *args: str) -> subprocess.CompletedProcess[str]:
    """A script, where no Go can be found."""
    command = [sys.executable, str(checkout / "scripts" / script), *args]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env={"PATH": "/nowhere"})


def texts(checkout: Path) -> dict[str, bytes]:
    paths = (path for path in (checkout / "renderer").rglob("*") if path.is_file())
    return {path.relative_to(checkout / "renderer").as_posix(): path.read_bytes() for path in paths}


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), "utf-8")


def test_the_committed_schemas_are_made(checkout: Path) -> None:
    before = texts(checkout)
    shutil.rmtree(checkout / "renderer" / "schemas" / "input")
    done = run(checkout, "make_schemas.py", "--only", "input", "--check")
    assert (done.returncode, done.stderr) == (1, "")
    assert "differs: renderer/schemas/input/renderconfig.json\n" in done.stdout
    done = run(checkout, "make_schemas.py", "--only", "input")
    assert (done.returncode, done.stderr) == (0, "")
    assert texts(checkout) == before


def test_a_new_key_changes_its_kind_only(checkout: Path) -> None:
    before = texts(checkout)
    replace(checkout / "scripts" / "extensions.yaml", BEHIND, f"{KEY}{BEHIND}")
    done = run(checkout, "make_schemas.py", "--only", "input")
    assert (done.returncode, done.stderr) == (0, "")
    assert run(checkout, "make_input_types.py").returncode == 0
    after = texts(checkout)
    assert {path for path in before | after if after.get(path) != before.get(path)} == {
        "schemas/input/renderpolicy.json",
        "input_types.pyi",
    }
    spec = json.loads(after["schemas/input/renderpolicy.json"])["properties"]["spec"]
    assert spec["properties"]["teamLabel"] == {"type": "string", "description": "A label of teams."}
    assert b"    teamLabel: str\n" in after["input_types.pyi"]


def test_a_file_of_a_kind_that_is_no_more_goes(checkout: Path) -> None:
    inputs, outputs = (checkout / "renderer" / "schemas" / folder / "old.json" for folder in ("input", "output"))
    for path in (inputs, outputs):
        path.write_text("{}\n")
    assert "removed: renderer/schemas/input/old.json\n" in run(checkout, "make_schemas.py", "--only", "input").stdout
    assert (inputs.exists(), outputs.exists()) == (False, True)


def test_a_type_of_kubernetes_that_is_not_stored(checkout: Path) -> None:
    replace(checkout / "scripts" / "extensions.yaml", "{core: v1/TCPSocketAction,", "{core: v1/NodeSpec,")
    done = run(checkout, "make_schemas.py", "--only", "input")
    assert done.returncode == 1
    assert done.stderr == (
        "kubernetes-types.json has no core.v1.NodeSpec, which input kinds use for the first time: run `make schemas`\n"
    )


def test_types_of_another_kubernetes(checkout: Path) -> None:
    stored = checkout / "scripts" / "kubernetes-types.json"
    replace(stored, json.loads(stored.read_text("utf-8"))["module"], "k8s.io/kubernetes@v1.0.0")
    done = run(checkout, "make_schemas.py", "--only", "input")
    assert done.returncode == 1
    assert done.stderr.startswith("kubernetes-types.json is of k8s.io/kubernetes@v1.0.0, not of ")


def test_only_input_is_known() -> None:
    done = run(ROOT, "make_schemas.py", "--only", "output")
    assert (done.returncode, "invalid choice: 'output'" in done.stderr) == (2, True)
