"""The function that Kustomize runs: a ResourceList in, a ResourceList out (config.kubernetes.io/v1)."""

from renderer.krm.function import Answer, answer

__all__ = ["Answer", "answer"]
