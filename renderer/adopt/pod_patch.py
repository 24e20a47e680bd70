"""The podTemplate that gives a rendered pod what another pod has: the opposite of a strategic merge."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from renderer.adopt.server_defaults import without_defaults
from renderer.diagnostics import Path
from renderer.kubernetes import quantity
from renderer.kubernetes.api_types import merge_keys, type_at
from renderer.kubernetes.server_defaults import constants, says_nothing

Body = Mapping[str, Any]
_ACTIONS = frozenset(("exec", "httpGet", "tcpSocket", "grpc", "sleep"))  # of probes and hooks, of which one may stand
_FIRST = ("name", "image", "restartPolicy", "command", "args", "env", "ports", "resources")
_FIRST_PROBES = ("startupProbe", "readinessProbe", "livenessProbe", "lifecycle")
_LAST = ("initContainers", "containers", "volumes")
_MIDDLE = 50
_RANKS = {
    **{key: rank for rank, key in enumerate((*_FIRST, *_FIRST_PROBES))},
    **{key: _MIDDLE + 1 + rank for rank, key in enumerate(_LAST)},
}
_REPLACED = {"$patch": "replace"}
_AMOUNTS = ("limits", "requests")
_QUANTITIES = frozenset(("limits", "requests", "sizeLimit", "storage"))


def patch_between(original: Body, rendered: Body) -> dict[str, Any]:
    """The patch of `metadata` and `spec` with which the rendered pod has every field of the original one; what it has
    besides stays. Empty where nothing is missing.
    """
    patch: dict[str, Any] = _ordered(_map_patch(original, rendered, ()))
    return patch


def _ordered(value: Any, parent: str = "") -> Any:
    """The value with the keys of maps in one order, and quantities in one form, however they were written. `parent`:
    the key that holds it.
    """
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: (_RANKS.get(key, _MIDDLE), key))
        return {key: canonical_amount(value[key]) if parent in _AMOUNTS else _ordered(value[key], key) for key in keys}
    return [_ordered(item) for item in value] if isinstance(value, list) else value


def canonical_amount(amount: object) -> object:
    """A quantity in the form in which it is rendered; anything else as it is."""
    try:
        return quantity.canonical(amount)
    except (TypeError, ValueError):
        return amount


def _map_patch(original: Body, rendered: Body, path: Path) -> dict[str, Any]:
    patch: dict[str, Any] = {}
    if (actions := _ACTIONS.intersection(original)) and _ACTIONS.intersection(rendered) - actions:
        return {**_REPLACED, **original}
    defaults = constants(type_at(*path))
    for key, value in original.items():
        if key not in rendered:
            if not (key in defaults and defaults[key] == value) and not says_nothing(key, value):
                patch[key] = without_defaults(value, type_at(*path, key))
        elif (part := _value_patch(value, rendered[key], (*path, key))) is not None:
            patch[key] = part
    return patch


def _value_patch(original: Any, rendered: Any, path: Path) -> Any:
    """The patch of a field that both have; None where the rendered one has all of it."""
    if isinstance(original, dict) and isinstance(rendered, dict):
        return _map_patch(original, rendered, path) or None
    if isinstance(original, list) and isinstance(rendered, list):
        if keys := merge_keys(type_at(*path[:-1]), path[-1]):
            return _items_patch(original, rendered, keys, path)
        if path[-1] == "tolerations":  # of which a patch adds its own
            known = {json.dumps(item, sort_keys=True) for item in rendered}
            return [item for item in original if json.dumps(item, sort_keys=True) not in known] or None
        return None if original == rendered else original
    if path[-1] == "terminationGracePeriodSeconds" and isinstance(rendered, int) and isinstance(original, int):
        return None if original <= rendered else original  # what ends sooner loses nothing
    if path[-2:-1] and path[-2] in _QUANTITIES:
        return None if _amount(original) == _amount(rendered) else original
    return None if original == rendered else original


def _items_patch(original: Sequence[Any], rendered: Sequence[Any], keys: Sequence[str], path: Path) -> Any:
    """The patch of a list whose items are matched by merge keys."""
    rendered_items = {_identity(item, keys): item for item in rendered}
    patches = []
    for item in original:
        identity = _identity(item, keys)
        if identity not in rendered_items:
            patches.append(without_defaults(item, type_at(*path)))
        elif patch := _map_patch(item, rendered_items[identity], (*path, "[]")):
            patches.append({**{key: item[key] for key in keys if key in item}, **patch})
    return patches or None


def _identity(item: Body, keys: Sequence[str]) -> tuple[object, ...]:
    values = (item.get(key, "TCP" if key == "protocol" else None) for key in keys)
    return tuple(str(value) if isinstance(value, (dict, list)) else value for value in values)  # what no server takes


def _amount(value: object) -> object:
    try:
        return quantity.nanos(value)
    except ValueError:
        return value
