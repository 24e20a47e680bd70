"""Objects of Argo CD and Flux that sync folders of a repository to a cluster."""

from __future__ import annotations

from renderer.kubernetes.json_values import text_at

_COMMANDS = {
    ("argoproj.io", "Application"): "argocd application",
    ("argoproj.io", "ApplicationSet"): "argocd applicationset",
    ("kustomize.toolkit.fluxcd.io", "Kustomization"): "flux kustomization",
}


def sync_command(value: object) -> str:
    """The command of `llmaz` that writes objects of the kind that the object has; '' where it syncs nothing."""
    return _COMMANDS.get((text_at(value, "apiVersion").partition("/")[0], text_at(value, "kind")), "")


def is_sync_source(value: object) -> bool:
    """Whether an object syncs folders, so that what lies in different folders need not be applied together."""
    return bool(sync_command(value))
