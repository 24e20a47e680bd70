"""The pods of a Playground, and what a Service's hand-written pods get: labels, loaders, mounts, placement,
hardening.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from renderer.api import Config, Spec
from renderer.plan import Body, Container, Pod, new_pod
from renderer.problems import Findings, Origin
from renderer.records import NamedTuple, quick
from renderer.resolve import everypod, images, loading, resources
from renderer.resolve.environment import merge_env
from renderer.resolve.everypod import EveryPod
from renderer.resolve.flavors import Placement
from renderer.resolve.loading import READABLE, VOLUME, Credentials, Loader
from renderer.resolve.preparing import Prepared
from renderer.resolve.security import NO_ESCALATION, context
from renderer.resolve.sources import PULLED, Weights
from renderer.yamlio import Shared

RUNNER = "model-runner"
_SECCOMP = Shared({"seccompProfile": Shared({"type": "RuntimeDefault"})})
_MODEL_VOLUME = Shared({"name": VOLUME, "emptyDir": Shared({})})
_SHM_MOUNT = Shared({"name": "dshm", "mountPath": "/dev/shm"})  # noqa: S108 - where engines look for it
_DROPPED_METADATA = ("labels", "annotations", "finalizers", "name", "namespace")


class Kit(NamedTuple):
    """What the claim asks of every pod that runs the models, whoever wrote the pod.

    `loads`: models with a loader, by position; `mounts` and `volumes`: node paths, images and the weights themselves;
    `every`: what RenderConfig gives to all pods.
    """

    app: str
    every: EveryPod
    labels: Body
    annotations: Body
    loads: tuple[tuple[int, Weights, Loader], ...]
    mounts: tuple[Body, ...]
    volumes: tuple[Body, ...]
    skip_credentials: tuple[Credentials, ...]
    placement: Placement
    scheduler: str
    hardening: str


_kit = quick(Kit)


def kit(
    config: Config,
    app: str,
    every: EveryPod,
    labels: Body,
    annotations: Body,
    weights: Sequence[Weights],
    loaders: Sequence[Loader | None],
    skip: bool,
    place: Placement,
    scheduler: str,
    hardening: str,
) -> Kit:
    """What follows from the models' sources and the flavors. `loaders`: one a model, None where nothing is to load."""
    loads: list[tuple[int, Weights, Loader]] = []
    for i, loader in enumerate(() if skip else loaders):
        if loader:
            loads.append((i, weights[i], loader))
    mounts: list[Body] = []
    volumes: list[Body] = []
    if loads or (not skip and any(each.kind == PULLED for each in weights)):
        mounts.append(READABLE)
        volumes.append(_MODEL_VOLUME)
    seen: set[str] = set()
    for i, each in enumerate(weights):
        if each.kind not in ("host", "oci"):
            continue
        suffix = f"-{i}" if i else ""
        if each.kind == "host" and each.host_path not in seen:
            seen.add(each.host_path)
            volumes.append(
                {
                    "name": f"model-host{suffix}",
                    "hostPath": {"path": each.host_path, "type": "File" if each.one_file else "Directory"},
                }
            )
            mounts.append({"name": f"model-host{suffix}", "mountPath": each.host_path, "readOnly": True})
        if each.kind == "oci":
            image = images.reference(config, each.image)
            volumes.append(
                {"name": f"model-image{suffix}", "image": {"reference": image, "pullPolicy": "IfNotPresent"}}
            )
            mounts.append({"name": f"model-image{suffix}", "mountPath": each.host_path, "readOnly": True})
    given: tuple[Credentials, ...] = ()
    if skip:
        loaded = zip(weights, loaders, strict=True)
        given = tuple([loading.credentials(loader, each) for each, loader in loaded if loader])
    every_mount, every_volume, all_loads = tuple(mounts), tuple(volumes), tuple(loads)
    return _kit(
        app, every, labels, annotations, all_loads, every_mount, every_volume, given, place, scheduler, hardening
    )


def without_weights(kit: Kit) -> Kit:
    """The kit without the volume that loaders fill."""
    mounts = tuple(each for each in kit.mounts if each is not READABLE)
    return kit._replace(mounts=mounts, volumes=tuple(each for each in kit.volumes if each is not _MODEL_VOLUME))


def with_credentials(kit: Kit, env: Sequence[Body]) -> tuple[Body, ...]:
    """The runner's environment, and under skip-model-loader behind it the sources' credentials, each where the name
    is free.
    """
    if not kit.skip_credentials:
        return tuple(env)
    merged = {entry["name"]: entry for entry in env}
    for each in kit.skip_credentials:
        for entry in each.env:
            merged.setdefault(entry["name"], entry)
    return tuple(merged.values())


def playground(
    kit: Kit,
    runner: Container,
    shm: str,
    grace: int,
    tolerations: Sequence[Body],
    security: Spec,
    beside: Prepared,
) -> Pod:
    """The one pod of a Playground. `security`: what the preset knows of its image; `beside`: what it has there."""
    app, every, labels, annotations, _, kit_mounts, kit_volumes, credentials, place, scheduler, hardening = kit
    volumes, mounts = [*kit_volumes, *beside.volumes], [*kit_mounts, *beside.mounts]
    loaders, extra = _loaders(kit, runner.env)
    volumes += extra
    for each in credentials:
        volumes += each.volumes
        mounts += each.mounts
    if shm:
        volumes.append(_shm(shm))
        mounts.append(_SHM_MOUNT)
    pod_security: Body = {}
    runner_security = runner.security
    if hardening != "off":
        pod_security, runner_security, writable = _hardened(hardening, security)
        for i, path in enumerate(writable):
            volumes.append({"name": f"writable-{i}", "emptyDir": {}})
            mounts.append({"name": f"writable-{i}", "mountPath": path})
    runner = runner._replace(mounts=tuple(mounts), security=runner_security)
    wanted = every.tolerations or place.tolerations
    more = everypod.union(tolerations, every.tolerations, place.tolerations) if wanted else tolerations
    if beside.annotations:
        annotations = {**annotations, **beside.annotations}
    unwanted = None if hardening == "off" else False  # the token of a service account, links to Services
    return new_pod(
        labels={**labels, **every.labels} if every.labels else labels,
        annotations={**annotations, **every.annotations} if every.annotations else annotations,
        scheduler_name=scheduler,
        containers=(runner,),
        init_containers=(*loaders, *[_step(each, runner) for each in beside.steps]) if beside.steps else loaders,
        volumes=tuple(volumes),
        node_selector=place.node_selector,
        affinity={"nodeAffinity": place.node_affinity} if place.node_affinity else {},
        tolerations=tuple(more),
        grace_seconds=grace,
        security=pod_security,
        mounts_token=unwanted,
        service_links=unwanted,
        rest=everypod.generated(every, app, place.runtime_class),
    )


def _step(step: Container, runner: Container) -> Container:
    """A step before the engine starts; without an image of its own it runs as the runner does."""
    security, env, mounts = runner.security, runner.env, runner.mounts
    return step._replace(image=step.image or runner.image, env=env, security=security, mounts=mounts)


def _loaders(kit: Kit, env: Sequence[Body]) -> tuple[tuple[Container, ...], list[Body]]:
    containers, volumes = [], []
    for position, each, loader in kit.loads:
        access = loading.credentials(loader, each)
        containers.append(loading.container(loader, position, each, env, access, kit.hardening))
        volumes += [volume for volume in access.volumes if volume not in volumes]
    return tuple(containers), volumes


_SHM: dict[str, Body] = {}


def _shm(size: str) -> Body:
    if size not in _SHM:
        _SHM[size] = Shared({"name": "dshm", "emptyDir": Shared({"medium": "Memory", "sizeLimit": size})})
    return _SHM[size]


def _hardened(level: str, security: Spec) -> tuple[Body, Body, Sequence[str]]:
    """Security contexts of pod and runner, and the paths that have to stay writable (contract, section 4.11)."""
    if level == "default" or "user" not in security:
        return _SECCOMP, NO_ESCALATION, ()
    read_only = security.get("readOnlyRoot", True)
    pod = {**({"fsGroup": security["fsGroup"]} if "fsGroup" in security else {}), **_SECCOMP}
    return pod, context(security, read_only=read_only), security.get("writable", ()) if read_only else ()


def handwritten(
    config: Config, kit: Kit, template: Mapping[str, Any], marked: bool, found: Findings, origin: Origin
) -> Pod:
    """A Service's own pod (already normal) with what the models need. `marked`: it carries the model's labels and
    annotation.
    """
    metadata = {key: value for key, value in (template.get("metadata") or {}).items() if key in _DROPPED_METADATA}
    spec = dict(template.get("spec") or {})
    own = {
        key: spec.pop(key, None)
        for key in (
            "initContainers",
            "containers",
            "volumes",
            "nodeSelector",
            "affinity",
            "schedulerName",
            "securityContext",
        )
    }
    for group in ("initContainers", "containers"):
        for i, each in enumerate(own[group] or ()):
            if "image" in each:
                images.judge(each["image"], "image", origin.at("spec", group, i, "image"), found)
    every = kit.every
    labels = {**every.labels, **metadata.pop("labels", {})}
    annotations = {**every.annotations, **metadata.pop("annotations", {})}
    containers = [_own(config, each) for each in own["containers"] or ()]
    if every.env:
        containers = [
            each._replace(env=merge_env(every.env, each.env)) if each.name == RUNNER else each for each in containers
        ]
    runner = next((each for each in containers if each.name == RUNNER), None)
    loaders, extra = _loaders(kit, runner.env if runner else ())
    mounts = [*kit.mounts, *(mount for each in kit.skip_credentials for mount in each.mounts)]
    containers = [_armed(kit, each, mounts, origin, found) if each.name == RUNNER else each for each in containers]
    inits = [*(_own(config, each) for each in own["initContainers"] or ()), *loaders]
    volumes = list(own["volumes"] or ())
    names = {volume["name"] for volume in volumes}
    needed = [*kit.volumes, *extra, *(volume for each in kit.skip_credentials for volume in each.volumes)]
    for volume in needed:
        if volume["name"] not in names:
            volumes.append(volume)
        elif volume["name"] != VOLUME:  # model-volume may be the template's own
            at = origin.at("spec", "volumes", [each["name"] for each in volumes].index(volume["name"]), "name")
            found.add("E287", at, name=volume["name"])
    hard = kit.hardening != "off"
    if hard:
        containers, inits = [safe(each) for each in containers], [safe(each) for each in inits]
    place = kit.placement
    affinity = dict(own["affinity"] or {})
    if place.node_affinity and "nodeAffinity" in affinity:
        found.add("W205", origin.at("spec", "affinity"))
    elif place.node_affinity:
        affinity["nodeAffinity"] = place.node_affinity
    return Pod(
        labels={**labels, **kit.labels}
        if marked
        else {**labels, **{k: v for k, v in kit.labels.items() if k.startswith("app.kubernetes.io/")}},
        annotations={**annotations, **kit.annotations} if marked else annotations,
        scheduler_name=own["schedulerName"] or kit.scheduler,
        containers=tuple(containers),
        init_containers=tuple(inits),
        volumes=tuple(volumes),
        node_selector={**place.node_selector, **(own["nodeSelector"] or {})},
        affinity=affinity,
        security={**(_SECCOMP if hard else {}), **(own["securityContext"] or {})},
        mounts_token=False
        if hard and "serviceAccountName" not in spec and "automountServiceAccountToken" not in spec
        else None,
        service_links=False if hard and "enableServiceLinks" not in spec else None,
        metadata=metadata,
        rest=everypod.completed(every, spec, kit.app, place.tolerations, place.runtime_class),
    )


FIELDS = {
    "image": "image",
    "command": "command",
    "args": "args",
    "env": "env",
    "ports": "ports",
    "resources": "resources",
    "startupProbe": "startup_probe",
    "readinessProbe": "readiness_probe",
    "livenessProbe": "liveness_probe",
    "lifecycle": "lifecycle",
    "securityContext": "security",
    "volumeMounts": "mounts",
}


def _own(config: Config, container: Mapping[str, Any]) -> Container:
    rest = dict(container)
    fields: dict[str, Any] = {ours: rest.pop(theirs) for theirs, ours in FIELDS.items() if theirs in rest}
    for name in ("command", "args", "env", "ports", "mounts"):
        if name in fields:
            fields[name] = tuple(fields[name])
    if "env" in fields:
        fields["env"] = merge_env(fields["env"])
    if "image" in fields:
        fields["image"] = images.reference(config, fields["image"])
    return Container(name=rest.pop("name"), rest=rest, **fields)


def _armed(kit: Kit, runner: Container, mounts: Sequence[Body], origin: Origin, found: Findings) -> Container:
    """The runner with its mounts, credentials and accelerators; a path that it mounts itself stays its own."""
    taken = {mount["mountPath"].rstrip("/") for mount in runner.mounts}
    added = [mount for mount in mounts if mount["mountPath"].rstrip("/") not in taken]
    flavor = kit.placement.limits
    merged = runner.resources
    if flavor:
        sides = {side: resources.ordered({**(merged.get(side) or {}), **flavor}) for side in ("limits", "requests")}
        merged = {**merged, **sides}
    return runner._replace(env=with_credentials(kit, runner.env), mounts=(*runner.mounts, *added), resources=merged)


def safe(container: Container) -> Container:
    """No privilege escalation, unless the container asks for what the API server would then refuse."""
    mine = container.security
    if "allowPrivilegeEscalation" in mine or escalates(mine):
        return container
    return container._replace(security={**mine, "allowPrivilegeEscalation": False} if mine else NO_ESCALATION)


def escalates(security: Body) -> bool:
    """Whether a security context asks for privileges that `allowPrivilegeEscalation: false` contradicts."""
    return bool(security.get("privileged")) or "SYS_ADMIN" in ((security.get("capabilities") or {}).get("add") or ())


__all__ = ["FIELDS", "Kit", "escalates", "handwritten", "kit", "playground", "safe", "with_credentials"]
