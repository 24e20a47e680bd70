"""What every pod with the claimed models needs, generated or hand-written: loaders, mounts, volumes, credentials."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict, replace

from renderer import yamlio
from renderer.api import RenderConfig
from renderer.fit.weights import ModelWeights
from renderer.kubernetes.json_values import as_map, map_at, maps_at, text_at
from renderer.kubernetes.wellknown import RUNNER
from renderer.plan import Body, Container, DeviceTemplate, Pod
from renderer.resolve import model_cache
from renderer.resolve.flavors import Placement
from renderer.resolve.kube import images
from renderer.resolve.layers import ValueLayer, merge_items
from renderer.resolve.pod import cache_containers, loaders
from renderer.resolve.pod.hardening import OPENSHIFT, harden
from renderer.resolve.pod.loaders import READ_ONLY_MOUNT, VOLUME, Credentials, Loader
from renderer.resolve.pod_defaults import PodDefaults
from renderer.resolve.weight_sources import MODELS_FOLDER, PULLED, ModelCache, Weights
from renderer.yamlio import SharedMap

_NODE_CACHE = "model-cache"  # the volume
_CLAIM_TEMPLATES = "volumeClaimTemplates"
_DEVICES = "accelerators"  # the claim for devices, in a pod
_SPARE_GIB = 10  # beside weights, in the volume that loaders fill


ModelVolume: TypeAlias = Literal["", "volume", "claims"]
"""What somebody makes the volume that loaders fill, '' for nothing: another volume, or a claim of each pod."""
_CLAIMED = ("persistentVolumeClaim", "ephemeral", "csi")  # volumes that belong to root at first, and may to a group


def own_model_volume(spec: Mapping[str, Any]) -> ModelVolume:
    """What the spec of an app makes the volume that loaders fill, where that is storage of the cluster."""
    if "podTemplate" not in spec and "workload" not in spec and "workloadTemplate" not in spec:
        return ""  # as most
    claims = (*maps_at(spec, "workload", _CLAIM_TEMPLATES), *maps_at(spec, "workloadTemplate", _CLAIM_TEMPLATES))
    if any(text_at(claim, "metadata", "name") == VOLUME for claim in claims):
        return "claims"
    for template in (map_at(spec, "podTemplate"), *map(as_map, map_at(spec, "workloadTemplate").values())):
        if "fsGroup" in map_at(template, "spec", "securityContext"):
            continue  # whoever says it knows whose the volumes are
        for volume in maps_at(template, "spec", "volumes"):
            source = next((map_at(volume, key) for key in _CLAIMED if key in volume), None)
            if volume.get("name") == VOLUME and source is not None and not source.get("readOnly"):
                return "volume"
    return ""


class PodSettings(Struct, frozen=True):
    """What the app and RenderConfig say of every pod."""

    app: str  # the name
    own_pods: Body  # the labels that select the pods of the workload
    defaults: PodDefaults
    labels: Body
    annotations: Body
    placement: Placement
    scheduler: str
    hardening: str
    model_volume: ModelVolume


class ModelLoad(NamedTuple):
    """A model that a loader brings into the pod."""

    position: int  # in the claim
    weights: Weights
    loader: Loader


class PodNeeds(PodSettings, frozen=True):
    """What every pod with the claimed models needs."""

    loads: tuple[ModelLoad, ...]  # of the models that have a loader
    mounts: tuple[Body, ...]  # for the weights
    volumes: tuple[Body, ...]  # for the weights
    skip_credentials: tuple[Credentials, ...]  # of the runner, where the loaders are skipped
    claim_templates: tuple[Body, ...] = ()  # of the workload
    fs_group: int | None = None  # that its volumes belong to, where the namespace does not say one
    stored: float = 0  # GiB of weights that land in a volume on the node's disk, as far as anybody knows
    shell: Loader | None = None  # whose image runs the scripts of caches, where there are any
    waits: tuple[Container, ...] = ()  # init containers that wait for weights on claims


class WeightAccess(Struct, frozen=True):
    """The weights of the claimed models, and how they come into a pod."""

    weights: Sequence[Weights]
    loaders: Sequence[Loader | None]  # one for each model
    skip_loaders: bool
    sizes: Sequence[ModelWeights | None]  # of each model, None where nobody knows
    shell: Loader | None = None  # whose image runs the scripts of caches

    def loads(self) -> tuple[ModelLoad, ...]:
        """The models that a loader of the pod brings."""
        model_loaders = () if self.skip_loaders else self.loaders
        return tuple([ModelLoad(i, self.weights[i], loader) for i, loader in enumerate(model_loaders) if loader])


class Storage(Struct):
    """Mounts and volumes of a pod, as they come together."""

    mounts: list[Body]
    volumes: list[Body]


def pod_needs(config: RenderConfig, settings: PodSettings, access: WeightAccess) -> PodNeeds:
    """The needs that follow from the models' weights and flavors."""
    weights, loads, storage = access.weights, access.loads(), Storage([], [])
    landing = [load for load in loads if not _is_on_node(load.weights)]
    in_volume = [load.weights for load in landing]
    per_pod: list[ModelCache] = []
    pulled = [i for i, model_weights in enumerate(weights) if model_weights.kind == PULLED and not access.skip_loaders]
    stored = 0.0
    if in_volume or (pulled and not _has_own_mounts(weights)):
        caches = [model_weights.cache for model_weights in in_volume if model_weights.cache]
        per_pod = [cache for cache in caches if cache.kind == model_cache.PER_POD]
        storage.mounts += _model_volume_mounts(weights, in_volume)
        if not per_pod and settings.model_volume != "claims":
            sizes = [access.sizes[i] for i in (*(load.position for load in landing), *pulled)]
            stored = sum(size.gib for size in sizes if size)
            is_exact = all(size and size.is_measured for size in sizes)
            storage.volumes.append(_model_volume(stored if is_exact else 0))
    for load in loads if len(in_volume) < len(loads) else ():
        _add_node_cache(storage, load)
    _add_sources(storage, config, weights)
    return PodNeeds(
        **asdict(settings),
        loads=loads,
        mounts=tuple(storage.mounts),
        volumes=tuple(storage.volumes),
        skip_credentials=tuple(_skip_credentials(access)),
        claim_templates=(model_cache.claim_template(VOLUME, per_pod),) if per_pod else (),
        fs_group=_volume_group(settings, loads, is_claimed=bool(per_pod or (in_volume and settings.model_volume))),
        stored=stored,
        shell=access.shell,
        waits=tuple(_waiting_containers(weights, access.shell, settings.hardening)) if access.shell else (),
    )


def _volume_group(settings: PodSettings, loads: Sequence[ModelLoad], *, is_claimed: bool) -> int | None:
    """The group of a claim that loaders fill, None where the namespace says one."""
    return loaders.group(loads[0].loader) if is_claimed and settings.hardening != OPENSHIFT else None


@lru_cache(maxsize=1024)
def _model_volume(stored: float) -> Body:
    """The volume that loaders fill; without a limit for 0 GiB. Its limit holds a repository with its weights in two
    formats: behind it the kubelet ends the pod.
    """
    limit: dict[str, object] = {"sizeLimit": f"{math.ceil(2 * stored) + _SPARE_GIB}Gi"} if stored else {}
    return SharedMap({"name": VOLUME, "emptyDir": SharedMap(limit)})


def disk_request(needs: PodNeeds) -> str:
    """What the scheduler has to find free on a node's disk for the weights that are known, and a tenth; '' where none
    are.
    """
    return f"{math.ceil(1.1 * needs.stored)}Gi" if needs.stored else ""


def _model_volume_mounts(weights: Sequence[Weights], in_volume: Sequence[Weights]) -> list[Body]:
    """The mounts of the volume that loaders fill: of the whole, or of each model beside a cache or an image."""
    # Another mount cannot lie in a read-only one: then each loaded model is mounted at its own path.
    paths = [model_weights.root for model_weights in in_volume] if _has_own_mounts(weights) else ()
    return [_loaded_mount(path) for path in paths] or [READ_ONLY_MOUNT]


def _has_own_mounts(weights: Sequence[Weights]) -> bool:
    """Whether some weights lie on a claim, in an image or in a folder of the node, below the loaders' volume."""
    return any(
        model_weights.claim or model_weights.kind == "oci" or _is_on_node(model_weights) for model_weights in weights
    )


def _add_node_cache(storage: Storage, load: ModelLoad) -> None:
    """Adds the folder of the node that keeps a model's weights, where one does."""
    cache = load.weights.cache
    if cache and _is_on_node(load.weights):
        name = cache_containers.numbered(_NODE_CACHE, load.position)
        storage.volumes.append({"name": name, "hostPath": {"path": cache.path, "type": "DirectoryOrCreate"}})
        mount = _loaded_mount(load.weights.root)
        storage.mounts.append({**mount, "name": name, "subPath": f"{cache.folder}/{mount['subPath']}"})


def _add_sources(storage: Storage, config: RenderConfig, weights: Sequence[Weights]) -> None:
    """Adds claims, folders of the node and images that hold weights."""
    host_paths: set[str] = set()
    for i, model_weights in enumerate(weights):
        if model_weights.claim:
            storage.volumes += _claim_volume(weights[:i], i, model_weights)
            mount = _claim_mount(weights, model_weights)
            storage.mounts += [mount] if mount not in storage.mounts else []  # models in one cache share it
        if model_weights.kind not in ("host", "oci"):
            continue
        name = source_volume_name(i, model_weights)
        source_mount = {"name": name, "mountPath": model_weights.host_path, "readOnly": True}
        if model_weights.kind == "host" and model_weights.host_path not in host_paths:
            host_paths.add(model_weights.host_path)
            path_type = "File" if model_weights.one_file and not model_weights.files else "Directory"
            storage.volumes.append({"name": name, "hostPath": {"path": model_weights.host_path, "type": path_type}})
            storage.mounts.append(source_mount)
        if model_weights.kind == "oci":
            image = images.image_reference(config, model_weights.image)
            storage.volumes.append({"name": name, "image": {"reference": image, "pullPolicy": "IfNotPresent"}})
            storage.mounts.append(source_mount)


def _skip_credentials(access: WeightAccess) -> Iterator[Credentials]:
    """What the runner needs to load weights itself."""
    for model_weights, loader in zip(access.weights, access.loaders, strict=True) if access.skip_loaders else ():
        if loader:
            yield loaders.credentials(loader, model_weights)
    for model_weights in access.weights:
        if model_weights.cache_env:
            yield Credentials(env=model_weights.cache_env)


def _is_on_node(weights: Weights) -> bool:
    return weights.cache is not None and weights.cache.kind == model_cache.HOST_PATH and weights.loader is not None


def _waiting_containers(weights: Sequence[Weights], shell: Loader, level: str) -> Iterator[Container]:
    """One for each model on a claim that a Job fills."""
    for i, model_weights in enumerate(weights):
        if model_weights.cache and model_weights.claim:
            first = next(k for k, other in enumerate(weights) if other.claim == model_weights.claim)
            volume = source_volume_name(first, weights[first])
            yield harden(cache_containers.waiting_container(shell, model_weights.cache, volume, i), level)


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
    volumes = tuple(volume for volume in needs.volumes if volume["name"] != VOLUME)
    return replace(needs, mounts=mounts, volumes=volumes, stored=0)


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
    name = f"{needs.app}-{hashlib.sha256(yamlio.dump(request).encode()).hexdigest()[:8]}"
    return DeviceTemplate(name, request, claim.origin)


def with_devices(pod: Pod, devices: DeviceTemplate) -> Pod:
    """The pod with a claim of its own, by this template, for its runner."""
    claim = {"name": _DEVICES, "resourceClaimTemplateName": devices.name}
    containers = [
        replace(container, resources={**container.resources, "claims": [{"name": _DEVICES}]})
        if container.name == RUNNER
        else container
        for container in pod.containers
    ]
    return replace(pod, containers=tuple(containers), rest={**pod.rest, "resourceClaims": [claim]})


def loader_containers(needs: PodNeeds, env: Sequence[Body]) -> tuple[Container, ...]:
    """The init containers that bring weights. `env`: of the runner."""
    containers = [*needs.waits]
    for position, model_weights, loader in needs.loads:
        credentials = loaders.credentials(loader, model_weights)
        container = loaders.loader_container(loader, position, model_weights, env, credentials, needs.hardening)
        if needs.defaults.ca:
            container = replace(container, volume_mounts=(*container.volume_mounts, needs.defaults.ca.mount))
        if needs.shell and model_weights.cache and _is_on_node(model_weights):
            volume = cache_containers.numbered(_NODE_CACHE, position)
            containers += cache_containers.fill_containers(
                container, needs.shell, model_weights.cache, volume, position, cache_containers.NODE_USER
            )
        else:
            containers.append(container)
    return tuple(containers)


def loader_volumes(needs: PodNeeds) -> list[Body]:
    """The volumes of the loaders' credentials."""
    volumes: list[Body] = []
    for load in needs.loads:
        credentials = loaders.credentials(load.loader, load.weights)
        volumes += [volume for volume in credentials.volumes if volume not in volumes]
    return volumes


def added_volumes(needs: PodNeeds) -> Iterator[Body]:
    """The volumes that the models need: of their weights, and of credentials for loaders or the runner."""
    yield from needs.volumes
    yield from loader_volumes(needs)
    for credentials in needs.skip_credentials:
        yield from credentials.volumes
    if needs.defaults.ca:
        yield needs.defaults.ca.volume


def tolerations(needs: PodNeeds, pod_tolerations: Sequence[Body]) -> tuple[Body, ...]:
    """The tolerations of a pod and those that are added, without duplicates."""
    return merge_items([pod_tolerations, *(layer.value for layer in added_tolerations(needs))]).items


def added_tolerations(needs: PodNeeds) -> list[ValueLayer]:
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
