"""Lists of objects, such as `kubectl get -o yaml` prints for several."""

from __future__ import annotations


def is_object_list(value: object) -> bool:
    """Whether this is a List with objects in it, under `items`."""
    if not isinstance(value, dict) or (value.get("apiVersion"), value.get("kind")) != ("v1", "List"):
        return False
    return isinstance(value.get("items"), list) and bool(value["items"])
