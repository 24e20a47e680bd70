"""PodMonitor and ServiceMonitor: for each namespace, over the leaders of models whose engines serve metrics, and over
the pickers that KEDA's autoscalers read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from renderer.build.metadata import name_origins
from renderer.build.selectors import serving_selector
from renderer.diagnostics import Origin, Path
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import maps_at
from renderer.plan import Body, Manifest, MonitorPlan, Plan, SharedPlan
from renderer.yamlio import SharedMap

_MODELS = SharedMap({"key": wellknown.MODEL_NAME, "operator": "Exists"})


def _relabelings(key: str) -> tuple[SharedMap, ...]:
    """Reads only pods with this annotation of ours, at the path that it says."""
    name = f"renderer_llmaz_io_{key}"  # as Prometheus writes it
    present, path = f"__meta_kubernetes_pod_annotationpresent_{name}", f"__meta_kubernetes_pod_annotation_{name}"
    return (
        SharedMap({"action": "keep", "sourceLabels": [present], "regex": "true"}),
        SharedMap({"action": "replace", "sourceLabels": [path], "targetLabel": "__metrics_path__"}),
    )


_LEADERS, _ALL_PODS = _relabelings("metrics_path"), _relabelings("rank_metrics_path")


def pod_monitor(shared_plan: SharedPlan) -> Iterator[Manifest]:
    """One where leaders of the namespace have metrics, one where Deployments have some, and one where all pods of a
    group do. They do not depend on the models: the path of the metrics is an annotation of the pod, and pods without it
    are not scraped.
    """
    for monitor in (shared_plan.monitor, shared_plan.deployment_monitor, shared_plan.group_monitor):
        if monitor:
            yield _pod_monitor(shared_plan.namespace, monitor)


def models_monitor(plan: Plan) -> Iterator[Manifest]:
    """One of a server with several models, with an endpoint for each. Their series are alike but for the label
    `model_name`, the public name.
    """
    if plan.monitor is None:
        return
    settings = plan.monitor.settings
    endpoints = [
        {
            "port": wellknown.RANK_PORTS[0],
            "path": plan.monitor.path,
            "params": endpoint.params,
            "interval": settings.interval,
            "relabelings": [{"action": "replace", "targetLabel": "model_name", "replacement": endpoint.name}],
        }
        for endpoint in plan.monitor.endpoints
    ]
    spec = {"selector": {"matchLabels": serving_selector(plan)}, "podMetricsEndpoints": endpoints}
    models: dict[Path, Origin] = {
        ("spec", "podMetricsEndpoints", i, *path): endpoint.origin
        for i, endpoint in enumerate(plan.monitor.endpoints)
        for path in (("params", plan.monitor.model_param, 0), ("relabelings", 0, "replacement"))
    }
    yield _manifest("PodMonitor", plan.namespace, settings, spec, {**name_origins(plan.origin), **models})


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
    ports, relabelings = wellknown.RANK_PORTS[:1], _LEADERS
    if monitor.all_serve:
        selector = _labelled(wellknown.GROUPS)
        ports, relabelings = wellknown.RANK_PORTS, _ALL_PODS
    elif monitor.kind == wellknown.DEPLOYMENT:
        selector = _labelled(wellknown.WORKLOAD)
    else:
        leaders = {wellknown.WORKER_INDEX: "0"}
        selector = {"matchLabels": leaders, "matchExpressions": [_MODELS]}
    endpoints = [{"port": port, "interval": monitor.interval, "relabelings": list(relabelings)} for port in ports]
    return _manifest("PodMonitor", namespace, monitor, {"selector": selector, "podMetricsEndpoints": endpoints})


def _labelled(key: str) -> Body:
    """Selects the pods of models that have this label."""
    return {"matchExpressions": [{"key": key, "operator": "Exists"}, _MODELS]}


def _manifest(
    kind: str, namespace: str, monitor: MonitorPlan, spec: Body, own_origins: Mapping[Path, Origin] = {}
) -> Manifest:
    """A PodMonitor or ServiceMonitor with this spec, whose endpoints have the monitor's interval. `own_origins`: where
    else an input says something of it.
    """
    endpoints = next(field for field in spec if field != "selector")
    count = len(maps_at(spec, endpoints))
    metadata = {"name": monitor.name, "namespace": namespace, "labels": monitor.labels}
    body = {"apiVersion": "monitoring.coreos.com/v1", "kind": kind, "metadata": metadata, "spec": spec}

    def origins() -> dict[Path, Origin]:
        labels, interval = monitor.settings.at("labels"), monitor.settings.at("interval")
        intervals: dict[Path, Origin] = {("spec", endpoints, i, "interval"): interval for i in range(count)}
        return {(): monitor.origin, ("metadata", "labels"): labels, **own_origins, **intervals}

    return Manifest(body, origins)
