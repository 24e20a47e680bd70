"""ServiceMonitor: one for each namespace in which KEDA scales pools, over their pickers."""

from __future__ import annotations

from collections.abc import Iterator

from renderer import wellknown
from renderer.diagnostics import Origin, Path
from renderer.plan import Manifest, MonitorPlan, SharedPlan


def picker_monitor(shared_plan: SharedPlan) -> Iterator[Manifest]:
    """One where an autoscaler of the namespace reads a picker. It does not depend on which pools there are."""
    monitor = shared_plan.picker_monitor
    if not monitor:
        return
    spec = {
        "selector": {"matchLabels": {wellknown.COMPONENT: wellknown.PICKER_COMPONENT}},
        "endpoints": [{"port": "http-metrics", "interval": monitor.interval}],
    }
    yield Manifest(
        {
            "apiVersion": "monitoring.coreos.com/v1",
            "kind": "ServiceMonitor",
            "metadata": {"name": monitor.name, "namespace": shared_plan.namespace, "labels": monitor.labels},
            "spec": spec,
        },
        lambda: _origins(monitor),
    )


def _origins(monitor: MonitorPlan) -> dict[Path, Origin]:
    origins = monitor.origins()
    return {
        (): origins[()],
        ("metadata", "labels"): origins["labels",],
        ("spec", "endpoints", 0, "interval"): origins["interval",],
    }
