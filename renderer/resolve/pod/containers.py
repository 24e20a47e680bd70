"""Which containers of a pod run side by side, and which of them may do what to which volume."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from renderer.diagnostics import Path
from renderer.kubernetes.wellknown import RUNNER
from renderer.plan import Container, Pod


def volume_at(container: Container, path: str) -> str:
    """The name of the volume that a path of the container lies in, '' for none: the one with the longest mount path."""
    mounts = [
        (len(folder), str(mount["name"]))
        for mount in container.volume_mounts
        if (folder := str(mount["mountPath"]).rstrip("/")) == path or path.startswith(f"{folder}/")
    ]
    return max(mounts)[1] if mounts else ""


def written_volumes(pod: Pod, own_names: Collection[str]) -> set[str]:
    """The volumes that containers may write into, other than the runner and those of `own_names`."""
    return {
        str(mount["name"])
        for container in (*pod.init_containers, *pod.containers)
        if container.name not in own_names and container.name != RUNNER
        for mount in container.volume_mounts
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
