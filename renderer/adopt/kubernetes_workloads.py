"""Deployments, StatefulSets and LeaderWorkerSets as workloads that may serve a model."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from renderer.adopt.plain_secrets import plain_body, without_secrets
from renderer.adopt.serving_workload import Body, ServingWorkload
from renderer.diagnostics import Collector, Path
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import list_at, map_at, maps_at, text_at, value_at
from renderer.kubernetes.template_origins import TemplateOrigins
from renderer.yamlio import Document

_TEMPLATES: Mapping[tuple[str, str], Path] = {
    ("apps", "Deployment"): ("spec", "template"),
    ("apps", "StatefulSet"): ("spec", "template"),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): ("spec", "leaderWorkerTemplate", "workerTemplate"),
}
_LEADER: Path = ("spec", "leaderWorkerTemplate", "leaderTemplate")
_ROLLOUTS: Sequence[Path] = (("spec", "strategy", "rollingUpdate"), ("spec", "updateStrategy", "rollingUpdate"))
_SET_ROLLOUT: Path = ("spec", "rolloutStrategy", "rollingUpdateConfiguration")
_ROLLOUT_KEYS = ("maxUnavailable", "maxSurge", "partition")


def kubernetes_workload(document: Document, diagnostics: Collector) -> ServingWorkload | None:
    """The workload that a document describes, without secrets in plain text; None for other kinds."""
    value = document.value
    kind = text_at(value, "kind")
    path = _TEMPLATES.get((text_at(value, "apiVersion").partition("/")[0], kind))
    if path is None or not map_at(value, *path):
        return None
    is_set = kind == wellknown.LEADER_WORKER_SET
    origins = {place: TemplateOrigins(document.origin(*place)) for place in (path, _LEADER)}
    for place, template_origins in origins.items():
        template_origins.copy((), document.origin(*place))
    template = _plain_template(document, path, origins[path], diagnostics)
    metadata = plain_body(document, diagnostics, ("metadata",))
    leader = _plain_template(document, _LEADER, origins[_LEADER], diagnostics) if map_at(value, *_LEADER) else None
    return ServingWorkload(
        document=document,
        kind=kind,
        name=text_at(value, "metadata", "name"),
        namespace=text_at(value, "metadata", "namespace"),
        labels=map_at(metadata, "labels"),
        annotations=map_at(metadata, "annotations"),
        replicas=_number(document, ("spec", "replicas"), diagnostics),
        replicas_origin=document.origin("spec", "replicas"),
        rollout=_rollout(value, is_set=is_set),
        as_deployment=kind == wellknown.DEPLOYMENT,
        template=template,
        leader_template=leader,
        hosts=_number(document, ("spec", "leaderWorkerTemplate", "size"), diagnostics) if is_set else 1,
        origin_of=origins[path],
        leader_origin_of=origins[_LEADER] if leader else None,
        spec=_own_words(value, kind),
    )


def _number(document: Document, path: Path, diagnostics: Collector) -> int:
    """A number of replicas or hosts; 1 where none is said."""
    number = value_at(document.value, *path)
    if number is not None and not isinstance(number, int):
        diagnostics.add("W951", document.origin(*path), what=f"'{path[-1]}'", why=f"'{number}' is not a whole number")
    return number if isinstance(number, int) else 1


def _plain_template(document: Document, path: Path, origins: TemplateOrigins, diagnostics: Collector) -> Body:
    """The template of a pod, without secrets, and without what a server writes into the metadata of every template."""
    template = map_at(document.value, *path)
    metadata = {key: value for key, value in map_at(template, "metadata").items() if key in ("labels", "annotations")}
    spec = _readable_pod(map_at(template, "spec"))
    plain = without_secrets({"metadata": metadata, "spec": spec}, origins, diagnostics)
    metadata, spec = plain["metadata"], plain["spec"]
    for container in (*maps_at(spec, "initContainers"), *maps_at(spec, "containers")):
        for field in ("env", "command", "args"):
            if container.get(field) == []:
                del container[field]
    return {**({"metadata": metadata} if metadata else {}), "spec": spec}


def _readable_pod(pod: Body) -> dict[str, Any]:
    """A copy of the spec of a pod with its containers, their variables and command lines as lists of maps and words."""
    spec = copy.deepcopy(dict(pod))
    for group in ("initContainers", "containers"):
        if group not in spec:
            continue
        spec[group] = containers = maps_at(spec, group)
        for container in containers:
            if "env" in container:
                container["env"] = maps_at(container, "env")
            for field in ("command", "args"):
                if field in container:
                    container[field] = [str(word) for word in list_at(container, field)]
    return spec


def _rollout(value: Body, *, is_set: bool) -> Body:
    if is_set:
        rollout = map_at(value, *_SET_ROLLOUT)
    else:
        rollout = next((map_at(value, *path) for path in _ROLLOUTS if map_at(value, *path)), {})
        if text_at(value, "spec", "strategy", "type") == "Recreate":
            rollout = {"maxUnavailable": "100%", "maxSurge": 0}
    return {key: rollout[key] for key in _ROLLOUT_KEYS if key in rollout}


def _own_words(value: Body, kind: str) -> Body:
    """What a Playground says in its own words of a kind of workload."""
    path = ("spec", "leaderWorkerTemplate") if kind == wellknown.LEADER_WORKER_SET else ("spec",)
    claims = maps_at(value, *path, "volumeClaimTemplates")
    workload: dict[str, object] = {}
    if claims:
        keys = ("metadata", "spec")
        workload["volumeClaimTemplates"] = [
            {key: _claim_part(claim, key) for key in keys if claim.get(key)} for claim in claims
        ]
    return {"workload": workload} if workload else {}


def _claim_part(claim: Body, key: str) -> object:
    return {"name": text_at(claim, "metadata", "name")} if key == "metadata" else claim[key]


def tell_lost_fields(document: Document, kind: str, diagnostics: Collector) -> None:
    """Tells which fields of a workload are lost."""
    lost, spec = {}, map_at(document.value, "spec")
    for key in ("serviceName", "podManagementPolicy", "ordinals") if kind == "StatefulSet" else ():
        if spec.get(key) not in (None, "", "OrderedReady"):
            lost[key] = "replicas of a LeaderWorkerSet have names of their own"
    for key in ("minReadySeconds", "paused"):
        if spec.get(key):
            lost[key] = "a LeaderWorkerSet has no such field"
    for key, why in lost.items():
        diagnostics.add("W951", document.origin("spec", key, key=True), what=f"'{key}'", why=why)
