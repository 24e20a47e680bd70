"""A hand-written pod template as the API server keeps it, so that it never drifts (docs/design/drift.md#rules).

Quantities canonical, defaults inside list items written out (schemas/output/defaults.json), no null, no empty list or
map where an empty one says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from renderer import quantity, schema
from renderer.diagnostics import Collector, Origin, Path

# Empty maps that mean something: everything is selected, a volume is made.
_MEANT = frozenset({"emptyDir", "namespaceSelector", "labelSelector", "selector", "exclude", "downwardAPI"})
_QUANTITIES = frozenset({"sizeLimit", "divisor"})
_QUANTITY_MAPS = frozenset({"limits", "requests"})


def default_pod_template(value: Mapping[str, Any], origin: Origin, diagnostics: Collector) -> dict[str, Any]:
    """A pod template (`{metadata, spec}`)."""
    normal: dict[str, Any] = _normal(value, _defaults(), origin, diagnostics)
    return normal


def entry(env: Mapping[str, Any], origin: Origin, diagnostics: Collector) -> Mapping[str, Any]:
    """One entry of a container's environment; the same map when nothing had to change."""
    if "valueFrom" not in env:
        return _fixed(env)
    completed: Mapping[str, Any] = _normal(
        env, _defaults()["spec"]["containers"]["[]"]["env"]["[]"], origin, diagnostics
    )
    return completed


def entries(envs: Sequence[Mapping[str, Any]], origin: Origin, diagnostics: Collector) -> list[Mapping[str, Any]]:
    """A container's environment."""
    return [entry(env, origin.at(i), diagnostics) if "valueFrom" in env else _fixed(env) for i, env in enumerate(envs)]


def _fixed(env: Mapping[str, Any]) -> Mapping[str, Any]:
    return env if env.get("value", "") is not None else {"name": env["name"]}


def part(value: Any, origin: Origin, diagnostics: Collector) -> Any:
    """A part of a pod, or a patch of one: quantities canonical and nothing empty, but no default written out yet."""
    return _normal(value, {}, origin, diagnostics)


def filled(value: Mapping[str, Any], *path: str) -> dict[str, Any]:
    """The part of a pod template at `path` (`spec`, `containers`, `[]`), normal already, with the defaults inside its
    lists.
    """
    defaults = _defaults()
    for step in path:
        defaults = defaults.get(step, {})
    completed: dict[str, Any] = _normal(value, defaults, Origin(_NOWHERE), Collector())
    return completed


class _Nowhere:
    """For what was looked at before, at its own place."""

    name = ""

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        return 0, 0


_NOWHERE = _Nowhere()


@lru_cache(maxsize=1)
def _defaults() -> dict[str, Any]:
    """The table as a tree: `[]` leads into list items, `=` holds the defaults of a map's own keys."""
    table = schema.read("output/defaults")
    tree: dict[str, Any] = {}
    for path, value in table.items():
        steps = path.replace("[]", ".[]").split(".")
        node = tree
        for step in steps[:-1]:
            node = node.setdefault(step, {})
        node.setdefault("=", {})[steps[-1]] = value
    return tree


def _normal(value: Any, defaults: Mapping[str, Any], origin: Origin, diagnostics: Collector) -> Any:
    if isinstance(value, dict):
        if "valueFrom" in value and value.get("value"):
            diagnostics.add("E524", origin, name=value.get("name", ""))
        completed = {}
        for key, item in value.items():
            if item is None or item == [] or (item == {} and key not in _MEANT):
                continue
            if key in _QUANTITY_MAPS and isinstance(item, dict):
                completed[key] = {
                    name: amount if name == "$patch" else _quantity(amount, origin.at(key, name), diagnostics)
                    for name, amount in item.items()
                }
            elif key in _QUANTITIES and not isinstance(item, dict):
                completed[key] = _quantity(item, origin.at(key), diagnostics)
            else:
                completed[key] = _normal(item, defaults.get(key, {}), origin.at(key), diagnostics)
                if key == "resourceFieldRef":
                    completed[key].setdefault("divisor", "0")
        for key, default in defaults.get("=", {}).items():
            completed.setdefault(key, default)
        return completed
    if isinstance(value, list):
        return [_normal(item, defaults.get("[]", {}), origin.at(i), diagnostics) for i, item in enumerate(value)]
    return value


def _quantity(value: Any, origin: Origin, diagnostics: Collector) -> Any:
    try:
        return quantity.canonical(value)
    except ValueError:
        diagnostics.add("E305", origin, value=value)
        return value
