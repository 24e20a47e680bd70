"""The flavors on whose nodes the pods of an app may run, for `llmaz nodepools` and `llmaz fleet`."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from renderer.api import App, OpenModel
from renderer.diagnostics import Collector, Origin
from renderer.fit.accelerator_types import AcceleratorType
from renderer.resolve import claims, flavors
from renderer.resolve.apps import variants
from renderer.resolve.context import RunContext
from renderer.resolve.flavors import Flavor, flavor_origins
from renderer.resolve.workload.gpu_fit import flavor_card, own_labels


class AppPlacement(Struct, frozen=True):
    """The placement of a workload."""

    name: str
    model: OpenModel  # whose flavors they are
    claimed: tuple[OpenModel, ...]  # all models of the claim
    flavors: tuple[Flavor, ...]  # on whose nodes its pods may run, the preferred first
    cards: tuple[AcceleratorType | None, ...]  # of each flavor's nodes, None where that is not known
    inftyai_scheduler: bool  # InftyAI's scheduler chooses among them
    claim_origin: Origin  # where the app names the model


def app_placements(context: RunContext, app: App) -> tuple[AppPlacement, ...]:
    """The placements of an app's workloads, in the order of their plans."""
    return tuple(_place_variant(context, variant) for variant in variants.app_variants(context.inputs, app))


def _place_variant(context: RunContext, app: App) -> AppPlacement:
    claim = claims.read_claim(context.inputs, app, Collector())
    if app.flavor:
        claim = replace(claim, flavors=(app.flavor,))
    app_flavors = flavors.choose_placement(context.inputs, context.catalog, app, claim, Collector()).flavors
    types, own = context.inputs.accelerator_types(), own_labels(app)
    inftyai_scheduler = flavors.flavor_policy(context.inputs, app) == flavors.INFTYAI
    return AppPlacement(
        name=app.name,
        model=claim.main,
        claimed=tuple([entry.model for entry in claim.models]),
        flavors=app_flavors,
        cards=tuple([flavor_card(types, flavor, own) for flavor in app_flavors]),
        inftyai_scheduler=inftyai_scheduler,
        claim_origin=app.origin(*claim.models[0].path),
    )


def flavor_origin(context: RunContext, placement: AppPlacement, name: str, label: str = "") -> Origin:
    """The origin of the flavor of that name, or of a label of its nodes: in the OpenModel, else in the catalog. For a
    preset of ours it is where the app names the model.
    """
    flavor = next(candidate for candidate in placement.flavors if candidate.name == name)
    origins = flavor_origins(flavor, placement.model)
    if label in flavor.node:
        origin = origins.at("node", label)
    elif flavor.catalog:
        return context.inputs.config.origin("flavors", name, key=True)
    else:
        origin = origins.model.at("name")
    return placement.claim_origin if placement.model.ours and origin.source is placement.model.document else origin
