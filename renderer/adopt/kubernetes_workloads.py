"""Deployments, StatefulSets and LeaderWorkerSets as workloads that may serve a model."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from renderer.adopt.api_keys import refer_to_secret
from renderer.adopt.devices import ClaimsByTemplate, take_devices
from renderer.adopt.plain_secrets import plain_body, without_secrets
from renderer.adopt.serving_workload import Body, ServingWorkload
from renderer.diagnostics import Collector, Path
from renderer.kubernetes.json_values import list_at, map_at, maps_at, text_at, value_at
from renderer.kubernetes.server_defaults import DEPLOYMENT_ROLLOUT
from renderer.kubernetes.template_origins import TemplateOrigins
from renderer.kubernetes.variable_references import ConfigMaps
from renderer.kubernetes.workloads import CONTAINERS, DEPLOYMENT, WORKLOADS, containers, kind_of, replicas
from renderer.yamlio import Document

_ROLLOUT_KEYS = ("maxUnavailable", "maxSurge", "partition")


def kubernetes_workload(
    document: Document,
    diagnostics: Collector,
    config_maps: ConfigMaps | None = None,
    claims: ClaimsByTemplate | None = None,
) -> ServingWorkload | None:
    """The workload that a document describes, without secrets in plain text; None for other kinds. `config_maps`: those
    of its namespace; `claims`: of the templates that llmaz has rendered.
    """
    value = document.value
    workload, replica = WORKLOADS.get(kind_of(value)), next(replicas(value), None)
    if workload is None or not workload.rolls_replicas or replica is None:
        return None
    paths = [template.path for template in replica.templates]
    origins = [TemplateOrigins(document.origin(*path)) for path in paths]
    for path, template_origins in zip(paths, origins, strict=True):
        template_origins.copy((), document.origin(*path))
    templates = [
        _plain_template(document, path, template_origins, diagnostics)
        for path, template_origins in zip(paths, origins, strict=True)
    ]
    has_leader, namespace = len(templates) > 1, text_at(value, "metadata", "namespace")
    metadata = plain_body(document, diagnostics, ("metadata",))
    return ServingWorkload(
        document=document,
        kind=text_at(value, "kind"),
        name=text_at(value, "metadata", "name"),
        namespace=namespace,
        labels=map_at(metadata, "labels"),
        annotations=map_at(metadata, "annotations"),
        replicas=_number(document, ("spec", "replicas"), diagnostics),
        replicas_origin=document.origin("spec", "replicas"),
        rollout=_rollout(value, workload.rollout),
        as_deployment=kind_of(value) == DEPLOYMENT,
        template=templates[-1],
        leader_template=templates[0] if has_leader else None,
        hosts=_number(document, (*paths[-1][:-1], "size"), diagnostics) if workload.has_groups else 1,
        origin_of=origins[-1],
        leader_origin_of=origins[0] if has_leader else None,
        config_maps=config_maps or {},
        device_claim=take_devices([template["spec"] for template in templates], namespace, claims) if claims else {},
        spec=_own_words(replica.leader.claims),
    )


def _number(document: Document, path: Path, diagnostics: Collector) -> int:
    """A number of replicas or hosts; 1 where none is said."""
    number = value_at(document.value, *path)
    if number is not None and not isinstance(number, int):
        diagnostics.add("W951", document.origin(*path), what=f"'{path[-1]}'", why=f"'{number}' is not a whole number")
    return number if isinstance(number, int) else 1


def _plain_template(document: Document, path: Path, origins: TemplateOrigins, diagnostics: Collector) -> dict[str, Any]:
    """The template of a pod, without secrets, and without what a server writes into the metadata of every template."""
    template = map_at(document.value, *path)
    metadata = {key: value for key, value in map_at(template, "metadata").items() if key in ("labels", "annotations")}
    spec = _readable_pod(map_at(template, "spec"))
    app = text_at(document.value, "metadata", "namespace"), text_at(document.value, "metadata", "name")
    refer_to_secret(spec, app, origins, diagnostics, ("spec",))
    plain = without_secrets({"metadata": metadata, "spec": spec}, origins, diagnostics)
    metadata, spec = plain["metadata"], plain["spec"]
    for _, container in containers(spec):
        for field in ("env", "command", "args"):
            if container.get(field) == []:
                del container[field]
    return {**({"metadata": metadata} if metadata else {}), "spec": spec}


def _readable_pod(pod: Body) -> dict[str, Any]:
    """A copy of the spec of a pod with its containers, their variables and command lines as lists of maps and words."""
    spec = copy.deepcopy(dict(pod))
    spec |= {group: maps_at(spec, group) for group in CONTAINERS if group in spec}
    for _, container in containers(spec):
        if "env" in container:
            container["env"] = maps_at(container, "env")
        for field in ("command", "args"):
            if field in container:
                container[field] = [str(word) for word in list_at(container, field)]
    return spec


def _rollout(body: Body, bounds: Path) -> Body:
    """The bounds of a rollout that somebody wrote; of a Deployment with the one that the server fills in beside it."""
    rollout = map_at(body, "spec", *bounds)
    if text_at(body, "spec", "strategy", "type") == "Recreate":
        rollout = {"maxUnavailable": "100%", "maxSurge": 0}
    written = {key: rollout[key] for key in _ROLLOUT_KEYS if key in rollout}
    return {**DEPLOYMENT_ROLLOUT, **written} if written and kind_of(body) == DEPLOYMENT else written


def _own_words(claims: Sequence[Body]) -> Body:
    """What a Playground says in its own words of a kind of workload."""
    keys = ("metadata", "spec")
    templates = [{key: _claim_part(claim, key) for key in keys if claim.get(key)} for claim in claims]
    return {"workload": {"volumeClaimTemplates": templates}} if templates else {}


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
