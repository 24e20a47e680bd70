"""Metrics that autoscalers, alerts, dashboards and pickers of a set read, against those that its engines report."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from renderer.api import BackendRuntime
from renderer.check.engines.containers import EngineContainer
from renderer.check.engines.neighbours import Neighbours
from renderer.diagnostics import Diagnostic, Origin, ReplacingHint, make_diagnostic, meant_name
from renderer.engines.catalog import EngineCatalog
from renderer.engines.metric_targets import resource_apart_from_load, wrong_target
from renderer.engines.name_lists import NameList
from renderer.kubernetes.json_values import as_text, list_at, map_at, maps_at, text_at, value_at
from renderer.kubernetes.workloads import WORKLOADS, kind_of, pod_templates, scale_target, selects
from renderer.text.suggestions import closest
from renderer.yamlio import Document

_POOL = "InferencePool"
_SCALERS = ("ScaledObject", "HorizontalPodAutoscaler")
_TARGET = ("pods", "target", "averageValue")
_PLAIN_QUERY = re.compile(r"\s*(?:(?:sum|avg|max|min)\s*\(\s*)*([a-zA-Z_:][\w:]*)\s*(?:\{[^{}]*\})?[\s)]*")
_RULES = ("PrometheusRule", "VMRule")
_DASHBOARDS = {"ConfigMap": "data", "GrafanaDashboard": "spec"}  # where each kind has the text of dashboards
_ANALYSES = ("AnalysisTemplate", "ClusterAnalysisTemplate")
_NEAR = 0.9  # as similar as a name with one wrong letter in ten
_SUFFIXES = ("_total", "_bucket", "_sum", "_count", "_created")  # that Prometheus' clients add to a metric's name
_NAMESPACE = re.compile(r'namespace\s*=\s*"([^"]+)"')
_METRIC_OPTION = re.compile(r"--?[\w-]*metric[\w-]*(?:=(.*))?", re.DOTALL)


class MetricQuery(Struct, frozen=True):
    """A text that names metrics, and the engines whose metrics they may be."""

    text: str
    origin: Origin
    engines: Sequence[EngineContainer]
    selects: bool = False  # it is about these engines alone


def unreported_metrics(
    documents: Iterable[Document], engines: Sequence[EngineContainer], catalog: EngineCatalog, neighbours: Neighbours
) -> Iterator[Diagnostic]:
    """A warning for each metric that no engine reports which an object can select, where all of these are known."""
    prefixes = {prefix: name for name, runtime in catalog.runtimes.items() if (prefix := _prefix(runtime))}
    if not engines or not prefixes:
        return
    pattern = re.compile(
        rf"(?<![\w:])(?:{'|'.join(map(re.escape, sorted(prefixes)))})[a-zA-Z0-9_]*[a-zA-Z0-9](?![\w:.*|(\\?+])"
    )
    by_object = _by_object(engines)
    has_pools = any(True for _ in neighbours.all(_POOL))
    for document in documents:
        for query in _queries(document, by_object, engines, neighbours if has_pools else None):
            names = dict.fromkeys(pattern.findall(query.text))
            findings = [finding for name in names if (finding := _finding(query, name, prefixes, catalog))]
            if len(findings) == len(names) or " or " not in query.text:  # of alternatives one may be another version's
                yield from findings


def wrong_targets(documents: Iterable[Document], engines: Sequence[EngineContainer]) -> Iterator[Diagnostic]:
    """A warning for each target of an autoscaler that a metric of the engines which it scales never reaches or always
    passes, and for a resource that does not follow their load.
    """
    by_object = _by_object(engines)
    for document in documents if engines else ():
        if text_at(document.value, "kind") not in _SCALERS:
            continue
        scaled = by_object.get(scale_target(document.value), ())
        for name, target, origin in _scaling_targets(document) if scaled else ():
            for words in list(filter(None, (_wrong(engine, name, target) for engine in scaled)))[:1]:
                yield make_diagnostic("W558", origin, **words)
        resources = list(_scaling_resources(document)) if scaled else []
        hint = "leave this trigger out" if len(_scaling_measures(document)) > 1 else "scale on requests that wait"
        for name, origin in resources:
            if words := resource_apart_from_load(name, hint):
                yield make_diagnostic("W558", origin, **words)


def _wrong(engine: EngineContainer, name: str, target: object) -> Mapping[str, str]:
    """What is wrong with a target for the average of an engine's metric; {} for nothing."""
    recognised = engine.recognised
    known, args = recognised.engine.engine, [word.text for word in recognised.command.arguments]
    options = {known.style.name(arg) for arg in args if arg[:1] == "-"}
    ranks = 1 if options.isdisjoint(known.multipliers) else 0
    runtime = recognised.engine.runtime
    return wrong_target(map_at(runtime.spec, "engine"), runtime.name, known.style, args, name, target, ranks)


def _scaling_targets(document: Document) -> Iterator[tuple[str, object, Origin]]:
    """The metrics whose average over pods an autoscaler aims at, with the number and its place. A query that reckons
    with its metric is left out.
    """
    for i, trigger in enumerate(maps_at(document.value, "spec", "triggers")):
        metadata = map_at(trigger, "metadata")
        names = _PLAIN_QUERY.fullmatch(text_at(metadata, "query"))
        if text_at(trigger, "type") == "prometheus" and names and text_at(trigger, "metricType") != "Value":
            yield names[1], metadata.get("threshold"), document.origin("spec", "triggers", i, "metadata", "threshold")
    for i, metric in enumerate(maps_at(document.value, "spec", "metrics")):
        if target := value_at(metric, *_TARGET):
            yield text_at(metric, "pods", "metric", "name"), target, document.origin("spec", "metrics", i, *_TARGET)


def _scaling_measures(document: Document) -> Sequence[object]:
    """What an autoscaler scales on."""
    return [*maps_at(document.value, "spec", "triggers"), *maps_at(document.value, "spec", "metrics")]


def _scaling_resources(document: Document) -> Iterator[tuple[str, Origin]]:
    """The resources of containers on which an autoscaler scales, each with its place."""
    for i, trigger in enumerate(maps_at(document.value, "spec", "triggers")):
        yield text_at(trigger, "type"), document.origin("spec", "triggers", i, "type")
    for i, metric in enumerate(maps_at(document.value, "spec", "metrics")):
        for source in ("resource", "containerResource"):
            if name := text_at(metric, source, "name"):
                yield name, document.origin("spec", "metrics", i, source, "name")


def _by_object(engines: Sequence[EngineContainer]) -> dict[tuple[str, str, str], list[EngineContainer]]:
    """The engines by namespace, kind and name of their workloads."""
    by_object: dict[tuple[str, str, str], list[EngineContainer]] = {}
    for engine in engines:
        value = engine.document.value
        key = engine.namespace, text_at(value, "kind"), text_at(value, "metadata", "name")
        by_object.setdefault(key, []).append(engine)
    return by_object


def _prefix(runtime: BackendRuntime) -> str:
    """How the names of an engine's metrics begin; '' where no list is about them."""
    engine_spec = runtime.spec.get("engine") or {}
    if not (engine_spec.get("names") or {}).get("metrics"):
        return ""
    head, colon, _ = text_at(engine_spec, "metrics", "running").partition(":")
    return head + colon if colon else ""


def _finding(query: MetricQuery, name: str, prefixes: Mapping[str, str], catalog: EngineCatalog) -> Diagnostic | None:
    """What is wrong with a metric in a query; None where some engine may report it."""
    backend = next(backend for prefix, backend in prefixes.items() if name.startswith(prefix))
    engines = [engine for engine in query.engines if engine.recognised.engine.runtime.name == backend]
    if not engines and query.selects and query.engines:
        return _foreign_metric(query, name, catalog.runtimes[backend])
    lists = [_metrics_of(engine) for engine in engines]
    known = [metrics for metrics in lists if metrics]
    if not known or len(known) < len(lists) or any(_base(name, metrics.names) for metrics in known):
        return None
    versions = ", ".join(dict.fromkeys(engine.recognised.engine.version for engine in engines))
    words = {"of": f"{backend} {versions}", "name": name}
    if hint := _hint(name, known[0]):
        return make_diagnostic("W541", query.origin, hint=hint, **words)
    return None


def _hint(name: str, metrics: NameList) -> str:
    """What to do about a metric that a version does not report; '' where nobody knows such a name."""
    if base := _base(name, metrics.ended):
        instead = metrics.replaced.get(base, "")
        removal = f"it was removed {metrics.ended[base]}"
        if instead not in metrics.names:
            return f"leave it out; {removal}"
        other = instead + name[len(base) :]
        return ReplacingHint(f"write {other} instead; {removal}", name, other)
    if base := _base(name, metrics.later):
        return f"it was added {metrics.later[base]}: use that version or a newer one"
    near = closest(name, sorted(metrics.names), _NEAR)
    return meant_name(name, near) if near else ""


def _foreign_metric(query: MetricQuery, name: str, its_own: BackendRuntime) -> Diagnostic | None:
    """A warning where what is scaled or picked runs another engine, whose metrics have other names."""
    runtime = query.engines[0].recognised.engine.runtime
    if not _prefix(runtime) or any(engine.recognised.engine.runtime.name != runtime.name for engine in query.engines):
        return None
    roles = _metric_roles(runtime)
    role = next((role for role, metric in _metric_roles(its_own).items() if metric == name), "")
    instead = roles.get(role, "")
    hint = f"write {instead}" if instead else f"write a metric of {runtime.name}"
    return make_diagnostic("W544", query.origin, name=name, engine=its_own.name, of=runtime.name, hint=hint)


def _metric_roles(runtime: BackendRuntime) -> dict[str, str]:
    """The metrics that a runtime names, by what they are about."""
    metrics = map_at(runtime.spec, "engine", "metrics")
    return {role: metric for role, metric in metrics.items() if isinstance(metric, str) and ":" in metric}


def _metrics_of(engine: EngineContainer) -> NameList | None:
    """The metrics of an engine; None where nobody knows them, as of somebody's own image."""
    recognised = engine.recognised
    version = recognised.engine.version
    return recognised.engine.engine.names.metrics(version) if version and recognised.is_own_image else None


def _base(name: str, known: Iterable[str]) -> str:
    """The metric among the known ones that a series belongs to; '' where there is none."""
    names = [name]
    for suffix in _SUFFIXES:
        names += [known_name.removesuffix(suffix) for known_name in names if known_name.endswith(suffix)]
    return next((candidate for candidate in names if candidate in known), "")


def _queries(
    document: Document,
    by_object: Mapping[tuple[str, str, str], Sequence[EngineContainer]],
    engines: Sequence[EngineContainer],
    neighbours: Neighbours | None,
) -> Iterator[MetricQuery]:
    """The texts of an object that name metrics. `neighbours`: None where there is no pool."""
    kind = text_at(document.value, "kind")
    if kind in _SCALERS:
        scaled = by_object.get(scale_target(document.value), ())
        for text, origin in _scaling_texts(document) if scaled else ():
            yield MetricQuery(text, origin, scaled, selects=True)
    elif kind in _RULES:
        for i, group in enumerate(maps_at(document.value, "spec", "groups")):
            for n, alert in enumerate(maps_at(group, "rules")):
                text, origin = text_at(alert, "expr"), document.origin("spec", "groups", i, "rules", n, "expr")
                yield MetricQuery(text, origin, _of_namespace(text, engines))
    elif kind in _DASHBOARDS:
        field = _DASHBOARDS[kind]
        for key, dashboard in map_at(document.value, field).items():
            for expression in _dashboard_expressions(as_text(dashboard)):
                yield MetricQuery(expression, document.origin(field, key), _of_namespace(expression, engines))
    elif kind in _ANALYSES:
        for i, metric in enumerate(maps_at(document.value, "spec", "metrics")):
            text = text_at(metric, "provider", "prometheus", "query")
            origin = document.origin("spec", "metrics", i, "provider", "prometheus", "query")
            yield MetricQuery(text, origin, _of_namespace(text, engines))
    elif neighbours and kind_of(document.value) in WORKLOADS:
        yield from _picker_queries(document, engines, neighbours)


def _scaling_texts(document: Document) -> Iterator[tuple[str, Origin]]:
    """The queries of a ScaledObject, and the metrics that an HPA reads by name."""
    for i, trigger in enumerate(maps_at(document.value, "spec", "triggers")):
        if text_at(trigger, "type") == "prometheus":
            yield text_at(trigger, "metadata", "query"), document.origin("spec", "triggers", i, "metadata", "query")
    for i, metric in enumerate(maps_at(document.value, "spec", "metrics")):
        for source in ("pods", "external", "object"):
            if name := text_at(metric, source, "metric", "name"):
                yield name, document.origin("spec", "metrics", i, source, "metric", "name")


def _of_namespace(text: str, engines: Sequence[EngineContainer]) -> Sequence[EngineContainer]:
    """The engines of the namespace that a query names, else all."""
    namespaces = set(_NAMESPACE.findall(text))
    return [engine for engine in engines if engine.namespace in namespaces] if namespaces else engines


def _dashboard_expressions(text: str) -> Iterator[str]:
    """The queries in a dashboard of Grafana; nothing for any other text."""
    if '"expr"' not in text:
        return
    try:
        content = json.loads(text)
    except ValueError:
        return
    waiting: list[object] = [content]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if isinstance(value.get("expr"), str):
                yield value["expr"]
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _picker_queries(
    document: Document, engines: Sequence[EngineContainer], neighbours: Neighbours
) -> Iterator[MetricQuery]:
    """The metrics that a picker is told to read, with the engines of its pools."""
    for template in pod_templates(document.value):
        for i, container in enumerate(maps_at(template.spec, "containers")):
            args = [as_text(arg) for arg in list_at(container, "args")]
            for n, arg in enumerate(args):
                if not (option := _METRIC_OPTION.fullmatch(arg)):
                    continue
                value, place = (option[1], n) if option[1] is not None else ("".join(args[n + 1 : n + 2]), n + 1)
                if ":" in value:
                    origin = document.origin(*template.path, "spec", "containers", i, "args", place)
                    yield MetricQuery(
                        value, origin, _picked(document, template.labels, engines, neighbours), selects=True
                    )


def _picked(
    document: Document, labels: Mapping[str, object], engines: Sequence[EngineContainer], neighbours: Neighbours
) -> list[EngineContainer]:
    """The engines of the pools that pods with these labels pick for."""
    namespace = text_at(document.value, "metadata", "namespace")
    picked = []
    for space, pool in neighbours.all(_POOL):
        service = neighbours.find("Service", space, text_at(pool.value, "spec", "endpointPickerRef", "name"))
        picker = map_at(service, "spec", "selector")
        members = map_at(pool.value, "spec", "selector", "matchLabels")
        if space == namespace and picker and members and selects({"matchLabels": picker}, labels):
            picked += [
                engine
                for engine in engines
                if engine.namespace == space and selects({"matchLabels": members}, map_at(engine.metadata, "labels"))
            ]
    return picked
