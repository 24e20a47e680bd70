"""The model that a workload runs, read from the object, and the differences between two of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from renderer.diff import gpus
from renderer.diff.gpus import AcceleratorKind, AcceleratorNames, GpuChange
from renderer.diff.objects import Body, Items, ObjectItem, ObjectKey, app_and_role, is_workload, role_items
from renderer.diff.options import OptionChange, compare_options
from renderer.diff.renames import replace_name
from renderer.kubernetes import disaggregated_sets, wellknown, workloads
from renderer.kubernetes.json_values import map_at, maps_at, value_at
from renderer.kubernetes.workloads import SCALE_TARGETS, pod_template, replicas, scale_target
from renderer.load.preset_files import preset, preset_names
from renderer.resolve.model_cache import FLOATING_REVISIONS
from renderer.resolve.pod.loaders import loader_name
from renderer.resolve.weight_sources import MODELS_FOLDER
from renderer.text.text_table import gpu_unit

if TYPE_CHECKING:
    from decimal import Decimal

_PUBLIC_NAME, _VERSION = "public name", "engine version"
_WEIGHTS = rf"(?<!\S){MODELS_FOLDER}[^\s,]*"
# Annotations that the renderer puts on a workload, and the word that people use for each.
_ANNOTATIONS = {
    wellknown.BACKEND: "backend",
    wellknown.ENGINE_VERSION: _VERSION,
    wellknown.MODEL_REVISION: "model revision",
    wellknown.SERVED_MODEL_NAME: _PUBLIC_NAME,
    wellknown.KV_CACHE_MEMORY: "KV cache in memory",
    wellknown.MODELS: "models",
    wellknown.ADAPTERS: "adapters",
}
_MODEL = wellknown.MODEL_NAME
_OF_MEMORY = {"model", "flavor", "nodes", "hosts a replica", "image", "command", *_ANNOTATIONS.values()}
"""Facts on which it depends whether a model fits."""
_NETWORKS = frozenset(("k8s.v1.cni.cncf.io/networks", "networking.gke.io/interfaces"))  # annotations that attach some
_NETWORK_VARIABLES = ("NCCL_", "RCCL_", "HCCL_", "UCX_", "FI_")
_KEDA_MOST = 100  # replicas, where a ScaledObject says no other


class SideContainer(Struct, frozen=True):
    """A container other than the engine's, such as the loader."""

    image: str
    args: tuple[str, ...]
    env: Mapping[str, str]


_NOBODY = SideContainer("", (), {})


class PodSummary(Struct, frozen=True):
    """One of the two pod templates."""

    image: str  # of the engine's container
    command: tuple[str, ...]  # likewise
    args: tuple[str, ...]  # likewise
    env: Mapping[str, str]  # likewise
    others: Mapping[str, SideContainer]  # all other containers, by name
    volumes: Mapping[str, str]  # the sources of volumes that are not empty at first, by name
    # Of the engine's container, without accelerators, by their keys, such as `resources.limits.memory`.
    resources: Mapping[str, str]


class ModelSummary(Struct, frozen=True):
    """The model that a workload runs."""

    name: str
    annotations: Mapping[str, str]  # the values of the renderer's own, by the word that people use for each
    size: int  # pods of a replica
    low: int  # the least replicas
    high: int  # the most replicas, as many as the least without an autoscaler
    scaled: bool  # an autoscaler sets the replicas
    spec_replicas: int | None  # of the workload, None where they are left out
    nodes: str  # the node labels that the pods select
    gpus: Mapping[AcceleratorKind, int]  # of one replica
    leader: PodSummary
    worker: PodSummary
    scaler: str = ""  # the kind of its autoscaler
    app: str = ""  # where the workload does a part of an app's work
    role: str = ""  # likewise
    # Whether pods of several hosts name nothing but the network of all pods.
    has_plain_network: bool = False
    memory: str = ""  # whether it fits on its accelerators, in words; '' where that is not known
    fit: str = ""  # the kind of that answer
    hour: Decimal | None = None  # the price of an hour with the most replicas, None where it is not known
    unpriced: bool = False  # it has accelerators without a price, and others have one
    lacks_fact: bool = False  # for want of a fact of the model that is known in part, or not at all

    @property
    def range(self) -> str:
        """`2`, or `1–4` under an autoscaler."""
        return f"{self.low}–{self.high}" if self.scaled else str(self.high)

    @property
    def replicas(self) -> str:
        """The range; `2 groups of 4 hosts, 64 GPUs` where a replica has several."""
        return self.range + self.groups

    @property
    def groups(self) -> str:
        """What replicas of several hosts are, and all of their accelerators; '' for those of one host."""
        if self.size == 1:
            return ""
        count, is_part = gpus.count_gpus({kind: number * self.high for kind, number in self.gpus.items()})
        number = f"{count:,} {gpu_unit(2, is_part)}"
        shown = f", {number}{' at most' if self.scaled else ''}" if count else ""
        return f" group{'' if self.low == self.high == 1 else 's'} of {self.size} hosts{shown}"


class ModelFact(Struct, frozen=True):
    """A property of a model that differs; '' on a side that does not have it."""

    name: str
    before: str
    after: str


class ModelChange(Struct, frozen=True):
    """A model that was added, removed, changed or renamed."""

    state: str
    key: ObjectKey  # of the new workload
    was: ObjectKey | None  # the old key where it is another; of a changed model with the same name, one of another kind
    before: ModelSummary | None
    after: ModelSummary | None
    facts: tuple[ModelFact, ...]
    flags: tuple[OptionChange, ...]
    gpus: tuple[GpuChange, ...]

    @property
    def memory(self) -> str:
        """Whether the model fits on its accelerators: of a new one, and where that changes, with what was before. Where
        it is not known, that is said only if something changes on which it depends. '' for nothing to say.
        """
        after = self.after.memory if self.after else ""
        if not self.before or not self.after:
            return after
        before = self.before.memory
        if before == after:
            return after if self.after.lacks_fact and self._changes_memory else ""
        if before and after:
            return f"{before} → {after}"
        if not self._changes_memory:
            return ""
        return f"{after} (before: not known)" if after else f"{before} → not known"

    @property
    def _changes_memory(self) -> bool:
        """Whether anything differs on which it depends whether the model fits."""
        names = {fact.name for fact in self.facts} - {_PUBLIC_NAME}
        return bool(self.flags or names & _OF_MEMORY) or any(gpu.replica[0] != gpu.replica[1] for gpu in self.gpus)

    @property
    def renamed_from(self) -> ObjectKey | None:
        """The old key of a renamed model; none of one that keeps its name in a workload of another kind."""
        return self.was if self.state == "renamed" else None

    @property
    def object_key(self) -> ObjectKey:
        """The key of the object that runs the model: of a role of a DisaggregatedSet that of the set."""
        model = self.after or self.before
        if self.key.kind != disaggregated_sets.KIND or not model:
            return self.key
        return replace(self.key, name=model.app)


def model_change(
    state: str, key: ObjectKey, was: ObjectKey | None, before: ModelSummary | None, after: ModelSummary | None
) -> ModelChange:
    """The change from one model to another, with all that differs."""
    renamed = (was.name, key.name) if was else ("", "")
    if was and before and after and before.app:
        renamed = (before.app, after.app)
    facts, flags, gpus = compare_models(before, after, renamed)
    if was and was.kind != key.kind:
        facts = [ModelFact("workload", was.kind, key.kind), *facts]
        state = "changed" if was.place == key.place else state
    return ModelChange(
        state=state,
        key=key,
        was=was,
        before=before,
        after=after,
        facts=tuple(facts),
        flags=tuple(flags),
        gpus=tuple(gpus),
    )


def join_replaced(models: Iterable[ModelChange]) -> Iterator[ModelChange]:
    """The models; one that goes and comes in workloads of two kinds, under one name, as one that changes. So does a
    role that becomes part of a DisaggregatedSet.
    """
    listed = list(models)
    gone = {change.key.place: change for change in listed if change.state == "removed"}
    came = {change.key.place for change in listed if change.state == "added"}
    for change in listed:
        old = gone.get(change.key.place)
        if change.state == "added" and old:
            yield model_change("changed", change.key, old.key, old.before, change.after)
        elif change.state != "removed" or change.key.place not in came:
            yield change


def summarize_model(
    item: ObjectItem,
    autoscalers: Mapping[tuple[str, str], Body],
    accelerators: AcceleratorNames,
    claimed: Mapping[tuple[str, str], Mapping[str, int]],
) -> ModelSummary:
    """The model of a workload, or of a role of one. `autoscalers`: by namespace and name of their target; `claimed`:
    the devices that each ResourceClaimTemplate asks for.
    """
    body, replica = item.body, next(replicas(item.body), None)
    annotations = map_at(body, "metadata", "annotations")
    worker = pod_template(body)
    leader, size = (replica.leader.body, replica.size) if replica else (worker, 1)
    spec_replicas = value_at(body, "spec", "replicas")
    scaler = autoscalers.get((item.key.namespace, item.key.name))
    low, high = _bounds(scaler) if scaler else (_number(spec_replicas, 1),) * 2
    app, role = app_and_role(item)
    labels = map_at(worker, "metadata", "labels") or map_at(leader, "metadata", "labels")
    return ModelSummary(
        name=str(labels.get(_MODEL, "")),
        annotations={what: str(annotations[key]) for key, what in _ANNOTATIONS.items() if key in annotations}
        | _flavor(worker),
        size=size,
        low=low,
        high=high,
        scaled=scaler is not None,
        scaler=str(scaler.get("kind", "")) if scaler else "",
        spec_replicas=None if spec_replicas is None else _number(spec_replicas, 1),
        nodes=gpus.describe_nodes(worker),
        gpus=gpus.accelerators(
            ((leader, 1), (worker, size - 1)),
            accelerators,
            {name: counts for (namespace, name), counts in claimed.items() if namespace == item.key.namespace},
        ),
        leader=_pod(leader, accelerators),
        worker=_pod(worker, accelerators),
        app=app,
        role=role,
        has_plain_network=size > 1 and _has_plain_network(worker, accelerators),
    )


def _has_plain_network(pod: Body, accelerators: AcceleratorNames) -> bool:
    """Whether a pod names no faster network than that of all pods: no device for it in its limits or claims, no network
    of the node or attached by an annotation, and no variable for the library that talks to other hosts.
    """
    spec, annotations = map_at(pod, "spec"), map_at(pod, "metadata", "annotations")
    if spec.get("hostNetwork") or spec.get("resourceClaims") or not _NETWORKS.isdisjoint(annotations):
        return False
    for container in maps_at(spec, "containers"):
        names = {str(entry.get("name")) for entry in maps_at(container, "env")}
        devices = (name for name in map_at(container, "resources", "limits") if "/" in name)
        own = (accelerators.counts(name) or name == gpus.declared_accelerator(pod) for name in devices)
        if not all(own) or any(name.startswith(_NETWORK_VARIABLES) for name in names):
            return False
    return True


def most_replicas(objects: Items) -> Mapping[tuple[str, str], int]:
    """The most replicas of each workload among these objects, or role of one, by namespace and name."""
    scalers, counts = autoscalers(objects), dict[tuple[str, str], int]()
    for item in objects.values():
        for role in role_items(item).values() if is_workload(item.key, item.body) else ():
            place = role.key.namespace, role.key.name
            scaler = scalers.get(place)
            counts[place] = _bounds(scaler)[1] if scaler else _number(value_at(role.body, "spec", "replicas"), 1)
    return counts


def _bounds(scaler: Body) -> tuple[int, int]:
    """The fewest and most replicas of an autoscaler, with the defaults of its kind."""
    spec = map_at(scaler, "spec")
    if scaler.get("kind") == wellknown.HPA:
        low = _number(spec.get("minReplicas"), 1)
        return low, _number(spec.get("maxReplicas"), low)
    return _number(spec.get("minReplicaCount"), 0), _number(spec.get("maxReplicaCount"), _KEDA_MOST)


def _flavor(pod: Body) -> dict[str, str]:
    return {"flavor": flavors} if (flavors := gpus.claimed_flavors(pod)) else {}


def _number(value: object, otherwise: int) -> int:
    return value if value.__class__ is int else otherwise


def _pod(pod: Body, accelerators: AcceleratorNames) -> PodSummary:
    containers = maps_at(pod, "spec", "containers")
    runner = next(
        (container for container in containers if container.get("name") == wellknown.RUNNER),
        containers[0] if containers else {},
    )
    others = [container for _, container in workloads.containers(map_at(pod, "spec")) if container is not runner]
    resources = {
        f"resources.{kind}.{name}": str(value)
        for kind in ("requests", "limits")
        for name, value in map_at(runner, "resources", kind).items()
        if not accelerators.counts(name) and name != gpus.declared_accelerator(pod)
    }
    return PodSummary(
        str(runner.get("image", "")),
        _strings(runner.get("command")),
        _strings(runner.get("args")),
        _environment(runner),
        {
            str(container.get("name")): SideContainer(
                str(container.get("image", "")), _strings(container.get("args")), _environment(container)
            )
            for container in others
        },
        {
            str(volume.get("name")): str(path)
            for volume in maps_at(pod, "spec", "volumes")
            if (path := _volume_source(volume))
        },
        resources,
    )


def _environment(container: Body) -> Mapping[str, str]:
    return {str(entry.get("name")): _variable(entry) for entry in maps_at(container, "env")}


def _volume_source(volume: Body) -> object:
    """The image, host path or claim that a volume takes its contents from; None for other volumes."""
    return (
        value_at(volume, "image", "reference")
        or value_at(volume, "hostPath", "path")
        or value_at(volume, "persistentVolumeClaim", "claimName")
    )


def _strings(value: object) -> tuple[str, ...]:
    return tuple(str(word) for word in value) if isinstance(value, list) else ()


def _variable(entry: Body) -> str:
    """The value of an environment variable, or a description of its `valueFrom`."""
    if "valueFrom" not in entry:
        return str(entry.get("value", ""))
    for kind, place in map_at(entry, "valueFrom").items():
        words = [str(word) for word in place.values() if isinstance(word, str)] if isinstance(place, dict) else []
        return f"{kind} {' '.join(words)}".strip()
    return "elsewhere"


def compare_models(
    before: ModelSummary | None, after: ModelSummary | None, renamed: tuple[str, str]
) -> tuple[list[ModelFact], list[OptionChange], list[GpuChange]]:
    """Facts, options and accelerators that differ between two models; None is a side without the model. `renamed`: the
    old and the new name of the app, '' where it keeps it.
    """
    facts = list(_moving_revision(after)) if after and not before else []
    options: list[OptionChange] = []
    if before and after:
        steps = _ToldSteps(renamed, before.name != after.name)
        facts = list(_facts(before, after, steps))
        leaders = options = compare_options(before.leader.args, after.leader.args)
        if before.size > 1 and after.size > 1:  # else the workers are all new, or gone
            workers, known = compare_options(before.worker.args, after.worker.args), set(leaders)
            options = leaders + [replace(option, of_workers=True) for option in workers if option not in known]
        options = [option for option in options if not steps.covers(option.before, option.after)]
    old, new = before.gpus if before else {}, after.gpus if after else {}
    most = before.high if before else 0, after.high if after else 0
    return (
        facts,
        options,
        list(gpus.compare_gpus(old, new, most, bool(before and after and _same_nodes(before, after)))),
    )


def _moving_revision(model: ModelSummary) -> Iterator[ModelFact]:
    """The revision of a new model, where it is a branch: what a pod loads may change without a commit here."""
    what = _ANNOTATIONS[wellknown.MODEL_REVISION]
    revision = model.annotations.get(what, "")
    if revision and revision in FLOATING_REVISIONS:  # weights that are no repository have none
        yield ModelFact(what, "", f"{revision}, a branch: a later start may load other weights")


def _same_nodes(before: ModelSummary, after: ModelSummary) -> bool:
    """Whether both select the same nodes, and only one side claims a flavor."""
    return before.nodes == after.nodes and ("flavor" in before.annotations) != ("flavor" in after.annotations)


class _ToldSteps:
    """Steps from an old to a new value that say no more than what is told of a model already."""

    def __init__(self, renamed: tuple[str, str], is_another_model: bool) -> None:
        self._renamed, self.is_another_model = renamed, is_another_model
        self._loads_others = is_another_model
        self._steps = set[tuple[str, str]]()
        self._names = [renamed]
        self._annotated = list[tuple[str, str, str]]()

    def follows_name(self, before: str, after: str) -> bool:
        """Whether a step follows from the new name of the app."""
        return bool(before) and replace_name(*self._renamed, before) == after

    def add(self, facts: Sequence[ModelFact]) -> None:
        """What the annotations tell."""
        self._steps |= {(fact.before, fact.after) for fact in facts}
        self._annotated = [(fact.name, fact.before, fact.after) for fact in facts]
        self._names += [(fact.before, fact.after) for fact in facts if fact.name == _PUBLIC_NAME and fact.before]

    def is_version(self, before: str, after: str) -> bool:
        """Whether an image differs only in the engine's version, which an annotation tells."""
        return any(before.replace(old, new) == after for what, old, new in self._annotated if what == _VERSION and old)

    def add_loaded(self) -> None:
        """That other weights are loaded, so that their folders change."""
        self._loads_others = True

    def covers(self, before: str | None, after: str | None) -> bool:
        """Whether the step of an option or a variable is told: by an annotation, the names, the weights' folders."""
        if not before or not after:
            return False
        if (before, after) in self._steps:
            return True
        for old, new in self._names:
            before = replace_name(old, new, before)
        if self._loads_others:
            before, after = (re.sub(_WEIGHTS, MODELS_FOLDER, value) for value in (before, after))
        return before == after


def _facts(before: ModelSummary, after: ModelSummary, steps: _ToldSteps) -> Iterator[ModelFact]:
    yield from _fact("model", before.name, after.name)
    annotated = [
        fact
        for what in (*_ANNOTATIONS.values(), "flavor")
        for fact in _fact(what, before.annotations.get(what, ""), after.annotations.get(what, ""))
    ]
    steps.add(annotated)
    yield from (fact for fact in annotated if not steps.follows_name(fact.before, fact.after))
    if before.annotations.get("flavor") == after.annotations.get("flavor"):
        yield from _fact("nodes", before.nodes, after.nodes)
    yield from _fact("replicas", _describe_replicas(before), _describe_replicas(after))
    if before.scaled and after.scaled:
        yield from _fact("autoscaler", before.scaler, after.scaler)
    yield from _fact("hosts a replica", str(before.size), str(after.size))
    leaders = dict.fromkeys(_pods(before.leader, after.leader, steps))
    yield from leaders
    if before.size > 1 and after.size > 1:  # else the workers are all new, or gone
        for fact in _pods(before.worker, after.worker, steps):
            if fact not in leaders:
                yield replace(fact, name=f"worker: {fact.name}")


def _describe_replicas(model: ModelSummary) -> str:
    return f"{model.low} to {model.high}{model.groups} by an autoscaler" if model.scaled else model.replicas


def _pods(before: PodSummary, after: PodSummary, steps: _ToldSteps) -> Iterator[ModelFact]:
    """The facts of one pod template that differ, without what is told already, such as a revision that a loader also
    has as a variable.
    """
    if not steps.is_version(before.image, after.image):
        yield from _fact("image", before.image, after.image)
    for name in _all_keys(before.others, after.others):
        old, new = before.others.get(name, _NOBODY), after.others.get(name, _NOBODY)
        yield from _fact(f"image of {name}", old.image, new.image)
    yield from _fact("command", " ".join(before.command), " ".join(after.command))
    for name in _all_keys(before.resources, after.resources):
        yield from _fact(name, before.resources.get(name, ""), after.resources.get(name, ""))
    for name in _all_keys(before.volumes, after.volumes):
        for fact in _fact(f"volume {name}", before.volumes.get(name, ""), after.volumes.get(name, "")):
            steps.add_loaded()
            if not steps.follows_name(fact.before, fact.after):
                yield fact
    known = dict.fromkeys(_variables(before.env, after.env))
    loaded = list(_loaded(before, after, known, steps))
    yield from (fact for fact in known if not steps.covers(fact.before, fact.after))
    yield from loaded


def _loaded(
    before: PodSummary, after: PodSummary, known: Collection[ModelFact], steps: _ToldSteps
) -> Iterator[ModelFact]:
    """What differs in the containers that load weights, but for variables that are `known` of the engine."""
    for name in before.others:
        old, new = before.others[name], after.others.get(name, _NOBODY)
        if _repository(old.image) != _repository(new.image):
            steps.add_loaded()
            continue  # another program: its new image is the fact to show
        is_of_model = steps.is_another_model and name == loader_name(0)
        for flag in compare_options(old.args, new.args):
            steps.add_loaded()
            if is_of_model or steps.covers(flag.before, flag.after):
                continue
            yield ModelFact(f"{flag.name or 'argument'} of {name}", flag.before or "", flag.after or "")
        for fact in _variables(old.env, new.env):
            if fact in known:  # a loader has the engine's too
                continue
            steps.add_loaded()
            if not (is_of_model and fact.name in _source_variables()) and not steps.covers(fact.before, fact.after):
                yield ModelFact(f"{fact.name} of {name}", fact.before, fact.after)


@cache
def _source_variables() -> frozenset[str]:
    """What the loaders' presets set to say where the weights of a model come from, as names of facts."""
    sources = (
        source
        for name in preset_names("loaders")
        for source in maps_at(preset(f"loaders/{name}").value, "spec", "sources")
    )
    return frozenset(f"env {entry.get('name')}" for source in sources for entry in maps_at(source, "envs"))


def _variables(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[ModelFact]:
    for name in _all_keys(before, after):
        old, new = (env.get(name) for env in (before, after))
        if old != new:
            yield ModelFact(f"env {name}", "" if old is None else old or "''", "" if new is None else new or "''")


def _repository(image: str) -> str:
    """The image without its tag and digest."""
    path, slash, name = image.partition("@")[0].rpartition("/")
    return path + slash + name.partition(":")[0]


def _fact(what: str, before: str, after: str) -> Iterator[ModelFact]:
    if before != after:
        yield ModelFact(what, before, after)


def _all_keys(*mappings: Mapping[str, object]) -> list[str]:
    return list(dict.fromkeys(name for mapping in mappings for name in mapping))


def autoscalers(objects: Items) -> Mapping[tuple[str, str], Body]:
    """The autoscalers, by namespace and name of the workload that they scale."""
    return {
        (key.namespace, target[2]): item.body
        for key, item in objects.items()
        if key.kind in wellknown.AUTOSCALERS and (target := scale_target(item.body))[1] in SCALE_TARGETS
    }
