"""Normalizes hand-written parts of pods as the API server does, to avoid drift (docs/design/drift.md#rules).

Quantities become canonical, defaults inside list items explicit (those of LeaderWorkerSet's CRD, which are the stated
ones of Kubernetes' types); null and meaningless empty lists and maps are removed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from renderer.diagnostics import Collector, Origin, Path
from renderer.kubernetes import quantity
from renderer.kubernetes.api_types import POD_TEMPLATE, api_types, type_at, types_below

# Keys whose empty maps have a meaning: select everything, make a volume.
_MEANINGFUL = frozenset({"emptyDir", "namespaceSelector", "labelSelector", "selector", "exclude", "downwardAPI"})
_QUANTITIES = frozenset({"sizeLimit", "divisor"})
_QUANTITY_MAPS = frozenset({"limits", "requests"})


def default_pod_template(value: Mapping[str, object], origin: Origin, diagnostics: Collector) -> dict[str, Any]:
    """A normalized pod template (`{metadata, spec}`)."""
    normal: dict[str, object] = _normalize(value, POD_TEMPLATE, origin, diagnostics)
    return normal


def default_env_entry(env: Mapping[str, object], origin: Origin, diagnostics: Collector) -> Mapping[str, Any]:
    """A normalized entry of a container's `env`; the same map when nothing changes."""
    if "valueFrom" not in env:
        return _without_null_value(env)
    completed: Mapping[str, object] = _normalize(env, "core.EnvVar", origin, diagnostics, in_list=True)
    return completed


def default_env(
    envs: Sequence[Mapping[str, object]], origin: Origin, diagnostics: Collector
) -> list[Mapping[str, object]]:
    """A container's normalized `env`."""
    return [
        default_env_entry(env, origin.at(i), diagnostics) if "valueFrom" in env else _without_null_value(env)
        for i, env in enumerate(envs)
    ]


def _without_null_value(env: Mapping[str, object]) -> Mapping[str, object]:
    return env if env.get("value", "") is not None else {"name": env["name"]}


def normalize_part(value: object, origin: Origin, diagnostics: Collector) -> Any:
    """A part of a pod, or a patch, with canonical quantities and nothing empty, without defaults."""
    return _normalize(value, "", origin, diagnostics)


def fill_defaults(value: Mapping[str, Any], *path: str) -> dict[str, Any]:
    """A normalized part of a pod template, with the defaults inside its lists. `path`: as `spec`, `containers`."""
    completed: dict[str, object] = _normalize(
        value, type_at(*path), Origin(_NOWHERE), Collector(), in_list="[]" in path
    )
    return completed


class _Nowhere:
    """The source of values that were validated before."""

    name = ""

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        return 0, 0


_NOWHERE = _Nowhere()


def _normalize(value: object, type_name: str, origin: Origin, diagnostics: Collector, *, in_list: bool = False) -> Any:
    """The value, of a type of the API server's, '' for none. `in_list`: it stands in an item of a list."""
    if isinstance(value, dict):
        types = types_below(type_name)
        if "valueFrom" in value and value.get("value"):
            diagnostics.add("E524", origin, name=value.get("name", ""))
        completed = {}
        for key, item in value.items():
            if item is None or item == [] or (item == {} and key not in _MEANINGFUL):
                continue
            if key in _QUANTITY_MAPS and isinstance(item, dict):
                completed[key] = {
                    name: amount if name == "$patch" else _quantity(amount, origin.at(key, name), diagnostics)
                    for name, amount in item.items()
                }
            elif key in _QUANTITIES and not isinstance(item, dict):
                completed[key] = _quantity(item, origin.at(key), diagnostics)
            else:
                completed[key] = _normalize(item, types.get(key, ""), origin.at(key), diagnostics, in_list=in_list)
                if key == "resourceFieldRef":
                    completed[key].setdefault("divisor", "0")
        for key, default in api_types().defaults.get(type_name, {}).items() if in_list else ():
            completed.setdefault(key, default)
        return completed
    if isinstance(value, list):
        return [_normalize(item, type_name, origin.at(i), diagnostics, in_list=True) for i, item in enumerate(value)]
    return value


def _quantity(value: object, origin: Origin, diagnostics: Collector) -> Any:
    try:
        return quantity.canonical(value)
    except ValueError:
        diagnostics.add("E305", origin, value=value, hint=quantity.hint(value))
        return value
