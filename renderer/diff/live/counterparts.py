"""The pod templates of both sides: who runs the engine, which container and which volume is whose counterpart."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final

from msgspec import Struct

from renderer.diagnostics import Path
from renderer.diff.live.command_options import ContainerCommand, read_command
from renderer.diff.live.served_models import ServedModels, served_models
from renderer.engines.catalog import EngineCatalog
from renderer.kubernetes.json_values import map_at, maps_at, text_at, texts_at
from renderer.kubernetes.mounted_files import MountedKey, mounted_key
from renderer.kubernetes.variable_references import ConfigMaps, plain_variables, references
from renderer.kubernetes.wellknown import RUNNER

LOADER: Final = "model-loader"
_STORE = re.compile(r"STORE:(.+)")
_PATH = re.compile(r"(?<![\w./-])[\w./-]+")  # and maybe more behind a slash
_MAIN: Final = "main"  # the revision that is meant without one


class PodSide(Struct, frozen=True, dict=True):
    """A pod template of one side."""

    place: Path  # of the template in its object
    template: Mapping[str, Any]
    engines: Mapping[str, ContainerCommand]  # by the name of the container, where it runs one
    sources: Mapping[str, str]  # where the weights below a path come from, the longest path first
    chat_template: MountedKey | None = None  # that the one engine reads
    models: ServedModels | None = None  # that the one engine serves by a file of their options

    @property
    def spec(self) -> Mapping[str, Any]:
        """The pod."""
        return map_at(self.template, "spec")

    @property
    def engine(self) -> str:
        """The name of the one container that runs an engine; '' where there is none, or several."""
        return next(iter(self.engines)) if len(self.engines) == 1 else ""

    @cached_property
    def loaders(self) -> list[Mapping[str, Any]]:
        """The init containers that bring weights, as the renderer and the operator call them."""
        return [
            container for container in maps_at(self.spec, "initContainers") if is_loader(text_at(container, "name"))
        ]

    @cached_property
    def _containers(self) -> Mapping[str, Mapping[str, Any]]:
        return _by_name(maps_at(self.spec, "containers"))

    def container(self, name: str) -> Mapping[str, Any]:
        """A container by its name."""
        return self._containers.get(name, {})

    @cached_property
    def volumes(self) -> Mapping[str, Mapping[str, Any]]:
        """The volumes by their names."""
        return _by_name(maps_at(self.spec, "volumes"))

    @cached_property
    def volume_sources(self) -> Mapping[str, str]:
        """By the name of a volume that outlives its pod, what it holds, such as pvc://CLAIM."""
        return {name: source for name, volume in self.volumes.items() if (source := volume_source(volume))}

    @cached_property
    def sources_of_volumes(self) -> frozenset[str]:
        """What the volumes hold that outlive the pod."""
        return frozenset(self.volume_sources.values())

    @cached_property
    def source_parents(self) -> frozenset[str]:
        """The same, with all that it lies in."""
        return frozenset(parent for source in self.sources_of_volumes for parent in parents(source))

    @cached_property
    def _volumes_of_maps(self) -> Mapping[str, set[str]]:
        names: dict[str, set[str]] = {}
        for name, volume in self.volumes.items():
            names.setdefault(text_at(volume, "configMap", "name"), set()).add(name)
        return names

    def volumes_of_map(self, name: str) -> set[str]:
        """The names of the volumes that hold a ConfigMap."""
        return self._volumes_of_maps.get(name, set())

    @cached_property
    def _references(self) -> dict[str, frozenset[str]]:
        return {}

    def references(self, container: str) -> frozenset[str]:
        """The variables that the command line of a container names."""
        if container not in self._references:
            self._references[container] = frozenset(references(self.container(container)))
        return self._references[container]

    @cached_property
    def _variables(self) -> dict[str, Mapping[str, Mapping[str, Any]]]:
        return {}

    def variable(self, container: str, name: str) -> Mapping[str, Any]:
        """A variable of a container by its name."""
        if container not in self._variables:
            self._variables[container] = _by_name(maps_at(self.container(container), "env"))
        return self._variables[container].get(name, {})

    @cached_property
    def _mounts(self) -> dict[str, Mapping[str, Mapping[str, Any]]]:
        return {}

    def mounts(self, container: str) -> Mapping[str, Mapping[str, Any]]:
        """What a container mounts, by the path."""
        if container not in self._mounts:
            mounts = maps_at(self.container(container), "volumeMounts")
            self._mounts[container] = {text_at(mount, "mountPath"): mount for mount in mounts}
        return self._mounts[container]

    def weights(self, text: str) -> str:
        """The text with each path of weights replaced by where they come from."""
        for path in self._odd_paths:
            pattern = rf"(?<![\w./-]){re.escape(path)}(?![\w.-])"
            text = re.sub(pattern, self.sources[path].replace("\\", "\\\\"), text)
        return _PATH.sub(lambda match: self._source_of(match[0]), text) if self.sources else text

    @cached_property
    def _odd_paths(self) -> list[str]:
        """The paths with other characters than those of words, the longest first."""
        return [path for path in self.sources if not _PATH.fullmatch(path)]

    def _source_of(self, path: str) -> str:
        """A path with what lies at its longest beginning."""
        end = len(path)
        while end > 0 and path[:end] not in self.sources:
            end = path.rfind("/", 0, end)
        return self.sources[path[:end]] + path[end:] if end > 0 else path


def _by_name(bodies: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The first of each name."""
    named: dict[str, Mapping[str, Any]] = {}
    for body in bodies:
        named.setdefault(text_at(body, "name"), body)
    return named


def is_loader(name: str) -> bool:
    """Whether an init container of this name brings weights."""
    return name == LOADER or bool(re.fullmatch(rf"{LOADER}-\d+", name))


def read_pod(
    template: Mapping[str, Any], place: Path, catalog: EngineCatalog, config_maps: ConfigMaps | None = None
) -> PodSide:
    """A template as one side has it. `config_maps`: those of its namespace, which its variables may be from."""
    spec = map_at(template, "spec")
    commands = {text_at(body, "name"): read_command(body, catalog, config_maps) for body in maps_at(spec, "containers")}
    sources = {**_volume_sources(spec), **_loader_sources(spec)}
    engines = {name: command for name, command in commands.items() if command}
    sources = dict(sorted(sources.items(), key=lambda item: -len(item[0])))
    models = _models(spec, engines, catalog, config_maps or {})
    return PodSide(place, template, engines, sources, _chat_template(spec, engines), models)


def _models(
    spec: Mapping[str, Any], engines: Mapping[str, ContainerCommand], catalog: EngineCatalog, config_maps: ConfigMaps
) -> ServedModels | None:
    """The models of the one engine of a pod."""
    for name, command in engines.items() if len(engines) == 1 else ():
        body = next((body for body in maps_at(spec, "containers") if text_at(body, "name") == name), {})
        args = [word.text for word in command.recognised.command.arguments]
        options = catalog.all_options(command.backend)
        return served_models(command.backend, command.style, options, args, spec, body, config_maps)
    return None


def _chat_template(spec: Mapping[str, Any], engines: Mapping[str, ContainerCommand]) -> MountedKey | None:
    """The key of a ConfigMap that the one engine of a pod reads its chat template from."""
    for name, command in engines.items() if len(engines) == 1 else ():
        body = next((body for body in maps_at(spec, "containers") if text_at(body, "name") == name), {})
        for option in command.template_options:
            if path := command.options.get(option, ""):
                return mounted_key(spec, body, path)
    return None


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
    unmatched = their_names - our_names
    if not ours.engine and not theirs.engine and len(unmatched) == 1 and RUNNER in our_names - their_names:
        renamed = next(iter(unmatched))  # a script, in which no engine is known
    name = ours.engine or (RUNNER if renamed else "")
    pair = (theirs.container(renamed or name), ours.container(name))
    mounts = [{text_at(mount, "mountPath"): mount for mount in maps_at(body, "volumeMounts")} for body in pair]
    names = [{text_at(volume, "name") for volume in maps_at(side.spec, "volumes")} for side in (theirs, ours)]
    volumes: dict[str, str] = {}
    only_theirs, free = names[0] - names[1], names[1] - names[0]
    for path, mount in mounts[0].items():
        old, new = text_at(mount, "name"), text_at(mounts[1].get(path), "name")
        if new in free and old in only_theirs:
            free |= {volumes[old]} if old in volumes else set()
            free.remove(new)
            volumes[old] = new
    return Counterparts(renamed, volumes)


def volume_source(volume: Mapping[str, Any]) -> str:
    """What a volume that outlives its pod holds, such as pvc://CLAIM; '' for other volumes."""
    path, claim = text_at(volume, "hostPath", "path"), text_at(volume, "persistentVolumeClaim", "claimName")
    image = text_at(volume, "image", "reference")
    return f"host://{path}" if path else f"pvc://{claim}" if claim else f"oci://{image}" if image else ""


def parents(source: str) -> Iterator[str]:
    """A source, and each that it lies in."""
    while source:
        yield source
        source = source.rpartition("/")[0]


def _volume_sources(spec: Mapping[str, Any]) -> dict[str, str]:
    """By path in the containers, what volumes that outlive a pod hold there."""
    contents = {name: volume_source(volume) for name, volume in _by_name(maps_at(spec, "volumes")).items()}
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
