"""ServiceMonitor: one for each namespace in which KEDA scales pools, over their pickers."""

from __future__ import annotations

from collections.abc import Iterator

from renderer import wellknown
from renderer.build.podmonitor import monitor_manifest
from renderer.plan import Manifest, SharedPlan


def picker_monitor(shared_plan: SharedPlan) -> Iterator[Manifest]:
    """One where an autoscaler of the namespace reads a picker. It does not depend on which pools there are."""
    monitor = shared_plan.picker_monitor
    if not monitor:
        return
    spec = {
        "selector": {"matchLabels": {wellknown.COMPONENT: wellknown.PICKER_COMPONENT}},
        "endpoints": [{"port": "http-metrics", "interval": monitor.interval}],
    }
    yield monitor_manifest("ServiceMonitor", shared_plan.namespace, monitor, spec)
