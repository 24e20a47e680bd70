"""3: a Plan → its Manifests: asks each builder in manifests/, in apply order."""

from __future__ import annotations

from collections.abc import Sequence

from renderer.manifests import BUILDERS, ROUTES, SHARED, WAYS
from renderer.plan import Joint, Manifest, Plan, Way


def manifests(plans: Sequence[Plan | Way]) -> list[Manifest]:
    """Every object of one Playground or Service, ModelRoute or InferenceModel, in the order in which its file holds
    them.
    """
    made: list[Manifest] = []
    for plan in plans:
        if isinstance(plan, Way):
            for lead in WAYS:
                made += lead(plan)
        else:
            for build in BUILDERS:
                made += build(plan)
        for route in ROUTES:
            made += route(plan)
    return made


def shared(joint: Joint) -> list[Manifest]:
    """Every object that apps share of one namespace, or of the cluster, in that order too."""
    return [manifest for build in SHARED for manifest in build(joint)]
