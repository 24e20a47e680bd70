"""The scripts by which the ollama preset prepares several models and asks for each, run with a stand-in for ollama."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import yaml

from tests.paths import ROOT

SPEC = yaml.safe_load((ROOT / "presets/backends/ollama.yaml").read_text("utf-8"))["spec"]
# It knows the models in the file `known`, and pulls all but `none`.
STAND_IN = """#!/bin/sh
cd "$(dirname "$0")"
case "$1" in
  serve) exec sleep 60 ;;
  pull) [ "$2" != none ] && echo "$2" >>known ;;
  show) grep -qxF -- "$2" known ;;
esac
"""


def run(folder: Path, command: list[str], args: list[str]) -> subprocess.CompletedProcess[str]:
    (folder / "ollama").write_text(STAND_IN)
    (folder / "ollama").chmod(0o755)
    (folder / "known").touch()
    words = [word.replace("/bin/ollama", str(folder / "ollama")) for word in command]
    env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    return subprocess.run([*words, *args], env=env, capture_output=True, text=True, timeout=30, check=False)


def step() -> list[str]:
    steps = SPEC["engine"]["initContainers"]
    return [str(word) for word in next(entry for entry in steps if entry["name"] == "prepare-models")["command"]]


def test_each_model_is_pulled_in_turn(tmp_path: Path) -> None:
    assert run(tmp_path, step(), ["blue:8b", "", "", "green it's", "", ""]).returncode == 0
    assert (tmp_path / "known").read_text().splitlines() == ["blue:8b", "green it's"]


def test_a_model_that_is_not_there_is_named_and_the_others_are_pulled(tmp_path: Path) -> None:
    done = run(tmp_path, step(), ["none", "", "", "blue:8b", "", ""])
    assert done.returncode == 1
    assert "these models are not there: 'none'" in done.stderr
    assert (tmp_path / "known").read_text() == "blue:8b\n"


def test_ready_is_who_knows_each(tmp_path: Path) -> None:
    command = SPEC["engine"]["models"]["readinessProbe"]["exec"]["command"]
    assert command[-1] == "{{ ModelNames }}"
    run(tmp_path, step(), ["blue:8b", "", "", "green", "", ""])
    assert run(tmp_path, command[:-1], ["blue:8b", "green"]).returncode == 0
    assert run(tmp_path, command[:-1], ["blue:8b", "red", "green"]).returncode == 1
