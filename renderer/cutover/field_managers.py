"""Who owns the fields of a live object: the JSON patch by which the operator hands them over."""

from __future__ import annotations

from collections.abc import Mapping

from renderer.cutover.cluster_dump import MANAGER, applied_entries
from renderer.kubernetes.json_values import as_map, map_at, maps_at

_REPLICAS = ("f:spec", "f:replicas")


def hand_over(body: object, manager: str, *, keeps_replicas: bool = True) -> list[dict[str, object]]:
    """The JSON patch that gives a field manager what the operator has applied; empty where that is nothing. It fails
    where the object has changed hands since the dump.

    `keeps_replicas`: whether `spec.replicas` goes with the rest. Otherwise nobody owns it, so that it stays as it is
    when the manager applies an object without it.
    """
    entries = maps_at(body, "metadata", "managedFields")
    own, new = applied_entries(body, MANAGER), applied_entries(body, manager)
    if not own:
        return []
    place = f"/metadata/managedFields/{own[0]}"
    patch: list[dict[str, object]] = [
        {"op": "test", "path": f"{place}/manager", "value": MANAGER},
        {"op": "test", "path": f"{place}/operation", "value": "Apply"},
    ]
    fields = map_at(entries[own[0]], "fieldsV1")
    if new:  # it has applied already: one entry owns what both own
        other = f"/metadata/managedFields/{new[0]}"
        union = _union(map_at(entries[new[0]], "fieldsV1"), fields)
        union = union if keeps_replicas else _without_replicas(union)
        patch += [
            {"op": "test", "path": f"{other}/manager", "value": manager},
            {"op": "replace", "path": f"{other}/fieldsV1", "value": union},
            {"op": "remove", "path": place},
        ]
    else:
        patch.append({"op": "replace", "path": f"{place}/manager", "value": manager})
        if not keeps_replicas and _REPLICAS[1] in map_at(fields, _REPLICAS[0]):
            patch.append({"op": "remove", "path": "/".join((place, "fieldsV1", *_REPLICAS))})
    return patch


def _union(fields: Mapping[str, object], others: Mapping[str, object]) -> dict[str, object]:
    """The fields of either set."""
    return {key: _union(as_map(fields.get(key)), as_map(others.get(key))) for key in dict.fromkeys((*fields, *others))}


def _without_replicas(fields: Mapping[str, object]) -> dict[str, object]:
    spec = {key: value for key, value in map_at(fields, _REPLICAS[0]).items() if key != _REPLICAS[1]}
    return {**fields, _REPLICAS[0]: spec}
