"""What is known of workloads beside their manifests: whether models fit, and the price, for `llmaz diff`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from renderer import resolve
from renderer.api import RenderConfig
from renderer.fleet.rows import FleetRow
from renderer.plan import Figures, Plan, TrafficPlan, WorkloadFigures


def has_prices(config: RenderConfig) -> bool:
    """Whether RenderConfig says what accelerators cost."""
    flavors: Mapping[str, Mapping[str, object]] = config.get("flavors", default={})
    return bool(config.get("fleet", "perHour")) or any("perHour" in flavor for flavor in flavors.values())


def workload_figures(plans: Sequence[Plan | TrafficPlan], rows: Sequence[FleetRow]) -> Figures:
    """What is known of the workloads of an app. `rows`: theirs; none where nobody counts them."""
    figures = {place: WorkloadFigures(verdict) for place, verdict in resolve.fit_verdicts(plans).items()}
    for row in rows:
        fit = figures.get((row.namespace, row.name), WorkloadFigures()).fit
        hour = row.hour.high if row.hour else None
        figures[row.namespace, row.name] = WorkloadFigures(fit, hour, row.is_unpriced, row.counted)
    return figures
