"""Renamed objects: pairs of a removed and an added object that are nearly the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec.structs import replace

from renderer.diff.objects import WORKLOAD, Body, Items, ObjectKey, is_workload
from renderer.kubernetes import disaggregated_sets, wellknown
from renderer.kubernetes.json_values import value_at
from renderer.kubernetes.workloads import pod_template

_LABELS = ("metadata", "labels")
_APP = wellknown.NAME
_ALIKE = 0.85  # least share of common fields, names not counted
_ALIKE_OF_ANOTHER_MODEL = 0.95
_MOST = 900  # pairs of one namespace and kind that are compared: beyond it nobody reads names one by one
_MOVES = 4_000  # pairs of one name and kind
_FIELDS = 1_000_000  # of all objects in these pairs


def match_renamed(removed: Items, added: Items) -> dict[ObjectKey, ObjectKey]:
    """By new key, the old key of renamed objects: similar workloads, their objects, then objects without a workload."""
    old_workloads, new_workloads = (
        {key: item.body for key, item in side.items() if is_workload(key, item.body)} for side in (removed, added)
    )
    old_keys = _of_another_kind(old_workloads, new_workloads)
    for key, was in old_keys.items():
        del new_workloads[key], old_workloads[was]
    old_keys |= _pairs(old_workloads, new_workloads)
    owners = {_app(was, removed[was].body): _app(key, added[key].body) for key, was in old_keys.items()}
    claimed_apps = {_app(key, body) for key, body in new_workloads.items()} | set(owners)
    for key, item in removed.items():
        label = value_at(item.body, "metadata", "labels", _APP)
        owner = owners.get((key.namespace, str(label)))
        if owner and key not in old_keys.values() and not is_workload(key, item.body):
            namespace, name = owner
            new_key = replace(key, namespace=namespace, name=replace_name(str(label), name, key.name))
            if new_key in added:
                old_keys[new_key] = key
    claimed_apps |= {_app(key, body) for key, body in old_workloads.items()}
    for kind in sorted({key.kind for key in removed} - {WORKLOAD, "File"}):
        sides = [
            {
                key: item.body
                for key, item in side.items()
                if key.kind == kind
                and key not in old_keys
                and key not in old_keys.values()
                and (key.namespace, str(value_at(item.body, "metadata", "labels", _APP))) not in claimed_apps
            }
            for side in (removed, added)
        ]
        old_keys |= _pairs(sides[0], sides[1])
    return old_keys


def _app(key: ObjectKey, body: Body) -> tuple[str, str]:
    """Namespace and name of the app of a workload, which may do only a part of its work."""
    label = value_at(body, "metadata", "labels", _APP)
    return key.namespace, label if isinstance(label, str) else key.name


def _of_another_kind(removed: Mapping[ObjectKey, Body], added: Mapping[ObjectKey, Body]) -> dict[ObjectKey, ObjectKey]:
    """By new key, the old key of workloads whose kind changed and whose name stays. A DisaggregatedSet is none: it is
    several workloads.
    """
    by_place = {(key.namespace, key.name): key for key in removed if key.kind != disaggregated_sets.KIND}
    return {
        key: by_place[key.namespace, key.name]
        for key in added
        if key.kind != disaggregated_sets.KIND and (key.namespace, key.name) in by_place
    }


def replace_name(old: str, new: str, text: str) -> str:
    """The text with the old name replaced by the new one, as a whole word only."""
    return re.sub(rf"(?<![a-z0-9]){re.escape(old)}(?![a-z0-9])", lambda _: new, text)


def _pairs(removed: Mapping[ObjectKey, Body], added: Mapping[ObjectKey, Body]) -> dict[ObjectKey, ObjectKey]:
    """By new key, the old key of the most similar pairs, each object in one. Pairs share the name or the namespace."""
    pairs = _pairs_sharing(removed, added, lambda key: key.name, _MOVES) + _pairs_sharing(
        removed, added, lambda key: key.namespace, _MOST
    )
    sizes = {id(body): sum(1 for _ in _leaves(body, [])) for side in (removed, added) for body in side.values()}
    if sum(sizes[id(removed[was])] + sizes[id(added[key])] for was, key in pairs) > _FIELDS:
        return {}
    scores = []
    for was, key in pairs:
        score, threshold = _similarity(was, removed[was], key, added[key])
        if score >= threshold:
            scores.append((-score, was, key))
    old_keys: dict[ObjectKey, ObjectKey] = {}
    matched: set[ObjectKey] = set()
    for _, was, key in sorted(scores):
        if key not in old_keys and was not in matched:
            old_keys[key] = was
            matched.add(was)
    return old_keys


def _pairs_sharing(
    removed: Iterable[ObjectKey], added: Iterable[ObjectKey], part: Callable[[ObjectKey], str], most: int
) -> list[tuple[ObjectKey, ObjectKey]]:
    """Pairs of old and new key with the same `part`; none if there are more than `most`."""
    keys_by_part: dict[str, list[ObjectKey]] = {}
    for key in added:
        keys_by_part.setdefault(part(key), []).append(key)
    if sum(len(keys_by_part.get(part(was), ())) for was in removed) > most:
        return []
    return [(was, key) for was in removed for key in keys_by_part.get(part(was), ())]


def _similarity(was: ObjectKey, old: Body, key: ObjectKey, body: Body) -> tuple[float, float]:
    """The share of fields that two objects have in common (0 to 1), and the least share that a rename needs."""
    swaps = [(was.name, key.name), (was.namespace, key.namespace)]
    models = (*(value_at(pod_template(side), *_LABELS, wellknown.MODEL_NAME) for side in (old, body)),)
    if models[0] != models[1] and all(isinstance(model, str) for model in models):
        swaps.append((str(models[0]), str(models[1])))
    new_leaves = set(_leaves(body, []))
    # What stays as it is says the most: a public name may hold the old name by chance.
    pairs = zip(_leaves(old, []), _leaves(old, swaps), strict=True)
    old_leaves = {same if same in new_leaves else swapped for same, swapped in pairs}
    threshold = _ALIKE if models[0] == models[1] else _ALIKE_OF_ANOTHER_MODEL
    return len(old_leaves & new_leaves) / max(len(old_leaves | new_leaves), 1), threshold


def _leaves(value: object, swaps: list[tuple[str, str]], path: str = "") -> Iterator[tuple[str, str]]:
    """Path and text of every scalar, with old names replaced as `swaps` say. Positions in lists do not count."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, swaps, f"{path}/{key}")
    elif isinstance(value, list):
        for item in value:
            name = item.get("name", "") if isinstance(item, dict) else ""
            yield from _leaves(item, swaps, f"{path}/-{name if isinstance(name, str) else ''}")
    else:
        text = str(value)
        for old, new in swaps:
            if old and old != new and old in text:
                text = replace_name(old, new, text)
        yield path, text
