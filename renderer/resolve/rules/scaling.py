"""What does not go with the replicas of an app, and with what sets their number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from operator import itemgetter

from renderer.api import App
from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.engines.metric_targets import resource_apart_from_load, wrong_target
from renderer.fit.weights import read_weights
from renderer.kubernetes import disaggregated_sets
from renderer.kubernetes.json_values import maps_at, text_at, value_at
from renderer.plan import Body, Scaler, ScaleTrigger
from renderer.resolve import names
from renderer.resolve.autoscaling import keda_triggers
from renderer.resolve.autoscaling.triggers import queue_metric
from renderer.resolve.monitoring import adapter_metric_name
from renderer.resolve.weight_sources import PULLED
from renderer.resolve.workload.handwritten_pod import ServicePods
from renderer.resolve.workload.scaling import PlannedScaling
from renderer.resolve.workload.written_app import WrittenPlayground

_METRIC = ("pods", "metric", "name")
_TARGET = ("pods", "target", "averageValue")
_RESOURCE_SOURCES = ("resource", "containerResource")
_VARIABLE: Callable[[Body], object] = itemgetter("name")


@rule(of=WrittenPlayground)
def invalid_names(written: WrittenPlayground) -> Iterator[Diagnostic]:
    """Errors for a name or namespace that Kubernetes does not take."""
    yield from names.invalid_app_names(written.app, 1, 1)


@rule(of=WrittenPlayground)
def invalid_replicas(written: WrittenPlayground) -> Iterator[Diagnostic]:
    """An error for less than no replicas, a warning where an autoscaler sets their number."""
    count = written.app.spec.get("replicas")
    if count is None:
        return
    if written.app.spec.get("elasticConfig") is not None:
        yield make_diagnostic("W202", written.app.origin("spec", "replicas", key=True))
    elif count < 0:
        yield make_diagnostic("E270", written.app.origin("spec", "replicas"), value=count)


@rule(of=WrittenPlayground)
def invalid_bounds(written: WrittenPlayground) -> Iterator[Diagnostic]:
    """Errors about the autoscaler's bounds, and about a trigger that names no autoscaler."""
    app, elastic = written.app, written.app.spec.get("elasticConfig")
    if elastic is None:
        return
    minimum, maximum = elastic.get("minReplicas", 1), elastic["maxReplicas"]
    if minimum < 0:
        origin = app.origin("spec", "elasticConfig", "minReplicas")
        yield make_diagnostic("E272", origin, value=minimum, hint="write 1 or more")
    elif minimum > maximum:
        yield make_diagnostic("E273", app.origin("spec", "elasticConfig", "minReplicas"), low=minimum, high=maximum)
    if (app_trigger := elastic.get("scaleTrigger")) is not None and app_trigger.get("hpa") is None:
        yield make_diagnostic("E274", app.origin("spec", "elasticConfig", "scaleTrigger", key=True))


@rule(of=PlannedScaling, when=lambda scaling: scaling.scaler)
def unreadable_metrics(scaling: PlannedScaling) -> Iterator[Diagnostic]:
    """A warning for an autoscaler on metrics that need an API key, an error for metrics that are turned off."""
    scaler, engine, app = scaling.scaler, scaling.run.engine, scaling.app
    metrics = engine.spec.get("metrics") or {}
    key_variables, off_switches = metrics.get("guardedBy") or (), metrics.get("turnedOffBy") or ()
    if scaler is None or not (key_variables or off_switches):
        return
    metric_names = [text_at(metric, "pods", "metric", "name") for metric in scaler.metrics if "pods" in metric]
    if not metric_names:
        return
    options, variables = scaling.planned.command.form.names, set(map(_VARIABLE, scaling.pod.containers[0].env))
    for name in key_variables:
        if name in variables:
            yield make_diagnostic("W239", app.origin("spec", "elasticConfig", key=True), name=name)
    if not (variables.isdisjoint(off_switches) and options.isdisjoint(off_switches)):
        disabling = [switch for switch in off_switches if switch in variables or switch in options]
        own_metrics = {metric for metric in metrics.values() if isinstance(metric, str)}
        own_metrics |= set(map(adapter_metric_name, own_metrics))
        missing = next((name for name in metric_names if name in own_metrics), "")
        for name in disabling if missing else ():
            yield make_diagnostic("E264", app.origin("spec", "elasticConfig", key=True), name=name, metric=missing)


def _is_hpa(scaling: PlannedScaling) -> bool:
    return bool(scaling.scaler) and not keda_triggers.is_chosen(scaling.run.base.context.inputs.config)


@rule(of=PlannedScaling, when=_is_hpa)
def renamed_metrics(scaling: PlannedScaling) -> Iterator[Diagnostic]:
    """A warning for each metric of an HPA in the engine's own spelling, which the adapter of charts/llmaz renames."""
    own_metrics = [*(scaling.run.engine.spec.get("metrics") or {}).values()]
    path = ("spec", "elasticConfig", "scaleTrigger", "hpa", "metrics")
    for i, metric in enumerate(maps_at(scaling.app.spec, *path[1:])):
        name = text_at(metric, *_METRIC)
        if name in own_metrics and (known := adapter_metric_name(name)) != name:
            yield make_diagnostic("W325", scaling.app.origin(*path, i, *_METRIC), name=name, known=known)


@rule(of=PlannedScaling, when=lambda scaling: scaling.scaler and _own_trigger(scaling.scaler))
def wrong_targets(scaling: PlannedScaling) -> Iterator[Diagnostic]:
    """A warning for each target that a metric of the engine never reaches or always passes, and for a resource that
    does not follow its load.
    """
    run, command = scaling.run, scaling.planned.command
    trigger = _own_trigger(scaling.scaler) if scaling.scaler else None
    for i, metric in enumerate(maps_at(trigger.spec, "metrics") if trigger else ()):
        origin = trigger.origin.at("metrics", i) if trigger else scaling.app.origin("spec")
        for source in _RESOURCE_SOURCES:
            if words := resource_apart_from_load(text_at(metric, source, "name"), _load_hint(scaling)):
                yield make_diagnostic("W558", origin.at(source, "name"), **words)
        if target := value_at(metric, *_TARGET):
            words = wrong_target(
                run.engine.spec,
                run.engine.runtime.name,
                run.engine.style,
                command.args,
                text_at(metric, *_METRIC),
                target,
                run.size.parallelism.data,
            )
            if words:
                yield make_diagnostic("W558", origin.at(*_TARGET), **words)


def _own_trigger(scaler: Scaler) -> ScaleTrigger | None:
    """The trigger that somebody wrote; None where the preset's own counts."""
    return scaler.layers[-1] if scaler.layers and not scaler.layers[-1].of_engine else None


def _load_hint(scaling: PlannedScaling) -> str:
    """What to do about a metric that says nothing of the load."""
    base, engine = scaling.run.base, scaling.run.engine.spec
    if scaling.scaler and len(scaling.scaler.metrics) > 1:
        return "leave this metric out"
    if base.context.metrics_collected and queue_metric(engine) and "scaleTrigger" in scaling.app.spec["elasticConfig"]:
        return "leave scaleTrigger out, to scale on requests that wait"
    return "scale on requests that wait"


# What starts take on usual machines: a download at about 200 MB/s, weights read and sent to accelerators at 1 GB/s, and
# what engines compile and measure besides, by the times that they print (tests/fit).
_SECONDS_PER_GIB, _SECONDS_PER_READ_GIB, _SECONDS_BESIDE = 5, 1, 90
_DOWNLOADED = ("hub", "objectStore", PULLED)  # kinds of sources that each start reads by the network


@rule(of=PlannedScaling, when=lambda scaling: scaling.scaler and scaling.scaler.cooldown)
def short_cooldown(scaling: PlannedScaling) -> Iterator[Diagnostic]:
    """A warning where KEDA may take away a replica before it has started, once nobody waits for it any more."""
    cooldown, base = scaling.scaler.cooldown if scaling.scaler else None, scaling.run.base
    sizes = [read_weights(entry.model.spec.get("facts") or {}) for entry in base.claim.models]
    if cooldown is None or not any(sizes):
        return
    spent = float(_SECONDS_BESIDE)
    for source, weights in zip(base.weights, sizes, strict=True):
        is_downloaded = not source.cache and source.kind in _DOWNLOADED
        per_gib = _SECONDS_PER_READ_GIB + (_SECONDS_PER_GIB if is_downloaded else 0)
        spent += per_gib * (weights.gib if weights else 0)
    seconds = math.ceil(spent)
    if cooldown.seconds < seconds:
        least = 60 * math.ceil(seconds / 60)
        words = {"model": base.claim.main.name, "seconds": seconds, "cooldown": cooldown.seconds, "least": least}
        yield make_diagnostic("W918", scaling.app.origin("spec", "elasticConfig", "minReplicas"), **words)


@rule(of=PlannedScaling, when=lambda scaling: scaling.foreign)
def foreign_owner(scaling: PlannedScaling) -> Iterator[Diagnostic]:
    """A note that an autoscaler of somebody else owns the replicas, which says whose it is."""
    return _foreign_owner(scaling.app, scaling.foreign)


@rule(of=ServicePods)
def foreign_owner_of_service(service: ServicePods) -> Iterator[Diagnostic]:
    """The same of a Service."""
    return _foreign_owner(service.app, service.foreign)


def _foreign_owner(app: App, scaler: Scaler | None) -> Iterator[Diagnostic]:
    if scaler is None:
        return
    origin = app.origin("spec", "replicas", key=True) if "replicas" in app.spec else app.origin("metadata", "name")
    kind, name = app.workload_kind, app.name
    if app.role_scaler:
        kind, name = f"role {app.role} of the {disaggregated_sets.KIND}", app.label
    yield make_diagnostic("N350", origin, owner=scaler.owner, kind=kind, name=name)
