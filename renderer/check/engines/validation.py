"""Judges the engines in manifests that others wrote, each as a Playground's engine is judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache, partial
from typing import Any, TypeVar

from msgspec import ValidationError, convert, structs

from renderer.check.engines.census import EngineCensus, similar_containers
from renderer.check.engines.chart_keys import misspelt_keys
from renderer.check.engines.chart_mounts import mounts_of_no_container
from renderer.check.engines.chart_values import read_values, values_paths
from renderer.check.engines.containers import EngineContainer, accelerated_containers, engine_candidates
from renderer.check.engines.device_claims import claimed_devices
from renderer.check.engines.hub_tokens import unseen_tokens
from renderer.check.engines.metric_names import unreported_metrics, wrong_targets
from renderer.check.engines.models_files import placed_models
from renderer.check.engines.neighbours import Neighbours, PlacedEngine
from renderer.check.engines.reachability import undrained_engines
from renderer.check.finding import Body
from renderer.check.graph import ExternalObjects
from renderer.diagnostics import Collector, Diagnostic, Origin, Path, counted, make_diagnostic
from renderer.engines.catalog import EngineCatalog
from renderer.engines.container_engine import Surroundings, engine_line, known_facts, known_model, listening_port
from renderer.engines.downloads import download_folder
from renderer.engines.rules import run_rules_or_stop
from renderer.engines.running_engine import EngineLine, RunningEngine
from renderer.kubernetes.json_values import map_at, maps_at, text_at
from renderer.plan import Container, Pod
from renderer.yamlio import Document

_OF_FILLED_IN = "W437"  # a word without an option, which a script may make of what is filled in
_fields = cache(structs.fields)  # they are worked out anew at each call
_Record = TypeVar("_Record", Container, Pod)


def validate_engines(
    documents: Iterable[Document],
    catalog: EngineCatalog,
    external: ExternalObjects,
    census: EngineCensus | None = None,
) -> Iterator[Diagnostic]:
    """What the rules about running engines say of each container that runs one, and of what stands beside it, or is
    declared to be in the cluster. Of an engine that its options alone tell these are judged, with no more than
    warnings. `census`: counts the engines.
    """
    read = [read_values(document) for document in documents]
    listed = [document for document, _ in read]
    candidates = [container for document in listed for container in engine_candidates(document, catalog)]
    engines = [container for container in candidates if not container.recognised.signs]
    by_options = [
        container for container in candidates if container.recognised.signs and container.recognised.is_certain
    ]
    if census is not None:
        accelerated = sum(accelerated_containers(document, catalog) for document in listed)
        census.count(accelerated, [*engines, *by_options], catalog)
    neighbours = Neighbours(listed if engines else ())
    for release in {id(engine.document): engine.document for engine in engines}.values():
        if paths := values_paths(release.value):
            count = sum(engine.document is release for engine in engines)
            kind = text_at(release.value, "kind")
            hint = "pipe it through Helm: helm template CHART | llmaz check -"
            if kind == "HelmRelease":
                hint = f"if its chart is in a folder, use --charts DIR; otherwise {hint}"
            words = {"kind": kind, "name": text_at(release.value, "metadata", "name"), "hint": hint}
            yield make_diagnostic("N517", release.origin(*paths[0]), count=counted(count, "engine"), **words)
    for release, problems in read:
        yield from problems
        yield from mounts_of_no_container(release)
        yield from misspelt_keys(release)
    diagnostics = Collector()
    for container in engines:
        line = engine_line_of(container, catalog, neighbours)
        placed = PlacedEngine(container, line, catalog, neighbours)
        running = _running_engine(container, line, catalog, neighbours)
        models = placed_models(placed, running)
        for record in (line, running, container, placed, *([models] if models else ())):
            run_rules_or_stop(record, diagnostics)
    yield from diagnostics.problems
    of_options = Collector()
    for container in by_options:
        run_rules_or_stop(engine_line_of(container, catalog, Neighbours(())), of_options)
    for problem in of_options.problems:
        if problem.warning and problem.code != _OF_FILLED_IN:
            yield problem
    yield from similar_containers(candidates)
    yield from undrained_engines(engines)
    yield from unreported_metrics(listed, engines, catalog, neighbours)
    yield from wrong_targets(listed, engines)
    yield from unseen_tokens(engines, catalog, neighbours, external.declared)


def engine_line_of(container: EngineContainer, catalog: EngineCatalog, neighbours: Neighbours) -> EngineLine:
    """The command line of an engine in a manifest."""
    return engine_line(catalog, container.recognised, _surroundings(container, neighbours))


def _surroundings(container: EngineContainer, neighbours: Neighbours) -> Surroundings:
    limits = ("resources", "limits")
    return Surroundings(
        name=container.name,
        limits=map_at(container.body, *limits),
        limits_origin=container.origin(*limits),
        hosts=container.hosts,
        is_whole=container.replica is not None,
        claims=claimed_devices(container, neighbours) if "resourceClaims" in container.pod else {},
        claims_origin=container.origin("resources", "claims"),
    )


def _running_engine(
    container: EngineContainer, line: EngineLine, catalog: EngineCatalog, neighbours: Neighbours
) -> RunningEngine:
    """The engine in its pod."""

    def origin_of(path: Path) -> Origin:
        return container.document.origin(*container.pod_path, *path[1:])

    own = _read_container(container.body)
    if added := container.added_mounts:
        mounted = {mount.get("mountPath") for mount in own.volume_mounts}
        mounts = [mount for mount in added if mount["mountPath"] not in mounted]
        own = structs.replace(own, volume_mounts=(*own.volume_mounts, *mounts))
    pod = _read_pod(container)
    return RunningEngine(
        line=line,
        pod=pod,
        container=own,
        path=("spec", *container.path[len(container.pod_path) :]),
        origin_of=origin_of,
        written_variables=container.variables,
        cards=partial(catalog.cards, pod),
        takes_turns=partial(catalog.take_turns, map_at(container.body, "resources", "limits"), pod),
        weights_folder=partial(download_folder, container.recognised, container.body),
        downloads_to=partial(download_folder, container.recognised, container.body),
        claim_size=partial(_claim_size, container, neighbours),
        is_whole=container.replica is not None,
        port=partial(listening_port, container.recognised, container.body),
        version_origin=lambda: origin_of(("spec", *container.path[len(container.pod_path) :], "image")),
        facts=partial(known_facts, catalog, container.recognised),
        model=partial(known_model, container.recognised),
    )


def _claim_size(container: EngineContainer, neighbours: Neighbours, name: str) -> str:
    """What a claim of the set requests: one of the pod's namespace, else of the StatefulSet's own templates."""
    requested = ("spec", "resources", "requests", "storage")
    claim = neighbours.find("PersistentVolumeClaim", container.namespace, name)
    templates = maps_at(container.document.value, "spec", "volumeClaimTemplates")
    own = (template for template in templates if text_at(template, "metadata", "name") == name)
    return text_at(claim or next(own, {}), *requested)


def _read_pod(container: EngineContainer) -> Pod:
    """The pod of a manifest."""
    metadata, spec = container.metadata, container.pod
    return _read(
        Pod,
        spec,
        metadata=metadata,
        labels=map_at(metadata, "labels"),
        annotations=map_at(metadata, "annotations"),
        init_containers=tuple(map(_read_container, maps_at(spec, "initContainers"))),
        containers=tuple(map(_read_container, maps_at(spec, "containers"))),
    )


def _read_container(body: Body) -> Container:
    return _read(Container, body, name=text_at(body, "name"))


def _read(record: type[_Record], body: Body, **fields: Any) -> _Record:
    """The record of a map with the API's names. No schema need have judged it: values of other types than the API's
    are left out.
    """
    for field in _fields(record):
        if field.name not in fields:
            with suppress(KeyError, ValidationError):
                fields[field.name] = convert(body[field.encode_name], field.type)
    return record(**{**fields, "rest": body})
