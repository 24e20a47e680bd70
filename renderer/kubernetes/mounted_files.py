"""Files in a container that are keys of ConfigMaps."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from renderer.kubernetes.json_values import map_at, maps_at, text_at


class MountedKey(Struct, frozen=True):
    """A key of a ConfigMap that has to be there, and where a container has it as a file."""

    config_map: str
    key: str
    volume: str
    mount_path: str  # of the volume
    path: str  # of the file


def mounted_key(pod: Mapping[str, Any], container: Mapping[str, Any], path: str) -> MountedKey | None:
    """The key that a container of a pod (its spec) has at a path; None where something else is there."""
    volumes = {text_at(volume, "name"): map_at(volume, "configMap") for volume in maps_at(pod, "volumes")}
    mounts = {text_at(mount, "mountPath").rstrip("/"): mount for mount in maps_at(container, "volumeMounts")}
    mount_path = max((place for place in mounts if f"{path}/".startswith(f"{place}/")), key=len, default="")
    mount = mounts.get(mount_path, {})
    volume = text_at(mount, "name")
    source = volumes.get(volume, {})
    file = posixpath.join(text_at(mount, "subPath"), path[len(mount_path) + 1 :]).rstrip("/")
    items = {text_at(item, "path"): text_at(item, "key") for item in maps_at(source, "items")}
    key = items.get(file, "") if items else file
    name = text_at(source, "name")
    if not name or not key or "/" in key or source.get("optional") or "subPathExpr" in mount:
        return None
    return MountedKey(name, key, volume, mount_path, path)
