"""The pod templates of both sides: who runs the engine, which container and which volume is whose counterpart."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from renderer.diagnostics import Path
from renderer.diff.live.command_options import ContainerCommand, plain_variables, read_command
from renderer.engines.catalog import EngineCatalog
from renderer.kubernetes.json_values import map_at, maps_at, text_at, texts_at

LOADER: Final = "model-loader"
_STORE = re.compile(r"STORE:(.+)")
_MAIN: Final = "main"  # the revision that is meant without one


class PodSide(Struct, frozen=True):
    """A pod template of one side."""

    place: Path  # of the template in its object
    template: Mapping[str, Any]
    engines: Mapping[str, ContainerCommand]  # by the name of the container, where it runs one
    sources: Mapping[str, str]  # where the weights below a path come from, the longest path first

    @property
    def spec(self) -> Mapping[str, Any]:
        """The pod."""
        return map_at(self.template, "spec")

    @property
    def engine(self) -> str:
        """The name of the one container that runs an engine; '' where there is none, or several."""
        return next(iter(self.engines)) if len(self.engines) == 1 else ""

    @property
    def loaders(self) -> list[Mapping[str, Any]]:
        """The init containers that bring weights, as the renderer and the operator call them."""
        return [
            container for container in maps_at(self.spec, "initContainers") if is_loader(text_at(container, "name"))
        ]

    def container(self, name: str) -> Mapping[str, Any]:
        """A container by its name."""
        return next((body for body in maps_at(self.spec, "containers") if body.get("name") == name), {})

    def weights(self, text: str) -> str:
        """The text with each path of weights replaced by where they come from."""
        for path, source in self.sources.items():
            pattern = rf"(?<![\w./-]){re.escape(path)}(?![\w.-])"
            text = re.sub(pattern, source.replace("\\", "\\\\"), text)
        return text


def is_loader(name: str) -> bool:
    """Whether an init container of this name brings weights."""
    return name == LOADER or bool(re.fullmatch(rf"{LOADER}-\d+", name))


def read_pod(template: Mapping[str, Any], place: Path, catalog: EngineCatalog) -> PodSide:
    """A template as one side has it."""
    spec = map_at(template, "spec")
    commands = {text_at(body, "name"): read_command(body, catalog) for body in maps_at(spec, "containers")}
    sources = {**_volume_sources(spec), **_loader_sources(spec)}
    return PodSide(
        place,
        template,
        {name: command for name, command in commands.items() if command},
        dict(sorted(sources.items(), key=lambda item: -len(item[0]))),
    )


class Counterparts(Struct, frozen=True):
    """What of theirs goes by the name of its counterpart of ours."""

    container: str = ""  # theirs that runs the engine, where it has another name
    volumes: Mapping[str, str] = {}  # of volumes with other names


def match_pods(theirs: PodSide, ours: PodSide) -> Counterparts:
    """The container that runs the engine by that, volumes by where they are mounted in it."""
    their_names = {text_at(body, "name") for body in maps_at(theirs.spec, "containers")}
    our_names = {text_at(body, "name") for body in maps_at(ours.spec, "containers")}
    renamed = theirs.engine if ours.engine and theirs.engine not in our_names | {""} else ""
    if ours.engine in their_names:
        renamed = ""
    pair = (theirs.container(renamed or ours.engine), ours.container(ours.engine))
    mounts = [{text_at(mount, "mountPath"): mount for mount in maps_at(body, "volumeMounts")} for body in pair]
    names = [{text_at(volume, "name") for volume in maps_at(side.spec, "volumes")} for side in (theirs, ours)]
    volumes: dict[str, str] = {}
    for path, mount in mounts[0].items():
        old, new = text_at(mount, "name"), text_at(mounts[1].get(path), "name")
        is_free = new in names[1] - names[0] - {*volumes.values()}
        if is_free and old in names[0] - names[1]:
            volumes[old] = new
    return Counterparts(renamed, volumes)


def volume_source(spec: Mapping[str, Any], name: str) -> str:
    """What a volume that outlives its pod holds, such as pvc://CLAIM; '' for other volumes."""
    volume = next((body for body in maps_at(spec, "volumes") if body.get("name") == name), {})
    path, claim = text_at(volume, "hostPath", "path"), text_at(volume, "persistentVolumeClaim", "claimName")
    image = text_at(volume, "image", "reference")
    return f"host://{path}" if path else f"pvc://{claim}" if claim else f"oci://{image}" if image else ""


def _volume_sources(spec: Mapping[str, Any]) -> dict[str, str]:
    """By path in the containers, what volumes that outlive a pod hold there."""
    contents = {
        text_at(volume, "name"): volume_source(spec, text_at(volume, "name")) for volume in maps_at(spec, "volumes")
    }
    return {
        text_at(mount, "mountPath").rstrip("/"): posixpath.join(source, text_at(mount, "subPath")).rstrip("/")
        for container in maps_at(spec, "containers")
        for mount in maps_at(container, "volumeMounts")
        if (source := contents.get(text_at(mount, "name"))) and len(text_at(mount, "mountPath")) > 1
    }


def _loader_sources(spec: Mapping[str, Any]) -> dict[str, str]:
    """By path, what loaders put there."""
    sources: dict[str, str] = {}
    for container in maps_at(spec, "initContainers"):
        if not is_loader(text_at(container, "name")):
            continue
        variables = plain_variables(container)
        folder = text_at(next(iter(maps_at(container, "volumeMounts")), {}), "mountPath")
        model, file = variables.get("MODEL_ID", ""), variables.get("MODEL_FILENAME", "")
        if model and folder:
            name = file or f"models--{model.replace('/', '--')}"
            sources[posixpath.join(folder, name)] = hub_source(
                f"{model}/{file}".rstrip("/"), variables.get("REVISION", "")
            )
        for arg in texts_at(container, "args"):
            match = _STORE.fullmatch(arg)
            if match and "DEST" in variables:
                sources[variables["DEST"]] = f"{variables.get('RCLONE_CONFIG_STORE_TYPE', '')}://{match[1]}"
    return sources


def hub_source(model: str, revision: str) -> str:
    """A model of a hub, with its revision unless that is the one which is meant without any."""
    return model if revision in ("", _MAIN) else f"{model}@{revision}"
