"""Judges the engines in manifests that others wrote, each as a Playground's engine is judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from renderer.check.engines.chart_values import read_values, values_paths
from renderer.check.engines.containers import EngineContainer, engine_containers
from renderer.check.engines.model_facts import beyond_the_model
from renderer.check.engines.neighbours import Neighbours, other_names, overwritten_variables, sleeping_engine
from renderer.check.engines.reachability import impatient_probe, local_host, shared_port, undrained, unheard_probes
from renderer.check.engines.users import unknown_user
from renderer.diagnostics import Diagnostic, counted, make_diagnostic
from renderer.engines.catalog import EngineCatalog
from renderer.engines.recognition import Surroundings, engine_line
from renderer.engines.rules import RULES
from renderer.engines.running_engine import EngineLine, RunningEngine
from renderer.kubernetes.json_values import map_at, maps_at, text_at
from renderer.plan import Container, Pod
from renderer.yamlio import Document


def validate_engines(documents: Iterable[Document], catalog: EngineCatalog) -> Iterator[Diagnostic]:
    """What the rules about running engines say of each container that runs one, and of what stands beside it."""
    read = [read_values(document) for document in documents]
    listed = [document for document, _ in read]
    engines = [container for document in listed for container in engine_containers(document, catalog)]
    neighbours = Neighbours(listed if engines else ())
    for release in {id(engine.document): engine.document for engine in engines}.values():
        if paths := values_paths(release.value):
            count = sum(engine.document is release for engine in engines)
            kind = text_at(release.value, "kind")
            hint = "check the output of helm template"
            if kind == "HelmRelease":
                hint = f"if its chart is in a folder, use --charts DIR; otherwise {hint}"
            words = {"kind": kind, "name": text_at(release.value, "metadata", "name"), "hint": hint}
            yield make_diagnostic("N517", release.origin(*paths[0]), count=counted(count, "engine"), **words)
    for _, problems in read:
        yield from problems
    for container in engines:
        line = engine_line_of(container, catalog)
        yield from _judged(line)
        yield from _judged(_running_engine(container, line))
        yield from beyond_the_model(container, line, catalog)
        for judge in (local_host, unheard_probes, shared_port, impatient_probe, undrained, unknown_user):
            yield from judge(container)
        for validate in (overwritten_variables, other_names, sleeping_engine):
            yield from validate(container, neighbours)


def engine_line_of(container: EngineContainer, catalog: EngineCatalog) -> EngineLine:
    """The command line of an engine in a manifest."""
    return engine_line(catalog, container.recognised, _surroundings(container))


def _judged(record: EngineLine | RunningEngine) -> Iterator[Diagnostic]:
    for applies, rules in RULES[type(record)]:
        for rule in rules if applies(record) else ():
            yield from rule(record)


def _surroundings(container: EngineContainer) -> Surroundings:
    limits = ("resources", "limits")
    return Surroundings(
        name=container.name,
        limits=map_at(container.body, *limits),
        limits_origin=container.origin(*limits),
        hosts=container.hosts,
    )


def _running_engine(container: EngineContainer, line: EngineLine) -> RunningEngine:
    """The engine in its pod, as far as rules look at it."""
    body = Container(text_at(container.body, "name"), mounts=tuple(maps_at(container.body, "volumeMounts")))
    rest = {"hostIPC": True} if container.pod.get("hostIPC") else {}
    pod = Pod(container.labels, {}, "", (body,), volumes=tuple(maps_at(container.pod, "volumes")), rest=rest)
    return RunningEngine(line, pod, body, held_cache=None)
