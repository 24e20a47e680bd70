"""Which object that is gone is one that is new, under another name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from renderer.diff.objects import WORKLOAD, Body, Items, Key, at

_LABELS = ("spec", "leaderWorkerTemplate", "workerTemplate", "metadata", "labels")
_APP = "app.kubernetes.io/name"
_ALIKE = 0.85  # part of the fields that both have, names aside
_ALIKE_OF_ANOTHER_MODEL = 0.95
_MOST = 900  # pairs of one namespace and kind that are compared: beyond it nobody reads names one by one
_MOVES = 4_000  # pairs of one name and kind
_FIELDS = 1_000_000  # of all objects in these pairs


def renamed(gone: Items, new: Items) -> dict[Key, Key]:
    """By new key, the old one: workloads that are nearly alike, what belongs to them, then what belongs to nobody."""
    found = _pairs(
        {key: item.body for key, item in gone.items() if key.kind == WORKLOAD},
        {key: item.body for key, item in new.items() if key.kind == WORKLOAD},
    )
    owners = {(was.namespace, was.name): key for key, was in found.items()}
    taken = {(key.namespace, key.name) for key in new if key.kind == WORKLOAD} | set(owners)
    for key, item in gone.items():
        label = at(item.body, "metadata", "labels", _APP)
        owner = owners.get((key.namespace, str(label)))
        if owner and key.kind != WORKLOAD:
            name = _under(str(label), owner.name, key.name)
            heir = key._replace(namespace=owner.namespace, name=name)
            if heir in new:
                found[heir] = key
    taken |= {(key.namespace, key.name) for key in gone if key.kind == WORKLOAD}
    for kind in sorted({key.kind for key in gone} - {WORKLOAD, "File"}):
        rest = [
            {
                key: item.body
                for key, item in side.items()
                if key.kind == kind
                and key not in found
                and key not in found.values()
                and (key.namespace, str(at(item.body, "metadata", "labels", _APP))) not in taken
            }
            for side in (gone, new)
        ]
        found |= _pairs(rest[0], rest[1])
    return found


def _under(old: str, new: str, text: str) -> str:
    """The text with one name in the place of another, where that stands as a word."""
    return re.sub(rf"(?<![a-z0-9]){re.escape(old)}(?![a-z0-9])", lambda _: new, text)


def _pairs(gone: Mapping[Key, Body], new: Mapping[Key, Body]) -> dict[Key, Key]:
    """The pairs that are most alike, each object in one of them. They have the name in common, or the namespace."""
    pairs = _sharing(gone, new, lambda key: key.name, _MOVES) + _sharing(gone, new, lambda key: key.namespace, _MOST)
    sizes = {id(body): sum(1 for _ in _leaves(body, [])) for side in (gone, new) for body in side.values()}
    if sum(sizes[id(gone[was])] + sizes[id(new[key])] for was, key in pairs) > _FIELDS:
        return {}
    scores = []
    for was, key in pairs:
        score, least = _alike(was, gone[was], key, new[key])
        if score >= least:
            scores.append((-score, was, key))
    found: dict[Key, Key] = {}
    taken: set[Key] = set()
    for _, was, key in sorted(scores):
        if key not in found and was not in taken:
            found[key] = was
            taken.add(was)
    return found


def _sharing(gone: Iterable[Key], new: Iterable[Key], part: Callable[[Key], str], most: int) -> list[tuple[Key, Key]]:
    """The pairs that have a part in common; none where there are too many."""
    found: dict[str, list[Key]] = {}
    for key in new:
        found.setdefault(part(key), []).append(key)
    if sum(len(found.get(part(was), ())) for was in gone) > most:
        return []
    return [(was, key) for was in gone for key in found.get(part(was), ())]


def _alike(was: Key, old: Body, key: Key, body: Body) -> tuple[float, float]:
    """How much of two objects is one, and how much has to be."""
    swaps = [(was.name, key.name), (was.namespace, key.namespace)]
    models = at(old, *_LABELS, "llmaz.io/model-name"), at(body, *_LABELS, "llmaz.io/model-name")
    if models[0] != models[1] and all(isinstance(each, str) for each in models):
        swaps.append((str(models[0]), str(models[1])))
    theirs = set(_leaves(body, []))
    # What stays as it is says the most: a public name may hold the old name by chance.
    pairs = zip(_leaves(old, []), _leaves(old, swaps), strict=True)
    mine = {same if same in theirs else swapped for same, swapped in pairs}
    least = _ALIKE if models[0] == models[1] else _ALIKE_OF_ANOTHER_MODEL
    return len(mine & theirs) / max(len(mine | theirs), 1), least


def _leaves(value: Any, swaps: list[tuple[str, str]], path: str = "") -> Iterator[tuple[str, str]]:
    """Every single value with its path, under the new names. Where an item of a list stands does not count."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _leaves(each, swaps, f"{path}/{key}")
    elif isinstance(value, list):
        for each in value:
            named = each.get("name", "") if isinstance(each, dict) else ""
            yield from _leaves(each, swaps, f"{path}/-{named if isinstance(named, str) else ''}")
    else:
        text = str(value)
        for old, new in swaps:
            if old and old != new and old in text:
                text = _under(old, new, text)
        yield path, text
