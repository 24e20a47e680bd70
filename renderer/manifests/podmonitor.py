"""PodMonitor: one a namespace, over the leaders of every model whose engine shows metrics."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.plan import Joint, Manifest, Monitor
from renderer.problems import Origin, Path
from renderer.yamlio import Shared

# How Prometheus calls the annotation renderer.llmaz.io/metrics-path of a pod.
_PATH = "__meta_kubernetes_pod_annotation_renderer_llmaz_io_metrics_path"
_THERE = "__meta_kubernetes_pod_annotationpresent_renderer_llmaz_io_metrics_path"
_RELABELINGS = (
    Shared({"action": "keep", "sourceLabels": [_THERE], "regex": "true"}),
    Shared({"action": "replace", "sourceLabels": [_PATH], "targetLabel": "__metrics_path__"}),
)


def pod_monitor(joint: Joint) -> Iterator[Manifest]:
    """One where something in the namespace has metrics. Its text is the same whichever models are there.

    Engines differ in the path of their metrics and some have none, so the pod's annotation decides: pods without one
    are left out.
    """
    made = joint.monitor
    if not made:
        return
    spec = {
        "selector": {
            "matchLabels": {"leaderworkerset.sigs.k8s.io/worker-index": "0"},
            "matchExpressions": [{"key": "llmaz.io/model-name", "operator": "Exists"}],
        },
        "podMetricsEndpoints": [{"port": "http", "interval": made.interval, "relabelings": list(_RELABELINGS)}],
    }
    yield Manifest(
        {
            "apiVersion": "monitoring.coreos.com/v1",
            "kind": "PodMonitor",
            "metadata": {"name": made.name, "namespace": joint.namespace, "labels": made.labels},
            "spec": spec,
        },
        lambda: _origins(made),
    )


def _origins(monitor: Monitor) -> dict[Path, Origin]:
    made = monitor.origins()
    return {
        (): made[()],
        ("metadata", "labels"): made["labels",],
        ("spec", "podMetricsEndpoints", 0, "interval"): made["interval",],
    }
