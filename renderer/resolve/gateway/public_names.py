"""Who owns a public name on a gateway and host: claims, conflicts, and how many names a Gateway holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from renderer.api import App, ClaimedName, Inputs, TrafficInput
from renderer.diagnostics import Collector, Diagnostic
from renderer.json_values import map_at, maps_at
from renderer.plan import HeldName, NameClaim, RewriteClaim, RoutePlan, SharedNeed, Steering, route_objects
from renderer.resolve.claims import claimed_adapters, public_name
from renderer.resolve.gateway import settings
from renderer.resolve.gateway.capacity import validate_capacity
from renderer.resolve.gateway.routing import mode
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
    for part in route_objects(route):
        names = [name.model for rule in part.rules for name in rule]
        claims += [name_claim(app, gateway_settings, name, (), "" if i else part.name) for i, name in enumerate(names)]
    return claims


def route_conflicts(inputs: Inputs, needs: Iterable[SharedNeed]) -> list[Diagnostic]:
    """Diagnostics about public names that are claimed twice on one Gateway, routes and rewrites that two inputs would
    create, and Gateways with too many public names.
    """
    diagnostics, needs = Collector(), list(needs)
    claims = needs_of(NameClaim, needs)
    if several := _contested_claims(claims):
        _report_collisions(inputs, several, diagnostics)
    _report_rewrites(inputs, needs_of(RewriteClaim, needs), diagnostics)
    _report_held_names(inputs, needs_of(HeldName, needs), diagnostics)
    count = Counter(claim.gateway for claim in claims)
    for gateway_settings in {
        setting.gateway: setting for setting in reversed(list(settings.all_gateway_settings(inputs.config)))
    }.values():
        validate_capacity(inputs, gateway_settings, count[gateway_settings.gateway], diagnostics)
    return diagnostics.problems


def claimed_names(inputs: Inputs, needs: Iterable[SharedNeed]) -> list[ClaimedName]:
    """The public names of this run's routes, each with all hosts that its route has."""
    owners, names = _owners(inputs), []
    for claim in needs_of(NameClaim, needs):
        owner = owners[claim.owner]
        adapters = claimed_adapters(inputs, owner) if isinstance(owner, App) else ()
        adapter = next((name for name in adapters if public_name(inputs.models[name]) == claim.model), "")
        hosts = claim.hostnames or tuple(_gateway_hosts(inputs, claim.namespace))
        names.append(ClaimedName(claim.gateway, hosts, claim.model, owner, adapter))
    return names


def _gateway_hosts(inputs: Inputs, namespace: str) -> Sequence[str]:
    hosts: Sequence[str] = settings.read_gateway_settings(inputs.config, namespace).get("hostnames") or ()
    return hosts


def _owners(inputs: Inputs) -> dict[tuple[str, str, str], App | TrafficInput]:
    """What may claim a public name, by NameClaim.owner."""
    owners: dict[tuple[str, str, str], App | TrafficInput] = {(app.namespace, "", app.name): app for app in inputs.apps}
    return owners | {
        (traffic_input.namespace, traffic_input.kind, traffic_input.name): traffic_input
        for traffic_input in inputs.rendered_traffic
    }


def _report_rewrites(inputs: Inputs, claims: Sequence[RewriteClaim], diagnostics: Collector) -> None:
    """Errors for rewrites that two inputs would create: an app for its adapters, and a ModelRoute or InferenceModel;
    and for what two of these say differently of one public name in one pool.
    """
    owners = _owners(inputs) if claims else {}
    by_object: dict[tuple[str, str], App | TrafficInput] = {}
    by_name: dict[tuple[str, str, str], tuple[App | TrafficInput, tuple[tuple[str, int], ...]]] = {}
    for claim in claims:  # an app first, then InferenceModels
        owner = owners[claim.owner_key]
        first = by_object.setdefault((claim.namespace, claim.name), owner)
        if first is not owner:
            file, line, _ = first.origin("metadata", "name").place
            words = {"name": claim.name, "kind": first.kind, "file": file, "line": line}
            diagnostics.add("E394", owner.origin("metadata", "name"), **words)
        place = claim.namespace, claim.pool, claim.model
        other, shares = by_name.setdefault(place, (owner, claim.shares))
        if shares != claim.shares:
            _report_second_split(other, owner, claim.pool, claim.model, diagnostics)


def _report_second_split(
    first: App | TrafficInput, second: App | TrafficInput, pool: str, model: str, diagnostics: Collector
) -> None:
    """An error where two inputs tell a picker differently what a public name becomes: at the InferenceModel, where one
    of them is one. None where E625 speaks of both.
    """
    hosts, other_hosts = (
        item.spec.get("hostnames") if isinstance(item, TrafficInput) else () for item in (first, second)
    )
    if first.kind == second.kind and _meet(hosts or (), other_hosts or ()):
        return
    hint = "give one of them another modelName, or both the same backends and weights"
    if first.kind == "InferenceModel":
        first, second = second, first
        hint = "say it in one of them: leave this InferenceModel out, or name no adapter there"
    file, line, _ = first.origin("spec", "modelName").place
    words = {"kind": first.kind, "name": first.name, "pool": pool, "file": file, "line": line}
    diagnostics.add("E395", second.origin("spec", "modelName"), model=model, **words, hint=hint)


def _report_held_names(inputs: Inputs, claims: Iterable[HeldName], diagnostics: Collector) -> None:
    """Errors for public names that the interceptor would know two workloads by."""
    owners: dict[str, str] = {}
    for claim in claims:
        other = owners.setdefault(claim.model, claim.app)
        for app in inputs.apps if other != claim.app else ():
            if f"{app.namespace}/{app.name}" == claim.app:
                origin = app.origin("spec", "elasticConfig", "minReplicas")
                diagnostics.add("E355", origin, model=claim.model, other=f"the Playground {other}")


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


def _report_collisions(inputs: Inputs, claims: Iterable[NameClaim], diagnostics: Collector) -> None:
    """Errors for claims of one public name on hosts in common, and for routes that two inputs would create."""
    owners = _owners(inputs)
    claims_by_name: dict[tuple[tuple[str, str], str], list[NameClaim]] = {}
    objects: dict[tuple[str, str], NameClaim] = {}
    for claim in claims:
        rivals = claims_by_name.setdefault((claim.gateway, claim.model), [])
        other = next((rival for rival in rivals if _share_host(rival, claim)), None)
        if other and not _may_be_taken(inputs, owners[claim.owner], owners[other.owner], claim.model):
            _report_duplicate_name(inputs, owners[claim.owner], owners[other.owner], claim, diagnostics)
        rivals.append(claim)
        same = objects.setdefault((claim.namespace, claim.object), claim)
        if claim.object and same is not claim:
            later, earlier = sorted(
                (owners[claim.owner], owners[same.owner]), key=lambda owner: isinstance(owner, TrafficInput)
            )[::-1]
            file, line, _ = earlier.origin("metadata", "name").place
            words = {"name": claim.object, "kind": earlier.kind, "file": file, "line": line}
            diagnostics.add("E642", later.origin("metadata", "name"), **words)


def _may_be_taken(inputs: Inputs, app: App | TrafficInput, other: App | TrafficInput, model: str) -> bool:
    """Whether an invalid ModelRoute or InferenceModel has the public name, or leads to one of the apps, and may leave
    them no such name: it has errors of its own.
    """
    for (kind, _), document in inputs.broken.items():
        spec, metadata = map_at(document.value, "spec"), map_at(document.value, "metadata")
        namespace = metadata.get("namespace") or inputs.config.get("namespace") or "default"
        if kind not in ("ModelRoute", "InferenceModel") or namespace not in (app.namespace, other.namespace):
            continue
        names = [backend.get("playground") for backend in maps_at(spec, "backends")]
        led = any(isinstance(item, App) and item.namespace == namespace and item.name in names for item in (app, other))
        if led or spec.get("modelName") == model:
            return True
    return False


def _share_host(first: NameClaim, other: NameClaim) -> bool:
    """Whether two claims have a host in common."""
    return _meet(first.hostnames, other.hostnames)


def _meet(hosts: Sequence[str], other_hosts: Sequence[str]) -> bool:
    """Whether the hosts of two routes have one in common; none are all."""
    return not hosts or not other_hosts or any(covers(a, b) or covers(b, a) for a in hosts for b in other_hosts)


def covers(host: str, other: str) -> bool:
    """Whether a host name, perhaps with a wildcard as its first label, equals the other or matches it."""
    return host == other or (host.startswith("*.") and other.endswith(host[1:]))


def _has_pool(inputs: Inputs, app: App) -> bool:
    return mode(app, settings.read_gateway_settings(inputs.config, app.namespace)) == "pool"


def _report_duplicate_name(
    inputs: Inputs, app: App | TrafficInput, other: App | TrafficInput, claim: NameClaim, diagnostics: Collector
) -> None:
    """An error at `app`: `other` claims its public name already."""
    file, line, _ = other.origin("metadata", "name").place
    in_pool = any(isinstance(item, App) and _has_pool(inputs, item) for item in (app, other))
    same_namespace = app.namespace == other.namespace
    both_apps = isinstance(app, App) and isinstance(other, App)
    hint = "set spec.servedModelName" if isinstance(app, App) else "give one of them another modelName"
    field = "modelName" if isinstance(app, TrafficInput) else "servedModelName"
    origin = app.origin("spec", field) if field in app.spec else app.origin("metadata", "name")
    own_name, route = field in app.spec and app.spec.get(field) == claim.model, "a ModelRoute over both"
    for name, path in claimed_adapters(inputs, app).items() if isinstance(app, App) and not own_name else ():
        if public_name(inputs.models[name]) == claim.model:
            origin, route = app.origin(*path), f"a ModelRoute over both, with adapter: {name}"
            hint = f"claim another OpenModel, with a servedModelName of its own, in the place of {name}"
            hint += f", or claim {name} in one of them alone" if in_pool else ""
    if not same_namespace:
        hint += ", or give the namespace a Gateway of its own"
    elif both_apps and not in_pool:  # a ModelRoute leads to one pool at most
        hint += f", or write {route}"
    words = {"kind": other.kind, "other": f"{other.namespace}/{other.name}", "file": file, "line": line}
    diagnostics.add("E625", origin, model=claim.model, gateway="/".join(claim.gateway), hint=hint, **words)
