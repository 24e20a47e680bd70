"""3: a Plan → its Manifests: asks each builder in manifests/, in apply order."""

from __future__ import annotations

from collections.abc import Sequence

from renderer.manifests import BUILDERS, SHARED
from renderer.plan import Joint, Manifest, Plan


def manifests(plans: Sequence[Plan]) -> list[Manifest]:
    """Every object of one Playground or Service, in the order in which its file holds them."""
    return [manifest for plan in plans for build in BUILDERS for manifest in build(plan)]


def shared(joint: Joint) -> list[Manifest]:
    """Every object that apps share of one namespace, or of the cluster, in that order too."""
    return [manifest for build in SHARED for manifest in build(joint)]
