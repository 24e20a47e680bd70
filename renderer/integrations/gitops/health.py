"""Settings of Argo CD: health checks in Lua, and the types of fields that it does not know by itself.

Without a health check, Argo CD counts an object as healthy as soon as it exists. Kinds for which it has its own check
(HTTPRoute, Gateway, Backend, the policies of Envoy Gateway, HorizontalPodAutoscaler, ScaledObject) need none here.
"""

from __future__ import annotations

import os

from renderer import yamlio
from renderer.kubernetes.workloads import DISAGGREGATED_SET, LEADER_WORKER_SET, WORKLOADS

_LWS = "_".join(LEADER_WORKER_SET)
CHECKS = {  # kind, as in Argo CD's keys → name of the Lua file
    "aigateway.envoyproxy.io_AIGatewayRoute": "aigateway",
    "aigateway.envoyproxy.io_AIServiceBackend": "aigateway",
    "aigateway.envoyproxy.io_BackendSecurityPolicy": "aigateway",
    "inference.networking.k8s.io_InferencePool": "inferencepool",
    _LWS: "leaderworkerset",
    "_".join(DISAGGREGATED_SET): "disaggregatedset",
}
# Fields that hold a type of Kubernetes, so that Argo CD compares quantities by value.
_TYPES = {
    _LWS: [{"field": field, "type": "core/v1/PodTemplateSpec"} for field in WORKLOADS[LEADER_WORKER_SET].templates]
}
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "health")


def path(check: str) -> str:
    """The path of a check's Lua file."""
    return os.path.join(FOLDER, f"{check}.lua")


def data() -> dict[str, str]:
    """The data of `argocd-cm`."""
    settings = {}
    for kind, check in CHECKS.items():
        with open(path(check), encoding="utf-8") as file:
            settings[f"resource.customizations.health.{kind}"] = file.read()
    for kind, types in _TYPES.items():
        settings[f"resource.customizations.knownTypeFields.{kind}"] = yamlio.dump(types)
    return settings


def config_map(namespace: str) -> dict[str, object]:
    """The ConfigMap `argocd-cm` with only these keys, as a patch."""
    labels = {"app.kubernetes.io/name": "argocd-cm", "app.kubernetes.io/part-of": "argocd"}
    metadata = {"name": "argocd-cm", "namespace": namespace, "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data()}


def values() -> dict[str, object]:
    """The same settings as values of Argo CD's Helm chart."""
    return {"configs": {"cm": data()}}
