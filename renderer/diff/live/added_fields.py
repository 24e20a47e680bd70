"""What ours adds: fields and options that theirs does not have, each with the rule that fits it."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, Final

from renderer.diff.live.compared import PodPair
from renderer.diff.live.finding import Finding
from renderer.engines.handwritten_command import table_entry
from renderer.kubernetes import quantity, wellknown
from renderer.kubernetes.json_values import map_at, maps_at, text_at, value_at
from renderer.kubernetes.wellknown import RUNNER
from renderer.resolve.weight_sources import CACHE_ENV

_LABELS: Final = (wellknown.NAME, wellknown.COMPONENT, wellknown.PART_OF, wellknown.MANAGED_BY)
_PROBES: Final = ("startupProbe", "readinessProbe", "livenessProbe")
_SHARED_MEMORY: Final = "/dev/shm"  # noqa: S108  a mount of a container
_GRACE: Final = "terminationGracePeriodSeconds"
_HARDENED: Final[Mapping[str, tuple[object, ...]]] = {
    "automountServiceAccountToken": (False,),
    "enableServiceLinks": (False,),
    "allowPrivilegeEscalation": (False,),
    "privileged": (False,),
    "type": ("RuntimeDefault",),
}
_LOADER_HARDENED: Final = ("runAsNonRoot", "runAsUser", "runAsGroup", "readOnlyRootFilesystem", "drop", "fsGroup")
_SET_FIELDS: Final = (
    *("startupPolicy", "rolloutStrategy", "networkConfig", "groupIdentity", "groupReplacementPolicy"),
    "leaderWorkerTemplate",
)
_CONFIG_HASH: Final = "llmaz.io/config-hash"


def has_labels(finding: Finding) -> bool:
    """A label or annotation by which an object or pod says what llmaz runs."""
    path = finding.path
    if path[:1] == ("metadata",) and finding.added and len(path) == 3:
        own = path[2] in _LABELS or path[2] == wellknown.WORKLOAD
        return own if path[1] == "labels" else path[2].startswith(wellknown.OWN_PREFIX)
    return False


def has_model_labels(finding: Finding) -> bool:
    """A label with the model, its family or the flavors."""
    names = (wellknown.MODEL_NAME, wellknown.MODEL_FAMILY, wellknown.FLAVORS)
    return finding.added and finding.path[:1] == ("metadata",) and finding.path[-1] in names


def is_hardened(finding: Finding) -> bool:
    """A field of what `hardening` writes into pods and loaders."""
    if not finding.added or not finding.pods:
        return False
    last = finding.path[-1]
    if finding.of_loader and finding.field[:1] == ("env",):
        return finding.field[1] == "[HOME]" and _has_container(finding.pods.theirs.loaders, finding.container)
    if last == "type" and "seccompProfile" not in finding.path:
        return False
    if last in _LOADER_HARDENED:
        return finding.of_loader or last == "fsGroup"
    return last in _HARDENED and finding.value in _HARDENED[last]


def _has_container(containers: list[Mapping[str, Any]], name: str) -> bool:
    return any(container.get("name") == name for container in containers)


def loads_weights(finding: Finding) -> bool:
    """Of a loader that theirs has not, its container, and the volume that it fills."""
    pods = finding.pods
    if not pods or not finding.added:
        return False
    if finding.of_loader:
        return finding.container in pods.new_loaders
    return _of_volume(finding, pods.new_loader_volumes)


def _of_volume(finding: Finding, names: Set[str]) -> bool:
    """Whether a field is of one of these volumes of ours, or of where the engine mounts it."""
    if finding.path[:2] == ("spec", "volumes"):
        return finding.path[2][1:-1] in names
    if not finding.pods or finding.container != RUNNER or finding.field[:1] != ("volumeMounts",):
        return False
    return text_at(finding.pods.ours.mounts(RUNNER).get(finding.field[1][1:-1]), "name") in names - {""}


def shares_memory(finding: Finding) -> bool:
    """The volume of shared memory, or where the engine mounts it."""
    if not finding.pods or not finding.added:
        return False
    mount = finding.pods.ours.mounts(RUNNER).get(_SHARED_MEMORY, {})
    return _of_volume(finding, {text_at(mount, "name")})


def is_new_probe(finding: Finding) -> bool:
    """A field of a probe that the engine's container of theirs does not have."""
    kind, pods = finding.field[0], finding.pods
    if not finding.added or kind not in _PROBES or not finding.commands or not pods:
        return False
    return kind not in pods.theirs.container(pods.commands[finding.container])


def is_preset_probe(finding: Finding) -> bool:
    """What a probe of theirs leaves to the server, and the preset says."""
    if not finding.is_filled_in or not finding.field or finding.field[0] not in _PROBES or not finding.commands:
        return False
    return bool(value_at(finding.commands[1].recognised.engine.runtime.spec, *finding.field) == finding.value)


def drains(finding: Finding) -> bool:
    """A longer time to end, or the hook before the end."""
    pods = finding.pods
    if not pods:
        return False
    if finding.path == ("spec", _GRACE):
        old, new = (leaf.value if leaf else None for leaf in (finding.theirs, finding.ours))
        if isinstance(old, int) and isinstance(new, int) and new > old and _has_more_options(pods):
            return True
        return finding.is_filled_in and "preStop" in map_at(pods.ours.container(RUNNER), "lifecycle")
    if not finding.added:
        return False
    if finding.field[:2] != ("lifecycle", "preStop") or not finding.commands:
        return False
    return not value_at(pods.theirs.container(pods.commands[finding.container]), "lifecycle", "preStop")


def _has_more_options(pods: PodPair) -> bool:
    """Whether the engine of ours has options that theirs has not, such as one for the time of a drain."""
    return any(
        {*pods.ours.engines[name].options} - {*pods.theirs.engines[old].options} for name, old in pods.commands.items()
    )


def is_preset_option(finding: Finding) -> bool:
    """An option that the preset writes, but for those of port, model and parallel sizes."""
    if not finding.added or not finding.option or not finding.commands:
        return False
    _, ours = finding.commands
    spec = ours.recognised.engine.runtime.spec
    configs, derived = spec.get("recommendedConfigs") or (), (spec.get("engine") or {}).get("derived") or ()
    written = {ours.style.name(arg) for entry in (*configs, *derived) for arg in entry.get("args") or ()}
    return finding.option in written - {*ours.port_options, ours.model_option} - ours.parallel_options


def is_loaded(finding: Finding) -> bool:
    """Whether the value of an option names files that a loader of ours brings."""
    if not finding.added or not finding.option or not finding.pods or finding.pods.theirs.loaders:
        return False
    value = str(finding.value)
    return finding.pods.ours.weights(value) != value


def is_preset_variable(finding: Finding) -> bool:
    """A variable that the preset sets."""
    if not finding.added or finding.field[:1] != ("env",) or not finding.commands:
        return False
    spec = finding.commands[1].recognised.engine.runtime.spec
    derived = maps_at(spec, "engine", "derived")
    entries = [*maps_at(spec, "envs"), *(entry for part in derived for entry in maps_at(part, "envs"))]
    return finding.field[1][1:-1] in {text_at(entry, "name") for entry in entries}


def prepares(finding: Finding) -> bool:
    """Of the steps, volumes and files that the preset adds to its pods."""
    pods = finding.pods
    if not pods or not finding.added or not pods.ours.engine:
        return False
    if finding.path == ("metadata", "annotations", _CONFIG_HASH):
        return True
    engine_spec = map_at(pods.ours.engines[pods.ours.engine].recognised.engine.runtime.spec, "engine")
    steps, volumes = (
        {text_at(entry, "name") for entry in maps_at(engine_spec, key)} for key in ("initContainers", "volumes")
    )
    if finding.path[:2] == ("spec", "initContainers"):
        return finding.path[2][1:-1] in steps
    return _of_volume(finding, volumes | pods.ours.volumes_of_map(finding.pair.ours.key.name + wellknown.CONFIG_MAP))


def names_engine(finding: Finding) -> bool:
    """A label by which the picker of a pool knows the engine."""
    pods = finding.pods
    if not pods or not finding.added or finding.path[:2] != ("metadata", "labels"):
        return False
    return finding.value in {command.backend for command in pods.ours.engines.values()}


def loads_from_cache(finding: Finding) -> bool:
    """A variable by which an engine opens what a hub's cache holds."""
    if not finding.added or not finding.commands or finding.field[:1] != ("env",):
        return False
    return {"name": finding.field[1][1:-1], "value": finding.value} in CACHE_ENV


def is_preset_request(finding: Finding) -> bool:
    """An amount that a configuration of the preset requests."""
    if not finding.added or finding.field[:2] != ("resources", "requests") or not finding.commands:
        return False
    configs = finding.commands[1].recognised.engine.runtime.spec.get("recommendedConfigs") or ()
    amounts = [value_at(config, *finding.field) for config in configs]
    return finding.value in [quantity.canonical(amount) for amount in amounts if amount is not None]


def is_tolerated(finding: Finding) -> bool:
    """A toleration."""
    return finding.added and finding.path[:2] == ("spec", "tolerations") and bool(finding.pods)


def chooses_nodes(finding: Finding) -> bool:
    """A label of nodes that the flavor asks for."""
    if not finding.added or not finding.pods:
        return False
    return finding.path[:2] == ("spec", "nodeSelector") or finding.path[:3] == ("spec", "affinity", "nodeAffinity")


def rolls_out(finding: Finding) -> bool:
    """One pod goes before another starts, and has the time that its weights need."""
    if not finding.is_filled_in or finding.key[:1] != ("spec",):
        return False
    if finding.key[1] == "progressDeadlineSeconds":
        return True
    return finding.key[1] == "strategy" and (finding.key[-1], finding.value) in (("maxUnavailable", 1), ("maxSurge", 0))


def is_of_the_kind(finding: Finding) -> bool:
    """A field that only a LeaderWorkerSet has."""
    return finding.added and finding.pair.other_kind and finding.key[0] == "spec" and finding.key[1] in _SET_FIELDS


def serves_port(finding: Finding) -> bool:
    """A port of the engine that theirs does not name, or a name for a port."""
    if finding.key[:2] == ("spec", "ports") and finding.pair.ours.key.kind == "Service":
        return finding.added and finding.key[-1] == "name"
    return finding.added and bool(finding.commands) and finding.field[:2] == ("ports", "[http]")


def has_served_name(finding: Finding) -> bool:
    """The option of the public name, where the engine of theirs answers to it without one."""
    if not finding.added or not finding.commands or not finding.pods:
        return False
    theirs, ours = finding.commands
    entry = table_entry(ours.backend)
    if finding.option not in {ours.style.name(option) for option in entry.get("servedName") or ()}:
        return False
    names = [word.text for word in theirs.recognised.command.names]
    return "model" not in entry or names == [finding.value]


def distributes(finding: Finding) -> bool:
    """A parallel size that is the number of the container's accelerators."""
    if (
        not finding.added
        or not finding.commands
        or not finding.pods
        or finding.option not in finding.commands[1].parallel_options
    ):
        return False
    limits = map_at(finding.pods.ours.container(finding.container), "resources", "limits")
    return finding.value in limits.values()
