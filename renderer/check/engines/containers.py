"""The containers of any manifest that run an engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from renderer.check.engines.chart_values import containers_in_values, read_values, values_paths
from renderer.check.finding import Body
from renderer.diagnostics import Origin, Path
from renderer.engines.catalog import EngineCatalog
from renderer.engines.engine_command import Word
from renderer.engines.recognition import RecognisedEngine, recognise
from renderer.kubernetes.json_values import as_text, list_at, map_at, maps_at, number_at, text_at
from renderer.kubernetes.object_lists import own_fields
from renderer.yamlio import Document

_CONTAINERS = "containers"
_RUNNER = "runner"  # OME's kinds have one container by this name in place of a list
_GROUP = "leaderWorkerTemplate"
_PAIR = ("leader", "worker")  # pods of OME's kinds that are one replica
_DEEPEST = 30
_WORDS = ("command", "args")  # fields of a container
_FILLED_IN = "$(VALUE)"  # in place of `on` or 1, which a chart makes a text of


class EngineContainer(Struct, frozen=True):
    """A container that runs an engine."""

    document: Document
    pod_path: Path  # of the spec of its pod
    pod: Body
    path: Path
    body: Body
    recognised: RecognisedEngine

    @property
    def name(self) -> str:
        """How messages speak of it."""
        metadata = map_at(self.document.value, "metadata")
        place = "/".join(filter(None, (self.namespace, text_at(metadata, "name"))))
        return f"container '{as_text(self.body.get('name'))}' of {text_at(self.document.value, 'kind')} {place}"

    @property
    def namespace(self) -> str:
        """Of its pod; '' where none is said."""
        return text_at(self.document.value, "metadata", "namespace")

    @property
    def is_worker(self) -> bool:
        """Whether it is in a pod that answers no requests: a worker beside a leader of its own template."""
        if "workerTemplate" in self.pod_path:
            group = self.pod_path[: self.pod_path.index("workerTemplate")]
            return bool(map_at(self.document.value, *group, "leaderTemplate"))
        return self.pod_path[-1:] == _PAIR[1:] and self.hosts > 1

    @property
    def hosts(self) -> int:
        """The pods of a replica: of a LeaderWorkerSet, of a role of a DisaggregatedSet, or of a leader beside workers
        as OME has them.
        """
        value, path = self.document.value, self.pod_path
        if _GROUP in path:
            return int(number_at(value, *path[: path.index(_GROUP) + 1], "size", default=1))
        pair = map_at(value, *path[:-1]) if path[-1:] in (_PAIR[:1], _PAIR[1:]) else {}
        return 1 + int(number_at(pair, _PAIR[1], "size", default=1)) if {*_PAIR} <= pair.keys() else 1

    @property
    def metadata(self) -> Body:
        """Of its pod."""
        template = self.pod_path[:-1] if self.pod_path[-1:] == ("spec",) else ()
        return map_at(self.document.value, *template, "metadata")

    def origin(self, *path: str | int) -> Origin:
        """Of a field of the container."""
        return self.document.origin(*self.path, *path)


def engine_containers(document: Document, catalog: EngineCatalog) -> Iterator[EngineContainer]:
    """The engines in the pods of a manifest, of whatever kind: a map with a list of containers, or with a runner as OME
    has it, is the spec of a pod. Of an object that gives values to a chart those in its values.
    """
    if values_paths(document.value):
        yield from _engines_in_values(read_values(document)[0], catalog)
        return
    for pod_path, pod in _pods(own_fields(document.value), ()):
        for path, body in _containers(pod_path, pod):
            origin = document.origin(*path)
            if recognised := _recognise(catalog, body, {field: origin.at(field) for field in _WORDS}):
                yield EngineContainer(document, pod_path, pod, path, body, recognised)


def _containers(pod_path: Path, pod: Body) -> Iterator[tuple[Path, Body]]:
    """The containers of a pod, with their paths."""
    for i, body in enumerate(maps_at(pod, _CONTAINERS)):
        yield (*pod_path, _CONTAINERS, i), body
    if runner := map_at(pod, _RUNNER):
        yield (*pod_path, _RUNNER), runner


def _engines_in_values(release: Document, catalog: EngineCatalog) -> Iterator[EngineContainer]:
    pod = {"hostIPC": True}  # the chart may mount what the values do not say
    for container in containers_in_values(release.value):
        origins = {field: release.origin(*container.path, *path) for field, path in container.fields.items()}
        if recognised := _recognise(catalog, container.body, origins):
            yield EngineContainer(release, (), pod, container.path, container.body, recognised)


def _pods(value: object, path: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    if len(path) > _DEEPEST:
        return
    if isinstance(value, dict):
        if isinstance(value.get(_CONTAINERS), list) or isinstance(value.get(_RUNNER), dict):
            yield path, value
            return
        for key, item in value.items():
            if isinstance(item, (dict, list)):
                yield from _pods(item, (*path, key))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            if isinstance(item, (dict, list)):
                yield from _pods(item, (*path, i))


def _recognise(catalog: EngineCatalog, container: Body, origins: Mapping[str, Origin]) -> RecognisedEngine | None:
    """The engine of a container. `origins`: of `command` and `args`."""
    command, args = (
        [
            Word(word if isinstance(word, str) else _FILLED_IN, origins[field].at(i))
            for i, word in enumerate(list_at(container, field))
        ]
        for field in _WORDS
    )
    return recognise(catalog, command, args, text_at(container, "image"))
