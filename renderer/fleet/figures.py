"""What is known of workloads beside their manifests: whether models fit, and the price, for `llmaz diff`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from renderer import resolve
from renderer.api import App, RenderConfig, TrafficInput
from renderer.fleet.rows import item_rows
from renderer.plan import Figures, Plan, TrafficPlan, WorkloadFigures


def has_prices(config: RenderConfig) -> bool:
    """Whether RenderConfig says what accelerators cost."""
    flavors: Mapping[str, Mapping[str, object]] = config.get("flavors", default={})
    return bool(config.get("fleet", "perHour")) or any("perHour" in flavor for flavor in flavors.values())


def workload_figures(
    context: resolve.RunContext, item: App | TrafficInput, plans: Sequence[Plan | TrafficPlan]
) -> Figures:
    """What is known of the workloads of an app."""
    verdicts = resolve.fit_verdicts(plans)
    if not has_prices(context.inputs.config):
        return {place: WorkloadFigures(verdict) for place, verdict in verdicts.items()}
    return {
        place: WorkloadFigures(verdicts.get(place), row.hour.high if row.hour else None, row.is_unpriced)
        for row in item_rows(context, item, plans)
        for place in [(row.namespace, row.name)]
    }
