"""What a pod gets, and how an engine runs on it: by what its config, the app and the flavor say."""

from __future__ import annotations

from renderer import template
from renderer.api import App, Inputs, Spec
from renderer.plan import Body
from renderer.problems import Findings, Origin
from renderer.resolve import engines, flavors, resources
from renderer.resolve.claims import Claim
from renderer.resolve.engines import Engine, Recommended, Sized
from renderer.resolve.flavors import Placement


def merged(config: Recommended, user: Spec, at: Origin, place: Placement, found: Findings) -> Body:
    """The runner's resources. `user`: the app's backendRuntimeConfig, which stands `at`."""
    preset = resources.Side(config.spec.get("resources") or {}, config.origin)
    own = resources.Side(user.get("resources") or {}, at)
    shared: Body = template.shared(resources.merged(preset, own, place.limits, found))
    return shared


def sized(
    inputs: Inputs, app: App, engine: Engine, claim: Claim, merged: Body, place: Placement, found: Findings
) -> Sized:
    """What the engine makes of these resources. Raises Stop when it cannot run on them."""
    if not engine.templated:
        return Sized(merged)
    limits = place.places(claim.main, "limits") if place.limits else None
    limited = limits or app.origin("spec", "backendRuntimeConfig", "resources", "limits")
    held = flavors.accelerator(inputs, merged.get("limits") or {}, limited, found)
    variant = engines.variant(engine, held, place.given)
    if variant is None:
        engines.unsuited(inputs, engine, held, place.given, app.origin(*claim.models[0].path), found)
    size = flavors.parallel_size(held, place, claim.main, found)
    return Sized(merged, held, variant, size, flavors.max_model_len(place, claim.main, found))
