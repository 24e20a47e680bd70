"""3: a Plan → its Manifests: asks each builder in build/, in apply order."""

from __future__ import annotations

from collections.abc import Sequence

from renderer.build import BUILDERS, ROUTE_BUILDERS, SHARED_BUILDERS, TRAFFIC_BUILDERS
from renderer.plan import Manifest, Plan, SharedPlan, TrafficPlan


def build_manifests(plans: Sequence[Plan | TrafficPlan]) -> list[Manifest]:
    """Every object of one Playground or Service, ModelRoute or InferenceModel, in the order in which its file holds
    them.
    """
    manifests: list[Manifest] = []
    for plan in plans:
        if isinstance(plan, TrafficPlan):
            for build_traffic in TRAFFIC_BUILDERS:
                manifests += build_traffic(plan)
        else:
            for build in BUILDERS:
                manifests += build(plan)
        for build_route in ROUTE_BUILDERS:
            manifests += build_route(plan)
    return manifests


def build_shared(joint: SharedPlan) -> list[Manifest]:
    """Every object that apps share of one namespace, or of the cluster, in that order too."""
    return [manifest for build in SHARED_BUILDERS for manifest in build(joint)]
