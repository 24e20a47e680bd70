"""When an object is healthy, told to Argo CD: its health checks in Lua, and the types inside objects that it does not
know by itself.

Argo CD counts an object of a kind without a check as healthy as soon as it is there. Kinds that it brings a check of
its own for (HTTPRoute, Gateway, Backend, the policies of Envoy Gateway, HorizontalPodAutoscaler) are left to it.
"""

from __future__ import annotations

import os
from typing import Any

from renderer import yamlio

_LWS = "leaderworkerset.x-k8s.io_LeaderWorkerSet"
CHECKS = {  # a kind, as Argo CD writes it in a key → the file of its check
    "aigateway.envoyproxy.io_AIGatewayRoute": "aigateway",
    "aigateway.envoyproxy.io_AIServiceBackend": "aigateway",
    "aigateway.envoyproxy.io_BackendSecurityPolicy": "aigateway",
    "inference.networking.k8s.io_InferencePool": "inferencepool",
    _LWS: "leaderworkerset",
}
# Where an object holds a type of Kubernetes, so that quantities are compared by value.
_TYPES = {
    _LWS: [
        {"field": "spec.leaderWorkerTemplate.leaderTemplate", "type": "core/v1/PodTemplateSpec"},
        {"field": "spec.leaderWorkerTemplate.workerTemplate", "type": "core/v1/PodTemplateSpec"},
    ]
}
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "health")


def path(check: str) -> str:
    """The file of a check."""
    return os.path.join(FOLDER, f"{check}.lua")


def data() -> dict[str, str]:
    """The keys of `argocd-cm`."""
    made = {}
    for kind, check in CHECKS.items():
        with open(path(check), encoding="utf-8") as file:
            made[f"resource.customizations.health.{kind}"] = file.read()
    for kind, types in _TYPES.items():
        made[f"resource.customizations.knownTypeFields.{kind}"] = yamlio.dump(types)
    return made


def config_map(namespace: str) -> dict[str, Any]:
    """A ConfigMap `argocd-cm` with these keys only: for a patch."""
    labels = {"app.kubernetes.io/name": "argocd-cm", "app.kubernetes.io/part-of": "argocd"}
    metadata = {"name": "argocd-cm", "namespace": namespace, "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data()}


def values() -> dict[str, Any]:
    """The same for Argo CD's Helm chart."""
    return {"configs": {"cm": data()}}
