"""The containers of any manifest that run an engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from renderer.check.engines.chart_values import containers_in_values, read_values, values_paths
from renderer.check.finding import Body
from renderer.diagnostics import Origin, Path
from renderer.engines.catalog import EngineCatalog
from renderer.engines.container_engine import RecognisedEngine, recognise
from renderer.engines.handwritten_command import Word, model_options
from renderer.engines.recognition import Clues
from renderer.kubernetes.json_values import as_text, list_at, map_at, maps_at, number_at, text_at
from renderer.kubernetes.object_lists import own_fields
from renderer.kubernetes.variable_references import as_process_sees, plain_variables
from renderer.kubernetes.workloads import (
    WORKER,
    WORKLOADS,
    PodTemplate,
    Replica,
    added_mounts,
    containers,
    joins_command,
    kind_of,
    maps_in,
    ray_hosts,
    replicas,
    stays,
)
from renderer.yamlio import Document

_RUNNER = "runner"  # OME's kinds have one container by this name in place of a list
_PAIR = ("leader", "worker")  # pods of OME's kinds that are one replica
_WORDS = ("command", "args")  # fields of a container
_FIRST = ("containers", 0)  # the path of a container that a controller of a known kind changes
_FILLED_IN = "$(VALUE)"  # in place of `on` or 1, which a chart makes a text of


class EngineContainer(Struct, frozen=True):
    """A container that runs an engine."""

    document: Document
    pod_path: Path  # of the spec of its pod
    pod: Body
    path: Path
    body: Body
    recognised: RecognisedEngine
    replica: Replica | None = None  # that its pod is of, in a kind whose pods are known
    template: PodTemplate | None = None  # that its pod is made of

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
        if self.template:
            return self.template.role == WORKER
        return self.pod_path[-1:] == _PAIR[1:] and self.hosts > 1

    @property
    def hosts(self) -> int:
        """The pods of a replica, or of a Ray cluster; in a kind that is not known, of a leader beside workers as OME
        has them.
        """
        if hosts := ray_hosts(own_fields(self.document.value), self.pod_path):
            return hosts
        if self.replica:
            return self.replica.size
        pair = map_at(self.document.value, *self.pod_path[:-1]) if self.pod_path[-1:] in (_PAIR[:1], _PAIR[1:]) else {}
        return 1 + int(number_at(pair, _PAIR[1], "size", default=1)) if {*_PAIR} <= pair.keys() else 1

    @property
    def added_mounts(self) -> Sequence[Body]:
        """The mounts that a controller adds to it."""
        is_first = self.path[len(self.pod_path) :] == _FIRST
        return added_mounts(self.template) if self.template and is_first else ()

    @property
    def metadata(self) -> Body:
        """Of its pod."""
        if self.template:
            return map_at(self.template.body, "metadata")
        place = self.pod_path[:-1] if self.pod_path[-1:] == ("spec",) else ()
        return map_at(self.document.value, *place, "metadata")

    def origin(self, *path: str | int) -> Origin:
        """Of a field of the container."""
        return self.document.origin(*self.path, *path)

    def variables(self, prefix: str) -> Iterator[tuple[str, Origin]]:
        """The names of its variables with a prefix, and where. In the values of some charts `env` is a map."""
        for i, variable in enumerate(list_at(self.body, "env")):
            if (name := text_at(variable, "name")).startswith(prefix):
                yield name, self.origin("env", i, "name")
        for name in map_at(self.document.value, *self.path, "env"):
            if name.startswith(prefix):
                yield name, self.origin("env", name)


def engine_containers(document: Document, catalog: EngineCatalog) -> Iterator[EngineContainer]:
    """The engines in the pods of a manifest that are certain."""
    return (container for container in engine_candidates(document, catalog) if container.recognised.is_certain)


def accelerated_containers(document: Document, catalog: EngineCatalog) -> int:
    """How many containers of a manifest's pods, or of the values that it gives to a chart, ask for accelerators."""
    if values_paths(document.value):
        values = read_values(document)[0].value
        return sum(has_accelerators(catalog, container.body) for container in containers_in_values(values))
    value = own_fields(document.value)
    kind = kind_of(value) if isinstance(value, dict) else None
    pods = (
        [template.spec for replica in replicas(value) for template in replica.templates]
        if kind in WORKLOADS
        else [pod for _, pod in _pods(value)]
    )
    bodies = [body for pod in pods for path, body in containers(pod) if stays(path, body)]
    return sum(has_accelerators(catalog, body) for body in bodies)


def engine_candidates(document: Document, catalog: EngineCatalog) -> Iterator[EngineContainer]:
    """The engines in the pods of a manifest, of whatever kind: a map with a list of containers, or with a runner as OME
    has it, is the spec of a pod. Of an object that gives values to a chart those in its values. What has too few signs
    of an engine is not certain.
    """
    if values_paths(document.value):
        yield from _engines_in_values(read_values(document)[0], catalog)
        return
    value = own_fields(document.value)
    kind = kind_of(value) if isinstance(value, dict) else None
    for replica in replicas(value) if kind in WORKLOADS else ():
        for template in replica.templates:
            yield from _engines_in_pod(document, (*template.path, "spec"), template.spec, catalog, replica, template)
    if kind not in WORKLOADS:
        for pod_path, pod in _pods(value):
            yield from _engines_in_pod(document, pod_path, pod, catalog)


def _engines_in_pod(
    document: Document,
    pod_path: Path,
    pod: Body,
    catalog: EngineCatalog,
    replica: Replica | None = None,
    template: PodTemplate | None = None,
) -> Iterator[EngineContainer]:
    own = ((path, body) for path, body in containers(pod) if stays(path, body))
    for path, body in (*own, *([((_RUNNER,), runner)] if (runner := map_at(pod, _RUNNER)) else ())):
        origin = document.origin(*pod_path, *path)
        around = map_at(document.value, *pod_path[:-1])
        is_joined = path == _FIRST and pod_path[-1:] == ("spec",) and joins_command(around, pod_path[:-1])
        clues = clues_of(catalog, body)
        origins = {field: origin.at(field) for field in _WORDS}
        if recognised := _recognise(catalog, body, origins, clues, is_joined=is_joined):
            yield EngineContainer(
                document, pod_path, pod, (*pod_path, *path), body, recognised, replica=replica, template=template
            )


def _engines_in_values(release: Document, catalog: EngineCatalog) -> Iterator[EngineContainer]:
    pod = {"hostIPC": True}  # the chart may mount what the values do not say
    for container in containers_in_values(release.value):
        origins = {field: release.origin(*container.path, *path) for field, path in container.fields.items()}
        if recognised := _recognise(catalog, container.body, origins):
            yield EngineContainer(release, (), pod, container.path, container.body, recognised)


def _pods(value: Body) -> Iterator[tuple[Path, Body]]:
    """What looks like the spec of a pod in an object of a kind that is not known, but for pods in pods."""
    last: Path | None = None
    for path, body in maps_in(value):
        is_inside = last is not None and path[: len(last)] == last
        if not is_inside and (isinstance(body.get("containers"), list) or isinstance(body.get(_RUNNER), dict)):
            last = path
            yield path, body


def _recognise(
    catalog: EngineCatalog,
    container: Body,
    origins: Mapping[str, Origin],
    clues: Clues | None = None,
    *,
    is_joined: bool = False,
) -> RecognisedEngine | None:
    """The engine of a container. `origins`: of `command` and `args`; `clues`: with which its options may tell the
    engine; `is_joined`: a controller makes one line of them for a shell.
    """
    command, args = (
        [word if isinstance(word, str) else _FILLED_IN for word in list_at(container, field)] for field in _WORDS
    )
    variables = plain_variables(container) if any("$" in word for word in (*command, *args)) else {}
    words = {
        field: [Word(as_process_sees(word, variables), origins[field].at(i)) for i, word in enumerate(texts)]
        for field, texts in zip(_WORDS, (command, args), strict=True)
    }
    if is_joined:
        if not (line := [*words["command"], *words["args"]]):
            return None  # the controller's line alone, whatever the image starts
        origin = line[0].origin
        shell = [Word(text, origin) for text in ("bash", "-c", " ".join(word.text for word in line))]
        words = {"command": shell, "args": []}
    return recognise(catalog, words["command"], words["args"], text_at(container, "image"), variables, clues)


def clues_of(catalog: EngineCatalog, container: Body) -> Clues | None:
    """What a container says besides its command line; None where it has neither an accelerator nor an option that
    names a model, so that no engine is looked for.
    """
    has_accelerator = has_accelerators(catalog, container)
    text = repr([list_at(container, field) for field in _WORDS])
    if not has_accelerator and not any(option in text for option in model_options()):
        return None
    image = text_at(container, "image").partition("@")[0].rpartition("/")[2].partition(":")[0]
    return Clues((text_at(container, "name"), image), has_accelerator)


def has_accelerators(catalog: EngineCatalog, container: Body) -> bool:
    """Whether a container asks for accelerators."""
    resources = map_at(container, "resources")
    limits = {**map_at(resources, "requests"), **map_at(resources, "limits")}
    return bool(limits and catalog.accelerator(limits).resource) or bool(maps_at(resources, "claims"))
