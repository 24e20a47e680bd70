"""Rendered objects to compare, and short words for a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from renderer import yamlio
from renderer.diff.comparison import TreeDiff, compare
from renderer.output.manifest_files import OutputFile


def texts(*bodies: dict[str, Any], path: str = "llm/chat.yaml") -> list[OutputFile]:
    """A rendered file of these objects."""
    return [
        OutputFile(path, "# Rendered by llmaz from a.yaml. Do not edit.\n" + "---\n".join(map(yamlio.dump, bodies)))
    ]


def container(**more: Any) -> dict[str, Any]:
    limits = {"nvidia.com/gpu": "2", "cpu": "4"}
    body = {"name": "model-runner", "image": "engine:v1.0", "args": ["serve", "--port", "80"]}
    return {**body, "resources": {"limits": limits}, **more}


def workload(name: str = "chat", flavor: str = "l4", size: int = 1, spec: Any = None, **more: Any) -> dict[str, Any]:
    """A LeaderWorkerSet; `more` for its container, `spec` for its spec."""
    labels = {"llmaz.io/model-name": "blue"}
    pod = {
        "metadata": {"labels": labels, "annotations": {"llmaz.io/inference-service-flavors": flavor}},
        "spec": {"containers": [container(**more)]},
    }
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": name, "namespace": "llm", "labels": {"app.kubernetes.io/name": name}},
        "spec": {"replicas": 2, "leaderWorkerTemplate": {"size": size, "workerTemplate": pod}, **(spec or {})},
    }


def group(
    size: int, *args: str, worker: Sequence[str] | None = None, image: str = "engine:v1.0", replicas: int = 2
) -> dict[str, Any]:
    """A LeaderWorkerSet of groups of several hosts; the options of its leaders, and those of workers that differ."""
    workers = args if worker is None else worker
    body = workload(size=size, spec={"replicas": replicas}, args=["serve", *workers], image=image)
    template = body["spec"]["leaderWorkerTemplate"]
    if worker is not None:
        template["leaderTemplate"] = workload(args=["serve", *args], image=image)["spec"]["leaderWorkerTemplate"][
            "workerTemplate"
        ]
    body["spec"]["rolloutStrategy"] = {"rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": 0}}
    return body


def scaler(low: int, high: int, name: str = "chat") -> dict[str, Any]:
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name, "namespace": "llm"},
        "spec": {
            "scaleTargetRef": {"kind": "LeaderWorkerSet", "name": name},
            "minReplicas": low,
            "maxReplicas": high,
        },
    }


def scaled_object(low: int, high: int, name: str = "chat") -> dict[str, Any]:
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": name, "namespace": "llm"},
        "spec": {
            "scaleTargetRef": {"kind": "LeaderWorkerSet", "name": name},
            "minReplicaCount": low,
            "maxReplicaCount": high,
        },
    }


def route(name: str, *backends: tuple[str, int], priority: int = 0) -> dict[str, Any]:
    refs = [{"name": to, "weight": weight, "priority": priority, "modelNameOverride": "m"} for to, weight in backends]
    match = {"headers": [{"type": "Exact", "name": "x-ai-eg-model", "value": name}]}
    return {
        "apiVersion": "aigateway.envoyproxy.io/v1beta1",
        "kind": "AIGatewayRoute",
        "metadata": {"name": "chat", "namespace": "llm"},
        "spec": {
            "parentRefs": [{"kind": "Gateway", "name": "g", "namespace": "s"}],
            "rules": [{"matches": [match], "backendRefs": refs}],
        },
    }


def policy(kind: str = "SecurityPolicy", target: str = "chat", **spec: Any) -> dict[str, Any]:
    targets = [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": target}]
    return {
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": kind,
        "metadata": {"name": "chat", "namespace": "llm"},
        "spec": {"targetRefs": targets, **spec},
    }


def risks(diff: TreeDiff) -> list[tuple[str, str]]:
    return [(risk.kind, risk.message) for risk in diff.risks]


def between(before: dict[str, Any], after: dict[str, Any]) -> TreeDiff:
    return compare(texts(before), texts(after))


def placed(selector: Any = (), flavor: str = "", terms: Sequence[str] = ()) -> dict[str, Any]:
    """A LeaderWorkerSet whose pods select nodes, by labels or by terms of an affinity."""
    body = workload(flavor=flavor)
    spec = body["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
    spec["nodeSelector"] = dict(selector)
    required = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "gpu", "values": [term]}]} for term in terms]}
    spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    return body
