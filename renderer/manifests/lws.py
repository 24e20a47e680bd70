"""LeaderWorkerSet: the workload, with its pod templates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from renderer.plan import Body, Container, Manifest, Plan, Pod, Rollout
from renderer.problems import Origin, Path
from renderer.yamlio import Shared

_NETWORK = Shared({"subdomainPolicy": "Shared"})


def lws(plan: Plan) -> list[Manifest]:
    """One, always. networkConfig and rolloutStrategy are written in full: then LWS's webhook changes nothing
    (drift.md).
    """
    metadata: dict[str, Any] = {"name": plan.name, "namespace": plan.namespace, "labels": plan.labels}
    if plan.annotations:
        metadata["annotations"] = plan.annotations
    template: dict[str, Any] = {"size": plan.size, "restartPolicy": plan.restart_policy}
    if plan.sub_groups:
        template["subGroupPolicy"] = plan.sub_groups
    if plan.leader:
        template["leaderTemplate"] = _pod(plan.leader)
    template["workerTemplate"] = _pod(plan.worker)
    spec: dict[str, Any] = {} if plan.replicas is None else {"replicas": plan.replicas}
    spec["startupPolicy"] = plan.startup_policy
    spec["rolloutStrategy"] = _rollout(plan.rollout)
    spec["networkConfig"] = _NETWORK
    spec["leaderWorkerTemplate"] = template
    body = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": metadata, "spec": spec}
    return [Manifest(body, lambda: _origins(plan))]


@lru_cache(maxsize=256)
def _rollout(rollout: Rollout) -> Shared:
    made: dict[str, Any] = {} if rollout.partition is None else {"partition": rollout.partition}
    made |= {"maxUnavailable": rollout.max_unavailable, "maxSurge": rollout.max_surge}
    return Shared({"type": "RollingUpdate", "rollingUpdateConfiguration": made})


def _pod(pod: Pod) -> dict[str, Any]:
    metadata: dict[str, Any] = {**pod.metadata}
    if pod.labels:
        metadata["labels"] = pod.labels
    if pod.annotations:
        metadata["annotations"] = pod.annotations
    spec: dict[str, Any] = {"schedulerName": pod.scheduler_name}
    if pod.mounts_token is not None:
        spec["automountServiceAccountToken"] = pod.mounts_token
    if pod.service_links is not None:
        spec["enableServiceLinks"] = pod.service_links
    if pod.rest:
        spec |= pod.rest
    if pod.node_selector:
        spec["nodeSelector"] = pod.node_selector
    if pod.tolerations:
        spec["tolerations"] = list(pod.tolerations)
    if pod.grace_seconds is not None:
        spec["terminationGracePeriodSeconds"] = pod.grace_seconds
    if pod.security:
        spec["securityContext"] = pod.security
    if pod.affinity:
        spec["affinity"] = pod.affinity
    if pod.init_containers:
        spec["initContainers"] = [_container(each) for each in pod.init_containers]
    spec["containers"] = [_container(each) for each in pod.containers]
    if pod.volumes:
        spec["volumes"] = list(pod.volumes)
    return {"metadata": metadata, "spec": spec} if metadata else {"spec": spec}


def _container(of: Container) -> dict[str, Any]:
    name, image, command, args, env, ports, resources, startup, ready, live, lifecycle, security, mounts, rest = of
    body: dict[str, Any] = {"name": name}
    if image:
        body["image"] = image
    if command:
        body["command"] = list(command)
    if args:
        body["args"] = list(args)
    if env:
        body["env"] = list(env)
    if ports:
        body["ports"] = list(ports)
    if resources:
        body["resources"] = resources
    if startup:
        body["startupProbe"] = startup
    if ready:
        body["readinessProbe"] = ready
    if live:
        body["livenessProbe"] = live
    if lifecycle:
        body["lifecycle"] = lifecycle
    if security:
        body["securityContext"] = security
    if mounts:
        body["volumeMounts"] = list(mounts)
    if rest:
        body |= rest
    return body


def _origins(plan: Plan) -> dict[Path, Origin]:
    """By field of the object; a part of a hand-written template leads back into it."""
    made = plan.origins()
    origins: dict[Path, Origin] = {
        (): made[()],
        ("metadata", "name"): made["name",],
        ("metadata", "namespace"): made["namespace",],
        ("spec", "replicas"): made["replicas",],
    }
    root: Path = ("spec", "leaderWorkerTemplate")
    for part in ("leader", "worker"):
        if origin := made.get((part,)):
            origins[*root, f"{part}Template"] = origin
    if origin := made.get(("sub_groups",)):
        origins[*root, "subGroupPolicy"] = origin
        origins[*root, "size"] = made["size",]
        origins["spec", "rolloutStrategy", "rollingUpdateConfiguration"] = made["rollout",]
    if ("image",) not in made:
        return origins
    pod: Path = (*root, "workerTemplate", "spec")
    runner: Path = (*pod, "containers", 0)
    for field in (
        "image",
        "command",
        "args",
        "env",
        "resources",
        "lifecycle",
        "startupProbe",
        "readinessProbe",
        "livenessProbe",
    ):
        origins[*runner, field] = made[field,]
    if origin := made.get(("placement",)):
        origins[*pod, "nodeSelector"] = origin.at("nodeSelector")
        origins[*pod, "affinity"] = origin.at("nodeSelector")
    _listed(origins, made, plan.worker.containers[0].env, (*runner, "env"))
    for i, each in enumerate(plan.worker.init_containers):  # what they have of the runner's
        _listed(origins, made, each.env, (*pod, "initContainers", i, "env"))
    for key, origin in made.items():
        if key[:1] == ("template",):
            origins[*pod[:-1], *key[1:]] = origin
        elif len(key) == 2 and key[0] == "args":
            origins[*runner, "args", key[1]] = origin
    return origins


def _listed(origins: dict[Path, Origin], made: Any, env: Sequence[Body], path: Path) -> None:
    if any(len(key) == 2 and key[0] == "env" for key in made):
        for i, entry in enumerate(env):
            if origin := made.get(("env", entry["name"])):
                origins[*path, i] = origin
