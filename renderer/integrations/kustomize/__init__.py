"""The KRM function that Kustomize runs: it reads a ResourceList and writes one (config.kubernetes.io/v1)."""

from renderer.integrations.kustomize.function import FunctionResult, run_function

__all__ = ["FunctionResult", "run_function"]
