"""`flavorPolicy: variants`: one workload for each flavor, behind one route (docs/design/contract.md#flavors)."""

from __future__ import annotations

from contextlib import suppress

from msgspec.structs import replace

from renderer.api import App, Inputs
from renderer.diagnostics import Collector, Stop
from renderer.resolve import claims, flavors

VARIANTS = "variants"


def app_variants(inputs: Inputs, app: App) -> tuple[App, ...]:
    """The app for each flavor of its claim, as `<name>-<flavor>`; itself where one workload is all there is."""
    if flavors.flavor_policy(inputs, app) != VARIANTS:
        return (app,)
    with suppress(Stop):  # what is wrong with the claim is said where it is worked out
        claim = claims.read_claim(inputs, app, Collector())
        known = flavors.flavor_names(claim.main)
        chosen = tuple(dict.fromkeys(claim.flavors)) or known
        if len(chosen) > 1 and set(chosen) <= set(known):
            return tuple(replace(app, name=f"{app.name}-{flavor}", of=app.name, flavor=flavor) for flavor in chosen)
    return (app,)
