"""What the apps of a run claim together: public names, rewrites, and names at the interceptor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from renderer.api import App, Inputs, TrafficInput
from renderer.plan import HeldName, NameClaim, RewriteClaim, SharedNeed, UnroutedModel
from renderer.resolve.gateway import public_names, settings
from renderer.resolve.gateway.settings import GatewaySettings
from renderer.resolve.shared_needs import needs_of


class Claims(Struct, frozen=True, eq=False):
    """The claims of a run that others may make too, each sort sorted."""

    inputs: Inputs
    contested: Sequence[NameClaim]  # of a public name or of a route that others claim too
    rewrites: Sequence[RewriteClaim]
    interceptor_names: Sequence[HeldName]
    owners: Mapping[tuple[str, str, str], App | TrafficInput]  # by NameClaim.owner, where one is asked for


class UnroutedModels(Struct, frozen=True, eq=False):
    """The models of a run to which no route can lead."""

    models: Sequence[UnroutedModel]  # at least one
    first: App  # the app of the first one


class NamesOfGateway(Struct, frozen=True, eq=False):
    """How many public names are on a Gateway."""

    inputs: Inputs
    settings: GatewaySettings
    count: int


def run_claims(inputs: Inputs, needs: Iterable[SharedNeed]) -> Claims:
    """The claims among the needs of a run."""
    needs = list(needs)
    contested, rewrites = _contested_claims(needs_of(NameClaim, needs)), needs_of(RewriteClaim, needs)
    owners = public_names.owners_by_key(inputs) if contested or rewrites else {}
    return Claims(inputs, contested, rewrites, needs_of(HeldName, needs), owners)


def _contested_claims(claims: Iterable[NameClaim]) -> list[NameClaim]:
    """The claims of a public name or of a route that others claim too, sorted."""
    first_claims: dict[tuple[object, str], NameClaim] = {}
    contested: set[NameClaim] = set()
    for claim in claims:
        rival = first_claims.setdefault((claim.gateway, claim.model), claim)
        same = first_claims.setdefault((claim.namespace, claim.object), claim) if claim.object else claim
        if rival is not claim or same is not claim:
            contested |= {claim, rival, same}
    return sorted(contested)


def unrouted_models(inputs: Inputs, needs: Iterable[SharedNeed]) -> UnroutedModels | None:
    """The models among the needs of a run to which no route can lead; None without one."""
    models = needs_of(UnroutedModel, needs)
    if not models:
        return None
    place = models[0].namespace, models[0].app
    return UnroutedModels(models, next(app for app in inputs.apps if (app.namespace, app.name) == place))


def names_of_gateways(inputs: Inputs, needs: Iterable[SharedNeed]) -> Iterator[NamesOfGateway]:
    """How many public names are on each Gateway that RenderConfig names."""
    counts = Counter(claim.gateway for claim in needs if isinstance(claim, NameClaim))
    for gateway, gateway_settings in settings.collect_gateways(inputs.config).by_name.items():
        yield NamesOfGateway(inputs, gateway_settings, counts[gateway])
