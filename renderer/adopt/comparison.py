"""What an adopted tree renders to, beside what served the models before."""

from __future__ import annotations

import copy
from typing import Any

from renderer import yamlio
from renderer.adopt.adoption import Adoption, mark_losing
from renderer.adopt.serving_workload import ServingWorkload
from renderer.diff.live.comparison import compare_live
from renderer.diff.live.records import LOST, LiveReport
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import list_at, maps_at
from renderer.kubernetes.workloads import SCALE_TARGETS, WORKLOADS, kind_of
from renderer.yamlio import Document

_HUB, _CLAIM = "hf", "pvc"
_VOLUME = "model"


def compare_adoption(adoption: Adoption) -> LiveReport:
    """The differences between the workloads and Services that were adopted, and what is rendered in their place. Those
    that lose something are adopted in part.
    """
    documents = [_document_of(adopted.workload) for adopted in adoption.workloads]
    names = {adopted.key: adopted.takeover.name for adopted in adoption.workloads}
    report = compare_live([*documents, *adoption.beside], adoption.rendered, adoption.catalog, names)
    keys = {item.theirs for item in report.objects if item.theirs and item.of_kind(LOST)}
    mark_losing(adoption, {(key.namespace or "default", key.name) for key in keys})
    return report


def _document_of(workload: ServingWorkload) -> Document:
    """The workload in Kubernetes' words: of other kinds a LeaderWorkerSet with the pods that their controller or chart
    makes.
    """
    if kind_of(workload.document.value) in WORKLOADS or workload.hosts > 1:
        return workload.document
    metadata = {
        "name": workload.name,
        **({"namespace": workload.namespace} if workload.namespace else {}),
        **({"labels": workload.labels} if workload.labels else {}),
    }
    spec: dict[str, object] = {} if workload.replicas is None else {"replicas": workload.replicas}
    kind = wellknown.LEADER_WORKER_SET
    spec["startupPolicy"] = "LeaderReady"
    if workload.rollout:
        spec["rolloutStrategy"] = {"type": "RollingUpdate", "rollingUpdateConfiguration": dict(workload.rollout)}
    spec["leaderWorkerTemplate"] = {"size": 1, "workerTemplate": _with_model(workload)}
    body = {"apiVersion": SCALE_TARGETS[kind], "kind": kind, "metadata": metadata, "spec": spec}
    text = yamlio.dump(body)
    (document,), _ = yamlio.parse(workload.document.name, text.encode())
    return document


def _with_model(workload: ServingWorkload) -> dict[str, Any]:
    """The template with the model at the path where its controller puts it: by its id on a hub, or in its claim."""
    template: dict[str, Any] = copy.deepcopy(dict(workload.template))
    model = workload.model
    if model is None or not model.path:
        return template
    scheme, _, rest = model.uri.partition("://")
    spec = template["spec"]
    for container in maps_at(spec, "containers"):
        if scheme == _HUB:
            for field in ("command", "args"):
                if field in container:
                    container[field] = [str(word).replace(model.path, rest) for word in list_at(container, field)]
        elif scheme == _CLAIM:
            claim, _, folder = rest.partition("/")
            mount = {"name": _VOLUME, "mountPath": model.path, **({"subPath": folder} if folder else {})}
            container["volumeMounts"] = [*maps_at(container, "volumeMounts"), mount]
            volume = {"name": _VOLUME, "persistentVolumeClaim": {"claimName": claim}}
            spec["volumes"] = [*(body for body in maps_at(spec, "volumes") if body["name"] != _VOLUME), volume]
    return template
