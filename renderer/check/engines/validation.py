"""Judges the engines in manifests that others wrote, each as a Playground's engine is judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from renderer.check.engines.chart_values import is_release
from renderer.check.engines.neighbours import Neighbours, other_names, overwritten_variables, sleeping_engine
from renderer.check.engines.recognition import RecognisedEngine, recognised_engines
from renderer.diagnostics import Diagnostic, Origin, counted, make_diagnostic
from renderer.engines.catalog import EngineCatalog
from renderer.engines.dialect import ArgLayer
from renderer.engines.engine_command import Word, table_entry
from renderer.engines.rules import RULES
from renderer.engines.running_engine import EngineLine, RunningEngine, SharedAccelerators, Subject
from renderer.kubernetes.json_values import map_at, maps_at, number_at, text_at
from renderer.plan import Container, Pod
from renderer.yamlio import Document

_GROUP = "leaderWorkerTemplate"
_FILLED_IN = "$(VALUE)"  # what no rule about values judges


def validate_engines(documents: Iterable[Document], catalog: EngineCatalog) -> Iterator[Diagnostic]:
    """What the rules about running engines say of each container that runs one, and of what stands beside it."""
    listed = list(documents)
    engines = [recognised for document in listed for recognised in recognised_engines(document, catalog)]
    neighbours = Neighbours(listed if engines else ())
    for document in listed:
        if is_release(document.value):
            count = sum(recognised.document is document for recognised in engines)
            words = {"name": text_at(document.value, "metadata", "name"), "engines": _counted(count)}
            yield make_diagnostic("N517", document.origin("spec", "values"), **words)
    for recognised in engines:
        line = engine_line(recognised, catalog)
        yield from _judged(line)
        yield from _judged(_running_engine(recognised, line))
        for validate in (overwritten_variables, other_names, sleeping_engine):
            yield from validate(recognised, neighbours)


def _counted(count: int) -> str:
    """How many engines of a HelmRelease are judged, as a clause."""
    if not count:
        return "no engine was found in its values"
    return f"{counted(count, 'engine')} in its values {'is' if count == 1 else 'are'} judged"


def _judged(record: EngineLine | RunningEngine) -> Iterator[Diagnostic]:
    for applies, rules in RULES[type(record)]:
        for rule in rules if applies(record) else ():
            yield from rule(record)


def _running_engine(recognised: RecognisedEngine, line: EngineLine) -> RunningEngine:
    """The engine in its pod, as far as rules look at it."""
    mounts = tuple(maps_at(recognised.container, "volumeMounts"))
    container = Container(text_at(recognised.container, "name"), mounts=mounts)
    rest = {"hostIPC": True} if recognised.pod.get("hostIPC") else {}
    volumes = tuple(maps_at(recognised.pod, "volumes"))
    pod = Pod(recognised.labels, {}, "", (container,), volumes=volumes, rest=rest)
    return RunningEngine(line, pod, container, held_cache=None)


def engine_line(recognised: RecognisedEngine, catalog: EngineCatalog) -> EngineLine:
    """The command line of an engine as rules see it. Without arguments where what is filled in at run time may be an
    option.
    """
    command, versioned = recognised.command, recognised.engine
    words = () if command.hides_options else command.arguments
    args = tuple(map(_known_text, words))
    layer = ArgLayer(args, recognised.origin("args"), origins=tuple(word.origin for word in words))
    return EngineLine(
        subject=Subject(name=recognised.name, limits="the limits of the container", ways="tensor, data or pipeline"),
        engine=versioned.engine,
        version=versioned.version,
        args=args,
        written=(layer,),
        option_rules=versioned.option_rules,
        shared=_shared_accelerators(recognised, catalog),
        is_own_image=lambda: recognised.is_own_image,
    )


def _known_text(word: Word) -> str:
    """The word; of a value that is filled in at run time only that it is one."""
    if word.known:
        return word.text
    option, glued, _ = word.text.partition("=")
    return f"{option}={_FILLED_IN}" if glued and option.startswith("-") else _FILLED_IN


def _shared_accelerators(recognised: RecognisedEngine, catalog: EngineCatalog) -> SharedAccelerators:
    """The accelerators of the container. Of an engine that says no size one works, or all of them."""
    limits = map_at(recognised.container, "resources", "limits")
    accelerator = catalog.accelerator(limits)
    origin: Origin | None = None
    if accelerator.resource:
        origin = recognised.origin("resources", "limits", accelerator.resource)
    takes_all = table_entry(recognised.engine.runtime.name).get("usesAll") or recognised.command.hides_options
    return SharedAccelerators(
        accelerator=accelerator,
        size=accelerator.number if takes_all else 1,
        origin=origin,
        hosts=_hosts(recognised),
    )


def _hosts(recognised: RecognisedEngine) -> int:
    """The pods of a replica: of a LeaderWorkerSet, or of a role of a DisaggregatedSet."""
    path = recognised.pod_path
    if _GROUP not in path:
        return 1
    group = path[: path.index(_GROUP) + 1]
    return int(number_at(recognised.document.value, *group, "size", default=1))
