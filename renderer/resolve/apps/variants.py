"""`flavorPolicy: variants`: one workload for each flavor, behind one route
(docs/design/contract.md#flavors); and the workloads of roles.
"""

from __future__ import annotations

from contextlib import suppress

from msgspec.structs import replace

from renderer.api import App, Inputs
from renderer.diagnostics import Collector, Stop
from renderer.resolve import claims, flavors
from renderer.resolve.apps import role_apps


def app_variants(inputs: Inputs, app: App) -> tuple[App, ...]:
    """The variants of an app, `<name>-<flavor>` for each flavor of its claim, or its two roles; the app itself where it
    has none.
    """
    if role_apps.KEY in app.spec:
        return role_apps.app_roles(app)
    if flavors.flavor_policy(inputs, app) != flavors.VARIANTS:
        return (app,)
    with suppress(Stop):  # problems of the claim are reported when the workload is planned
        claim = claims.read_claim(inputs, app, Collector())
        known = flavors.flavor_names(claim.main)
        names = tuple(dict.fromkeys(claim.flavors)) or known
        if len(names) > 1 and {*names} <= {*known, *flavors.lent_flavors(inputs.config, claim.main, names)}:
            return tuple(replace(app, name=f"{app.name}-{name}", variant_of=app.name, flavor=name) for name in names)
    return (app,)
