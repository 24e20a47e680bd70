"""The pod of a Playground, without its podTemplate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from renderer.plan import Body, Container, Pod
from renderer.resolve import pod_defaults
from renderer.resolve.engine.preparation import Preparation
from renderer.resolve.pod import needs as needs_of_pods
from renderer.resolve.pod.hardening import OPENSHIFT, TIGHT, group_security, security_contexts, with_capabilities
from renderer.resolve.pod.loaders import READ_ONLY_MOUNT, VOLUME, WRITABLE_MOUNT
from renderer.resolve.pod.needs import PodNeeds, Storage
from renderer.resolve.weight_sources import MODELS_FOLDER
from renderer.yamlio import SharedMap

if TYPE_CHECKING:
    from renderer.input_types import SecuritySpec

_HOME = "HOME"
_SHM_MOUNT = SharedMap({"name": "dshm", "mountPath": "/dev/shm"})  # noqa: S108 - where engines look for it


class RunnerParts(Struct, frozen=True):
    """The runner of a Playground, and what its pod has because of it."""

    container: Container  # without mounts and security
    loader_env: Sequence[Body]  # its variables that loaders get too
    shared_memory: str  # '' for none
    grace_seconds: int
    tolerations: Sequence[Body]  # of the accelerator
    security: SecuritySpec  # of the preset or of its variant
    preparation: Preparation
    hosts: int = 1  # pods of a replica


def playground_pod(needs: PodNeeds, parts: RunnerParts) -> Pod:
    """The pod of a Playground."""
    preparation, placement = parts.preparation, needs.placement
    loader_containers = needs_of_pods.loader_containers(needs, parts.loader_env)
    storage = _storage(needs, parts)
    runner, pod_security = _secured(needs, parts, storage)
    runner = replace(runner, volume_mounts=tuple(storage.mounts))
    tolerations = parts.tolerations
    if needs.defaults.tolerations or any(flavor.tolerations for flavor in placement.flavors):
        tolerations = needs_of_pods.tolerations(needs, tolerations)
    disabled = None if needs.hardening == "off" else False  # the token of the service account, links to Services
    labels = needs.labels
    pod = Pod(
        labels={**labels, **needs.defaults.labels} if needs.defaults.labels else labels,
        annotations=_annotations(needs, preparation),
        scheduler_name=needs.scheduler,
        containers=(runner,),
        init_containers=(*loader_containers, *[_preparation_container(step, runner) for step in preparation.steps]),
        volumes=tuple(storage.volumes),
        node_selector=placement.node_selector,
        affinity={"nodeAffinity": placement.node_affinity} if placement.node_affinity else {},
        tolerations=tuple(tolerations),
        termination_grace_period_seconds=parts.grace_seconds,
        security_context=pod_security,
        automount_service_account_token=disabled,
        enable_service_links=disabled,
        rest=_pod_fields(needs, parts.hosts),
    )
    devices = needs_of_pods.device_template(needs)
    return needs_of_pods.with_devices(pod, devices) if devices else pod


def _storage(needs: PodNeeds, parts: RunnerParts) -> Storage:
    """The mounts of the runner, and the volumes of the pod."""
    preparation = parts.preparation
    mounts = [*needs.mounts, *preparation.mounts]
    volumes = [*needs.volumes, *preparation.volumes, *needs_of_pods.loader_volumes(needs)]
    for credentials in needs.skip_credentials:
        volumes += credentials.volumes
        mounts += credentials.mounts
    if ca := needs.defaults.ca:
        volumes.append(ca.volume)
        mounts.append(ca.mount)
    if parts.shared_memory:
        volumes.append(_shared_memory_volume(parts.shared_memory))
        mounts.append(_SHM_MOUNT)
    return Storage(mounts, volumes)


def _secured(needs: PodNeeds, parts: RunnerParts, storage: Storage) -> tuple[Container, Body]:
    """The runner with its security context, and that of the pod; paths that need a volume then are added to the
    storage.
    """
    pod_security: Body = {}
    security = parts.container.security_context
    if needs.hardening != "off":
        pod_security, security, writable = security_contexts(needs.hardening, parts.security)
        for i, path in enumerate(writable):
            storage.volumes.append({"name": f"writable-{i}", "emptyDir": {}})
            storage.mounts.append({"name": f"writable-{i}", "mountPath": path})
    if needs.fs_group is not None:
        pod_security = {**group_security(needs.fs_group), **pod_security}
    if capabilities := needs.placement.access.capabilities:
        security = with_capabilities(security, capabilities)
    runner = replace(parts.container, security_context=security)
    if needs.hardening == OPENSHIFT or (needs.hardening in TIGHT and parts.security.get("anyUser")):
        runner = _with_home(runner, parts.security)
    return runner, pod_security


def _with_home(runner: Container, security: SecuritySpec) -> Container:
    """The runner with the first writable folder for its home, where it says no other."""
    folders = security.get("writable")
    if not folders or any(entry["name"] == _HOME for entry in runner.env):
        return runner
    return replace(runner, env=(*runner.env, SharedMap({"name": _HOME, "value": folders[0]})))


def with_writable_folders(pod: Pod, security: SecuritySpec) -> Pod:
    """The pod with an empty volume for each folder that the engine writes and nothing is mounted at, where a
    podTemplate makes the runner's root file system read-only; and with a home among them where it is not the preset's
    user who runs. `security`: of the preset or of its variant.
    """
    runner = pod.containers[0]
    if runner.security_context.get("readOnlyRootFilesystem") is not True:
        return pod
    mounted = {str(mount.get("mountPath")).rstrip("/") for mount in runner.volume_mounts}
    folders = [folder for folder in security.get("writable", ()) if folder not in mounted]
    volume_names = {volume.get("name") for volume in pod.volumes}
    names = [name for i in range(len(folders) + len(pod.volumes)) if (name := f"writable-{i}") not in volume_names]
    mounts = [{"name": name, "mountPath": folder} for name, folder in zip(names, folders, strict=False)]
    volumes = [{"name": mount["name"], "emptyDir": {}} for mount in mounts]
    if runner.security_context.get("runAsUser", pod.security_context.get("runAsUser")) != security.get("user"):
        runner = _with_home(runner, security)
    runner = replace(runner, volume_mounts=(*runner.volume_mounts, *mounts))
    return replace(pod, containers=(runner, *pod.containers[1:]), volumes=(*pod.volumes, *volumes))


def with_nested_mounts(pod: Pod) -> Pod:
    """The pod whose runner may make folders in the model volume, where a podTemplate mounts another volume below it:
    the container runtime makes the folder of a mount, and cannot in a read-only one.
    """
    runner = pod.containers[0]
    others = [mount for mount in runner.volume_mounts if mount.get("name") != VOLUME]
    below = any(str(mount.get("mountPath")).startswith(MODELS_FOLDER) for mount in others)
    if not below or READ_ONLY_MOUNT not in runner.volume_mounts:
        return pod
    mounts = tuple([WRITABLE_MOUNT if mount == READ_ONLY_MOUNT else mount for mount in runner.volume_mounts])
    return replace(pod, containers=(replace(runner, volume_mounts=mounts), *pod.containers[1:]))


def _annotations(needs: PodNeeds, preparation: Preparation) -> Body:
    annotations = needs.annotations
    for more in (needs.placement.access.annotations, preparation.annotations, needs.defaults.annotations):
        if more:
            annotations = {**annotations, **more}
    return annotations


def _pod_fields(needs: PodNeeds, hosts: int) -> Body:
    """Further fields of a pod spec: RenderConfig's defaults, and what the flavor needs."""
    spread_over = pod_defaults.spread_selector(needs.own_pods, hosts)
    fields = pod_defaults.generated_fields(needs.defaults, spread_over, needs.placement.runtime_class)
    if not needs.placement.access.host_network:
        return fields
    return {"dnsPolicy": "ClusterFirstWithHostNet", **fields, "hostNetwork": True}


def _preparation_container(step: Container, runner: Container) -> Container:
    """The init container of a step, with the runner's environment, mounts and security; with its image by default."""
    security, env, mounts = runner.security_context, runner.env, runner.volume_mounts
    return replace(step, image=step.image or runner.image, env=env, security_context=security, volume_mounts=mounts)


_SHARED_MEMORY_VOLUMES: dict[str, Body] = {}


def _shared_memory_volume(size: str) -> Body:
    if size not in _SHARED_MEMORY_VOLUMES:
        _SHARED_MEMORY_VOLUMES[size] = SharedMap(
            {"name": "dshm", "emptyDir": SharedMap({"medium": "Memory", "sizeLimit": size})}
        )
    return _SHARED_MEMORY_VOLUMES[size]
