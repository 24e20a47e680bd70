"""The pod of a Playground, and what is added to the hand-written pods of a Service: labels, loaders, mounts, placement,
hardening.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from renderer import yamlio
from renderer.api import RenderConfig
from renderer.diagnostics import Collector, Origin, Path
from renderer.json_values import map_at
from renderer.plan import Body, Container, DeviceTemplate, Pod
from renderer.resolve import model_cache, pod_defaults
from renderer.resolve.engine.preparation import Preparation
from renderer.resolve.flavors import FlavorOrigins, Placement
from renderer.resolve.kube import images, resources
from renderer.resolve.layers import ValueLayer, merge_entries, merge_items
from renderer.resolve.layers import origins as layer_origins
from renderer.resolve.model_cache import ModelCache
from renderer.resolve.pod import cache_containers, loaders
from renderer.resolve.pod.hardening import SECCOMP, deny_escalation, security_contexts, with_capabilities
from renderer.resolve.pod.loaders import READ_ONLY_MOUNT, VOLUME, Credentials, Loader
from renderer.resolve.pod_defaults import PodDefaults
from renderer.resolve.weight_sources import MODELS_FOLDER, PULLED, Weights
from renderer.yamlio import SharedMap

if TYPE_CHECKING:
    from renderer.input_types import SecuritySpec

RUNNER = "model-runner"
_NODE_CACHE = "model-cache"  # the volume
_DEVICES = "accelerators"  # the claim for devices, in a pod
_MODEL_VOLUME = SharedMap({"name": VOLUME, "emptyDir": SharedMap({})})
_SHM_MOUNT = SharedMap({"name": "dshm", "mountPath": "/dev/shm"})  # noqa: S108 - where engines look for it
_KEPT_METADATA = ("labels", "annotations", "finalizers", "name", "namespace")


class PodNeeds(Struct, frozen=True):
    """What every pod with the claimed models needs, generated or hand-written.

    `loads`: position, weights and loader of each model that has a loader; `mounts` and `volumes`: for the weights;
    `skip_credentials`: for the runner, where the loaders are skipped. `claim_templates`: of the workload; `fs_group`:
    the group that its volumes belong to; `shell`: the loader whose image runs the scripts of caches, where there are
    any; `waits`: init containers that wait for weights on claims.
    """

    app: str
    defaults: PodDefaults
    labels: Body
    annotations: Body
    loads: tuple[tuple[int, Weights, Loader], ...]
    mounts: tuple[Body, ...]
    volumes: tuple[Body, ...]
    skip_credentials: tuple[Credentials, ...]
    placement: Placement
    scheduler: str
    hardening: str
    claim_templates: tuple[Body, ...] = ()
    fs_group: int | None = None
    shell: Loader | None = None
    waits: tuple[Container, ...] = ()


def pod_needs(
    config: RenderConfig,
    app: str,
    defaults: PodDefaults,
    labels: Body,
    annotations: Body,
    weights: Sequence[Weights],
    model_loaders: Sequence[Loader | None],
    skip_loaders: bool,
    placement: Placement,
    scheduler: str,
    hardening: str,
    shell: Loader | None = None,
) -> PodNeeds:
    """The needs that follow from the models' weights and flavors. `model_loaders`: one for each model, or None."""
    per_pod: list[ModelCache] = []
    loads = [(i, weights[i], loader) for i, loader in enumerate(() if skip_loaders else model_loaders) if loader]
    mounts: list[Body] = []
    volumes: list[Body] = []
    in_volume = [model_weights for _, model_weights, _ in loads if not _is_on_node(model_weights)]
    if in_volume or (not skip_loaders and any(model_weights.kind == PULLED for model_weights in weights)):
        # The mount of a cache cannot lie in a read-only one: then each loaded model is mounted at its own path.
        beside_cache = any(model_weights.claim or _is_on_node(model_weights) for model_weights in weights)
        paths = [model_weights.path for model_weights in in_volume] if beside_cache else ()
        mounts += [_loaded_mount(path) for path in paths] or [READ_ONLY_MOUNT]
        caches = [model_weights.cache for model_weights in in_volume if model_weights.cache]
        per_pod = [cache for cache in caches if cache.kind == model_cache.PER_POD]
        volumes += [] if per_pod else [_MODEL_VOLUME]
    for i, model_weights, _ in loads if len(in_volume) < len(loads) else ():
        if model_weights.cache and _is_on_node(model_weights):
            name, path = cache_containers.numbered(_NODE_CACHE, i), model_weights.cache.path
            volumes.append({"name": name, "hostPath": {"path": path, "type": "DirectoryOrCreate"}})
            mount = _loaded_mount(model_weights.path)
            mounts.append({**mount, "name": name, "subPath": f"{model_weights.cache.folder}/{mount['subPath']}"})
    host_paths: set[str] = set()
    for i, model_weights in enumerate(weights):
        if model_weights.claim:
            volumes += _claim_volume(weights[:i], i, model_weights)
            mount = _claim_mount(weights, model_weights)
            mounts += [mount] if mount not in mounts else []  # models in one cache share it
        if model_weights.kind not in ("host", "oci"):
            continue
        name = source_volume_name(i, model_weights)
        if model_weights.kind == "host" and model_weights.host_path not in host_paths:
            host_paths.add(model_weights.host_path)
            path_type = "File" if model_weights.one_file else "Directory"
            volumes.append({"name": name, "hostPath": {"path": model_weights.host_path, "type": path_type}})
            mounts.append({"name": name, "mountPath": model_weights.host_path, "readOnly": True})
        if model_weights.kind == "oci":
            image = images.image_reference(config, model_weights.image)
            volumes.append({"name": name, "image": {"reference": image, "pullPolicy": "IfNotPresent"}})
            mounts.append({"name": name, "mountPath": model_weights.host_path, "readOnly": True})
    pairs = zip(weights, model_loaders, strict=True) if skip_loaders else ()
    credentials = [loaders.credentials(loader, model_weights) for model_weights, loader in pairs if loader]
    credentials += [Credentials(env=model_weights.cache_env) for model_weights in weights if model_weights.cache_env]
    return PodNeeds(
        app=app,
        defaults=defaults,
        labels=labels,
        annotations=annotations,
        loads=tuple(loads),
        mounts=tuple(mounts),
        volumes=tuple(volumes),
        skip_credentials=tuple(credentials),
        placement=placement,
        scheduler=scheduler,
        hardening=hardening,
        claim_templates=(model_cache.claim_template(VOLUME, per_pod),) if per_pod else (),
        fs_group=loaders.group(loads[0][2]) if per_pod else None,
        shell=shell,
        waits=tuple(_waiting_containers(weights, shell, hardening)) if shell else (),
    )


def _is_on_node(weights: Weights) -> bool:
    return weights.cache is not None and weights.cache.kind == model_cache.HOST_PATH and weights.loader is not None


def _waiting_containers(weights: Sequence[Weights], shell: Loader, hardening: str) -> Iterator[Container]:
    """One for each model on a claim that a Job fills."""
    for i, model_weights in enumerate(weights):
        if model_weights.cache and model_weights.claim:
            first = next(k for k, other in enumerate(weights) if other.claim == model_weights.claim)
            volume = source_volume_name(first, weights[first])
            container = cache_containers.waiting_container(shell, model_weights.cache, volume, i)
            yield replace(container, security={}) if hardening == "off" else container


_VOLUME_WORDS = {"host": "host", "oci": "image"}


def source_volume_name(position: int, weights: Weights) -> str:
    """The name of the volume for weights on the node, in an image or on a claim; `position`: of the model in the
    app's claim.
    """
    return f"model-{_VOLUME_WORDS.get(weights.kind, 'claim')}{f'-{position}' if position else ''}"


def _claim_volume(earlier: Sequence[Weights], position: int, weights: Weights) -> list[Body]:
    """The volume of a PersistentVolumeClaim, unless an earlier model has it already."""
    if any(other.claim == weights.claim for other in earlier):
        return []
    source = {"claimName": weights.claim, "readOnly": True}
    return [{"name": source_volume_name(position, weights), "persistentVolumeClaim": source}]


def _claim_mount(weights: Sequence[Weights], own: Weights) -> Body:
    first = next(i for i, other in enumerate(weights) if other.claim == own.claim)
    mount = {"name": source_volume_name(first, weights[first]), "mountPath": own.host_path, "readOnly": True}
    return {**mount, "subPath": own.sub_path} if own.sub_path else mount


def _loaded_mount(path: str) -> Body:
    return {"name": VOLUME, "mountPath": path, "readOnly": True, "subPath": path.removeprefix(MODELS_FOLDER)}


def without_model_volume(needs: PodNeeds) -> PodNeeds:
    """The needs without the volume that loaders fill."""
    mounts = tuple(mount for mount in needs.mounts if mount["name"] != VOLUME)
    volumes = tuple(volume for volume in needs.volumes if volume is not _MODEL_VOLUME)
    return replace(needs, mounts=mounts, volumes=volumes)


def validate_claim_templates(needs: PodNeeds, pod: Pod, origin: Origin, diagnostics: Collector) -> None:
    """An error where a volume of the pod has the name of a claim template. `origin`: of the user's pod spec."""
    if needs.claim_templates and any(volume["name"] == VOLUME for volume in pod.volumes):
        diagnostics.add("E318", origin.at("volumes"), name=VOLUME)


def add_credentials(needs: PodNeeds, env: Sequence[Body]) -> tuple[Body, ...]:
    """The runner's environment, and behind it, where the loaders are skipped, the credentials for the weights. An
    entry of `env` wins over a credential of the same name.
    """
    if not needs.skip_credentials:
        return tuple(env)
    merged = {entry["name"]: entry for entry in env}
    for credentials in needs.skip_credentials:
        for entry in credentials.env:
            merged.setdefault(entry["name"], entry)
    return tuple(merged.values())


def playground_pod(
    needs: PodNeeds,
    runner: Container,
    shared_memory: str,
    grace_seconds: int,
    tolerations: Sequence[Body],
    image_security: SecuritySpec,
    preparation: Preparation,
) -> Pod:
    """The pod of a Playground. `image_security`: `security` of the preset or of its variant."""
    defaults, placement, hardening = needs.defaults, needs.placement, needs.hardening
    labels, annotations = needs.labels, needs.annotations
    volumes, mounts = [*needs.volumes, *preparation.volumes], [*needs.mounts, *preparation.mounts]
    loader_containers, loader_volumes = _loader_containers(needs, runner.env)
    volumes += loader_volumes
    for credentials in needs.skip_credentials:
        volumes += credentials.volumes
        mounts += credentials.mounts
    if shared_memory:
        volumes.append(_shared_memory_volume(shared_memory))
        mounts.append(_SHM_MOUNT)
    pod_security: Body = {}
    runner_security = runner.security
    if hardening != "off":
        pod_security, runner_security, writable = security_contexts(hardening, image_security)
        for i, path in enumerate(writable):
            volumes.append({"name": f"writable-{i}", "emptyDir": {}})
            mounts.append({"name": f"writable-{i}", "mountPath": path})
    if needs.fs_group is not None:
        pod_security = {**group_security(needs.fs_group), **pod_security}
    access = placement.access
    if access.capabilities:
        runner_security = with_capabilities(runner_security, access.capabilities)
    if access.annotations:
        annotations = {**annotations, **access.annotations}
    runner = replace(runner, mounts=tuple(mounts), security=runner_security)
    if defaults.tolerations or any(flavor.tolerations for flavor in placement.flavors):
        tolerations = _tolerations(needs, tolerations)
    if preparation.annotations:
        annotations = {**annotations, **preparation.annotations}
    disabled = None if hardening == "off" else False  # the token of the service account, links to Services
    pod = Pod(
        labels={**labels, **defaults.labels} if defaults.labels else labels,
        annotations={**annotations, **defaults.annotations} if defaults.annotations else annotations,
        scheduler_name=needs.scheduler,
        containers=(runner,),
        init_containers=(*loader_containers, *[_preparation_container(step, runner) for step in preparation.steps]),
        volumes=tuple(volumes),
        node_selector=placement.node_selector,
        affinity={"nodeAffinity": placement.node_affinity} if placement.node_affinity else {},
        tolerations=tuple(tolerations),
        grace_seconds=grace_seconds,
        security=pod_security,
        mounts_token=disabled,
        service_links=disabled,
        rest=_pod_fields(needs),
    )
    devices = device_template(needs)
    return _with_devices(pod, devices) if devices else pod


def _pod_fields(needs: PodNeeds) -> Body:
    """Further fields of a pod spec: RenderConfig's defaults, and what the flavor needs."""
    fields = pod_defaults.generated_fields(needs.defaults, needs.app, needs.placement.runtime_class)
    if not needs.placement.access.host_network:
        return fields
    return {"dnsPolicy": "ClusterFirstWithHostNet", **fields, "hostNetwork": True}


def device_template(needs: PodNeeds) -> DeviceTemplate | None:
    """The ResourceClaimTemplate for the devices of each pod; None where the flavor claims none. Its name holds the hash
    of the request, since the API server refuses to change one.
    """
    claim = needs.placement.claim
    if not claim:
        return None
    import hashlib  # few runs need it

    exactly: dict[str, object] = {
        "deviceClassName": claim.device_class,
        "allocationMode": "ExactCount",
        "count": claim.count,
    }
    if claim.selectors:
        exactly["selectors"] = [{"cel": {"expression": expression}} for expression in claim.selectors]
    request = {"name": _DEVICES, "exactly": exactly}
    return DeviceTemplate(f"{needs.app}-{hashlib.sha256(yamlio.dump(request).encode()).hexdigest()[:8]}", request)


def _with_devices(pod: Pod, devices: DeviceTemplate) -> Pod:
    """The pod with a claim of its own, by this template, for its runner."""
    claim = {"name": _DEVICES, "resourceClaimTemplateName": devices.name}
    containers = [
        replace(container, resources={**container.resources, "claims": [{"name": _DEVICES}]})
        if container.name == RUNNER
        else container
        for container in pod.containers
    ]
    return replace(pod, containers=tuple(containers), rest={**pod.rest, "resourceClaims": [claim]})


def _preparation_container(step: Container, runner: Container) -> Container:
    """The init container of a step, with the runner's environment, mounts and security; with its image by default."""
    security, env, mounts = runner.security, runner.env, runner.mounts
    return replace(step, image=step.image or runner.image, env=env, security=security, mounts=mounts)


def _loader_containers(needs: PodNeeds, env: Sequence[Body]) -> tuple[tuple[Container, ...], list[Body]]:
    containers, volumes = [*needs.waits], list[Body]()
    for position, model_weights, loader in needs.loads:
        credentials = loaders.credentials(loader, model_weights)
        container = loaders.loader_container(loader, position, model_weights, env, credentials, needs.hardening)
        if needs.shell and model_weights.cache and _is_on_node(model_weights):
            volume = cache_containers.numbered(_NODE_CACHE, position)
            containers += cache_containers.fill_containers(
                container, needs.shell, model_weights.cache, volume, position, cache_containers.NODE_USER
            )
        else:
            containers.append(container)
        volumes += [volume for volume in credentials.volumes if volume not in volumes]
    return tuple(containers), volumes


def volume_at(container: Container, path: str) -> str:
    """The name of the volume that a path of the container lies in, '' for none: the one with the longest mount path."""
    mounts = [
        (len(folder), str(mount["name"]))
        for mount in container.mounts
        if (folder := str(mount["mountPath"]).rstrip("/")) == path or path.startswith(f"{folder}/")
    ]
    return max(mounts)[1] if mounts else ""


def written_volumes(pod: Pod, own_names: Collection[str]) -> set[str]:
    """The volumes that containers may write into, other than the runner and those of `own_names`."""
    return {
        str(mount["name"])
        for container in (*pod.init_containers, *pod.containers)
        if container.name not in own_names and container.name != RUNNER
        for mount in container.mounts
        if not mount.get("readOnly")
    }


def running_containers(pod: Pod) -> Iterator[tuple[Path, Container]]:
    """The containers that run side by side, each with its path: the pod's containers, and sidecars among the init
    containers.
    """
    yield from ((("spec", "containers", i), container) for i, container in enumerate(pod.containers))
    for i, container in enumerate(pod.init_containers):
        if container.rest.get("restartPolicy") == "Always":
            yield ("spec", "initContainers", i), container


def is_empty_dir(pod: Pod, name: str) -> bool:
    """Whether the volume of that name is an emptyDir."""
    return any(volume["name"] == name and "emptyDir" in volume for volume in pod.volumes)


def group_security(group: int) -> Body:
    """A claim belongs to root at first: the group lets the loader write, and later pods need not go through it."""
    return {"fsGroup": group, "fsGroupChangePolicy": "OnRootMismatch"}


_SHARED_MEMORY_VOLUMES: dict[str, Body] = {}


def _shared_memory_volume(size: str) -> Body:
    if size not in _SHARED_MEMORY_VOLUMES:
        _SHARED_MEMORY_VOLUMES[size] = SharedMap(
            {"name": "dshm", "emptyDir": SharedMap({"medium": "Memory", "sizeLimit": size})}
        )
    return _SHARED_MEMORY_VOLUMES[size]


def handwritten_pod(
    config: RenderConfig,
    needs: PodNeeds,
    template: Mapping[str, Any],
    with_model_labels: bool,
    diagnostics: Collector,
    origin: Origin,
) -> Pod:
    """The hand-written pod of a Service (with API defaults written out) and what the models need.
    `with_model_labels`: with the model's labels and annotation too.
    """
    metadata = {key: value for key, value in (template.get("metadata") or {}).items() if key in _KEPT_METADATA}
    spec = dict(template.get("spec") or {})
    own_fields = {
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
        for i, entry in enumerate(own_fields[group] or ()):
            if "image" in entry:
                images.validate_image(entry["image"], "image", origin.at("spec", group, i, "image"), diagnostics)
    defaults = needs.defaults
    labels = {**defaults.labels, **metadata.pop("labels", {})}
    annotations = {**defaults.annotations, **metadata.pop("annotations", {})}
    containers = [_read_container(config, container) for container in own_fields["containers"] or ()]
    if defaults.env:
        containers = [
            replace(container, env=merge_entries([defaults.env, container.env]).entries)
            if container.name == RUNNER
            else container
            for container in containers
        ]
    runner = next((container for container in containers if container.name == RUNNER), None)
    loader_containers, loader_volumes = _loader_containers(needs, runner.env if runner else ())
    mounts = [*needs.mounts, *(mount for credentials in needs.skip_credentials for mount in credentials.mounts)]
    containers = [
        _complete_runner(needs, container, mounts) if container.name == RUNNER else container
        for container in containers
    ]
    init_containers = [
        *(_read_container(config, container) for container in own_fields["initContainers"] or ()),
        *loader_containers,
    ]
    images.validate_volumes(own_fields["volumes"] or (), origin.at("spec", "volumes"), diagnostics)
    volumes = images.volume_references(config, own_fields["volumes"] or ())
    names = {volume["name"] for volume in volumes}
    credential_volumes = (volume for credentials in needs.skip_credentials for volume in credentials.volumes)
    for volume in (*needs.volumes, *loader_volumes, *credential_volumes):
        if volume["name"] not in names:
            volumes.append(volume)
        elif volume["name"] != VOLUME:  # model-volume may be the template's own
            index = [entry["name"] for entry in volumes].index(volume["name"])
            diagnostics.add("E287", origin.at("spec", "volumes", index, "name"), name=volume["name"])
    hardened = needs.hardening != "off"
    if hardened:
        containers = [deny_escalation(container) for container in containers]
        init_containers = [deny_escalation(container) for container in init_containers]
    placement = needs.placement
    affinity = dict(own_fields["affinity"] or {})
    if placement.node_affinity and "nodeAffinity" in affinity:
        diagnostics.add("W205", origin.at("spec", "affinity"))
    elif placement.node_affinity:
        affinity["nodeAffinity"] = placement.node_affinity
    pod = Pod(
        labels={**labels, **needs.labels}
        if with_model_labels
        else {**labels, **{k: v for k, v in needs.labels.items() if k.startswith("app.kubernetes.io/")}},
        annotations={**annotations, **needs.annotations} if with_model_labels else annotations,
        scheduler_name=own_fields["schedulerName"] or needs.scheduler,
        containers=tuple(containers),
        init_containers=tuple(init_containers),
        volumes=tuple(volumes),
        node_selector={**placement.node_selector, **(own_fields["nodeSelector"] or {})},
        affinity=affinity,
        security={
            **(group_security(needs.fs_group) if needs.fs_group is not None else {}),
            **(SECCOMP if hardened else {}),
            **(own_fields["securityContext"] or {}),
        },
        mounts_token=False
        if hardened and "serviceAccountName" not in spec and "automountServiceAccountToken" not in spec
        else None,
        service_links=False if hardened and "enableServiceLinks" not in spec else None,
        metadata=metadata,
        rest=pod_defaults.complete_pod_spec(
            defaults, spec, needs.app, _tolerations(needs, spec.get("tolerations") or ()), placement.runtime_class
        ),
    )
    devices = device_template(needs)
    return _with_devices(pod, devices) if devices else pod


def _tolerations(needs: PodNeeds, pod_tolerations: Sequence[Body]) -> tuple[Body, ...]:
    """The tolerations of a pod and those that are added, without duplicates."""
    return merge_items([pod_tolerations, *(layer.value for layer in _added_tolerations(needs))]).items


def _added_tolerations(needs: PodNeeds) -> list[ValueLayer]:
    """The layers of added tolerations: RenderConfig's for all pods, and those of the flavors in its catalog."""
    defaults = needs.defaults
    common = [ValueLayer(defaults.tolerations, defaults.part.at("tolerations"))] if defaults.part else []
    return [*(layer for layer in common if layer.value), *flavor_tolerations(needs)]


def flavor_tolerations(needs: PodNeeds) -> list[ValueLayer]:
    """The layers of tolerations of the flavors in RenderConfig's catalog."""
    return [
        ValueLayer(flavor.tolerations, flavor.catalog.at("tolerations"))
        for flavor in needs.placement.flavors
        if flavor.tolerations and flavor.catalog
    ]


def origins(
    needs: PodNeeds, template: Mapping[str, Any], tolerations: Sequence[Body] = ()
) -> Iterator[tuple[Path, Origin]]:
    """The origins of the fields that RenderConfig and the flavors add to a pod, by path in its template. `template`:
    the hand-written one (with API defaults written out); `tolerations`: of the pod before any are added.
    """
    part, flavors = needs.defaults.part, needs.placement.flavors
    if not part:
        return
    metadata, spec = template.get("metadata") or {}, template.get("spec") or {}
    for key, values in (("labels", needs.defaults.labels), ("annotations", needs.defaults.annotations)):
        yield from (
            (("metadata", key, name), part.at(key, name)) for name in values if name not in metadata.get(key, {})
        )
    keys = [*needs.defaults.fields, *(["topologySpreadConstraints"] if needs.defaults.spread else [])]
    yield from ((("spec", key), part.at(key)) for key in keys if key not in spec)
    if flavors and flavors[0].catalog and needs.placement.runtime_class and "runtimeClassName" not in spec:
        yield ("spec", "runtimeClassName"), flavors[0].catalog.at("runtimeClassName")
    yield from _access_origins(needs)
    secrets = ValueLayer(needs.defaults.fields.get("imagePullSecrets", ()), part.at("imagePullSecrets"))
    lists = [("tolerations", tolerations, _added_tolerations(needs))]
    lists.append(("imagePullSecrets", spec.get("imagePullSecrets") or (), [secrets]))
    for key, own_items, added in lists:
        for i, position in enumerate(merge_items([own_items, *(layer.value for layer in added)]).positions):
            if position.layer:
                yield ("spec", key, i), added[position.layer - 1].origin.at(*position.item)


def _access_origins(needs: PodNeeds) -> Iterator[tuple[Path, Origin]]:
    """Of what the first flavor of the catalog says of access to its devices."""
    flavors, access = needs.placement.flavors, needs.placement.access
    if not flavors or not (catalog := flavors[0].catalog):
        return
    if access.host_network:
        yield from ((("spec", key), catalog.at("hostNetwork")) for key in ("hostNetwork", "dnsPolicy"))
    for i in range(len(access.capabilities)):
        yield ("spec", "containers", 0, "securityContext", "capabilities", "add", i), catalog.at("capabilities", i)
    yield from ((("metadata", "annotations", key), catalog.at("annotations", key)) for key in access.annotations)


def runner_origins(
    needs: PodNeeds, template: Mapping[str, Any], flavor: FlavorOrigins | None, origin: Origin
) -> tuple[dict[str, Origin], dict[Path, Origin]]:
    """The origins of the variables of a hand-written runner, by name; and of its fields, by path in the template.
    `origin`: of the template.
    """
    containers = (template.get("spec") or {}).get("containers") or ()
    index = next((i for i, container in enumerate(containers) if container["name"] == RUNNER), None)
    if index is None or not needs.defaults.part:
        return {}, {}
    runner: Path = ("spec", "containers", index)
    history = merge_entries([needs.defaults.env, containers[index].get("env") or ()]).history
    layers = [needs.defaults.part.at("env"), origin.at(*runner, "env")]
    env = {str(path[0]): origins[-1] for path, origins in layer_origins(history, layers)}
    field_origins: dict[Path, Origin] = {
        (*runner, "env", i): variable_origin for i, variable_origin in enumerate(env.values())
    }
    if flavor:
        names = itertools.product(("limits", "requests"), needs.placement.limits)
        field_origins |= {(*runner, "resources", side, name): flavor.at("limits", name) for side, name in names}
    return env, field_origins


CONTAINER_FIELDS = {
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


def container_body(container: Container) -> dict[str, object]:
    """The container with the API's field names."""
    fields = {key: getattr(container, field) for key, field in CONTAINER_FIELDS.items()}
    body = {key: list(value) if isinstance(value, tuple) else value for key, value in fields.items() if value}
    return {"name": container.name, **body, **container.rest}


def _read_container(config: RenderConfig, container: Mapping[str, Any]) -> Container:
    rest = dict(container)
    fields: dict[str, Any] = {field: rest.pop(key) for key, field in CONTAINER_FIELDS.items() if key in rest}
    for name in ("command", "args", "env", "ports", "mounts"):
        if name in fields:
            fields[name] = tuple(fields[name])
    if "env" in fields:
        fields["env"] = merge_entries([fields["env"]]).entries
    if "image" in fields:
        fields["image"] = images.image_reference(config, fields["image"])
    return Container(name=rest.pop("name"), rest=rest, **fields)


def _complete_runner(needs: PodNeeds, runner: Container, mounts: Sequence[Body]) -> Container:
    """The runner with mounts, credentials and accelerators. A mount of its own wins over one for the same path."""
    mounted_paths = {str(mount["mountPath"]).rstrip("/") for mount in runner.mounts}
    added = [mount for mount in mounts if str(mount["mountPath"]).rstrip("/") not in mounted_paths]
    limits = needs.placement.limits
    sides = runner.resources
    if limits:
        merged = {side: {**map_at(sides, side), **limits} for side in ("limits", "requests")}
        sides = {
            **sides,
            **{
                side: resources.order_resources({name: str(amount) for name, amount in amounts.items()})
                for side, amounts in merged.items()
            },
        }
    return replace(runner, env=add_credentials(needs, runner.env), mounts=(*runner.mounts, *added), resources=sides)
