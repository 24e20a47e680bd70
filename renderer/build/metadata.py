"""Labels and origins that the objects of several builders have alike."""

from __future__ import annotations

from renderer.diagnostics import Origin, Path
from renderer.kubernetes import wellknown
from renderer.plan import Body, Plan


def name_origins(origin: Origin) -> dict[Path, Origin]:
    """The origins of an object of which an input says name and namespace. `origin`: of the input."""
    return {(): origin, **{("metadata", key): origin.at("metadata", key) for key in ("name", "namespace")}}


def route_labels(plan: Plan) -> Body:
    """The labels of the objects between a route and a workload: the route's own map where it is equal, since its text
    is cached.
    """
    labels = {**plan.labels, wellknown.COMPONENT: "route"}
    return plan.route.labels if plan.route and plan.route.labels == labels else labels
