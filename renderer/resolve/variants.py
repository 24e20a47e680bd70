"""`flavorPolicy: variants`: one workload for each flavor, behind one route (contract, section 4.7)."""

from __future__ import annotations

from contextlib import suppress

from renderer.api import App, Inputs
from renderer.problems import Findings, Stop
from renderer.resolve import claims, flavors

VARIANTS = "variants"


def variants(inputs: Inputs, app: App) -> tuple[App, ...]:
    """The app for each flavor of its claim, as `<name>-<flavor>`; itself where one workload is all there is."""
    if flavors.policy(inputs, app) != VARIANTS:
        return (app,)
    with suppress(Stop):  # what is wrong with the claim is said where it is worked out
        claim = claims.claim(inputs, app, Findings())
        known = flavors.names(claim.main)
        chosen = tuple(dict.fromkeys(claim.flavors)) or known
        if len(chosen) > 1 and set(chosen) <= set(known):
            return tuple(app._replace(name=f"{app.name}-{each}", of=app.name, flavor=each) for each in chosen)
    return (app,)
