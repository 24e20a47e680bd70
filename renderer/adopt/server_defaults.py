"""What an API server fills into pods, and writes into objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from renderer.admission.defaults import CONSTANTS, pull_policy
from renderer.adopt.former_fields import WRITTEN_ANNOTATIONS
from renderer.diagnostics import Path
from renderer.kubernetes.json_values import map_at

POD = "core.PodSpec"
_CONTAINER = "core.Container"
_TYPES = {
    "spec": POD,
    "containers": _CONTAINER,
    "initContainers": _CONTAINER,
    **dict.fromkeys(("startupProbe", "readinessProbe", "livenessProbe"), "core.Probe"),
    "httpGet": "core.HTTPGetAction",
    "grpc": "core.GRPCAction",
    "ports": "core.ContainerPort",
    "fieldRef": "core.ObjectFieldSelector",
    "secret": "core.SecretVolumeSource",
    "configMap": "core.ConfigMapVolumeSource",
    "downwardAPI": "core.DownwardAPIVolumeSource",
    "projected": "core.ProjectedVolumeSource",
    "serviceAccountToken": "core.ServiceAccountTokenProjection",
    "hostPath": "core.HostPathVolumeSource",
}  # the types of fields in the template of a pod
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


def without_defaults(value: Any, type_name: str = POD) -> Any:
    """A part of a pod without what a server fills in."""
    if isinstance(value, list):
        return [without_defaults(item, type_name) for item in value]
    if not isinstance(value, dict):
        return value
    defaults = dict(CONSTANTS.get(type_name, {}))
    if type_name == _CONTAINER:
        defaults["imagePullPolicy"] = pull_policy(value.get("image"))
    return {
        key: without_defaults(item, _TYPES.get(key, ""))
        for key, item in value.items()
        if not (key in defaults and defaults[key] == item) and not (type_name == _CONTAINER and item == {})
    }


def type_of(field: object) -> str:
    """The type of what a field of a pod's template holds, or of its items; '' for those without defaults."""
    return _TYPES.get(str(field), "")


def is_default(path: Path, key: str, value: object) -> bool:
    """Whether a field of a pod's template has the value that a server fills in. `path`: of the map that holds it."""
    step = next((str(step) for step in reversed(path) if step != "[]"), "")
    defaults = CONSTANTS.get(_TYPES.get(step, ""), {})
    return key in defaults and defaults[key] == value


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
