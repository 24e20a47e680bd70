"""What other programs make of a hostile repository, or of what it was rendered to: git, Helm and kubeconform."""

from __future__ import annotations

import os
import resource
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import yaml

from tests.hostile import repositories
from tests.hostile.charts import objects
from tests.programs import TOOLS


def _run(words: list[str], folder: Path) -> subprocess.CompletedProcess[bytes]:
    """A program of others, without our bound on memory: Go reserves more than it takes."""

    def unbound() -> None:
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))

    environment = {key: value for key, value in os.environ.items() if not key.startswith(("HELM_", "KUBE", "GIT_"))}
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, check=False, timeout=60, preexec_fn=unbound
    )


def helm_faults(folder: Path, plain: str) -> Iterator[str]:
    """What the real Helm makes of the chart below `made`, and should not. `plain`: the manifests of the same input."""
    charts = [str(path.parent) for path in folder.glob("made/**/Chart.yaml")]  # of an environment, below its name
    if len(charts) != 1:
        yield f"{len(charts)} charts"
        return
    done = _run([str(TOOLS / "helm"), "template", "r", *charts], folder)
    if done.returncode:
        yield done.stderr.decode("utf-8", "replace")[-400:]
        return
    try:
        rendered, templated = Counter(objects(plain)), Counter(objects(done.stdout.decode("utf-8")))
    except (yaml.YAMLError, ValueError) as error:
        yield f"no YAML: {error!s:.300}"
        return
    yield from (f"lost {body:.400}" for body in rendered - templated)
    yield from (f"more {body:.400}" for body in templated - rendered)


def kubeconform() -> str:
    """The option that asks kubeconform about what is rendered."""
    return f"--kubeconform={TOOLS / 'kubeconform'}"


def commit_and_change(folder: Path, random: Random) -> bool:
    """Two commits: the repository as it is, and with other hostile text in its YAML. False where git takes no such
    file name.
    """
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "one"]):
        if _run(["git", *words], folder).returncode:
            return False
    repositories.change(folder, random)
    return not any(
        _run(["git", *words], folder).returncode
        for words in (["add", "-A"], [*identity, "commit", "-q", "--allow-empty", "-m", "two"])
    )
