"""Annotations and labels of input: those of llmaz's domain, and those of others that reach no object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from renderer.api import App, OpenModel
from renderer.diagnostics import Diagnostic, make_diagnostic
from renderer.kubernetes import wellknown

SKIP = "llmaz.io/skip-model-loader"
_DOMAIN = "llmaz.io"
INERT = {  # docs/design/operator.md#annotations
    "llmaz.io/model-preheat": "leave it out; nothing loads a model before its pods start",
}
_OF_WORKLOADS = ("kueue.x-k8s.io", "argocd.argoproj.io", "kustomize.toolkit.fluxcd.io")
_OF_PODS = (
    "azure.workload.identity",
    "cluster-autoscaler.kubernetes.io",
    "k8s.v1.cni.cncf.io",
    "karpenter.sh",
    "linkerd.io",
    "prometheus.io",
    "sidecar.istio.io",
    "vault.hashicorp.com",
)


def lost_metadata(app: App) -> Iterator[Diagnostic]:
    """A warning for each label and annotation of an app that a controller reads on workloads or pods: those of an app
    reach neither.
    """
    metadata = app.document.value["metadata"]
    for field in ("labels", "annotations"):
        for key, value in (metadata.get(field) or {}).items():
            domain, entry, where = key.partition("/")[0], {field: {key: value}}, "spec"
            if key == wellknown.QUEUE_NAME:
                instead: Mapping[str, Any] = {"workload": {"queue": value}}
            elif domain in _OF_WORKLOADS:
                instead = {"workload": entry}
            elif domain in _OF_PODS and app.kind == "Playground":
                instead = {"podTemplate": {"metadata": entry}}
            elif domain in _OF_PODS:
                instead, where = entry, "metadata of its templates"
            else:
                continue
            from renderer.foreign_words import flow_text  # few runs need it

            hint = f"leave it out, and write {flow_text(instead)} in {where}"
            origin = app.origin("metadata", field, key, key=True)
            yield make_diagnostic("W915", origin, kind=app.kind, what=f"{field[:-1]} '{key}'", hint=hint)


def inert_model_annotations(model: OpenModel) -> Iterator[Diagnostic]:
    """A warning for each annotation of the domain on an OpenModel, where none has an effect."""
    for key in model.document.value["metadata"].get("annotations") or {}:
        if is_llmaz_key(key):
            hint = "write it in the Playground or Service" if key == SKIP else INERT.get(key, "leave it out")
            origin = model.document.origin("metadata", "annotations", key, key=True)
            yield make_diagnostic("W216", origin, name=key, hint=hint)


def is_llmaz_key(key: str) -> bool:
    """Whether the key of an annotation is in the domain."""
    domain, slash, _ = key.partition("/")
    return bool(slash) and (domain == _DOMAIN or domain.endswith(f".{_DOMAIN}"))
