"""Finds items with the same input on two sides, including all that they use, so that they are rendered once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from msgspec import Struct

from renderer.api import App, Inputs, OpenModel, TrafficInput
from renderer.diagnostics import Diagnostic

T = TypeVar("T")
Key = tuple[str, str, str]  # kind, namespace, name


def item_key(item: App | TrafficInput) -> Key:
    """The identity of an item on both sides."""
    return item.kind, item.namespace, item.name


def unchanged_items(later: Inputs, base: Inputs) -> set[Key]:
    """The items that render to the same objects on both sides."""
    if not _same_surroundings(later, base):
        return set()
    later_items, base_items = _items(later), _items(base)
    changed = _changed_keys(_models(later), _models(base))
    different = _changed_keys(later_items, base_items)
    if changed:
        different |= {key for key, content in base_items.items() if changed.intersection(_claimed_models(content.spec))}
    # Traffic may depend on any app of its namespace, and apps on the traffic there.
    traffic_namespaces = {traffic_input.namespace for side in (later, base) for traffic_input in side.traffic}
    affected_namespaces = traffic_namespaces & {namespace for _, namespace, _ in different}
    return {key for key in base_items if key not in different and key[1] not in affected_namespaces}


def unchanged_models(later: Inputs, base: Inputs, problems: Iterable[Diagnostic]) -> set[str]:
    """The user's models that are the same on both sides, and had none of these `problems` on the later side."""
    if not _same_surroundings(later, base):
        return set()
    faulty = {problem.file for problem in problems}
    faultless = {item.name for item in later.definitions if item.document.name not in faulty}
    changed = _changed_keys(_models(later), _models(base))
    return faultless - changed


def _same_surroundings(later: Inputs, base: Inputs) -> bool:
    """Whether all that any item may use is the same: the configuration, backends, foreign objects."""
    return (
        later.config.spec == base.config.spec
        and later.foreign_objects == base.foreign_objects
        # A user's backend may have lists of options in other files, which are not compared.
        and all(isinstance(item, OpenModel) for side in (later, base) for item in side.definitions)
        and not any(side.unreadable or side.broken or side.outside_apps for side in (later, base))
    )


class _Content(Struct, frozen=True):
    """The input of an item: its file, spec, and annotations or API version."""

    file: str
    spec: object
    annotations: object


def _items(inputs: Inputs) -> dict[Key, _Content]:
    apps = {item_key(app): _Content(app.file, app.spec, app.annotations) for app in inputs.apps}
    return apps | {
        item_key(traffic): _Content(traffic.file, traffic.spec, traffic.version) for traffic in inputs.rendered_traffic
    }


def _models(inputs: Inputs) -> dict[str, object]:
    return {item.name: (item.spec, item.document.value.get("metadata")) for item in inputs.definitions}


def _claimed_models(spec: Any) -> Iterator[str]:
    """The models that an app claims."""
    if "modelClaim" in spec:
        yield spec["modelClaim"]["modelName"]
    for model in (spec.get("modelClaims") or {}).get("models") or ():
        yield model["name"]


def _changed_keys(later: Mapping[T, object], base: Mapping[T, object]) -> set[T]:
    """The keys whose values differ, or are missing on one side."""
    return {key for key in later.keys() | base.keys() if later.get(key) != base.get(key)}
