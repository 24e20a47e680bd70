"""Deployments, StatefulSets and LeaderWorkerSets as workloads that may serve a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from renderer.adopt.serving_workload import Body, ServingWorkload
from renderer.diagnostics import Origin, Path
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import map_at, maps_at, number_at, text_at, value_at
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


def kubernetes_workload(document: Document) -> ServingWorkload | None:
    """The workload that a document describes; None for other kinds."""
    value = document.value
    kind = text_at(value, "kind")
    path = _TEMPLATES.get((text_at(value, "apiVersion").partition("/")[0], kind))
    if path is None or not map_at(value, *path):
        return None
    is_set = kind == wellknown.LEADER_WORKER_SET
    template, leader = _plain_template(document, path), map_at(value, *_LEADER)
    replicas = value_at(value, "spec", "replicas")
    return ServingWorkload(
        document=document,
        kind=kind,
        name=text_at(value, "metadata", "name"),
        namespace=text_at(value, "metadata", "namespace"),
        labels=map_at(value, "metadata", "labels"),
        annotations=map_at(value, "metadata", "annotations"),
        replicas=replicas if isinstance(replicas, int) else 1,
        replicas_origin=document.origin("spec", "replicas"),
        rollout=_rollout(value, is_set=is_set),
        as_deployment=kind == wellknown.DEPLOYMENT,
        template=template,
        leader_template=_plain_template(document, _LEADER) if leader else None,
        hosts=int(number_at(value, "spec", "leaderWorkerTemplate", "size", default=1)) if is_set else 1,
        origin_of=lambda field: _origin(document, path, field),
        leader_origin_of=(lambda field: _origin(document, _LEADER, field)) if leader else None,
        spec=_own_words(value, kind),
    )


def _origin(document: Document, path: Path, field: Path) -> Origin:
    return document.origin(*path, *field)


def _plain_template(document: Document, path: Path) -> Body:
    """The template of a pod, without what a server writes into the metadata of every template."""
    template = map_at(document.value, *path)
    metadata = {key: value for key, value in map_at(template, "metadata").items() if key in ("labels", "annotations")}
    return {**({"metadata": metadata} if metadata else {}), "spec": map_at(template, "spec")}


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


def told_fields(value: Body, kind: str) -> Iterator[tuple[Path, str]]:
    """The fields of a workload that no Playground has, and why each is left."""
    if kind == "StatefulSet":
        for key in ("serviceName", "podManagementPolicy", "ordinals"):
            if value_at(value, "spec", key) not in (None, "", "OrderedReady"):
                yield ("spec", key), "replicas of a LeaderWorkerSet have names of their own"
    for key in ("minReadySeconds", "paused"):
        if value_at(value, "spec", key):
            yield ("spec", key), "a LeaderWorkerSet has no such field"
