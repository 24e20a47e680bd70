"""Inputs that several test modules share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.paths import TESTS

API_VERSIONS = {
    "OpenModel": "llmaz.io/v1alpha1",
    "Playground": "inference.llmaz.io/v1alpha1",
    "RenderConfig": "renderer.llmaz.io/v1alpha1",
}
PRESET = "qwen3-0--6b-gguf"  # a model that renders on any machine, with llama.cpp
# Its spec follows: in braces behind it, or in lines of their own.
CONFIG = """\
apiVersion: renderer.llmaz.io/v1alpha1
kind: RenderConfig
metadata: {name: config}
spec: """


def playground(name: str, namespace: str = "", model: str = PRESET, backend: str = "") -> str:
    """A Playground, to whose spec more lines may be added."""
    metadata = f"{{name: {name}, namespace: {namespace}}}" if namespace else f"{{name: {name}}}"
    chosen = f"  backendRuntimeConfig: {{backendName: {backend}}}\n" if backend else ""
    return f"""\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {metadata}
spec:
  modelClaim: {{modelName: {model}}}
{chosen}"""


def gpu_model(name: str) -> str:
    """An OpenModel with one flavor, to whose spec more lines may be added."""
    return f"""\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {{name: {name}}}
spec:
  familyName: f
  source: {{modelHub: {{modelID: a/b}}}}
  inferenceConfig: {{flavors: [{{name: gpu, limits: {{nvidia.com/gpu: 1}}}}]}}
"""


def gguf_model(name: str) -> str:
    """An OpenModel of one file, without a flavor."""
    return f"""\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {{name: {name}}}
spec: {{familyName: blue, source: {{modelHub: {{modelID: org/{name}, filename: {name}.gguf}}}}}}
"""


def backend_runtime(options: str, args: str = "--a", version: str = '"1"') -> str:
    """A BackendRuntime called `mine`, to whose spec more lines may be added; the words as YAML has them."""
    return f"""\
apiVersion: inference.llmaz.io/v1alpha1
kind: BackendRuntime
metadata: {{name: mine}}
spec:
  image: example/x
  version: {version}
  command: [x]
  recommendedConfigs: [{{name: default, args: [{args}]}}]
  engine: {{options: {options}}}
"""


def document(kind: str, name: str, spec: Mapping[str, Any], namespace: str = "") -> dict[str, Any]:
    """An input as an object."""
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"apiVersion": API_VERSIONS[kind], "kind": kind, "metadata": metadata, "spec": {**spec}}


def blue_model(*flavors: Mapping[str, Any]) -> dict[str, Any]:
    """An OpenModel called `blue` with these flavors, as an object."""
    source = {"modelHub": {"modelID": "example/Blue"}}
    return document(
        "OpenModel", "blue", {"familyName": "blue", "source": source, "inferenceConfig": {"flavors": [*flavors]}}
    )


def error_case(name: str) -> Path:
    """The folder below errors/ of this name, which its first code precedes there."""
    [folder] = (TESTS / "errors").glob(f"[ENW][0-9][0-9][0-9]-{name}")
    return folder
