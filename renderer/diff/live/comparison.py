"""Compares what runs in a cluster, or what somebody else wrote, with rendered objects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import partial
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import msgspec
from msgspec.structs import replace

from renderer.diagnostics import Path
from renderer.diff.fields import ABSENT, same
from renderer.diff.live.compared import LivePair, ObjectSide, Surrounding
from renderer.diff.live.differing_field import DifferingField
from renderer.diff.live.fields import pair_leaves
from renderer.diff.live.leaves import OPTION, Key, Leaf, Leaves, path_text, prefixes, top_absent
from renderer.diff.live.records import (
    ADDED,
    COMPARED,
    EQUAL,
    LOST,
    NOT_RENDERED,
    UNEXPLAINED,
    Difference,
    LiveObject,
    LiveReport,
)
from renderer.diff.live.rules import explain, refuse
from renderer.diff.live.server_fields import is_compared, is_default
from renderer.diff.objects import ObjectKey
from renderer.engines.catalog import EngineCatalog
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import maps_at, text_at, value_at
from renderer.kubernetes.server_defaults import says_nothing
from renderer.kubernetes.variable_references import ConfigMaps, config_maps_by_namespace
from renderer.kubernetes.workloads import WORKLOADS, owner_names
from renderer.secrets.detection import ANOTHER, HIDDEN, hide_secrets
from renderer.yamlio import Document

# What a controller makes has an owner of one of these kinds.
_CONTROLLERS: Final = frozenset((*(name for _, name in WORKLOADS), "ScaledObject", "Service", "Node"))
_BESIDE: Final = frozenset(
    {"ConfigMap", "Secret", "Pod", "ReplicaSet", "ControllerRevision", "Endpoints", "EndpointSlice"}
)
Classes: TypeAlias = dict[Key, tuple[str, str, int]]
"""Of fields, by their keys: the class of the difference, the rule and the deviation."""
_BACKENDS: Final = ("backendRefs", "backendRef", "backends", "service", "endpoints")


def compare_live(
    theirs: Sequence[Document],
    rendered: Sequence[Mapping[str, Any]],
    catalog: EngineCatalog,
    names: Mapping[tuple[str, str], str] = MappingProxyType({}),
) -> LiveReport:
    """The differences between the objects of a dump and rendered ones. Objects that are not about serving, and those
    that a controller made, are counted alone. `names`: those of rendered workloads, by namespace and name of the ones
    that they take the place of, where these are others.
    """
    skipped: Counter[str] = Counter()
    old: dict[ObjectKey, ObjectSide] = {}
    config_maps = config_maps_by_namespace(document.value for document in theirs)
    for document in theirs:
        body = document.value
        if not isinstance(body, dict) or not isinstance(body.get("kind"), str):
            continue
        key = object_key(body)
        if _is_made(body) or key.kind in _BESIDE or key in old:
            skipped[key.kind] += 1
        else:
            old[key] = ObjectSide(
                key, body, catalog, document.name, config_maps.get(text_at(body, "metadata", "namespace"))
            )
    rendered_maps = config_maps_by_namespace(rendered)
    new = {
        (key := object_key(body)): ObjectSide(
            key,
            body,
            catalog,
            config_maps={**_maps_of(key.namespace, config_maps), **_maps_of(key.namespace, rendered_maps)},
        )
        for body in rendered
    }
    pairs = [*_match(old, new, names)]
    around = Surrounding(pairs, [*old.values()], [*new.values()])
    known: dict[bytes, Classes] = {}
    objects = [_compare(LivePair(*pair, around), known) for pair in pairs]
    matched, rendered_keys = {side.key for side, _ in pairs}, {side.key for _, side in pairs}
    serving = {(side.key.namespace, side.key.name) for side in around.engines.sides}
    for key, side in old.items():
        if key in matched:
            continue
        if _is_about_serving(side, around, serving):
            objects.append(LiveObject(NOT_RENDERED, key, None, side.file, owners=owner_names(side.body)))
        else:
            skipped[key.kind] += 1
    objects += [LiveObject(ADDED, None, key) for key in new if key not in rendered_keys]
    return LiveReport(tuple(objects), dict(sorted(skipped.items())))


def _maps_of(namespace: str, config_maps: Mapping[str, ConfigMaps]) -> ConfigMaps:
    """The ConfigMaps of a namespace, to which those that name none may belong."""
    return {**config_maps.get("", {}), **config_maps.get(namespace, {})}


def object_key(body: Mapping[str, Any]) -> ObjectKey:
    """The identity of an object, in the namespace default where it says none."""
    kind = text_at(body, "kind")
    namespace = "" if kind in wellknown.CLUSTER_SCOPED else text_at(body, "metadata", "namespace") or "default"
    group, slash, _ = text_at(body, "apiVersion").rpartition("/")
    return ObjectKey(group if slash else "", kind, namespace, text_at(body, "metadata", "name"))


def _is_made(body: Mapping[str, Any]) -> bool:
    """Whether a controller of Kubernetes made the object; llmaz's inference Service has the kind of one."""
    return any(
        owner.get("kind") in _CONTROLLERS and "llmaz.io" not in text_at(owner, "apiVersion")
        for owner in maps_at(body, "metadata", "ownerReferences")
    )


def _match(
    old: Mapping[ObjectKey, ObjectSide], new: Mapping[ObjectKey, ObjectSide], names: Mapping[tuple[str, str], str]
) -> Iterator[tuple[ObjectSide, ObjectSide]]:
    """Objects of one kind and name; workloads of one name, whatever their kinds; autoscalers of such workloads."""
    workloads: dict[tuple[str, str], ObjectSide] = {}
    scalers: dict[tuple[str, str, str], ObjectSide] = {}
    for key, side in new.items():
        if key not in old and is_compared(key.api_kind):
            workloads[key.namespace, key.name] = side
        elif key not in old and key.kind in wellknown.AUTOSCALERS:
            scalers[key.kind, key.namespace, _target(side)] = side
    for key, side in old.items():
        other: ObjectSide | None = None
        if key in new:
            other = new[key]
        elif is_compared(key.api_kind):
            other = workloads.pop((key.namespace, names.get((key.namespace, key.name), key.name)), None)
        elif key.kind in wellknown.AUTOSCALERS:
            target = _target(side)
            other = scalers.pop((key.kind, key.namespace, names.get((key.namespace, target), target)), None)
        if other:
            yield side, other


def _target(autoscaler: ObjectSide) -> str:
    return text_at(autoscaler.view, "spec", "scaleTargetRef", "name")


def _is_about_serving(side: ObjectSide, around: Surrounding, serving: set[tuple[str, str]]) -> bool:
    """Whether an object that is not rendered would be missed: a workload with an engine, what leads to its pods, what
    scales it, and routes to such a Service.
    """
    if side.is_workload:
        return side.serves
    if side.key.kind in ("Service", "PodDisruptionBudget"):
        return bool(around.engines.selected_by(side))
    target = (side.key.namespace, text_at(side.view, "spec", "scaleTargetRef", "name"))
    backends = {_workload_name(name) for name in _backend_names(side.view)} | _backend_names(side.view)
    return target in serving or any((side.key.namespace, name) in serving for name in backends)


def _workload_name(service: str) -> str:
    """The name of the workload that a Service of the operator's or of ours leads to."""
    for suffix in (wellknown.LB_SERVICE, wellknown.LEADERS_SERVICE):
        if service.endswith(suffix):
            return service.removesuffix(suffix)
    return service


def _backend_names(value: object, *, within: bool = False) -> set[str]:
    """The names of the Services that a route leads to."""
    if isinstance(value, list):
        return {name for item in value for name in _backend_names(item, within=within)}
    if not isinstance(value, dict):
        return set()
    names = {value["name"]} if within and isinstance(value.get("name"), str) else set()
    for key, item in value.items():
        names |= _backend_names(item, within=within or key in _BACKENDS)
    return names


def _compare(pair: LivePair, known: dict[bytes, Classes]) -> LiveObject:
    """`known`: the classes of fields in pairs that are alike but for the names of their objects."""
    theirs, ours = pair_leaves(pair)
    classes = known.setdefault(_but_for_names(pair), {}) if pair.theirs.is_workload else {}
    above = (prefixes(theirs), prefixes(ours))
    shown = Shown(pair)
    differences: list[Difference] = []
    groups: dict[tuple[Key, str, str], list[tuple[Key, Difference]]] = {}
    count = 0
    for key in [*theirs, *(key for key in ours if key not in theirs)]:
        old, new = theirs.get(key), ours.get(key)
        if old and new and same(old.value, new.value):
            count += 1
            continue
        if (
            (old is None or new is None)
            and _is_empty(old or new)
            and (key in above[new is None] or says_nothing(key[-1], {}))
        ):
            continue
        is_of_pod = key[0].startswith("@")
        if old and not new and pair.other_kind and not is_of_pod and is_default(pair.theirs.view, old.place):
            continue  # a field of a kind that ours is not, as the server fills it in
        difference = _difference(key, old, new, pair, shown, classes)
        side = above[new is None]
        top = top_absent(key, side) if old is None or new is None else key
        groups.setdefault((top, difference.kind, difference.rule), []).append((key, difference))
    whole = Counter(top for top, _, _ in groups)
    for (top, _, _), entries in groups.items():
        if whole[top] == 1 and len(entries) > 1:
            differences.append(_join(top, entries, theirs, ours, shown))
        else:
            differences.extend(difference for _, difference in entries)
    owners = owner_names(pair.theirs.body)
    return LiveObject(COMPARED, pair.theirs.key, pair.ours.key, pair.theirs.file, tuple(differences), count, owners)


def _is_empty(leaf: Leaf | None) -> bool:
    return leaf is not None and leaf.value in ({}, [])


def _difference(
    key: Key, old: Leaf | None, new: Leaf | None, pair: LivePair, shown: Shown, classes: Classes
) -> Difference:
    """The difference of a field. `classes`: those of the fields that are known, to which its own is added."""
    if key not in classes:
        classes[key] = _classify(key, old, new, pair)
    kind, rule, deviation = classes[key]
    return Difference(
        path_text(key, pair.roots),
        old.value if old else ABSENT,
        new.value if new else ABSENT,
        partial(shown.values, key, old, new),
        kind,
        rule,
        deviation,
    )


def _classify(key: Key, old: Leaf | None, new: Leaf | None, pair: LivePair) -> tuple[str, str, int]:
    """The class of a difference, its rule and its deviation."""
    differing = DifferingField(key, old, new, pair)
    if refusal := refuse(differing):
        return refusal.effect, refusal.name, 0
    if old and new and new.meaning is not ABSENT and old.meaning is not ABSENT and same(old.meaning, new.meaning):
        return EQUAL, new.rule if new.rule not in ("json", "") else old.rule, 0
    if explanation := explain(differing):
        return explanation.effect, explanation.name, explanation.deviation
    return (LOST if differing.dropped else UNEXPLAINED), "", 0


def _but_for_names(pair: LivePair) -> bytes:
    """All of two workloads that decides about the classes of their fields, with the names of both and of the model as
    signs: what is equal for two pairs has the same classes. Of command lines, words behind options that name the model
    alone are taken for a name.
    """
    theirs, ours = pair.theirs, pair.ours
    pods = [*theirs.pods.values(), *ours.pods.values()]
    models = {text_at(pod.template, "metadata", "labels", wellknown.MODEL_NAME) for pod in ours.pods.values()}
    signs = {name: f"\0model {i}" for i, name in enumerate(sorted(models - {""}))}
    signs |= {theirs.key.name: "\0theirs", ours.key.name: "\0ours"}
    commands = [command for pod in pods for command in pod.engines.values()]
    naming = {option for command in commands for option in command.naming_options}
    is_scaled = (ours.key.namespace, ours.key.name) in pair.around.scaled
    bodies = [_with_signs(side.body, signs, naming) for side in (theirs, ours)]
    return msgspec.json.encode([sorted(signs.values()), is_scaled, id(theirs.config_maps), *bodies])


def _with_signs(value: object, signs: Mapping[str, str], naming: Set[str]) -> object:
    if isinstance(value, dict):
        return {
            key: signs.get(item, item) if isinstance(item, str) else _with_signs(item, signs, naming)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [
            (signs.get(item, item) if isinstance(before, str) and before in naming else item)
            if isinstance(item, str)
            else _with_signs(item, signs, naming)
            for before, item in zip(("", *value), value, strict=False)
        ]
    return value


def _join(
    top: Key, entries: Sequence[tuple[Key, Difference]], theirs: Leaves, ours: Leaves, shown: Shown
) -> Difference:
    """One difference for all fields of an item that a side has not."""
    key, first = entries[0]
    is_theirs = first.ours is ABSENT
    leaf, side = (theirs[key], shown.pair.theirs) if is_theirs else (ours[key], shown.pair.ours)
    place = leaf.place[: len(leaf.place) - (len(key) - len(top))]
    value, path = value_at(side.view, *place), path_text(top, shown.pair.roots)
    if is_theirs:
        return replace(first, path=path, theirs=value, hide_secrets=lambda: (shown.at(side, place), ABSENT))
    return replace(first, path=path, ours=value, hide_secrets=lambda: (ABSENT, shown.at(side, place)))


class Shown:
    """The values of a pair as they may be printed."""

    def __init__(self, pair: LivePair) -> None:
        self.pair: Final = pair
        self._bodies: dict[int, Any] = {}
        self._hidden: dict[tuple[int, Path], list[str]] = {}

    def body(self, side: ObjectSide) -> Any:
        """An object with its secrets hidden."""
        if id(side) not in self._bodies:
            self._bodies[id(side)] = hide_secrets(side.view)
        return self._bodies[id(side)]

    def at(self, side: ObjectSide, place: Path) -> object:
        """The value at a place of an object, with its secrets hidden."""
        return value_at(self.body(side), *place)

    def _secrets(self, side: ObjectSide, container: Path) -> list[str]:
        """The values of a container's variables that are hidden."""
        key = id(side), container
        if key not in self._hidden:
            entries = enumerate(maps_at(side.view, *container, "env"))
            self._hidden[key] = [
                str(entry["value"])
                for i, entry in entries
                if entry.get("value") and value_at(self.body(side), *container, "env", i, "value") == HIDDEN
            ]
        return self._hidden[key]

    def values(self, key: Key, old: Leaf | None, new: Leaf | None) -> tuple[object, object]:
        """Both values of a field, with secrets hidden."""
        texts = [
            self._value(key, leaf, side) if leaf else ABSENT
            for leaf, side in ((old, self.pair.theirs), (new, self.pair.ours))
        ]
        if old and new and texts[0] == texts[1]:
            texts[1] = ANOTHER
        return texts[0], texts[1]

    def _value(self, key: Key, leaf: Leaf, side: ObjectSide) -> object:
        last = key[-1]
        if not last.startswith(OPTION):
            is_start = last == "command" and isinstance(leaf.value, str)  # the words before an engine's options
            return leaf.value if is_start else self.at(side, leaf.place)
        value = str(leaf.value)
        for secret in self._secrets(side, leaf.place[:-2]):
            value = value.replace(secret, HIDDEN)
        return hide_secrets([last.removeprefix(OPTION), value])[-1]
