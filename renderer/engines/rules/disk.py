"""Whether weights fit where an engine's pod keeps them."""

from __future__ import annotations

import math
import posixpath
from collections.abc import Iterator

from msgspec import Struct

from renderer.diagnostics import Diagnostic, Origin, Path, make_diagnostic, rule
from renderer.engines.running_engine import RunningEngine
from renderer.fit.weights import GIB, ModelWeights, read_weights
from renderer.kubernetes import quantity
from renderer.kubernetes.json_values import as_map, map_at, text_at
from renderer.plan import Body

_DISK = "ephemeral-storage"
_SPARE = 10  # GiB of a disk for logs and caches of compilers


def _may_be_bounded(running: RunningEngine) -> bool:
    """Whether anything bounds what the pod may write."""
    for volume in running.pod.volumes:
        if "emptyDir" not in volume:
            return True
        disk = as_map(volume["emptyDir"])
        if "sizeLimit" in disk and disk.get("medium") != "Memory":
            return True
    return _DISK in as_map(running.container.resources.get("limits"))


@rule(of=RunningEngine, when=_may_be_bounded)
def too_little_disk(running: RunningEngine) -> Iterator[Diagnostic]:
    """An error for weights above what the pod may write on its node, where the kubelet evicts it
    (pkg/kubelet/eviction/eviction_manager.go); a warning for a claim that requests less. What follows from the number
    of parameters is never above the size of the files (docs/fit.md).
    """
    bounds = list(_bounds(running, folder)) if (folder := running.weights_folder()) else []
    weights = read_weights(running.facts()) if bounds else None
    if weights is None:
        return
    for bound in bounds:
        if origin := running.origin_of(bound.path) or running.line.shared.where():
            yield from too_little_room(bound.code, origin, weights, folder, bound.what, bound.amount)


def too_little_room(
    code: str, origin: Origin, weights: ModelWeights, folder: str, what: str, amount: str
) -> Iterator[Diagnostic]:
    """The finding where an amount of room in a folder is less than the weights take. `what`: in words, what says it."""
    if in_gib(amount) < weights.gib:
        words = {
            "size": f"{weights.gib:.1f}" if weights.is_measured else f"about {weights.gib:.0f}",
            "folder": folder,
            "what": what,
            "amount": amount,
            "least": f"{math.ceil(weights.gib) + _SPARE}Gi",
        }
        yield make_diagnostic(code, origin, **words)


def _has_claims(running: RunningEngine) -> bool:
    return any("persistentVolumeClaim" in volume or "ephemeral" in volume for volume in running.pod.volumes)


@rule(of=RunningEngine, when=_has_claims)
def claim_beside(running: RunningEngine) -> Iterator[Diagnostic]:
    """A note where weights are written to the container's own file system though a claim is mounted, of which nothing
    in the container speaks.
    """
    mounts = [mount for mount in running.container.volume_mounts if _is_claimed(running, mount)]
    folder = running.weights_folder() if mounts else ""
    if not folder or mount_of(running, folder):
        return
    variables = [text_at(variable, "value") for variable in running.container.env]
    words = [*running.line.args, *running.container.command, *running.container.args, *variables]
    for mount in mounts:
        path = posixpath.normpath(text_at(mount, "mountPath"))
        if not any(path in word for word in words) and (origin := running.origin_of(running.path)):
            yield make_diagnostic("N490", origin, name=running.line.subject.name, folder=folder, path=path)
            return


def _is_claimed(running: RunningEngine, mount: Body) -> bool:
    """Whether a mount is of a claim that the container may write."""
    volume = volume_of(running, mount)
    is_claim = "persistentVolumeClaim" in volume or "ephemeral" in volume
    return is_claim and not _is_read_only(volume) and not mount.get("readOnly") and not mount.get("subPath")


def _is_read_only(volume: Body) -> bool:
    """Whether no container of the pod writes a volume."""
    return bool(map_at(volume, "persistentVolumeClaim").get("readOnly"))


class _Bound(Struct, frozen=True):
    """What bounds a folder."""

    code: str  # of weights that are above it
    what: str  # in words
    amount: str
    path: Path  # where it is said


def _bounds(running: RunningEngine, folder: str) -> Iterator[_Bound]:
    """What bounds the folder of the weights."""
    mount = mount_of(running, folder)
    volumes = [i for i, volume in enumerate(running.pod.volumes) if mount and volume.get("name") == mount.get("name")]
    volume: Body = running.pod.volumes[volumes[0]] if volumes else {}
    disk = map_at(volume, "emptyDir")
    if _is_read_only(volume):
        return
    if mount and "emptyDir" not in volume:
        name = text_at(volume, "persistentVolumeClaim", "claimName") or text_at(mount, "name")
        inline = ("ephemeral", "volumeClaimTemplate", "spec", "resources", "requests", "storage")
        if amount := text_at(volume, *inline):
            yield _Bound("W486", "its claim", amount, ("spec", "volumes", volumes[0], *inline))
        elif amount := running.claim_size(name):
            yield _Bound("W486", f"the claim '{name}'", amount, running.path)
        return
    if disk.get("medium") == "Memory":
        return
    if amount := text_at(disk, "sizeLimit"):
        path = ("spec", "volumes", volumes[0], "emptyDir", "sizeLimit")
        yield _Bound("E486", "sizeLimit of its volume", amount, path)
    if amount := text_at(running.container.resources, "limits", _DISK):
        sidecars = [other for other in running.pod.init_containers if other.rest.get("restartPolicy") == "Always"]
        limits = [text_at(other.resources, "limits", _DISK) for other in (*running.pod.containers, *sidecars)]
        if len(list(filter(None, limits))) == 1:  # the kubelet adds up those of all containers that stay
            yield _Bound("E486", f"limits.{_DISK}", amount, (*running.path, "resources", "limits", _DISK))


def mount_of(running: RunningEngine, folder: str) -> Body | None:
    """The mount that holds a folder of the container; None for its own file system."""
    fitting = [mount for mount in running.container.volume_mounts if _holds(text_at(mount, "mountPath"), folder)]
    return max(fitting, key=lambda mount: len(text_at(mount, "mountPath")), default=None)


def volume_of(running: RunningEngine, mount: Body) -> Body:
    """The volume that is mounted; empty where the pod has none of that name."""
    volumes = (volume for volume in running.pod.volumes if volume.get("name") == mount.get("name"))
    return next(volumes, {})


def _holds(path: str, folder: str) -> bool:
    outer, inner = posixpath.normpath(path), posixpath.normpath(folder)
    return bool(path) and (inner == outer or inner.startswith(f"{outer.rstrip('/')}/"))


def in_gib(amount: str) -> float:
    """A quantity in GiB; endless for what is none."""
    try:
        return quantity.nanos(amount) / 10**9 / GIB
    except ValueError:
        return math.inf
