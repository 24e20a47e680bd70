"""The pod that a Playground's podTemplate has to give: that of the workload, without what the Playground says
elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from msgspec import Struct

from renderer.adopt.server_defaults import without_defaults
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import as_text, list_at, map_at, maps_at, number_at, text_at
from renderer.kubernetes.server_defaults import constants
from renderer.kubernetes.wellknown import RUNNER
from renderer.kubernetes.workloads import containers, is_rendered

Body = Mapping[str, Any]
SHARED_MEMORY = "/dev/shm"  # noqa: S108
PROBES = ("startupProbe", "readinessProbe", "livenessProbe")
COMMAND_FIELDS = (*PROBES, "lifecycle")
"""The fields of a container whose commands may ask a port."""
_SAID_ELSEWHERE = ("name", "command", "args", "env", "resources", "ports", "volumeMounts")
_HARDENING = {"allowPrivilegeEscalation": False}
_RESERVED_LABELS = ("app.kubernetes.io/", "llmaz.io/", "leaderworkerset.sigs.k8s.io/", wellknown.OWN_PREFIX)
_WRITTEN_LABELS = ("pod-template-hash", "controller-revision-hash")
_WRITTEN_ANNOTATIONS = ("kubectl.kubernetes.io/", "deployment.kubernetes.io/")


class EnginePort(Struct, frozen=True):
    """The port of an engine in its pod, and the one that a Playground has."""

    number: int | None  # None where nobody says it
    names: frozenset[str]  # of it in the container
    ours: str = wellknown.RANK_PORTS[0]
    ours_number: int | None = wellknown.PORT  # what the Playground's engine listens on

    def renamed(self, port: object) -> object:
        """A reference to a port, as the Playground's pod has it."""
        return self.ours if str(port) == str(self.number) or as_text(port) in self.names else port


def engine_port(container: Body, number: int | None) -> EnginePort:
    """The port of an engine that listens on this number; where it says none, the only one that its container has."""
    ports = maps_at(container, "ports")
    if number is None and len(ports) == 1:
        number = int(number_at(ports[0], "containerPort")) or None
    names = {text_at(port, "name") for port in ports if port.get("containerPort") == number} - {""}
    return EnginePort(number, frozenset(names))


def original_pod(
    template: Body, container: Body, port: EnginePort, consumed: Set[str], *, live: bool
) -> dict[str, Any]:
    """The pod's metadata and spec with the engine's container as `model-runner`. `consumed`: the mount paths of the
    engine that the Playground says elsewhere; `live`: a server has filled in its defaults.
    """
    spec: dict[str, Any] = {key: value for key, value in map_at(template, "spec").items() if key != "nodeSelector"}
    if live:
        spec = without_defaults(spec)
        container = next(body for body in maps_at(spec, "containers") if body.get("name") == container.get("name"))
    mounts = [
        mount for mount in maps_at(container, "volumeMounts") if text_at(mount, "mountPath").rstrip("/") not in consumed
    ]
    runner: dict[str, Any] = {"name": RUNNER}
    runner |= {key: _with_port(key, value, port) for key, value in container.items() if key not in _SAID_ELSEWHERE}
    if mounts:
        runner["volumeMounts"] = mounts
    if claims := list_at(container, "resources", "claims"):
        runner["resources"] = {"claims": claims}
    others = [body for body in maps_at(spec, "containers") if body.get("name") != container.get("name")]
    spec["containers"] = [runner, *others]
    used = {name for _, body in containers(spec) for name in _mounted(body)}
    before = {name for _, body in containers(map_at(template, "spec")) for name in _mounted(body)}
    # What no container mounted before may be for one that a webhook adds.
    if volumes := [volume for volume in maps_at(spec, "volumes") if _stays(text_at(volume, "name"), used, before)]:
        spec["volumes"] = volumes
    else:
        spec.pop("volumes", None)
    for key in ("restartPolicy", "schedulerName"):
        if spec.get(key) == constants("core.PodSpec")[key]:
            del spec[key]
    return {**kept_metadata(template), "spec": spec}


def _stays(volume: str, used: Set[str], before: Set[str]) -> bool:
    return volume in used or volume not in before


def kept_metadata(template: Body) -> dict[str, Any]:
    """The metadata of a pod without labels and annotations that llmaz, or a controller, writes."""
    metadata = {
        "labels": dict(_kept_labels(template)),
        "annotations": {
            key: value for key, value in map_at(template, "metadata", "annotations").items() if not is_reserved(key)
        },
    }
    metadata = {key: value for key, value in metadata.items() if value}
    return {"metadata": metadata} if metadata else {}


def own_containers(pod: Body, template: Body, rendered: Body) -> dict[str, Any]:
    """The pod without what llmaz adds to every one that it renders: loaders and the like, and the hardening of
    containers of others. `template`: the pod as it was read; `rendered`: what a draft of it renders to.
    """
    if not is_rendered(template):
        return dict(pod)
    spec = dict(map_at(pod, "spec"))
    own_names = {text_at(body, "name") for body in maps_at(rendered, "spec", "initContainers")}
    for group in ("containers", "initContainers"):
        bodies = [body for body in maps_at(spec, group) if text_at(body, "name") not in own_names]
        spec[group] = [body if text_at(body, "name") == RUNNER else _without_hardening(body) for body in bodies]
    if not spec["initContainers"]:
        del spec["initContainers"]
    return {**pod, "spec": spec}


def _without_hardening(container: Body) -> Body:
    if container.get("securityContext") == _HARDENING:
        return {key: value for key, value in container.items() if key != "securityContext"}
    return container


def lost_labels(template: Body) -> Sequence[str]:
    """The labels that are lost: only a renderer may set them, and the workload has them from somebody else."""
    labels = map_at(template, "metadata", "labels")
    if is_rendered(template):
        return []
    return [key for key in labels if key.startswith(_RESERVED_LABELS) and key not in _WRITTEN_LABELS]


def shared_memory_mount(template: Body, container: Body) -> tuple[str, str]:
    """The mount path of a volume in memory at /dev/shm and its size, '' where it has none; ('', '') without one."""
    for mount in maps_at(container, "volumeMounts"):
        if text_at(mount, "mountPath").rstrip("/") == SHARED_MEMORY:
            volumes = maps_at(template, "spec", "volumes")
            volume = next((volume for volume in volumes if volume.get("name") == mount.get("name")), {})
            if text_at(volume, "emptyDir", "medium") == "Memory":
                return SHARED_MEMORY, str(map_at(volume, "emptyDir").get("sizeLimit", ""))
    return "", ""


def is_reserved(key: str) -> bool:
    """Whether only llmaz or a controller sets labels and annotations of this key."""
    return key.startswith((*_RESERVED_LABELS, *_WRITTEN_ANNOTATIONS)) or key in _WRITTEN_LABELS


def _kept_labels(template: Body) -> Iterator[tuple[str, Any]]:
    for key, value in map_at(template, "metadata", "labels").items():
        if not is_reserved(key):
            yield key, value


def _mounted(container: Body) -> Iterator[str]:
    for field in ("volumeMounts", "volumeDevices"):
        for mount in maps_at(container, field):
            yield text_at(mount, "name")


def _with_port(key: str, value: Any, port: EnginePort) -> Any:
    """A field of the engine's container, whose probes and hooks ask the port by its name."""
    if key not in COMMAND_FIELDS or not isinstance(value, dict):
        return value
    return _renamed_ports(value, port)


def _renamed_ports(value: Any, port: EnginePort) -> Any:
    if isinstance(value, list):
        return [_renamed_ports(item, port) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: port.renamed(item) if key == "port" else _renamed_ports(item, port) for key, item in value.items()}
