"""A git repository of a model and two Playgrounds, to compare commits of."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests import inputs
from tests.console import GIT_ENVIRONMENT

CONFIG = f"{inputs.CONFIG}\n  gateway: {{mode: backend}}\n"
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


class Repository:
    """A git repository in a folder, of which nothing depends on who runs the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *words: str) -> str:
        """What git says."""
        around = {**os.environ, **GIT_ENVIRONMENT}
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

    def commit_of(self, name: str) -> str:
        """The id of a commit."""
        return self.git("rev-parse", name).strip()
