"""What two runs have in common: an item whose input, and all that it uses, is the same on both sides is made once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from renderer.api import App, Inputs, OpenModel, Traffic
from renderer.problems import Problem

T = TypeVar("T")
Key = tuple[str, str, str]  # kind, namespace, name


def key(item: App | Traffic) -> Key:
    """What an item is called on both sides."""
    return item.kind, item.namespace, item.name


def items(one: Inputs, other: Inputs) -> set[Key]:
    """The items of which the same comes on both sides."""
    if not _surroundings(one, other):
        return set()
    here, there = _items(one), _items(other)
    changed = _changed(_models(one), _models(other))
    different = _changed(here, there)
    if changed:
        different |= {name for name, said in there.items() if changed.intersection(_claimed(said))}
    # What leads to several apps may look at any of its namespace, and an app at what leads to it.
    led = {each.namespace for side in (one, other) for each in side.traffic}
    touched = led & {namespace for _, namespace, _ in different}
    return {name for name in there if name not in different and name[1] not in touched}


def models(one: Inputs, other: Inputs, problems: Iterable[Problem]) -> set[str]:
    """The user's models of which there is nothing to say on the other side, as there was not on this one, where these
    problems were found.
    """
    if not _surroundings(one, other):
        return set()
    faulty = {each.file for each in problems}
    fine = {each.name for each in one.own if each.document.name not in faulty}
    changed = _changed(_models(one), _models(other))
    return fine - changed


def _surroundings(one: Inputs, other: Inputs) -> bool:
    """Whether everything is the same that any item may use: the configuration, backends, objects of others."""
    return (
        one.config.spec == other.config.spec
        and one.around == other.around
        # A backend of the user's own has lists of options beside it, which nobody compares.
        and all(isinstance(each, OpenModel) for side in (one, other) for each in side.own)
        and not any(side.unreadable or side.broken or side.beyond for side in (one, other))
    )


Said = tuple[str, Any, Any]  # the file that an item lies in, its spec, and its annotations or version


def _items(inputs: Inputs) -> dict[Key, Said]:
    apps: dict[Key, Said] = {key(each): (each.file, each.spec, each.annotations) for each in inputs.apps}
    return apps | {key(each): (each.file, each.spec, each.version) for each in inputs.ways}


def _models(inputs: Inputs) -> dict[str, Any]:
    return {each.name: (each.spec, each.document.value.get("metadata")) for each in inputs.own}


def _claimed(said: Said) -> Iterator[str]:
    """The models that an app names."""
    spec = said[1]
    if "modelClaim" in spec:
        yield spec["modelClaim"]["modelName"]
    for each in (spec.get("modelClaims") or {}).get("models") or ():
        yield each["name"]


def _changed(one: Mapping[T, Any], other: Mapping[T, Any]) -> set[T]:
    """The keys whose values are not the same on both sides."""
    return {each for each in one.keys() | other.keys() if one.get(each) != other.get(each)}
