"""On which flavors' nodes the pods of an app may run, for those who make nodes."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from renderer.api import App, OpenModel
from renderer.diagnostics import Collector, Origin
from renderer.resolve import claims, flavors
from renderer.resolve.apps import variants
from renderer.resolve.context import RunContext
from renderer.resolve.flavors import Flavor, flavor_origins


class AppPlacement(Struct, frozen=True):
    """A workload. `flavors`: those on whose nodes its pods may run, the best first, none where the model has none;
    `handed`: another scheduler chooses among these nodes; `claim`: where the app names the model.
    """

    name: str
    model: OpenModel
    flavors: tuple[Flavor, ...]
    handed: bool
    claim: Origin


def app_placements(context: RunContext, app: App) -> tuple[AppPlacement, ...]:
    """One for each workload of an app that has plans, in their order."""
    return tuple(_placed(context, variant) for variant in variants.app_variants(context.inputs, app))


def _placed(context: RunContext, app: App) -> AppPlacement:
    claim = claims.read_claim(context.inputs, app, Collector())
    if app.flavor:
        claim = replace(claim, flavors=(app.flavor,))
    app_flavors = flavors.choose_placement(context.inputs, context.catalog, app, claim, Collector()).flavors
    handed = flavors.flavor_policy(context.inputs, app) == flavors.INFTYAI
    return AppPlacement(app.name, claim.main, app_flavors, handed, app.origin(*claim.models[0].path))


def flavor_origin(context: RunContext, placed: AppPlacement, name: str, label: str = "") -> Origin:
    """Where the flavor of that name stands, or a label of its nodes: in the OpenModel, else in the catalog; where the
    app names the model, when that is a preset.
    """
    flavor = next(candidate for candidate in placed.flavors if candidate.name == name)
    words = flavor_origins(flavor, placed.model)
    if label in flavor.node:
        origin = words.at("node", label)
    elif flavor.catalog:
        return context.inputs.config.origin("flavors", name, key=True)
    else:
        origin = words.model.at("name")
    return placed.claim if placed.model.ours and origin.source is placed.model.document else origin
