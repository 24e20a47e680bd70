"""Who owns a public name on a gateway and host: the claims of apps, and the names that come of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from renderer.api import App, ClaimedName, Inputs, TrafficInput
from renderer.build.route_parts import route_parts
from renderer.plan import NameClaim, RewriteClaim, RoutePlan, SharedNeed, Steering
from renderer.resolve.claims import named_entries, public_name
from renderer.resolve.gateway import settings
from renderer.resolve.gateway.settings import GatewaySettings
from renderer.resolve.shared_needs import needs_of


def name_claim(
    app: App | TrafficInput,
    gateway_settings: GatewaySettings,
    model: str,
    hostnames: Sequence[str] = (),
    object_name: str = "",
) -> NameClaim:
    """The claim of a public name on a Gateway, for `hostnames` or for all its hosts; claims are compared across all
    apps. `object_name`: of the route that is created for this claim alone, '' for none.
    """
    kind = app.kind if isinstance(app, TrafficInput) else ""
    gateway = gateway_settings.gateway
    return NameClaim(gateway, app.namespace, kind, app.label, object_name, tuple(hostnames), model)


def rewrite_claims(app: App | TrafficInput, steering: Steering | None) -> tuple[RewriteClaim, ...]:
    """The claims of the InferenceModelRewrite that an input makes, one for each public name that it replaces; () where
    it makes none.
    """
    if not steering:
        return ()
    return tuple(
        RewriteClaim(
            kind=app.kind if isinstance(app, TrafficInput) else "",
            owner=app.label,
            pool=steering.pool,
            model=rewrite.model,
            namespace=app.namespace,
            name=steering.name,
            shares=tuple((name, weight or 0 if len(rewrite.targets) > 1 else 0) for name, weight in rewrite.targets),
        )
        for rewrite in steering.rewrites
    )


def route_claims(app: App, gateway_settings: GatewaySettings, route: RoutePlan) -> list[NameClaim]:
    """The claims of all public names of an app's route, and of the objects that hold them."""
    if not route.others:
        return [name_claim(app, gateway_settings, route.model, (), "" if route.packed_route else route.name)]
    claims = []
    for part in route_parts(route):
        names = [name.model for rule in part.rules for name in rule]
        claims += [name_claim(app, gateway_settings, name, (), "" if i else part.name) for i, name in enumerate(names)]
    return claims


def claimed_names(inputs: Inputs, needs: Iterable[SharedNeed]) -> list[ClaimedName]:
    """The public names of this run's routes, each with all hosts that its route has."""
    owners, names = owners_by_key(inputs), []
    for claim in needs_of(NameClaim, needs):
        owner = owners[claim.owner]
        entries = named_entries(inputs, owner) if isinstance(owner, App) else ()
        entry = next((name for name in entries if public_name(inputs.models[name]) == claim.model), "")
        hosts = claim.hostnames or tuple(_gateway_hosts(inputs, claim.namespace))
        names.append(ClaimedName(claim.gateway, hosts, claim.model, owner, entry))
    return names


def _gateway_hosts(inputs: Inputs, namespace: str) -> Sequence[str]:
    hosts: Sequence[str] = settings.read_gateway_settings(inputs.config, namespace).get("hostnames") or ()
    return hosts


def owners_by_key(inputs: Inputs) -> dict[tuple[str, str, str], App | TrafficInput]:
    """What may claim a public name, by NameClaim.owner."""
    owners: dict[tuple[str, str, str], App | TrafficInput] = {(app.namespace, "", app.name): app for app in inputs.apps}
    return owners | {
        (traffic_input.namespace, traffic_input.kind, traffic_input.name): traffic_input
        for traffic_input in inputs.rendered_traffic
    }


def meet(hosts: Sequence[str], other_hosts: Sequence[str]) -> bool:
    """Whether the hosts of two routes have one in common; none are all."""
    return not hosts or not other_hosts or any(covers(a, b) or covers(b, a) for a in hosts for b in other_hosts)


def covers(host: str, other: str) -> bool:
    """Whether a host name, perhaps with a wildcard as its first label, equals the other or matches it."""
    return host == other or (host.startswith("*.") and other.endswith(host[1:]))
