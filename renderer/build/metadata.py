"""Labels and origins that the objects of several builders have alike."""

from __future__ import annotations

from renderer.diagnostics import Origin, Path
from renderer.kubernetes import wellknown
from renderer.plan import Body, Plan


def name_origins(plan: Plan) -> dict[Path, Origin]:
    """The origins of an object in which only the name and the namespace come from the app."""
    origins = plan.origins()
    return {(): origins[()], ("metadata", "name"): origins["name",], ("metadata", "namespace"): origins["namespace",]}


def route_labels(plan: Plan) -> Body:
    """The labels of the objects between a route and a workload: the route's own map where it is equal, since its text
    is cached.
    """
    labels = {**plan.labels, wellknown.COMPONENT: "route"}
    return plan.route.labels if plan.route and plan.route.labels == labels else labels
