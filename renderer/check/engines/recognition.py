"""The containers of any manifest that run an engine: by their command line, else by their image."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from renderer.check.engines.chart_values import containers_in_values, is_release
from renderer.check.finding import Body
from renderer.diagnostics import Origin, Path
from renderer.engines.catalog import EngineCatalog, VersionedEngine
from renderer.engines.engine_command import EngineCommand, Word, read_engine_command
from renderer.kubernetes.json_values import as_text, list_at, map_at, maps_at, text_at
from renderer.yamlio import Document

_CONTAINERS = "containers"
_DEEPEST = 30
_WORDS = ("command", "args")  # fields of a container


class RecognisedEngine(Struct, frozen=True):
    """A container that runs an engine."""

    document: Document
    pod_path: Path  # of the spec of its pod
    pod: Body
    container_path: Path
    container: Body
    command: EngineCommand
    engine: VersionedEngine
    is_own_image: bool  # of a repository of the engine's project, or of a mirror of it

    @property
    def name(self) -> str:
        """How messages speak of it."""
        metadata = map_at(self.document.value, "metadata")
        place = "/".join(filter(None, (text_at(metadata, "namespace"), text_at(metadata, "name"))))
        container = as_text(self.container.get("name"))
        return f"container '{container}' of {text_at(self.document.value, 'kind')} {place}"

    @property
    def namespace(self) -> str:
        """Of its pod; '' where none is said."""
        return text_at(self.document.value, "metadata", "namespace")

    @property
    def labels(self) -> Body:
        """The labels of its pod."""
        template = self.pod_path[:-1] if self.pod_path[-1:] == ("spec",) else ()
        return map_at(self.document.value, *template, "metadata", "labels")

    def origin(self, *path: str | int) -> Origin:
        """Of a field of the container."""
        return self.document.origin(*self.container_path, *path)


def recognised_engines(document: Document, catalog: EngineCatalog) -> Iterator[RecognisedEngine]:
    """The engines in the pods of a manifest, of whatever kind: a map with a list of containers is the spec of a pod.
    Of a HelmRelease those in its values.
    """
    if is_release(document.value):
        yield from _engines_in_values(document, catalog)
        return
    for pod_path, pod in _pods(document.value, ()):
        for i, container in enumerate(maps_at(pod, _CONTAINERS)):
            container_path = (*pod_path, _CONTAINERS, i)
            origin = document.origin(*container_path)
            if engine := _recognise(catalog, container, {field: origin.at(field) for field in _WORDS}):
                command, versioned, is_own_image = engine
                yield RecognisedEngine(
                    document=document,
                    pod_path=pod_path,
                    pod=pod,
                    container_path=container_path,
                    container=container,
                    command=command,
                    engine=versioned,
                    is_own_image=is_own_image,
                )


def _engines_in_values(release: Document, catalog: EngineCatalog) -> Iterator[RecognisedEngine]:
    for container in containers_in_values(release.value):
        origins = {field: release.origin(*container.path, *path) for field, path in container.fields.items()}
        if engine := _recognise(catalog, container.body, origins):
            command, versioned, is_own_image = engine
            yield RecognisedEngine(
                document=release,
                pod_path=(),
                pod={"hostIPC": True},  # the chart may mount what the values do not say
                container_path=container.path,
                container=container.body,
                command=command,
                engine=versioned,
                is_own_image=is_own_image,
            )


def _pods(value: object, path: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    if len(path) > _DEEPEST:
        return
    if isinstance(value, dict):
        if isinstance(value.get(_CONTAINERS), list):
            yield path, value
            return
        for key, item in value.items():
            if isinstance(item, (dict, list)):
                yield from _pods(item, (*path, key))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            if isinstance(item, (dict, list)):
                yield from _pods(item, (*path, i))


def _recognise(
    catalog: EngineCatalog, container: Body, origins: Mapping[str, Origin]
) -> tuple[EngineCommand, VersionedEngine, bool] | None:
    """The command line of a container, its engine, and whether the image is of the engine's project. `origins`: of
    `command` and `args`.
    """
    image = text_at(container, "image")
    command, args = (
        [Word(word, origins[field].at(i)) for i, word in enumerate(list_at(container, field)) if isinstance(word, str)]
        for field in _WORDS
    )
    line = read_engine_command(command, args, image)
    if line.backend not in catalog.runtimes:
        return None
    of_image = catalog.image_engine(image)
    is_own_image = of_image is not None and of_image.backend == line.backend
    version = of_image.version if of_image and is_own_image else ""
    return line, catalog.engine(line.backend, version), is_own_image
