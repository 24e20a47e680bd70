"""PodMonitor and ServiceMonitor: for each namespace, over the leaders of models whose engines serve metrics, and over
the pickers that KEDA's autoscalers read.
"""

from __future__ import annotations

from collections.abc import Iterator

from renderer import wellknown
from renderer.diagnostics import Origin, Path
from renderer.plan import Body, Manifest, MonitorPlan, SharedPlan
from renderer.yamlio import SharedMap

# Prometheus' names for the annotation renderer.llmaz.io/metrics-path of a pod.
_PATH = "__meta_kubernetes_pod_annotation_renderer_llmaz_io_metrics_path"
_PATH_PRESENT = "__meta_kubernetes_pod_annotationpresent_renderer_llmaz_io_metrics_path"
_RELABELINGS = (
    SharedMap({"action": "keep", "sourceLabels": [_PATH_PRESENT], "regex": "true"}),
    SharedMap({"action": "replace", "sourceLabels": [_PATH], "targetLabel": "__metrics_path__"}),
)


def pod_monitor(shared_plan: SharedPlan) -> Iterator[Manifest]:
    """One where LeaderWorkerSets of the namespace have metrics, and one where Deployments have some. They do not depend
    on the models: the path of the metrics is an annotation of the pod, and pods without it are not scraped.
    """
    for monitor in (shared_plan.monitor, shared_plan.deployment_monitor):
        if monitor:
            yield _pod_monitor(shared_plan.namespace, monitor)


def picker_monitor(shared_plan: SharedPlan) -> Iterator[Manifest]:
    """One where an autoscaler of the namespace reads a picker. It does not depend on which pools there are."""
    monitor = shared_plan.picker_monitor
    if not monitor:
        return
    spec = {
        "selector": {"matchLabels": {wellknown.COMPONENT: wellknown.PICKER_COMPONENT}},
        "endpoints": [{"port": "http-metrics", "interval": monitor.interval}],
    }
    yield _manifest("ServiceMonitor", shared_plan.namespace, monitor, spec)


def _pod_monitor(namespace: str, monitor: MonitorPlan) -> Manifest:
    models = {"key": wellknown.MODEL_NAME, "operator": "Exists"}
    selector: dict[str, object] = {"matchExpressions": [{"key": wellknown.WORKLOAD, "operator": "Exists"}, models]}
    if monitor.kind == wellknown.LEADER_WORKER_SET:
        leaders = {"leaderworkerset.sigs.k8s.io/worker-index": "0"}
        selector = {"matchLabels": leaders, "matchExpressions": [models]}
    spec = {
        "selector": selector,
        "podMetricsEndpoints": [{"port": "http", "interval": monitor.interval, "relabelings": list(_RELABELINGS)}],
    }
    return _manifest("PodMonitor", namespace, monitor, spec)


def _manifest(kind: str, namespace: str, monitor: MonitorPlan, spec: Body) -> Manifest:
    """A PodMonitor or ServiceMonitor with this spec, whose endpoints have the monitor's interval."""
    endpoints = next(field for field in spec if field != "selector")
    metadata = {"name": monitor.name, "namespace": namespace, "labels": monitor.labels}
    body = {"apiVersion": "monitoring.coreos.com/v1", "kind": kind, "metadata": metadata, "spec": spec}
    return Manifest(body, lambda: _origins(monitor, endpoints))


def _origins(monitor: MonitorPlan, endpoints: str) -> dict[Path, Origin]:
    origins = monitor.origins()
    return {
        (): origins[()],
        ("metadata", "labels"): origins["labels",],
        ("spec", endpoints, 0, "interval"): origins["interval",],
    }
