"""Who collects the engines' metrics: which pods say where theirs are, and the PodMonitor of a namespace."""

from __future__ import annotations

from collections.abc import Callable, Set
from operator import itemgetter
from typing import Any

from msgspec.structs import replace

from renderer.api import App, Inputs
from renderer.diagnostics import Collector
from renderer.plan import Body, MonitorPlan, Pod, Scaler, SharedNeed
from renderer.resolve.engine.backend_runtime import Engine

KIND = "PodMonitor"
METRICS_PATH = "renderer.llmaz.io/metrics-path"
_NAME = "llmaz-engines"
_LABELS = {
    "app.kubernetes.io/name": _NAME,
    "app.kubernetes.io/component": "monitoring",
    "app.kubernetes.io/part-of": "llmaz",
    "app.kubernetes.io/managed-by": "llmaz-renderer",
}
_SOURCE = ("autoscaling", "metricSource")
_SETTINGS = (*_SOURCE, "podMonitor")
_VARIABLE: Callable[[Body], Any] = itemgetter("name")


def metrics_collected(inputs: Inputs) -> bool:
    """Whether RenderConfig says that something in the cluster serves the engines' metrics to autoscalers."""
    return bool(inputs.config.get(*_SOURCE, "type", default="none") != "none")


def monitored_annotations(pod: Pod, engine: Engine) -> Pod:
    """The pod with the annotation that tells the PodMonitor where its metrics are, where the preset knows the path; a
    pod that says it itself is left as it is.
    """
    path = (engine.spec.get("metrics") or {}).get("path")
    if not path or METRICS_PATH in pod.annotations:
        return pod
    return replace(pod, annotations={**pod.annotations, METRICS_PATH: path})


def monitor_needs(namespace: str, pod: Pod) -> tuple[SharedNeed, ...]:
    """The PodMonitor of the namespace, where this pod has metrics."""
    return (SharedNeed(KIND, namespace, _NAME),) if METRICS_PATH in pod.annotations else ()


def readable(
    engine: Engine, app: App, options: Set[str], pod: Pod, scaler: Scaler | None, diagnostics: Collector
) -> None:
    """A warning for an autoscaler on metrics that stand behind a key, an error for one on metrics that are off.
    `options`: those of the command line.
    """
    if scaler is None:
        return
    metrics = engine.spec.get("metrics") or {}
    guards, switches = metrics.get("guardedBy") or (), metrics.get("turnedOffBy") or ()
    if not (guards or switches):
        return
    asked = [metric["pods"]["metric"]["name"] for metric in scaler.metrics if "pods" in metric]
    if not asked:
        return
    variables = set(map(_VARIABLE, pod.containers[0].env))
    for name in guards:
        if name in variables:
            diagnostics.add("W239", app.origin("spec", "elasticConfig", key=True), name=name)
    if not (variables.isdisjoint(switches) and options.isdisjoint(switches)):
        off = [switch for switch in switches if switch in variables or switch in options]
        own = {name for metric in metrics.values() if isinstance(metric, str) for name in (metric, adapted(metric))}
        lost = next((name for name in asked if name in own), "")
        for name in off if lost else ():
            diagnostics.add("E264", app.origin("spec", "elasticConfig", key=True), name=name, metric=lost)


def adapted(name: str) -> str:
    """How the prometheus-adapter, and so an HPA, calls a metric of an engine."""
    return name.replace(":", "_")


def monitor(inputs: Inputs) -> MonitorPlan:
    """The PodMonitor, the same in every namespace."""
    config = inputs.config
    at = config.origin(*_SOURCE)
    return MonitorPlan(
        name=_NAME,
        labels={**_LABELS, **config.get(*_SETTINGS, "labels", default={})},
        interval=config.get(*_SETTINGS, "interval", default="15s"),
        origins=lambda: {
            (): at,
            ("labels",): config.origin(*_SETTINGS, "labels"),
            ("interval",): config.origin(*_SETTINGS, "interval"),
        },
    )


def settings(inputs: Inputs, diagnostics: Collector) -> None:
    """What is wrong with RenderConfig's settings of the PodMonitor."""
    config = inputs.config
    if config.get(*_SETTINGS) is not None and not metrics_collected(inputs):
        diagnostics.add("W220", config.origin(*_SETTINGS, key=True))
    for key in config.get(*_SETTINGS, "labels", default={}):
        if key in _LABELS:
            diagnostics.add("E277", config.origin(*_SETTINGS, "labels", key, key=True), key=key)
