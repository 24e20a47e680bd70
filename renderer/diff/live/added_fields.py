"""What ours adds: fields and options that theirs does not have, each with the rule that fits it."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, Final

from renderer.diff.live.compared import ObjectSide
from renderer.diff.live.differing_field import DifferingField
from renderer.engines.handwritten_command import table_entry
from renderer.kubernetes import quantity, wellknown
from renderer.kubernetes.json_values import map_at, maps_at, number_at, text_at, texts_at, value_at
from renderer.kubernetes.rollouts import unavailable_count
from renderer.kubernetes.wellknown import RUNNER
from renderer.kubernetes.workloads import is_rendered
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
_BOUNDS: Final = (("maxUnavailable", 1), ("maxSurge", 0))  # of a rollout, where the input says none
_CONFIG_HASH: Final = "llmaz.io/config-hash"


def has_labels(differing: DifferingField) -> bool:
    """A label or annotation by which an object or pod says what llmaz runs."""
    path = differing.path
    if path[:1] == ("metadata",) and differing.added and len(path) == 3:
        own = path[2] in _LABELS or path[2] == wellknown.WORKLOAD
        return own if path[1] == "labels" else path[2].startswith(wellknown.OWN_PREFIX)
    return False


def has_model_labels(differing: DifferingField) -> bool:
    """A label with the model, its family or the flavors."""
    names = (wellknown.MODEL_NAME, wellknown.MODEL_FAMILY, wellknown.FLAVORS)
    return differing.added and differing.path[:1] == ("metadata",) and differing.path[-1] in names


def is_hardened(differing: DifferingField) -> bool:
    """A field of what `hardening` writes into pods and loaders."""
    if not differing.added or not differing.pods:
        return False
    last = differing.path[-1]
    if differing.of_loader and differing.field[:1] == ("env",):
        return differing.field[1] == "[HOME]" and _has_container(differing.pods.theirs.loaders, differing.container)
    if last == "type" and "seccompProfile" not in differing.path:
        return False
    if last in _LOADER_HARDENED:
        return differing.of_loader or last == "fsGroup"
    return last in _HARDENED and differing.value in _HARDENED[last]


def _has_container(containers: list[Mapping[str, Any]], name: str) -> bool:
    return any(container.get("name") == name for container in containers)


def loads_weights(differing: DifferingField) -> bool:
    """Of a loader that theirs has not, its container, and the volume that it fills."""
    pods = differing.pods
    if not pods or not differing.added:
        return False
    if differing.of_loader:
        return differing.container in pods.new_loaders
    return _of_volume(differing, pods.new_loader_volumes)


def _of_volume(differing: DifferingField, names: Set[str]) -> bool:
    """Whether a field is of one of these volumes of ours, or of where the engine mounts it."""
    if differing.path[:2] == ("spec", "volumes"):
        return differing.path[2][1:-1] in names
    if not differing.pods or differing.container != RUNNER or differing.field[:1] != ("volumeMounts",):
        return False
    return text_at(differing.pods.ours.mounts(RUNNER).get(differing.field[1][1:-1]), "name") in names - {""}


def shares_memory(differing: DifferingField) -> bool:
    """The volume of shared memory, or where the engine mounts it."""
    if not differing.pods or not differing.added:
        return False
    mount = differing.pods.ours.mounts(RUNNER).get(_SHARED_MEMORY, {})
    return _of_volume(differing, {text_at(mount, "name")})


def is_new_probe(differing: DifferingField) -> bool:
    """A field of a probe that the engine's container of theirs does not have."""
    kind, pods = differing.field[0], differing.pods
    if not differing.added or kind not in _PROBES or not differing.commands or not pods:
        return False
    return kind not in pods.theirs.container(pods.commands[differing.container])


def is_preset_probe(differing: DifferingField) -> bool:
    """What a probe of theirs leaves to the server, and the preset says."""
    if not differing.is_filled_in or not differing.field or differing.field[0] not in _PROBES or not differing.commands:
        return False
    return bool(value_at(differing.commands[1].recognised.engine.runtime.spec, *differing.field) == differing.value)


def probes_certificate(differing: DifferingField) -> bool:
    """HTTPS in a probe of an engine with a certificate, where theirs says no scheme."""
    if not differing.is_filled_in or differing.field[:1] not in [(kind,) for kind in _PROBES] or not differing.commands:
        return False
    ours = differing.commands[1]
    options = {ours.style.name(option) for option in table_entry(ours.backend).get("certificate") or ()}
    return (differing.field[-1], differing.value) == ("scheme", "HTTPS") and not options.isdisjoint(ours.options)


def drains(differing: DifferingField) -> bool:
    """A longer time to end, or the hook before the end."""
    pods = differing.pods
    if not pods:
        return False
    if differing.path == ("spec", _GRACE):
        old, new = (leaf.value if leaf else None for leaf in (differing.theirs, differing.ours))
        if isinstance(old, int) and isinstance(new, int) and new > old and not is_rendered(differing.pair.theirs.body):
            return True
        return differing.is_filled_in and "preStop" in map_at(pods.ours.container(RUNNER), "lifecycle")
    if not differing.added:
        return False
    if differing.field[:2] != ("lifecycle", "preStop") or not differing.commands:
        return False
    return not value_at(pods.theirs.container(pods.commands[differing.container]), "lifecycle", "preStop")


def is_preset_option(differing: DifferingField) -> bool:
    """An option that the preset writes, but for those of port, model and parallel sizes."""
    if not differing.added or not differing.option or not differing.commands:
        return False
    _, ours = differing.commands
    spec = ours.recognised.engine.runtime.spec
    configs, derived = spec.get("recommendedConfigs") or (), (spec.get("engine") or {}).get("derived") or ()
    adapters = map_at(spec, "engine", "adapters")
    sizes = [text_at(adapters, key, "option") for key in ("rank", "batch", "held")]
    words = [*(arg for entry in (*configs, *derived) for arg in entry.get("args") or ()), *sizes]
    written = {ours.style.name(arg) for arg in (*words, *texts_at(adapters, "enable"))}
    of_others = {*ours.port_options, *ours.template_options, ours.model_option}
    return differing.option in written - of_others - ours.parallel_options


def is_loaded(differing: DifferingField) -> bool:
    """Whether the value of an option names files that a loader of ours brings."""
    if not differing.added or not differing.option or not differing.pods or differing.pods.theirs.loaders:
        return False
    value = str(differing.value)
    return differing.pods.ours.weights(value) != value


def is_preset_variable(differing: DifferingField) -> bool:
    """A variable that the preset sets."""
    if not differing.added or differing.field[:1] != ("env",) or not differing.commands:
        return False
    spec = differing.commands[1].recognised.engine.runtime.spec
    derived = maps_at(spec, "engine", "derived")
    entries = [*maps_at(spec, "envs"), *(entry for part in derived for entry in maps_at(part, "envs"))]
    return differing.field[1][1:-1] in {text_at(entry, "name") for entry in entries}


def has_hub_access(differing: DifferingField) -> bool:
    """A token of the hub that the container starts without, too, or that it has already under another name."""
    pods = differing.pods
    if not differing.added or not pods or differing.field[:1] != ("env",):
        return False
    name = differing.field[1][1:-1]
    secret = map_at(pods.ours.variable(differing.container, name), "valueFrom", "secretKeyRef")
    if not name.endswith("_TOKEN"):
        return False
    theirs = maps_at(pods.theirs.container(pods.name_of_theirs(differing.container)), "env")
    references = [map_at(variable, "valueFrom", "secretKeyRef") for variable in theirs]
    place = (secret.get("name"), secret.get("key"))
    return secret.get("optional") is True or place in [(other.get("name"), other.get("key")) for other in references]


def prepares(differing: DifferingField) -> bool:
    """Of the steps, volumes and files that the preset adds to its pods."""
    pods = differing.pods
    if not pods or not differing.added or not pods.ours.engine:
        return False
    if differing.path == ("metadata", "annotations", _CONFIG_HASH):
        return True
    engine_spec = map_at(pods.ours.engines[pods.ours.engine].recognised.engine.runtime.spec, "engine")
    steps, volumes = (
        {text_at(entry, "name") for entry in maps_at(engine_spec, key)} for key in ("initContainers", "volumes")
    )
    if differing.path[:2] == ("spec", "initContainers"):
        return differing.path[2][1:-1] in steps
    return _of_volume(
        differing, volumes | pods.ours.volumes_of_map(differing.pair.ours.key.name + wellknown.CONFIG_MAP)
    )


def names_engine(differing: DifferingField) -> bool:
    """A label by which the picker of a pool knows the engine."""
    pods = differing.pods
    if not pods or not differing.added or differing.path[:2] != ("metadata", "labels"):
        return False
    backend = text_at(differing.pair.ours.body, "metadata", "annotations", wellknown.BACKEND)  # one of one's own, too
    return differing.value in {backend, *(command.backend for command in pods.ours.engines.values())}


def loads_from_cache(differing: DifferingField) -> bool:
    """A variable by which an engine opens what a hub's cache holds."""
    if not differing.added or not differing.commands or differing.field[:1] != ("env",):
        return False
    return {"name": differing.field[1][1:-1], "value": differing.value} in CACHE_ENV


def is_preset_request(differing: DifferingField) -> bool:
    """An amount that a configuration of the preset requests."""
    if not differing.added or differing.field[:2] != ("resources", "requests") or not differing.commands:
        return False
    configs = differing.commands[1].recognised.engine.runtime.spec.get("recommendedConfigs") or ()
    amounts = [value_at(config, *differing.field) for config in configs]
    return differing.value in [quantity.canonical(amount) for amount in amounts if amount is not None]


def is_tolerated(differing: DifferingField) -> bool:
    """A toleration."""
    return differing.added and differing.path[:2] == ("spec", "tolerations") and bool(differing.pods)


def chooses_nodes(differing: DifferingField) -> bool:
    """A label of nodes that the flavor asks for."""
    if not differing.added or not differing.pods:
        return False
    return differing.path[:2] == ("spec", "nodeSelector") or differing.path[:3] == ("spec", "affinity", "nodeAffinity")


def rolls_out(differing: DifferingField) -> bool:
    """One pod goes before another starts, and has the time that its weights need."""
    if differing.key == ("spec", "progressDeadlineSeconds"):
        return differing.is_filled_in or not (differing.dropped or is_rendered(differing.pair.theirs.body))
    return (
        differing.is_filled_in
        and differing.key[:2] == ("spec", "strategy")
        and (differing.key[-1], differing.value) in _BOUNDS
    )


def leaves_fewer_pods(differing: DifferingField) -> bool:
    """A bound of a rollout that leaves fewer pods ready than the server's defaults leave of theirs."""
    if (differing.key[-1], differing.value) not in _BOUNDS or not differing.pair.ours.is_workload:
        return False
    if not (differing.is_filled_in or (differing.added and differing.pair.other_kind)):
        return False
    theirs, ours = (_least_pods(side) for side in (differing.pair.theirs, differing.pair.ours))
    return ours < theirs


def _least_pods(side: ObjectSide) -> int:
    """How many of a workload's pods a rollout leaves ready at least; where something scales it, of one."""
    replicas = int(number_at(side.view, "spec", "replicas", default=1))
    return replicas - unavailable_count(side.view, replicas)


def is_of_the_kind(differing: DifferingField) -> bool:
    """A field that only a LeaderWorkerSet has."""
    return (
        differing.added and differing.pair.other_kind and differing.key[0] == "spec" and differing.key[1] in _SET_FIELDS
    )


def serves_port(differing: DifferingField) -> bool:
    """A port of the engine that theirs does not name, or a name for a port."""
    if differing.key[:2] == ("spec", "ports") and differing.pair.ours.key.kind == "Service":
        return differing.added and differing.key[-1] == "name"
    return differing.added and bool(differing.commands) and differing.field[:2] == ("ports", "[http]")


def has_served_name(differing: DifferingField) -> bool:
    """The option of the public name, where the engine of theirs answers to it without one."""
    if not differing.added or not differing.commands or not differing.pods:
        return False
    theirs, ours = differing.commands
    entry = table_entry(ours.backend)
    if differing.option not in {ours.style.name(option) for option in ours.naming_options}:
        return False
    names = [word.text for word in theirs.recognised.command.names]
    return "model" not in entry or names == [differing.value]


def distributes(differing: DifferingField) -> bool:
    """A parallel size that is the number of the container's accelerators."""
    if (
        not differing.added
        or not differing.commands
        or not differing.pods
        or differing.option not in differing.commands[1].parallel_options
    ):
        return False
    resources = map_at(differing.pods.ours.container(differing.container), "resources")
    return bool(resources.get("claims")) or differing.value in map_at(resources, "limits").values()


def has_own_image(differing: DifferingField) -> bool:
    """The image of an engine of which theirs names none, and how it is pulled."""
    if not differing.commands or not differing.pods or differing.field not in (("image",), ("imagePullPolicy",)):
        return False
    return "image" not in differing.pods.theirs.container(differing.pods.commands[differing.container])


def claims_devices(differing: DifferingField) -> bool:
    """A claim for devices in pods of which theirs have none."""
    if not differing.added or not differing.pods or "resourceClaims" in differing.pods.theirs.spec:
        return False
    return differing.path[:2] == ("spec", "resourceClaims") or differing.field[:2] == ("resources", "claims")
