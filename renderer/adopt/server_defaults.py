"""What an API server fills into pods, and writes into objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from renderer.adopt.former_fields import WRITTEN_ANNOTATIONS
from renderer.kubernetes.api_types import types_below
from renderer.kubernetes.json_values import map_at
from renderer.kubernetes.server_defaults import constants, pull_policy

_CONTAINER = "core.Container"
SERVER_METADATA = (
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generation",
    "managedFields",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
)
"""The metadata that the API server and controllers write."""


def without_defaults(value: Any, type_name: str = "core.PodSpec") -> Any:
    """A part of a pod without what a server fills in."""
    if isinstance(value, list):
        return [without_defaults(item, type_name) for item in value]
    if not isinstance(value, dict):
        return value
    defaults = dict(constants(type_name))
    if type_name == _CONTAINER:
        defaults["imagePullPolicy"] = pull_policy(value.get("image"))
    types = types_below(type_name)
    return {
        key: without_defaults(item, types.get(key, ""))
        for key, item in value.items()
        if not (key in defaults and defaults[key] == item) and not (type_name == _CONTAINER and item == {})
    }


def is_live(value: Mapping[str, Any]) -> bool:
    """Whether a server has written the object, with its defaults."""
    metadata = map_at(value, "metadata")
    return bool(metadata.get("uid") or metadata.get("managedFields") or value.get("status"))


def without_server_fields(value: Mapping[str, Any]) -> dict[str, Any]:
    """An object without what a server and kubectl write into it."""
    metadata = {key: item for key, item in map_at(value, "metadata").items() if key not in SERVER_METADATA}
    annotations = map_at(metadata, "annotations")
    if remaining := {key: text for key, text in annotations.items() if key not in WRITTEN_ANNOTATIONS}:
        metadata["annotations"] = remaining
    else:
        metadata.pop("annotations", None)
    body = {**value, "metadata": metadata}
    body.pop("status", None)
    return body
