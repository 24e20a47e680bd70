"""Public names, routes and rewrites that two inputs claim, and Gateways that do not hold so many names."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.api import App, Inputs, TrafficInput
from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.kubernetes.gateway_limits import MANY_ROUTES, MANY_WITH_KEYS, MESSAGE_BYTES, RULE_BYTES
from renderer.kubernetes.json_values import map_at, maps_at
from renderer.plan import NameClaim, RewriteClaim
from renderer.resolve.claims import MAIN, named_entries, public_name
from renderer.resolve.gateway import capacity, public_names, task_routes
from renderer.resolve.traffic.claims import Claims, NamesOfGateway


@rule(of=Claims, when=lambda claims: claims.contested)
def taken_public_names(claims: Claims) -> Iterator[Diagnostic]:
    """Errors for claims of one public name on hosts in common."""
    by_name: dict[tuple[tuple[str, str], str], list[NameClaim]] = {}
    for claim in claims.contested:
        rivals = by_name.setdefault((claim.gateway, claim.model), [])
        other = next((rival for rival in rivals if public_names.meet(rival.hostnames, claim.hostnames)), None)
        if other and not _may_be_taken(claims, claim, other):
            yield _taken_name(claims.inputs, claims.owners[claim.owner], claims.owners[other.owner], claim)
        rivals.append(claim)


def _may_be_taken(claims: Claims, claim: NameClaim, other: NameClaim) -> bool:
    """Whether an invalid ModelRoute or InferenceModel has the public name, or leads to one of the apps, and may leave
    them no such name: it has errors of its own.
    """
    inputs, items = claims.inputs, (claims.owners[claim.owner], claims.owners[other.owner])
    for (kind, _), document in inputs.broken.items():
        spec, metadata = map_at(document.value, "spec"), map_at(document.value, "metadata")
        namespace = metadata.get("namespace") or inputs.config.get("namespace") or "default"
        if kind not in ("ModelRoute", "InferenceModel") or namespace not in (claim.namespace, other.namespace):
            continue
        names = [backend.get("playground") for backend in maps_at(spec, "backends")]
        led = any(isinstance(item, App) and item.namespace == namespace and item.name in names for item in items)
        if led or spec.get("modelName") == claim.model:
            return True
    return False


def _taken_name(inputs: Inputs, app: App | TrafficInput, other: App | TrafficInput, claim: NameClaim) -> Diagnostic:
    """An error at `app`: `other` claims its public name already."""
    file, line, _ = other.origin("metadata", "name").place
    in_pool = any(isinstance(item, App) and _has_pool(inputs, item) for item in (app, other))
    hint = "give one of them another modelName"
    if isinstance(app, App):
        hint = f"{'write another' if 'servedModelName' in app.spec else 'set'} spec.servedModelName"
    field = "modelName" if isinstance(app, TrafficInput) else "servedModelName"
    origin = app.origin("spec", field) if field in app.spec else app.origin("metadata", "name")
    own_name, route = field in app.spec and app.spec.get(field) == claim.model, "a ModelRoute over both"
    for name, entry in named_entries(inputs, app).items() if isinstance(app, App) and not own_name else ():
        if public_name(inputs.models[name]) == claim.model:
            field = "model" if entry.role == MAIN else "adapter"
            origin, route = app.origin(*entry.path), f"a ModelRoute over both, with {field}: {name}"
            hint = f"instead of {name}, claim an OpenModel that has another servedModelName"
            hint += f", or remove {name} from {other.namespace}/{other.name}" if in_pool else ""
    if app.namespace != other.namespace:
        hint += ", or give the namespace a Gateway of its own"
    elif isinstance(app, App) and isinstance(other, App) and not in_pool:  # a ModelRoute leads to one pool at most
        hint += f", or write {route}"
    params = {"kind": other.kind, "other": f"{other.namespace}/{other.name}", "file": file, "line": line}
    return make_diagnostic("E625", origin, model=claim.model, gateway="/".join(claim.gateway), hint=hint, **params)


def _has_pool(inputs: Inputs, app: App) -> bool:
    return task_routes.has_pool(inputs, app)


@rule(of=Claims, when=lambda claims: claims.contested)
def taken_routes(claims: Claims) -> Iterator[Diagnostic]:
    """Errors for routes that two inputs would create."""
    first_claims: dict[tuple[str, str], NameClaim] = {}
    for claim in claims.contested:
        first = first_claims.setdefault((claim.namespace, claim.object), claim)
        if claim.object and first is not claim:
            owners = claims.owners[claim.owner], claims.owners[first.owner]
            later, earlier = sorted(owners, key=lambda owner: isinstance(owner, TrafficInput))[::-1]
            file, line, _ = earlier.origin("metadata", "name").place
            params = {"name": claim.object, "kind": earlier.kind, "file": file, "line": line}
            yield make_diagnostic("E642", later.origin("metadata", "name"), **params)


@rule(of=Claims, when=lambda claims: claims.rewrites)
def taken_rewrites(claims: Claims) -> Iterator[Diagnostic]:
    """Errors for rewrites that two inputs would create: an app for its adapters, and a ModelRoute or InferenceModel."""
    first_owners: dict[tuple[str, str], App | TrafficInput] = {}
    for claim in claims.rewrites:  # an app first, then InferenceModels
        owner = claims.owners[claim.owner_key]
        first = first_owners.setdefault((claim.namespace, claim.name), owner)
        if first is not owner:
            file, line, _ = first.origin("metadata", "name").place
            params = {"name": claim.name, "kind": first.kind, "file": file, "line": line}
            yield make_diagnostic("E394", owner.origin("metadata", "name"), **params)


@rule(of=Claims, when=lambda claims: claims.rewrites)
def different_rewrites(claims: Claims) -> Iterator[Diagnostic]:
    """Errors where two inputs tell a picker differently what a public name becomes."""
    first_claims: dict[tuple[str, str, str], RewriteClaim] = {}
    for claim in claims.rewrites:
        first = first_claims.setdefault((claim.namespace, claim.pool, claim.model), claim)
        if first.shares != claim.shares:
            yield from _second_split(claims, first, claim)


def _second_split(claims: Claims, first_claim: RewriteClaim, claim: RewriteClaim) -> Iterator[Diagnostic]:
    """An error at the InferenceModel, where one of the two is one. None where E625 speaks of both."""
    first, second = claims.owners[first_claim.owner_key], claims.owners[claim.owner_key]
    hosts, other_hosts = (
        item.spec.get("hostnames") if isinstance(item, TrafficInput) else () for item in (first, second)
    )
    if first.kind == second.kind and public_names.meet(hosts or (), other_hosts or ()):
        return
    hint = "give one of them another modelName, or both the same backends and weights"
    if first.kind == "InferenceModel":
        first, second = second, first
        hint = "write it in one of them: leave this InferenceModel out, or name no adapter there"
    file, line, _ = first.origin("spec", "modelName").place
    params = {"kind": first.kind, "name": first.name, "pool": claim.pool, "file": file, "line": line}
    yield make_diagnostic("E395", second.origin("spec", "modelName"), model=claim.model, **params, hint=hint)


@rule(of=Claims, when=lambda claims: claims.interceptor_names)
def taken_held_names(claims: Claims) -> Iterator[Diagnostic]:
    """Errors for public names that the interceptor would know two workloads by."""
    owners: dict[str, str] = {}
    for claim in claims.interceptor_names:
        other = owners.setdefault(claim.model, claim.app)
        for app in claims.inputs.apps if other != claim.app else ():
            if f"{app.namespace}/{app.name}" == claim.app:
                origin = app.origin("spec", "elasticConfig", "minReplicas")
                yield make_diagnostic("E355", origin, model=claim.model, other=f"the Playground {other}")


@rule(of=NamesOfGateway)
def too_many_names(names: NamesOfGateway) -> Iterator[Diagnostic]:
    """An error or a warning where a Gateway has more public names than it supports."""
    gateway, count = names.settings, names.count
    name, origin = "/".join(gateway.gateway), gateway.at("name")
    if count > gateway.max_rules:
        yield make_diagnostic("E626", origin, name=name, count=count, most=gateway.max_rules)
    elif count > MANY_ROUTES and gateway.get("routeLayout") == "model":
        yield make_diagnostic("W240", origin, name=name, count=count, most=MANY_ROUTES)


@rule(of=NamesOfGateway)
def too_many_keys(names: NamesOfGateway) -> Iterator[Diagnostic]:
    """An error, or a warning where nobody knows their number, for more API keys than so many routes can have."""
    gateway, count = names.settings, names.count
    keys = gateway.auth.get("apiKeys")
    if not keys:
        return
    name, origin = "/".join(gateway.gateway), gateway.at("auth", "apiKeys", key=True)
    key_bytes = capacity.key_bytes(names.inputs, gateway.gateway[0], keys["secretName"])
    if key_bytes is None and count > MANY_WITH_KEYS:
        yield make_diagnostic("W241", origin, name=name, count=count)
    most = MESSAGE_BYTES // (RULE_BYTES + 2 * (key_bytes or 0))
    if key_bytes and not gateway.get("maxModels") and most < count:
        yield make_diagnostic("E617", origin, name=name, count=count, most=most)
