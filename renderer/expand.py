"""3: a Plan → its Manifests: asks each builder in manifests/, in apply order."""

from __future__ import annotations

from renderer.manifests import BUILDERS
from renderer.plan import Manifest, Plan


def manifests(plan: Plan) -> list[Manifest]:
    """Every object of one Playground or Service, in the order in which its file holds them."""
    return [manifest for build in BUILDERS for manifest in build(plan)]
