"""Collection of the engines' metrics: the annotation of pods, and the PodMonitors of a namespace."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from renderer.api import ConfigPart, Inputs, RenderConfig
from renderer.kubernetes import wellknown
from renderer.kubernetes.wellknown import METRICS_PATH, RANK_METRICS_PATH
from renderer.plan import Body, MonitorNeed, MonitorPlan, Pod, SharedNeed
from renderer.resolve.engine.backend_runtime import Engine

_PICKERS = "llmaz-pickers"
NAME = "llmaz-engines"
DEPLOYMENTS = "llmaz-engines-deployments"
GROUPS = "llmaz-engines-groups"
LABELS = wellknown.own_labels(NAME, "monitoring")
_SOURCE = ("autoscaling", "metricSource")
SETTINGS = (*_SOURCE, "podMonitor")


def metrics_collected(config: RenderConfig) -> bool:
    """Whether RenderConfig names a source of metrics for autoscalers."""
    return bool(config.get(*_SOURCE, "type", default="none") != "none")


def with_metrics_path(pod: Pod, engine: Engine, *, all_serve: bool = False) -> Pod:
    """The pod with the annotation of its metrics' path, where the preset has one; an existing annotation stays.
    `all_serve`: every pod of a replica answers requests, so that another monitor than that of leaders reads it.
    """
    path = (engine.spec.get("metrics") or {}).get("path")
    key = RANK_METRICS_PATH if all_serve else METRICS_PATH
    if not path or key in pod.annotations:
        return pod
    return replace(pod, annotations={**pod.annotations, key: path})


def monitor_needs(namespace: str, pod: Pod) -> tuple[MonitorNeed, ...]:
    """The PodMonitor of the namespace, where this pod has metrics."""
    names = {METRICS_PATH: NAME, RANK_METRICS_PATH: GROUPS}
    return tuple(MonitorNeed(namespace, name) for key, name in names.items() if key in pod.annotations)


def adapter_metric_name(name: str) -> str:
    """The name of an engine's metric in the Prometheus adapter, and so in an HPA."""
    return name.replace(":", "_")


def picker_monitor_plan(inputs: Inputs) -> MonitorPlan:
    """The ServiceMonitor of pickers, the same in every namespace."""
    return monitor_settings(inputs, _PICKERS, wellknown.own_labels(_PICKERS, "monitoring"))


def for_deployment(needs: tuple[SharedNeed, ...]) -> tuple[SharedNeed, ...]:
    """The needs of a workload whose pods a Deployment runs: its PodMonitor selects them by another label."""
    return tuple(MonitorNeed(need.namespace, DEPLOYMENTS) if isinstance(need, MonitorNeed) else need for need in needs)


def monitor_plan(inputs: Inputs, needs: Iterable[MonitorNeed], name: str = NAME) -> MonitorPlan | None:
    """The PodMonitor of this name, the same in every namespace; None where none of the needs of a namespace is it."""
    return monitor_settings(inputs, name, LABELS) if any(need.name == name for need in needs) else None


def monitor_settings(inputs: Inputs, name: str, labels: Body) -> MonitorPlan:
    """A monitor of this name with what RenderConfig says of all of them."""
    config = inputs.config
    return MonitorPlan(
        name=name,
        kind=wellknown.DEPLOYMENT if name == DEPLOYMENTS else wellknown.LEADER_WORKER_SET,
        all_serve=name == GROUPS,
        labels={**labels, **config.get(*SETTINGS, "labels", default={})},
        interval=config.get(*SETTINGS, "interval", default="15s"),
        origin=config.origin(*_SOURCE),
        settings=ConfigPart(config, SETTINGS),
    )
