"""What our own program renders for an input, as far as a pod is concerned."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from tests.apiserver.server import CannotJudge
from tests.engines.kubelet import MAIN, Body

ROOT = Path(__file__).resolve().parents[2]
WEIGHTS = re.compile(r"/workspace/models/[\w./-]*\w")


class Workload(NamedTuple):
    """A workload, and all that was rendered with it. `template`: of its leader."""

    name: str
    served_name: str
    engine_version: str
    template: Body
    bodies: Sequence[Body]
    body: Body = {}

    @property
    def spec(self) -> Body:
        spec: Body = self.template["spec"]
        return spec

    @property
    def main(self) -> Body:
        return next(container for container in self.spec["containers"] if container["name"] == MAIN)

    def option(self, name: str) -> str | None:
        """The value of an option on the engine's command line; the last counts."""
        args: Sequence[str] = self.main.get("args", ())
        values = [value for word, value in itertools.pairwise(args) if word == name]
        return values[-1] if values else None

    @property
    def weights(self) -> list[str]:
        """The paths of weights that command lines of the pod name, each once."""
        containers: list[Body] = [*self.spec.get("initContainers", ()), *self.spec["containers"]]
        args: list[str] = [arg for container in containers for arg in container.get("args", ())]
        return list(dict.fromkeys(path for arg in args for path in WEIGHTS.findall(arg)))

    @property
    def hook_sleep(self) -> int:
        """The seconds that the hook sleeps before it looks at anything; 0 without a hook."""
        hook = self.main.get("lifecycle", {}).get("preStop", {})
        if "sleep" in hook:
            return int(hook["sleep"]["seconds"])
        match = re.search(r"^sleep (\d+)$", "\n".join(hook.get("exec", {}).get("command", ())), re.MULTILINE)
        return int(match[1]) if match else 0


def rendered(name: str, path: str, *options: str) -> Workload:
    """The workload of that name which `llmaz render` makes of a path below our root. CannotJudge when it makes none."""
    command = [sys.executable, "-m", "renderer", "render", "--stdout", *options, path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise CannotJudge(f"{path} is not rendered: {done.stderr}")
    return workload_in(name, done.stdout)


def workload_in(name: str, text: str) -> Workload:
    """The workload of that name among rendered manifests. CannotJudge when there is none."""
    bodies = [body for body in yaml.safe_load_all(text) if body]
    for body in bodies:
        if body["kind"] in ("LeaderWorkerSet", "Deployment") and body["metadata"]["name"] == name:
            templates = body["spec"].get("leaderWorkerTemplate", {})
            template = templates.get("leaderTemplate") or templates.get("workerTemplate") or body["spec"]["template"]
            annotations = body["metadata"]["annotations"]
            served, version = (
                annotations.get(f"renderer.llmaz.io/{key}", "") for key in ("served-model-name", "engine-version")
            )
            return Workload(name, served, version, template, bodies, body)
    raise CannotJudge(f"no workload {name} is rendered")
