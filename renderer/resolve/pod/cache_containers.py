"""The containers around a loader that fills a shared folder, and those that wait for one (cache_scripts.py)."""

from __future__ import annotations

from msgspec.structs import replace

from renderer import template
from renderer.plan import Body, Container
from renderer.resolve.pod import cache_scripts
from renderer.resolve.pod.loaders import Loader
from renderer.resolve.weight_sources import MODELS_FOLDER, ModelCache
from renderer.yamlio import SharedMap

_ROOT = "/cache"
_SHELL = ("/bin/sh", "-c")
_PROBE_SECONDS = 5
_WEEK = 7 * 24 * 3600 // _PROBE_SECONDS  # failures until a pod that waits for another's download counts as failed
_RESOURCES = SharedMap({"requests": SharedMap({"cpu": "10m", "memory": "16Mi"})})
_HOLDER: Body = template.share_maps(
    {"name": "HOLDER", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}}
)
# The kubelet makes a folder of the node as root; without capabilities only its owner may write there.
NODE_USER = SharedMap(
    {
        "runAsUser": 0,
        "runAsGroup": 0,
        "allowPrivilegeEscalation": False,
        "capabilities": SharedMap({"drop": ["ALL"]}),
    }
)
WAITING = "cache-wait"  # the container of a pod that waits until a Job has filled a cache


def numbered(name: str, position: int) -> str:
    """The name for the model at that position of the claim; the main model, at 0, has no number."""
    return f"{name}-{position}" if position else name


def fill_containers(
    loader_container: Container, shell: Loader, cache: ModelCache, volume: str, position: int, security: Body
) -> tuple[Container, Container, Container]:
    """The lock, which runs beside the others, the loader on the folder of its weights, and what says that they are
    complete. `shell`: a loader whose image has a shell; `security`: of all three, {} for the loader's own.
    """
    own = {"security_context": security} if security else {}
    loads = ({"name": volume, "mountPath": MODELS_FOLDER, "subPath": cache.folder}, *loader_container.volume_mounts[1:])
    lock = _script("cache-lock", cache_scripts.LOCK, shell, cache, volume, position)
    lock_probe = {"exec": {"command": [*_SHELL, cache_scripts.HELD]}}
    lock = replace(
        lock,
        env=(*lock.env, _HOLDER),
        startup_probe={**lock_probe, "periodSeconds": _PROBE_SECONDS, "timeoutSeconds": 5, "failureThreshold": _WEEK},
        rest={"restartPolicy": "Always"},
        **own,
    )
    complete = _script("cache-complete", cache_scripts.COMPLETE, shell, cache, volume, position)
    return lock, replace(loader_container, volume_mounts=loads, **own), replace(complete, **own)


def waiting_container(shell: Loader, cache: ModelCache, volume: str, position: int) -> Container:
    """The init container that ends when the weights on a claim are complete."""
    container = _script(WAITING, cache_scripts.WAIT, shell, cache, volume, position)
    return replace(container, volume_mounts=({**container.volume_mounts[0], "readOnly": True},))


def _script(name: str, script: str, shell: Loader, cache: ModelCache, volume: str, position: int) -> Container:
    return Container(
        name=numbered(name, position),
        image=shell.image,
        command=_SHELL,
        args=(script,),
        env=({"name": "ROOT", "value": _ROOT}, {"name": "FOLDER", "value": cache.folder}),
        resources=_RESOURCES,
        security_context=shell.security,
        volume_mounts=({"name": volume, "mountPath": _ROOT},),
    )
