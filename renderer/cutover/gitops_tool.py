"""Argo CD and Flux, as far as a cutover needs them: their field managers, and how they are told to sync."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from msgspec import Struct


class GitopsTool(Struct, frozen=True):
    """What applies the rendered manifests."""

    title: str
    manager: str  # under which it applies
    printer: tuple[str, ...]  # the command that prints what the tool has to be told
    resource: str  # what that is
    namespace: str
    condition: str  # by which `kubectl wait` knows that it is synced
    remark: str  # what has to be so

    def start(self, environment: str) -> list[str]:
        """The commands that make it sync, and wait for that."""
        words = [*self.printer, *(("--env", environment) if environment else ())]
        name = f"llmaz-{environment}" if environment else "llmaz"
        wait = ("kubectl", "wait", f"{self.resource}/{name}", "-n", self.namespace, self.condition, "--timeout=15m")
        return [f"{shlex.join(words)} | kubectl apply -f -", shlex.join(wait)]


TOOLS: Mapping[str, GitopsTool] = {
    "argocd": GitopsTool(
        title="Argo CD",
        manager="argocd-controller",
        printer=("llmaz", "argocd", "application"),
        resource="applications.argoproj.io",
        namespace="argocd",
        condition="--for=jsonpath={.status.sync.status}=Synced",
        remark="Your own Application needs ServerSideApply=true among its syncOptions.",
    ),
    "flux": GitopsTool(
        title="Flux",
        manager="kustomize-controller",
        printer=("llmaz", "flux", "kustomization"),
        resource="kustomizations.kustomize.toolkit.fluxcd.io",
        namespace="flux-system",
        condition="--for=condition=Ready",
        remark="Flux always applies server-side.",
    ),
}
