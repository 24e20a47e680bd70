"""Folders that an engine writes, or in which it looks for a model, and that are not as it needs them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from renderer.diagnostics import Diagnostic, Origin, make_diagnostic, rule
from renderer.engines.downloads import OFFLINE_VARIABLES, is_offline
from renderer.engines.given_options import written_options
from renderer.engines.handwritten_command import table_entry
from renderer.engines.rules.disk import mount_of, volume_of
from renderer.engines.running_engine import RunningEngine
from renderer.kubernetes.json_values import map_at, maps_at, text_at, texts_at

_READ_ONLY = "readOnlyRootFilesystem"
_FIXED = ("configMap", "secret", "projected", "downwardAPI", "image")  # volumes that no container writes
_CLAIMS = ("persistentVolumeClaim", "csi", "nfs")  # those that are read-only where they say so
# Images have folders with short names, such as /usr, and workspaces.
_OF_IMAGES = r"/(?:[a-z]{1,4}\d*|[a-z-]*workspace)(?:/|$)"
_OTHER_HUBS = "_USE_MODELSCOPE"  # how variables of engines end that make them ask another one


@cache
def _rows(backend: str) -> Sequence[Mapping[str, object]]:
    return maps_at(table_entry(backend), "writes")


@cache
def _options(backend: str) -> frozenset[str]:
    """The options and variables that name a folder which an engine writes."""
    return frozenset(name for row in _rows(backend) for name in texts_at(row, "names"))


def _may_not_write(running: RunningEngine) -> bool:
    """Whether the reader says which folder the engine writes, or where it cannot."""
    names = _options(running.line.backend)
    if _is_read_only_root(running) or not names.isdisjoint(running.line.options):
        return bool(names)
    return running.has_variable(names)


@rule(of=RunningEngine, when=_may_not_write)
def unwritable_folders(running: RunningEngine) -> Iterator[Diagnostic]:
    """A warning for each folder that the engine writes and cannot: at what names it, else at what makes the root file
    system read-only.
    """
    engine = running.line.engine.names.engine or running.line.backend
    for row in _rows(running.line.backend) if running.line.is_own_image() else ():
        if not running.line.options.isdisjoint(texts_at(row, "unless")):
            continue
        if row.get("downloads") is True and not running.downloads_to():
            continue
        names = texts_at(row, "names")
        named = [*_named_folders(running, names)]
        if not named and not _is_named(running, names) and (default := text_at(row, "default")):
            origin = running.origin_of((*running.path, "securityContext", _READ_ONLY))
            folders = [default, *texts_at(row, "others")]
            if origin and _is_read_only_root(running) and not any(_can_write(running, folder) for folder in folders):
                words = {"given": _READ_ONLY, "engine": engine, "what": text_at(row, "what"), "folder": default}
                yield make_diagnostic("W829", origin, why="the root file system is read-only", **words)
        for name, folder, origin in named:
            if why := _obstacle(running, folder, must_exist=bool(row.get("exists"))):
                words = {"given": name, "engine": engine, "what": text_at(row, "what"), "folder": folder}
                yield make_diagnostic("W829", origin, why=why, **words)


def _named_folders(running: RunningEngine, names: Sequence[str]) -> Iterator[tuple[str, str, Origin]]:
    """Each option and variable of the reader's with one of the names, the folder there, and its place."""
    line = running.line
    for option in written_options(line.engine.style, line.written, names):
        if option.value.startswith("/") and "$(" not in option.value:
            yield option.name, option.value, option.origin
    for name, origin in running.written_variables(""):
        value = running.plain_value(name) if name in names else ""
        if value.startswith("/") and "$(" not in value:
            yield name, value, origin


def _is_named(running: RunningEngine, names: Sequence[str]) -> bool:
    """Whether something else than the default may count."""
    return not running.line.options.isdisjoint(names) or running.has_variable(names)


def _can_write(running: RunningEngine, folder: str) -> bool:
    return mount_of(running, folder) is not None and not _obstacle(running, folder, must_exist=False)


def _obstacle(running: RunningEngine, folder: str, *, must_exist: bool) -> str:
    """Why a folder cannot be written, in words; '' where it can, or nobody knows."""
    mount = mount_of(running, folder)
    if mount is None:
        if _is_read_only_root(running):
            return "the root file system is read-only, and nothing is mounted there"
        is_lacking = must_exist and not re.match(_OF_IMAGES, folder)
        return "nothing is mounted there, and the image has no such folder" if is_lacking else ""
    volume = volume_of(running, mount)
    is_fixed = any(kind in volume for kind in _FIXED) or any(map_at(volume, kind).get("readOnly") for kind in _CLAIMS)
    return "what is mounted there is read-only" if is_fixed or mount.get("readOnly") else ""


def _is_read_only_root(running: RunningEngine) -> bool:
    return running.container.security_context.get(_READ_ONLY) is True


@rule(of=RunningEngine, when=lambda running: running.has_variable(OFFLINE_VARIABLES))
def offline_downloads(running: RunningEngine) -> Iterator[Diagnostic]:
    """An error for a variable that keeps the hub's client from asking the hub, where nothing else brings the model that
    the engine downloads.
    """
    folder = running.downloads_to()
    if not folder or not running.is_whole or not running.line.is_own_image():
        return
    if any(text_at(variable, "name").endswith(_OTHER_HUBS) for variable in running.container.env):
        return
    if mount := mount_of(running, folder):
        volume = volume_of(running, mount)
        if "emptyDir" not in volume or _may_be_filled(running, text_at(volume, "name")):
            return
    for name, origin in running.written_variables(""):
        if is_offline({"name": name, "value": running.plain_value(name)}):
            yield make_diagnostic("E829", origin, name=name, model=running.model() or "the model", folder=folder)
            return


def _may_be_filled(running: RunningEngine, volume: str) -> bool:
    """Whether another container of the pod may write a volume."""
    others = [*running.pod.init_containers, *running.pod.containers]
    return any(
        mount.get("name") == volume
        for body in others
        if body.name != running.container.name
        for mount in body.volume_mounts
    )
