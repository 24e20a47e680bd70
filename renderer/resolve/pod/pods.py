"""The pods of a Playground, and what a Service's hand-written pods get: labels, loaders, mounts, placement,
hardening.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from renderer.api import RenderConfig
from renderer.diagnostics import Collector, Origin, Path
from renderer.plan import Body, Container, Pod
from renderer.resolve import pod_defaults
from renderer.resolve.engine.preparation import Preparation
from renderer.resolve.flavors import FlavorOrigins, Placement
from renderer.resolve.kube import images, resources
from renderer.resolve.layers import ValueLayer, merge_entries, merge_items
from renderer.resolve.layers import origins as layered
from renderer.resolve.pod import loader_presets
from renderer.resolve.pod.loader_presets import READABLE, VOLUME, Credentials, Loader
from renderer.resolve.pod.security import NO_ESCALATION, context
from renderer.resolve.pod_defaults import PodDefaults
from renderer.resolve.weight_sources import PULLED, Weights
from renderer.yamlio import SharedMap

if TYPE_CHECKING:
    from renderer.input_types import SecuritySpec

RUNNER = "model-runner"
_SECCOMP = SharedMap({"seccompProfile": SharedMap({"type": "RuntimeDefault"})})
_MODEL_VOLUME = SharedMap({"name": VOLUME, "emptyDir": SharedMap({})})
_SHM_MOUNT = SharedMap({"name": "dshm", "mountPath": "/dev/shm"})  # noqa: S108 - where engines look for it
_DROPPED_METADATA = ("labels", "annotations", "finalizers", "name", "namespace")


class PodNeeds(Struct, frozen=True):
    """What the claim asks of every pod that runs the models, whoever wrote the pod.

    `loads`: models with a loader, by position; `mounts` and `volumes`: node paths, images and the weights themselves;
    `every`: what RenderConfig gives to all pods.
    """

    app: str
    every: PodDefaults
    labels: Body
    annotations: Body
    loads: tuple[tuple[int, Weights, Loader], ...]
    mounts: tuple[Body, ...]
    volumes: tuple[Body, ...]
    skip_credentials: tuple[Credentials, ...]
    placement: Placement
    scheduler: str
    hardening: str


def pod_needs(
    config: RenderConfig,
    app: str,
    every: PodDefaults,
    labels: Body,
    annotations: Body,
    weights: Sequence[Weights],
    loaders: Sequence[Loader | None],
    skip: bool,
    place: Placement,
    scheduler: str,
    hardening: str,
) -> PodNeeds:
    """What follows from the models' sources and the flavors. `loaders`: one a model, None where nothing is to load."""
    loads: list[tuple[int, Weights, Loader]] = []
    for i, loader in enumerate(() if skip else loaders):
        if loader:
            loads.append((i, weights[i], loader))
    mounts: list[Body] = []
    volumes: list[Body] = []
    if loads or (not skip and any(weight.kind == PULLED for weight in weights)):
        mounts.append(READABLE)
        volumes.append(_MODEL_VOLUME)
    seen: set[str] = set()
    for i, model_weights in enumerate(weights):
        if model_weights.kind not in ("host", "oci"):
            continue
        name = source_volume(i, model_weights)
        if model_weights.kind == "host" and model_weights.host_path not in seen:
            seen.add(model_weights.host_path)
            volumes.append(
                {
                    "name": name,
                    "hostPath": {
                        "path": model_weights.host_path,
                        "type": "File" if model_weights.one_file else "Directory",
                    },
                }
            )
            mounts.append({"name": name, "mountPath": model_weights.host_path, "readOnly": True})
        if model_weights.kind == "oci":
            image = images.image_reference(config, model_weights.image)
            volumes.append({"name": name, "image": {"reference": image, "pullPolicy": "IfNotPresent"}})
            mounts.append({"name": name, "mountPath": model_weights.host_path, "readOnly": True})
    credentials: tuple[Credentials, ...] = ()
    if skip:
        loaded = zip(weights, loaders, strict=True)
        credentials = tuple(
            [loader_presets.credentials(loader, model_weights) for model_weights, loader in loaded if loader]
        )
    every_mount, every_volume, all_loads = tuple(mounts), tuple(volumes), tuple(loads)
    return PodNeeds(
        app=app,
        every=every,
        labels=labels,
        annotations=annotations,
        loads=all_loads,
        mounts=every_mount,
        volumes=every_volume,
        skip_credentials=credentials,
        placement=place,
        scheduler=scheduler,
        hardening=hardening,
    )


def source_volume(position: int, weights: Weights) -> str:
    """The volume of weights that lie on the node or in an image; `position`: the model's in the claim."""
    return f"model-{'host' if weights.kind == 'host' else 'image'}{f'-{position}' if position else ''}"


def without_weights(kit: PodNeeds) -> PodNeeds:
    """The kit without the volume that loaders fill."""
    mounts = tuple(mount for mount in kit.mounts if mount is not READABLE)
    return replace(kit, mounts=mounts, volumes=tuple(volume for volume in kit.volumes if volume is not _MODEL_VOLUME))


def with_credentials(kit: PodNeeds, env: Sequence[Body]) -> tuple[Body, ...]:
    """The runner's environment, and under skip-model-loader behind it the sources' credentials, each where the name
    is free.
    """
    if not kit.skip_credentials:
        return tuple(env)
    merged = {entry["name"]: entry for entry in env}
    for credential in kit.skip_credentials:
        for entry in credential.env:
            merged.setdefault(entry["name"], entry)
    return tuple(merged.values())


def playground_pod(
    kit: PodNeeds,
    runner: Container,
    shm: str,
    grace: int,
    tolerations: Sequence[Body],
    security: SecuritySpec,
    beside: Preparation,
) -> Pod:
    """The one pod of a Playground. `security`: what the preset knows of its image; `beside`: what it has there."""
    every, labels, annotations, place, hardening = kit.every, kit.labels, kit.annotations, kit.placement, kit.hardening
    volumes, mounts = [*kit.volumes, *beside.volumes], [*kit.mounts, *beside.mounts]
    loaders, extra = _loaders(kit, runner.env)
    volumes += extra
    for credential in kit.skip_credentials:
        volumes += credential.volumes
        mounts += credential.mounts
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
    runner = replace(runner, mounts=tuple(mounts), security=runner_security)
    if every.tolerations or any(flavor.tolerations for flavor in place.flavors):
        tolerations = _tolerations(kit, tolerations)
    if beside.annotations:
        annotations = {**annotations, **beside.annotations}
    unwanted = None if hardening == "off" else False  # the token of a service account, links to Services
    return Pod(
        labels={**labels, **every.labels} if every.labels else labels,
        annotations={**annotations, **every.annotations} if every.annotations else annotations,
        scheduler_name=kit.scheduler,
        containers=(runner,),
        init_containers=(*loaders, *[_step(step, runner) for step in beside.steps]) if beside.steps else loaders,
        volumes=tuple(volumes),
        node_selector=place.node_selector,
        affinity={"nodeAffinity": place.node_affinity} if place.node_affinity else {},
        tolerations=tuple(tolerations),
        grace_seconds=grace,
        security=pod_security,
        mounts_token=unwanted,
        service_links=unwanted,
        rest=pod_defaults.generated_fields(every, kit.app, place.runtime_class),
    )


def _step(step: Container, runner: Container) -> Container:
    """A step before the engine starts; without an image of its own it runs as the runner does."""
    security, env, mounts = runner.security, runner.env, runner.mounts
    return replace(step, image=step.image or runner.image, env=env, security=security, mounts=mounts)


def _loaders(kit: PodNeeds, env: Sequence[Body]) -> tuple[tuple[Container, ...], list[Body]]:
    containers, volumes = [], []
    for position, model_weights, loader in kit.loads:
        access = loader_presets.credentials(loader, model_weights)
        containers.append(loader_presets.container(loader, position, model_weights, env, access, kit.hardening))
        volumes += [volume for volume in access.volumes if volume not in volumes]
    return tuple(containers), volumes


_SHM: dict[str, Body] = {}


def _shm(size: str) -> Body:
    if size not in _SHM:
        _SHM[size] = SharedMap({"name": "dshm", "emptyDir": SharedMap({"medium": "Memory", "sizeLimit": size})})
    return _SHM[size]


def _hardened(level: str, security: SecuritySpec) -> tuple[Body, Body, Sequence[str]]:
    """Security contexts of pod and runner, and the paths that have to stay writable.

    docs/design/contract.md#hardening
    """
    if level == "default" or "user" not in security:
        return _SECCOMP, NO_ESCALATION, ()
    read_only = security.get("readOnlyRoot", True)
    pod = {**({"fsGroup": security["fsGroup"]} if "fsGroup" in security else {}), **_SECCOMP}
    return pod, context(security, read_only=read_only), security.get("writable", ()) if read_only else ()


def handwritten_pod(
    config: RenderConfig,
    kit: PodNeeds,
    template: Mapping[str, Any],
    marked: bool,
    diagnostics: Collector,
    origin: Origin,
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
        for i, entry in enumerate(own[group] or ()):
            if "image" in entry:
                images.validate_image(entry["image"], "image", origin.at("spec", group, i, "image"), diagnostics)
    every = kit.every
    labels = {**every.labels, **metadata.pop("labels", {})}
    annotations = {**every.annotations, **metadata.pop("annotations", {})}
    containers = [_own(config, container) for container in own["containers"] or ()]
    if every.env:
        containers = [
            replace(container, env=merge_entries([every.env, container.env]).entries)
            if container.name == RUNNER
            else container
            for container in containers
        ]
    runner = next((container for container in containers if container.name == RUNNER), None)
    loaders, extra = _loaders(kit, runner.env if runner else ())
    mounts = [*kit.mounts, *(mount for credential in kit.skip_credentials for mount in credential.mounts)]
    containers = [
        _armed(kit, container, mounts, origin, diagnostics) if container.name == RUNNER else container
        for container in containers
    ]
    inits = [*(_own(config, container) for container in own["initContainers"] or ()), *loaders]
    volumes = list(own["volumes"] or ())
    names = {volume["name"] for volume in volumes}
    needed = [*kit.volumes, *extra, *(volume for credential in kit.skip_credentials for volume in credential.volumes)]
    for volume in needed:
        if volume["name"] not in names:
            volumes.append(volume)
        elif volume["name"] != VOLUME:  # model-volume may be the template's own
            at = origin.at("spec", "volumes", [entry["name"] for entry in volumes].index(volume["name"]), "name")
            diagnostics.add("E287", at, name=volume["name"])
    hard = kit.hardening != "off"
    if hard:
        containers, inits = [safe(container) for container in containers], [safe(init) for init in inits]
    place = kit.placement
    affinity = dict(own["affinity"] or {})
    if place.node_affinity and "nodeAffinity" in affinity:
        diagnostics.add("W205", origin.at("spec", "affinity"))
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
        rest=pod_defaults.complete_pod_spec(
            every, spec, kit.app, _tolerations(kit, spec.get("tolerations") or ()), place.runtime_class
        ),
    )


def _tolerations(kit: PodNeeds, own: Sequence[Body]) -> tuple[Body, ...]:
    """A pod's own tolerations and those that are added, none twice."""
    return merge_items([own, *(layer.value for layer in _added_tolerations(kit))]).items


def _added_tolerations(kit: PodNeeds) -> list[ValueLayer]:
    """RenderConfig's tolerations of all pods, and those of the flavors in its catalog."""
    authors = [(kit.every.tolerations, kit.every.part)]
    authors += [(flavor.tolerations, flavor.catalog) for flavor in kit.placement.flavors]
    return [ValueLayer(tolerations, part.at("tolerations")) for tolerations, part in authors if tolerations and part]


def origins(
    kit: PodNeeds, template: Mapping[str, Any], tolerations: Sequence[Body] = ()
) -> Iterator[tuple[Path, Origin]]:
    """Who says what RenderConfig and the flavors add to a pod, by path in its template. `template`: the hand-written
    one (already normal); `tolerations`: the pod's own.
    """
    part, flavors = kit.every.part, kit.placement.flavors
    if not part:
        return
    metadata, spec = template.get("metadata") or {}, template.get("spec") or {}
    for key, marks in (("labels", kit.every.labels), ("annotations", kit.every.annotations)):
        yield from (
            (("metadata", key, name), part.at(key, name)) for name in marks if name not in metadata.get(key, {})
        )
    keys = [*kit.every.fields, *(["topologySpreadConstraints"] if kit.every.spread else [])]
    yield from ((("spec", key), part.at(key)) for key in keys if key not in spec)
    if flavors and flavors[0].catalog and kit.placement.runtime_class and "runtimeClassName" not in spec:
        yield ("spec", "runtimeClassName"), flavors[0].catalog.at("runtimeClassName")
    secrets = ValueLayer(kit.every.fields.get("imagePullSecrets", ()), part.at("imagePullSecrets"))
    lists = [("tolerations", tolerations, _added_tolerations(kit))]
    lists.append(("imagePullSecrets", spec.get("imagePullSecrets") or (), [secrets]))
    for key, own, added in lists:
        for i, position in enumerate(merge_items([own, *(layer.value for layer in added)]).positions):
            if position.layer:
                yield ("spec", key, i), added[position.layer - 1].origin.at(*position.item)


def runner_origins(
    kit: PodNeeds, template: Mapping[str, Any], flavor: FlavorOrigins | None, at: Origin
) -> tuple[dict[str, Origin], dict[Path, Origin]]:
    """Who says the variables of a hand-written runner, by name; and these and its accelerators by path in the template,
    which stands at `at`.
    """
    containers = (template.get("spec") or {}).get("containers") or ()
    index = next((i for i, container in enumerate(containers) if container["name"] == RUNNER), None)
    if index is None or not kit.every.part:
        return {}, {}
    runner: Path = ("spec", "containers", index)
    history = merge_entries([kit.every.env, containers[index].get("env") or ()]).history
    layers = [kit.every.part.at("env"), at.at(*runner, "env")]
    env = {str(path[0]): speakers[-1] for path, speakers in layered(history, layers)}
    known: dict[Path, Origin] = {(*runner, "env", i): origin for i, origin in enumerate(env.values())}
    if flavor:
        names = itertools.product(("limits", "requests"), kit.placement.limits)
        known |= {(*runner, "resources", side, name): flavor.at("limits", name) for side, name in names}
    return env, known


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


def _own(config: RenderConfig, container: Mapping[str, Any]) -> Container:
    rest = dict(container)
    fields: dict[str, Any] = {ours: rest.pop(theirs) for theirs, ours in FIELDS.items() if theirs in rest}
    for name in ("command", "args", "env", "ports", "mounts"):
        if name in fields:
            fields[name] = tuple(fields[name])
    if "env" in fields:
        fields["env"] = merge_entries([fields["env"]]).entries
    if "image" in fields:
        fields["image"] = images.image_reference(config, fields["image"])
    return Container(name=rest.pop("name"), rest=rest, **fields)


def _armed(
    kit: PodNeeds, runner: Container, mounts: Sequence[Body], origin: Origin, diagnostics: Collector
) -> Container:
    """The runner with its mounts, credentials and accelerators; a path that it mounts itself stays its own."""
    taken = {mount["mountPath"].rstrip("/") for mount in runner.mounts}
    added = [mount for mount in mounts if mount["mountPath"].rstrip("/") not in taken]
    flavor = kit.placement.limits
    merged = runner.resources
    if flavor:
        sides = {
            side: resources.order_resources({**(merged.get(side) or {}), **flavor}) for side in ("limits", "requests")
        }
        merged = {**merged, **sides}
    return replace(runner, env=with_credentials(kit, runner.env), mounts=(*runner.mounts, *added), resources=merged)


def safe(container: Container) -> Container:
    """No privilege escalation, unless the container asks for what the API server would then refuse."""
    mine = container.security
    if "allowPrivilegeEscalation" in mine or escalates(mine):
        return container
    return replace(container, security={**mine, "allowPrivilegeEscalation": False} if mine else NO_ESCALATION)


def escalates(security: Body) -> bool:
    """Whether a security context asks for privileges that `allowPrivilegeEscalation: false` contradicts."""
    return bool(security.get("privileged")) or "SYS_ADMIN" in ((security.get("capabilities") or {}).get("add") or ())


__all__ = [
    "FIELDS",
    "PodNeeds",
    "escalates",
    "handwritten_pod",
    "playground_pod",
    "pod_needs",
    "safe",
    "with_credentials",
]
