"""What two runs have in common: an item whose input, and all that it uses, is the same on both sides is made once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from renderer.api import App, Inputs, OpenModel, TrafficInput
from renderer.diagnostics import Diagnostic

T = TypeVar("T")
Key = tuple[str, str, str]  # kind, namespace, name


def item_key(item: App | TrafficInput) -> Key:
    """What an item is called on both sides."""
    return item.kind, item.namespace, item.name


def unchanged_items(one: Inputs, other: Inputs) -> set[Key]:
    """The items of which the same comes on both sides."""
    if not _surroundings(one, other):
        return set()
    items, other_items = _items(one), _items(other)
    changed = _changed(_models(one), _models(other))
    different = _changed(items, other_items)
    if changed:
        different |= {name for name, content in other_items.items() if changed.intersection(_claimed(content))}
    # What leads to several apps may look at any of its namespace, and an app at what leads to it.
    led = {traffic_input.namespace for side in (one, other) for traffic_input in side.traffic}
    touched = led & {namespace for _, namespace, _ in different}
    return {name for name in other_items if name not in different and name[1] not in touched}


def unchanged_models(one: Inputs, other: Inputs, problems: Iterable[Diagnostic]) -> set[str]:
    """The user's models of which there is nothing to say on the other side, as there was not on this one, where these
    problems were found.
    """
    if not _surroundings(one, other):
        return set()
    faulty = {problem.file for problem in problems}
    fine = {item.name for item in one.own if item.document.name not in faulty}
    changed = _changed(_models(one), _models(other))
    return fine - changed


def _surroundings(one: Inputs, other: Inputs) -> bool:
    """Whether everything is the same that any item may use: the configuration, backends, objects of others."""
    return (
        one.config.spec == other.config.spec
        and one.around == other.around
        # A backend of the user's own has lists of options beside it, which nobody compares.
        and all(isinstance(item, OpenModel) for side in (one, other) for item in side.own)
        and not any(side.unreadable or side.broken or side.beyond for side in (one, other))
    )


Said = tuple[str, Any, Any]  # the file that an item lies in, its spec, and its annotations or version


def _items(inputs: Inputs) -> dict[Key, Said]:
    apps: dict[Key, Said] = {item_key(app): (app.file, app.spec, app.annotations) for app in inputs.apps}
    return apps | {
        item_key(traffic_plan): (traffic_plan.file, traffic_plan.spec, traffic_plan.version)
        for traffic_plan in inputs.ways
    }


def _models(inputs: Inputs) -> dict[str, Any]:
    return {item.name: (item.spec, item.document.value.get("metadata")) for item in inputs.own}


def _claimed(content: Said) -> Iterator[str]:
    """The models that an app names."""
    spec = content[1]
    if "modelClaim" in spec:
        yield spec["modelClaim"]["modelName"]
    for model in (spec.get("modelClaims") or {}).get("models") or ():
        yield model["name"]


def _changed(one: Mapping[T, Any], other: Mapping[T, Any]) -> set[T]:
    """The keys whose values are not the same on both sides."""
    return {key for key in one.keys() | other.keys() if one.get(key) != other.get(key)}
