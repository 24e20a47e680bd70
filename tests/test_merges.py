"""Many people work on one repository: their branches meet without a conflict in what is rendered."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.inputs import CONFIG

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Llmaz

SETTINGS = f"{CONFIG}{{output: {{layout: LAYOUT}}, autoscaling: {{metricSource: {{type: prometheusAdapter}}}}}}\n"
MODEL = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata:
  name: MODEL
spec:
  familyName: f
  source:
    modelHub:
      modelID: org/MODEL
  inferenceConfig:
    flavors:
      - name: gpu
        limits: {nvidia.com/gpu: 1}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata:
  name: MODEL
  namespace: SPACE
spec:
  replicas: COUNT
  modelClaim:
    modelName: MODEL
"""
BRANCHES = 20


def git(repo: Path, *words: str) -> None:
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    command = ["git", "-c", "init.defaultBranch=main", "-C", str(repo), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **who})
    assert done.returncode == 0, done.stdout + done.stderr


def model(repo: Path, number: int, count: int = 1) -> None:
    text = MODEL.replace("MODEL", f"m{number:02}").replace("SPACE", f"team-{number % 4}")
    path = repo / f"team-{number % 4}" / f"m{number:02}.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text.replace("COUNT", str(count)))


def committed(repo: Path, llmaz: Llmaz, what: str) -> None:
    done = llmaz("render")
    assert done.code == 0, done.err
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", what)


@pytest.mark.parametrize("layout", ["file", "app", "object"])
def test_twenty_branches_meet(layout: str, folder: Path, llmaz: Llmaz) -> None:
    """Each adds, changes or removes one model and renders; nothing is left to do when all are merged."""
    git(folder, "init", "-q")
    (folder / "llmaz.yaml").write_text(SETTINGS.replace("LAYOUT", layout))
    for number in range(BRANCHES):
        model(folder, number)
    committed(folder, llmaz, "all")
    for branch in range(BRANCHES):
        git(folder, "checkout", "-q", "-b", f"work-{branch}", "main")
        if branch % 3 == 0:
            model(folder, BRANCHES + branch)
        elif branch % 3 == 1:
            model(folder, branch, count=3)
        else:
            (folder / f"team-{branch % 4}" / f"m{branch:02}.yaml").unlink()
        committed(folder, llmaz, f"branch {branch}")
    git(folder, "checkout", "-q", "main")
    for branch in range(BRANCHES):
        git(folder, "merge", "-q", "--no-ff", "-m", f"merge {branch}", f"work-{branch}")
    done = llmaz("render", "--check")
    assert done.code == 0, done.err
    rendered = {path.name for path in (folder / "rendered").rglob("*m[0-9][0-9]*.yaml")}
    assert sum("m20" in name for name in rendered) > 0
    assert not any("m02" in name for name in rendered)
