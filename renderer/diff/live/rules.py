"""The rules that explain why a value, or the lack of one, is right; docs/live.md lists them.

A rule of MEANINGS says that two values come to the same: `fields.py` works out what each comes to. One of EXPLANATIONS
looks at a field that one side has alone, or that differs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Final

from msgspec import Struct

from renderer.diff.fields import ABSENT
from renderer.diff.live import command_options
from renderer.diff.live.compared import LivePair, PodPair
from renderer.diff.live.leaves import OPTION, Key, Leaf, path_text
from renderer.diff.live.pods import is_loader, volume_source
from renderer.diff.live.records import ADDS, EQUAL
from renderer.diff.live.server_fields import is_default
from renderer.engines.engine_command import table_entry
from renderer.kubernetes import quantity, wellknown
from renderer.kubernetes.json_values import map_at, maps_at, text_at, value_at
from renderer.resolve.pod.pods import RUNNER
from renderer.resolve.weight_sources import CACHE_ENV

_LABELS: Final = (wellknown.NAME, wellknown.COMPONENT, wellknown.PART_OF, wellknown.MANAGED_BY)
_TOOLS: Final = (
    *("meta.helm.sh/", "helm.sh/", "argocd.argoproj.io/", "kustomize.toolkit.fluxcd.io/"),
    *("helm.toolkit.fluxcd.io/", "app.kubernetes.io/managed-by"),
)
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
_ACTIVATOR: Final = "activator.llmaz.io/"
_OPERATOR_GROUP: Final = "inference.llmaz.io/"
_CONFIG_HASH: Final = "llmaz.io/config-hash"


class Finding:
    """A field that differs, in its pair of objects. What the server fills in by itself on our side counts as absent
    where theirs has another value.
    """

    def __init__(self, key: Key, theirs: Leaf | None, ours: Leaf | None, pair: LivePair) -> None:
        self.key: Final = key
        self.pair: Final = pair
        self.theirs: Final = theirs
        # Whether the server fills in what theirs has.
        self.is_filled_in: Final = bool(theirs and ours and is_default(pair.theirs.view, theirs.place))
        is_default_of_ours = theirs and ours and not self.is_filled_in and is_default(pair.ours.view, ours.place)
        self.ours: Final = None if is_default_of_ours else ours

    @property
    def added(self) -> bool:
        """Whether ours alone has it."""
        return self.theirs is None

    @property
    def dropped(self) -> bool:
        """Whether theirs alone has it."""
        return self.ours is None

    @property
    def value(self) -> Any:
        """Ours, or theirs where ours is absent."""
        leaf = self.ours or self.theirs
        return leaf.value if leaf else ABSENT

    @cached_property
    def pods(self) -> PodPair | None:
        """The pod templates that the field is in."""
        return self.pair.pods.get(self.key[0][1:]) if self.key[0].startswith("@") else None

    @property
    def path(self) -> Key:
        """The path in the pod or the object."""
        return self.key[1:] if self.pods else self.key

    @property
    def container(self) -> str:
        """The container that it is in, '' for none."""
        path = self.path
        return path[2][1:-1] if self.pods and len(path) > 3 and path[1] in ("containers", "initContainers") else ""

    @property
    def field(self) -> Key:
        """The path in the container, or else in the pod or the object."""
        return self.path[3:] if self.container else self.path

    @property
    def option(self) -> str:
        """The option of an engine that it is, '' for none."""
        last = self.key[-1]
        return last.removeprefix(OPTION) if last.startswith(OPTION) else ""

    @property
    def commands(self) -> tuple[command_options.ContainerCommand, command_options.ContainerCommand] | None:
        """The engines of both sides in the container that it is in, where they are compared by their options."""
        if not self.pods or self.container not in self.pods.commands:
            return None
        return self.pods.theirs.engines[self.pods.commands[self.container]], self.pods.ours.engines[self.container]

    @property
    def of_loader(self) -> bool:
        """Whether it is in a container that brings weights."""
        return is_loader(self.container) and self.path[1] == "initContainers"

    def __str__(self) -> str:
        return path_text(self.key, {})


class LiveRule(Struct, frozen=True):
    """A rule, and what it makes of a difference."""

    name: str
    effect: str  # EQUAL or ADDS
    sentence: str
    fits: Callable[[Finding], bool] = lambda finding: False
    deviation: int = 0


# ---- what ours adds


def _has_labels(finding: Finding) -> bool:
    path = finding.path
    if path[:1] == ("metadata",) and finding.added and len(path) == 3:
        own = path[2] in _LABELS or path[2] == wellknown.WORKLOAD
        return own if path[1] == "labels" else path[2].startswith(wellknown.OWN_PREFIX)
    return False


def _has_model_labels(finding: Finding) -> bool:
    names = (wellknown.MODEL_NAME, wellknown.MODEL_FAMILY, wellknown.FLAVORS)
    return finding.added and finding.path[:1] == ("metadata",) and finding.path[-1] in names


def _is_hardened(finding: Finding) -> bool:
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


def _loads_weights(finding: Finding) -> bool:
    """Of a loader that theirs has not, its container, and the volume that it fills."""
    pods = finding.pods
    if not pods or not finding.added:
        return False
    loaders = [body for body in pods.ours.loaders if not _has_container(pods.theirs.loaders, text_at(body, "name"))]
    if finding.of_loader:
        return _has_container(loaders, finding.container)
    volumes = {text_at(mount, "name") for body in loaders for mount in maps_at(body, "volumeMounts")}
    volumes -= {text_at(volume, "name") for volume in maps_at(pods.theirs.spec, "volumes")}
    return _of_volume(finding, volumes)


def _of_volume(finding: Finding, names: set[str]) -> bool:
    """Whether a field is of one of these volumes of ours, or of where the engine mounts it."""
    if finding.path[:2] == ("spec", "volumes"):
        return finding.path[2][1:-1] in names
    if not finding.pods or finding.container != RUNNER or finding.field[:1] != ("volumeMounts",):
        return False
    mounts = maps_at(finding.pods.ours.container(RUNNER), "volumeMounts")
    return any(mount.get("name") in names and f"[{mount.get('mountPath')}]" == finding.field[1] for mount in mounts)


def _shares_memory(finding: Finding) -> bool:
    if not finding.pods or not finding.added:
        return False
    mounts = maps_at(finding.pods.ours.container(RUNNER), "volumeMounts")
    return _of_volume(finding, {text_at(mount, "name") for mount in mounts if mount.get("mountPath") == _SHARED_MEMORY})


def _is_new_probe(finding: Finding) -> bool:
    kind, pods = finding.field[0], finding.pods
    if not finding.added or kind not in _PROBES or not finding.commands or not pods:
        return False
    return kind not in pods.theirs.container(pods.commands[finding.container])


def _is_preset_probe(finding: Finding) -> bool:
    """What a probe of theirs leaves to the server, and the preset says."""
    if not finding.is_filled_in or not finding.field or finding.field[0] not in _PROBES or not finding.commands:
        return False
    return bool(value_at(finding.commands[1].recognised.engine.runtime.spec, *finding.field) == finding.value)


def _drains(finding: Finding) -> bool:
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


def _is_preset_option(finding: Finding) -> bool:
    if not finding.added or not finding.option or not finding.commands:
        return False
    _, ours = finding.commands
    spec = ours.recognised.engine.runtime.spec
    configs, derived = spec.get("recommendedConfigs") or (), (spec.get("engine") or {}).get("derived") or ()
    written = {ours.style.name(arg) for entry in (*configs, *derived) for arg in entry.get("args") or ()}
    return finding.option in written - {*ours.port_options, ours.model_option} - _sizes(ours)


def _is_loaded(finding: Finding) -> bool:
    """Whether the value of an option names files that a loader of ours brings."""
    if not finding.added or not finding.option or not finding.pods or finding.pods.theirs.loaders:
        return False
    value = str(finding.value)
    return finding.pods.ours.weights(value) != value


def _sizes(command: command_options.ContainerCommand) -> frozenset[str]:
    """The options of an engine that distribute accelerators."""
    return command.recognised.engine.engine.parallel_options


def _is_preset_variable(finding: Finding) -> bool:
    if not finding.added or finding.field[:1] != ("env",) or not finding.commands:
        return False
    spec = finding.commands[1].recognised.engine.runtime.spec
    derived = maps_at(spec, "engine", "derived")
    entries = [*maps_at(spec, "envs"), *(entry for part in derived for entry in maps_at(part, "envs"))]
    return finding.field[1][1:-1] in {text_at(entry, "name") for entry in entries}


def _prepares(finding: Finding) -> bool:
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
    config = {
        text_at(volume, "name")
        for volume in maps_at(pods.ours.spec, "volumes")
        if text_at(volume, "configMap", "name") == finding.pair.ours.key.name + wellknown.CONFIG_MAP
    }
    return _of_volume(finding, volumes | config)


def _names_engine(finding: Finding) -> bool:
    """A label by which the picker of a pool knows the engine."""
    pods = finding.pods
    if not pods or not finding.added or finding.path[:2] != ("metadata", "labels"):
        return False
    return finding.value in {command.backend for command in pods.ours.engines.values()}


def _opens_named_folder(finding: Finding) -> bool:
    """Whether the engine opens its weights through a folder of a preset's volume, which is called as the model is."""
    if not finding.commands or not finding.pods or finding.added or finding.dropped:
        return False
    command = finding.commands[1]
    if finding.option != command.model_option:
        return False
    volumes = maps_at(command.recognised.engine.runtime.spec, "engine", "volumes")
    paths = [text_at(volume, "mountPath") for volume in volumes if volume.get("mountPath")]
    return str(finding.value).startswith(tuple(f"{path}/" for path in paths)) if paths else False


def _has_same_volume(finding: Finding) -> bool:
    """Of a volume with weights, which the other side mounts at another path."""
    pods = finding.pods
    if not pods or not (finding.added or finding.dropped):
        return False
    side, other = (pods.ours, pods.theirs) if finding.added else (pods.theirs, pods.ours)
    if finding.path[:2] == ("spec", "volumes"):
        name = finding.path[2][1:-1]
    elif finding.container == RUNNER and finding.field[:1] == ("volumeMounts",):
        body = side.container(RUNNER if finding.added else pods.commands.get(RUNNER, RUNNER))
        mounts = {f"[{text_at(mount, 'mountPath')}]": mount for mount in maps_at(body, "volumeMounts")}
        name = text_at(mounts.get(finding.field[1]), "name")
    else:
        return False
    source = volume_source(side.spec, name)
    names = [text_at(volume, "name") for volume in maps_at(other.spec, "volumes")]
    others = [other_source for name in names if (other_source := volume_source(other.spec, name))]
    return bool(source) and any(_is_within(source, place) or _is_within(place, source) for place in others)


def _is_within(source: str, other: str) -> bool:
    return f"{source}/".startswith(f"{other}/")


def _loads_from_cache(finding: Finding) -> bool:
    """A variable by which an engine opens what a hub's cache holds."""
    if not finding.added or not finding.commands or finding.field[:1] != ("env",):
        return False
    return {"name": finding.field[1][1:-1], "value": finding.value} in CACHE_ENV


def _is_preset_request(finding: Finding) -> bool:
    if not finding.added or finding.field[:2] != ("resources", "requests") or not finding.commands:
        return False
    configs = finding.commands[1].recognised.engine.runtime.spec.get("recommendedConfigs") or ()
    amounts = [value_at(config, *finding.field) for config in configs]
    return finding.value in [quantity.canonical(amount) for amount in amounts if amount is not None]


def _is_tolerated(finding: Finding) -> bool:
    return finding.added and finding.path[:2] == ("spec", "tolerations") and bool(finding.pods)


def _chooses_nodes(finding: Finding) -> bool:
    if not finding.added or not finding.pods:
        return False
    return finding.path[:2] == ("spec", "nodeSelector") or finding.path[:3] == ("spec", "affinity", "nodeAffinity")


def _rolls_out(finding: Finding) -> bool:
    """One pod goes before another starts, and has the time that its weights need."""
    if not finding.is_filled_in or finding.key[:1] != ("spec",):
        return False
    if finding.key[1] == "progressDeadlineSeconds":
        return True
    return finding.key[1] == "strategy" and (finding.key[-1], finding.value) in (("maxUnavailable", 1), ("maxSurge", 0))


def _is_of_the_kind(finding: Finding) -> bool:
    return finding.added and finding.pair.other_kind and finding.key[0] == "spec" and finding.key[1] in _SET_FIELDS


def _serves_port(finding: Finding) -> bool:
    """A port of the engine that theirs does not name, or a name for a port."""
    if finding.key[:2] == ("spec", "ports") and finding.pair.ours.key.kind == "Service":
        return finding.added and finding.key[-1] == "name"
    return finding.added and bool(finding.commands) and finding.field[:2] == ("ports", "[http]")


def _has_served_name(finding: Finding) -> bool:
    if not finding.added or not finding.commands or not finding.pods:
        return False
    theirs, ours = finding.commands
    entry = table_entry(ours.backend)
    if finding.option not in {ours.style.name(option) for option in entry.get("servedName") or ()}:
        return False
    names = [word.text for word in theirs.recognised.command.names]
    return "model" not in entry or names == [finding.value]


def _distributes(finding: Finding) -> bool:
    if (
        not finding.added
        or not finding.commands
        or not finding.pods
        or finding.option not in _sizes(finding.commands[1])
    ):
        return False
    limits = map_at(finding.pods.ours.container(finding.container), "resources", "limits")
    return any(finding.value == amount for amount in limits.values())


# ---- what comes to the same


def _is_of_one(finding: Finding) -> bool:
    if not finding.commands or not (finding.added or finding.dropped):
        return False
    return finding.value == "1" and finding.option in _sizes(finding.commands[1])


def _has_usual_port(finding: Finding) -> bool:
    if not finding.added or not finding.commands:
        return False
    theirs, ours = finding.commands
    return finding.option in ours.port_options and finding.value == str(ours.port) and theirs.port is not None


def _has_token(finding: Finding) -> bool:
    if not finding.dropped or not finding.commands or not finding.pods or finding.field[:1] != ("env",):
        return False
    body = finding.pods.theirs.container(finding.pods.commands[finding.container])
    name = finding.field[1][1:-1]
    secret = next((map_at(e, "valueFrom", "secretKeyRef") for e in maps_at(body, "env") if e.get("name") == name), {})
    wanted_part = {key: secret.get(key) for key in ("name", "key")}
    variables = [entry for loader in finding.pods.ours.loaders for entry in maps_at(loader, "env")]
    references = [map_at(entry, "valueFrom", "secretKeyRef") for entry in variables]
    is_new = not finding.pods.theirs.loaders
    return bool(secret) and is_new and any(wanted_part.items() <= reference.items() for reference in references)


def _is_in_arguments(finding: Finding) -> bool:
    if not finding.dropped or not finding.commands or not finding.pods or finding.field[:1] != ("env",):
        return False
    body = finding.pods.theirs.container(finding.pods.commands[finding.container])
    return finding.field[1][1:-1] in {*command_options.references(body)} and finding.field[-1] == "value"


def _has_revision(finding: Finding) -> bool:
    if not finding.dropped or finding.option != "--revision" or not finding.pods:
        return False
    revisions = [command_options.plain_variables(loader).get("REVISION") for loader in finding.pods.ours.loaders]
    return not finding.pods.theirs.loaders and finding.value in revisions


def _is_loaded_model(finding: Finding) -> bool:
    if not finding.dropped or not finding.option or not finding.pods or finding.pods.theirs.loaders:
        return False
    variables = [command_options.plain_variables(loader) for loader in finding.pods.ours.loaders]
    return finding.value in {loaded.get(name) for loaded in variables for name in ("MODEL_ID", "MODEL_FILENAME")}


def _is_repeated(finding: Finding) -> bool:
    if not finding.commands or not finding.option or finding.added or finding.dropped:
        return False
    theirs, ours = finding.commands
    last = str(finding.theirs and finding.theirs.value).rpartition(", ")[2]
    return theirs.repeats and ours.style.duplicates == "last" and last == ours.options.get(finding.option)


def _requests_limit(finding: Finding) -> bool:
    if not (finding.added or finding.dropped) or not finding.pods or finding.field[:2] != ("resources", "requests"):
        return False
    side = finding.pods.ours if finding.added else finding.pods.theirs
    commands = finding.pods.commands
    name = finding.container if finding.added else commands.get(finding.container, finding.container)
    part = next((body for body in [*maps_at(side.spec, "containers"), *side.loaders] if body.get("name") == name), {})
    other = finding.pods.theirs if finding.added else finding.pods.ours
    other_name = commands.get(finding.container, finding.container) if finding.added else finding.container
    limits = (map_at(body, "resources", "limits") for body in (part, other.container(other_name)))
    return all(limit.get(finding.field[2]) == finding.value for limit in limits)


def _is_of_a_tool(finding: Finding) -> bool:
    is_tool = finding.path[:1] == ("metadata",) and finding.path[-1].startswith(_TOOLS)
    own = wellknown.own_labels("", "")[wellknown.MANAGED_BY]
    if finding.added:
        return False
    if not finding.dropped:
        return finding.path[-1] == wellknown.MANAGED_BY and finding.value == own
    return is_tool and finding.value != own


def _is_own_label(finding: Finding) -> bool:
    if (
        finding.added
        or finding.dropped
        or finding.path[:2] != ("metadata", "labels")
        or finding.path[-1] not in _LABELS
    ):
        return False
    own = wellknown.own_labels(finding.pair.ours.key.name, "inference-server")
    return finding.value == own[finding.path[-1]] and finding.path[-1] != wellknown.MANAGED_BY


def _targets_counterpart(finding: Finding) -> bool:
    """Whether an autoscaler has the counterpart of what it scaled."""
    if finding.key[:2] != ("spec", "scaleTargetRef") or finding.pair.ours.key.kind not in wellknown.AUTOSCALERS:
        return False
    place = finding.pair.ours.key.namespace
    old, new = (map_at(side.view, "spec", "scaleTargetRef") for side in (finding.pair.theirs, finding.pair.ours))
    around = finding.pair.around
    counterpart = {
        (workload.key.kind, workload.key.name): around.pairs.get(id(workload))
        for workload in around.theirs.sides
        if workload.key.namespace == place
    }.get((text_at(old, "kind"), text_at(old, "name")))
    return bool(counterpart and (counterpart.key.kind, counterpart.key.name) == (new.get("kind"), new.get("name")))


def _scales_on_processors(finding: Finding) -> bool:
    """What version v1 of an autoscaler says of CPUs, and v2 in metrics."""
    field = ("spec", "targetCPUUtilizationPercentage")
    percentage = value_at(finding.pair.theirs.body, *field)
    if percentage is None or finding.pair.ours.key.kind != wellknown.HPA:
        return False
    metrics = maps_at(finding.pair.ours.view, "spec", "metrics")
    targets = [value_at(metric, "resource", "target", "averageUtilization") for metric in metrics]
    return targets == [percentage] and finding.key[1] in (field[1], "metrics", "minReplicas", "behavior")


def _targets_workload(finding: Finding) -> bool:
    if finding.key[:2] != ("spec", "scaleTargetRef") or finding.key[-1] == "name":
        return False
    old, new = (map_at(side.view, "spec", "scaleTargetRef") for side in (finding.pair.theirs, finding.pair.ours))
    is_theirs = text_at(old, "apiVersion").startswith(_OPERATOR_GROUP) and old.get("name") == new.get("name")
    names = {(side.key.kind, side.key.name) for side in finding.pair.around.ours.sides}
    return is_theirs and (new.get("kind"), new.get("name")) in names


def _is_scaled(finding: Finding) -> bool:
    key = finding.pair.ours.key
    return (
        finding.dropped
        and finding.key == ("spec", "replicas")
        and ((key.namespace, key.name) in finding.pair.around.scaled)
    )


def _has_claim_template(finding: Finding) -> bool:
    """A field of a claim of each pod, which the LeaderWorkerSet in the place of a StatefulSet has too."""
    path, pair = ("spec", "volumeClaimTemplates"), finding.pair
    if not finding.theirs or not finding.dropped or not pair.other_kind or finding.key[:2] != path:
        return False
    index, *field = finding.theirs.place[2:]
    name = value_at(pair.theirs.view, *path, index, "metadata", "name")
    claims = maps_at(pair.ours.view, "spec", "leaderWorkerTemplate", path[1])
    claim = next((claim for claim in claims if value_at(claim, "metadata", "name") == name), None)
    return claim is not None and (field in (["apiVersion"], ["kind"]) or value_at(claim, *field) == finding.value)


def _has_no_selector(finding: Finding) -> bool:
    is_set = finding.pair.ours.key.kind == wellknown.LEADER_WORKER_SET
    return finding.dropped and is_set and finding.pair.other_kind and finding.key[:2] == ("spec", "selector")


# ---- where the renderer differs from the operator


def _starts_workers(finding: Finding) -> bool:
    ours, theirs = finding.pair.ours.view, finding.pair.theirs.view
    size = value_at(ours, "spec", "leaderWorkerTemplate", "size")
    if finding.key != ("spec", "startupPolicy") or not isinstance(size, int) or size == 1:
        return False
    return (value_at(theirs, *finding.key), value_at(ours, *finding.key)) == ("LeaderReady", "LeaderCreated")


def _mounts_host(finding: Finding) -> bool:
    """A folder of the node is mounted once, read-only, where the operator adds a second volume of its name."""
    if not finding.pods or not finding.pair.of_operator:
        return False
    twice = "[model-volume again]"
    if finding.path[:2] == ("spec", "volumes"):
        return finding.path[2] == twice or (
            finding.path[-2:] == ("hostPath", "type") and (finding.added or finding.is_filled_in)
        )
    names = [text_at(volume, "name") for volume in maps_at(finding.pods.theirs.spec, "volumes")]
    is_twice = names.count("model-volume") > 1
    return is_twice and finding.field[:2] == ("volumeMounts", "[/workspace/models/]") and finding.dropped


def _loads_bucket(finding: Finding) -> bool:
    """Buckets load: the operator's loader gets no settings for them."""
    if not finding.of_loader or not finding.pods or not finding.pair.of_operator:
        return False
    old = next((body for body in finding.pods.theirs.loaders if body.get("name") == finding.container), {})
    new = next((body for body in finding.pods.ours.loaders if body.get("name") == finding.container), {})
    names = {*command_options.plain_variables(old)}
    has_settings = "MODEL_ID" in names or "BUCKET" in names
    is_copied = "DEST" in command_options.plain_variables(new)
    return bool(old) and not has_settings and is_copied and finding.field[0] in ("image", "command", "args", "env")


def _has_loader_resources(finding: Finding) -> bool:
    return finding.added and finding.of_loader and finding.field[:1] == ("resources",) and finding.pair.of_operator


def _omits_revision(finding: Finding) -> bool:
    if not finding.dropped or not finding.of_loader or finding.field[:2] != ("env", "[REVISION]") or not finding.pods:
        return False
    hubs = [command_options.plain_variables(body).get("MODEL_HUB_NAME") for body in finding.pods.ours.loaders]
    return "ModelScope" in hubs and finding.pair.of_operator


def _has_own_amount(finding: Finding) -> bool:
    """The user's limit, which the operator raises to what the preset requests."""
    pods = finding.pods
    if not pods or not finding.pair.of_operator or finding.field[:1] != ("resources",) or finding.container != RUNNER:
        return False
    name = finding.field[2]
    old, new = (
        [map_at(side.container(RUNNER), "resources", part).get(name) for part in ("limits", "requests")]
        for side in (pods.theirs, pods.ours)
    )
    if None in old + new or old[0] != old[1] or new[0] != new[1]:
        return False
    return quantity.nanos(old[0]) > quantity.nanos(new[0])


def _was_for_activator(finding: Finding) -> bool:
    return (
        finding.dropped
        and finding.path[:2] == ("metadata", "annotations")
        and (finding.path[-1].startswith(_ACTIVATOR))
    )


def _is_listed_twice(finding: Finding) -> bool:
    again = [part for part in finding.path if part.endswith(" again]")]
    return finding.dropped and finding.pair.of_operator and bool(again)


MEANINGS: Final = (
    LiveRule("container-name", EQUAL, "The container that runs the engine is called model-runner."),
    LiveRule("image-name", EQUAL, "An image without a registry is one of docker.io, one without a folder of library."),
    LiveRule("json", EQUAL, "The value of an option is the same JSON."),
    LiveRule("order", EQUAL, "The order of these values means nothing."),
    LiveRule(
        "port",
        EQUAL,
        "The engine listens on another port, or calls it otherwise, and options, ports of the container, probes and "
        "targets of Services agree.",
    ),
    LiveRule("selector", EQUAL, "The selector leads to the same pods, by the labels that they have on its side."),
    LiveRule("start", EQUAL, "The preset's command starts the same engine."),
    LiveRule("volume-name", EQUAL, "The volume at this path has another name."),
    LiveRule(
        "weights", EQUAL, "The engine opens files that a loader or a volume brings from where theirs takes the weights."
    ),
)
"""Rules by which two values come to the same."""

EXPLANATIONS: Final = (
    LiveRule("default-port", EQUAL, "The port is said, where theirs takes the engine's default.", _has_usual_port),
    LiveRule("weights-volume", EQUAL, "The weights lie in the same volume, at another path.", _has_same_volume),
    LiveRule(
        "named-folder",
        EQUAL,
        "The engine opens its weights by a folder that is called as the model is.",
        _opens_named_folder,
    ),
    LiveRule("size-of-one", EQUAL, "A size of one is what the engine takes without the option.", _is_of_one),
    LiveRule(
        "hub-token",
        EQUAL,
        "The loader has the token, from the same Secret and key: the engine asks no hub.",
        _has_token,
    ),
    LiveRule(
        "argument-variable", EQUAL, "The arguments hold the value that this variable filled in.", _is_in_arguments
    ),
    LiveRule("loaded-model", EQUAL, "The loader loads this model or file, which the engine opens.", _is_loaded_model),
    LiveRule("revision", EQUAL, "The loader loads this revision.", _has_revision),
    LiveRule(
        "request-of-limit",
        EQUAL,
        "Kubernetes requests what the limit says where nothing else is said.",
        _requests_limit,
    ),
    LiveRule("tool", EQUAL, "Whoever applies manifests writes this for himself.", _is_of_a_tool),
    LiveRule("own-label", EQUAL, "The recommended labels name the renderer's app.", _is_own_label),
    LiveRule(
        "autoscaler-of-counterpart",
        EQUAL,
        "The autoscaler scales what takes the place of its target.",
        _targets_counterpart,
    ),
    LiveRule("cpu-target", EQUAL, "The autoscaler has the same target for CPUs, as a metric.", _scales_on_processors),
    LiveRule("no-selector", EQUAL, "A LeaderWorkerSet finds its pods by itself.", _has_no_selector),
    LiveRule("claim-template", EQUAL, "The LeaderWorkerSet has the same claim for each pod.", _has_claim_template),
    LiveRule("autoscaler-target", EQUAL, "The autoscaler targets the LeaderWorkerSet.", _targets_workload, deviation=1),
    LiveRule("scaled-replicas", EQUAL, "The autoscaler alone sets the replicas.", _is_scaled, deviation=2),
    LiveRule(
        "startup-policy",
        EQUAL,
        "Workers of a group are created without waiting for a ready leader.",
        _starts_workers,
        deviation=4,
    ),
    LiveRule("parallel-size", ADDS, "Tensor parallelism follows the accelerators.", _distributes, deviation=6),
    LiveRule("nodes", ADDS, "The labels of the flavor choose nodes.", _chooses_nodes, deviation=7),
    LiveRule("served-name", ADDS, "The engine is told the name that it answers to anyway.", _has_served_name),
    LiveRule("host-folder", EQUAL, "A folder of the node is mounted once, read-only.", _mounts_host, deviation=9),
    LiveRule("bucket", ADDS, "A loader that can read the bucket brings the weights.", _loads_bucket, deviation=9),
    LiveRule(
        "labels", ADDS, "Objects and pods have labels and annotations that say what runs.", _has_labels, deviation=10
    ),
    LiveRule("activator", EQUAL, "There is no activator that would read this.", _was_for_activator, deviation=12),
    LiveRule("listed-twice", EQUAL, "What is listed twice counts once.", _is_listed_twice, deviation=12),
    LiveRule("default-revision", EQUAL, "ModelScope has a default revision of its own.", _omits_revision, deviation=12),
    LiveRule("own-amount", EQUAL, "A limit of the user's is not raised.", _has_own_amount, deviation=12),
    LiveRule("model-labels", ADDS, "All pods are labelled with their model.", _has_model_labels, deviation=12),
    LiveRule("loader-resources", ADDS, "The loader requests resources.", _has_loader_resources, deviation=12),
    LiveRule("last-option", EQUAL, "Of an option that is given twice the last one counts.", _is_repeated, deviation=13),
    LiveRule("loader", ADDS, "An init container loads the weights into a volume.", _loads_weights),
    LiveRule("hardening", ADDS, "Pods are hardened.", _is_hardened, deviation=11),
    LiveRule("shared-memory", ADDS, "Shared memory has a size that is enough for the engine.", _shares_memory),
    LiveRule("probes", ADDS, "The preset's probes, where theirs has none.", _is_new_probe),
    LiveRule(
        "preset-probe",
        ADDS,
        "The preset's probe says this, where theirs has what the server fills in.",
        _is_preset_probe,
    ),
    LiveRule("drain", ADDS, "A pod has time to finish its answers before it ends.", _drains),
    LiveRule("loaded-files", ADDS, "A loader brings the files that this option names, such as adapters.", _is_loaded),
    LiveRule("preset-option", ADDS, "The preset writes this option.", _is_preset_option),
    LiveRule("hub-cache", ADDS, "The engine opens what the hub's cache holds, and asks no hub.", _loads_from_cache),
    LiveRule("preset-step", ADDS, "The preset's own steps, volumes and files.", _prepares),
    LiveRule("engine-label", ADDS, "The picker of a pool knows the engine by this label.", _names_engine),
    LiveRule("preset-variable", ADDS, "The preset sets this variable.", _is_preset_variable),
    LiveRule(
        "preset-request", ADDS, "The preset requests this much, where theirs requests nothing.", _is_preset_request
    ),
    LiveRule("tolerations", ADDS, "Pods tolerate the taint of nodes with accelerators.", _is_tolerated),
    LiveRule("rollout", ADDS, "A rollout needs no accelerator besides, and has time to load weights.", _rolls_out),
    LiveRule("workload-kind", ADDS, "A LeaderWorkerSet has these fields.", _is_of_the_kind),
    LiveRule("named-port", ADDS, "The port has a name, and the container says it.", _serves_port),
)
"""Rules about a field of one side alone, or one that differs; the first that fits counts."""

RULES: Final[Mapping[str, LiveRule]] = {rule.name: rule for rule in (*MEANINGS, *EXPLANATIONS)}


def explain(finding: Finding) -> LiveRule | None:
    """The first rule that fits."""
    return next((rule for rule in EXPLANATIONS if rule.fits(finding)), None)
