"""What does not go with a ModelRoute: its backends beside each other and with their apps, retries, hosts, budgets."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.diagnostics import Diagnostic, Origin, make_diagnostic, rule, suggestion
from renderer.engines.option_meanings import Meaning, shaping_options
from renderer.plan import Plan
from renderer.resolve.gateway import public_names, streaming
from renderer.resolve.gateway.settings import GatewaySettings
from renderer.resolve.tasks import CHAT, EMBEDDING
from renderer.resolve.traffic.model_route_records import (
    AppBackend,
    BackendWorkloads,
    RouteBackend,
    RouteShares,
    leads_to_main,
)

_NAMING = {"adapter", "model"}  # the fields that say which model of an app a backend leads to
_OPENAI_VECTORS = "text-embedding-"  # the models of embeddings that OpenAI alone has


@rule(of=RouteBackend, when=lambda backend: backend.field != "provider")
def repeated_backend(backend: RouteBackend) -> Iterator[Diagnostic]:
    """An error for a backend that leads to the same models as one before it, with the same priority."""
    if not backend.is_first:
        name = backend.spec.get(backend.model_field, backend.app_name)
        yield make_diagnostic("E646", backend.origin, name=name)


@rule(of=AppBackend)
def lost_settings(of_app: AppBackend) -> Iterator[Diagnostic]:
    """An error for rights, and a warning for timeouts, that an app sets and the ModelRoute over it does not repeat:
    they would be lost.
    """
    backend, app, spec = of_app.backend, of_app.app, of_app.backend.route.item.spec
    gateway = app.spec.get("gateway") or {}
    if not gateway or any(other.get(backend.field) == backend.app_name for other in spec["backends"][: backend.index]):
        return
    if gateway.get("allow") and not (spec.get("gateway") or {}).get("allow"):
        hint = "write spec.gateway.allow here too"
        yield make_diagnostic("E664", backend.origin, name=app.name, hint=hint)
    if gateway.get("timeouts") and "timeouts" not in spec:
        yield make_diagnostic("W245", backend.origin, name=app.name)


@rule(of=BackendWorkloads, when=lambda workloads: not workloads.of_app.backend.spec.keys().isdisjoint(_NAMING))
def unknown_model(workloads: BackendWorkloads) -> Iterator[Diagnostic]:
    """An error for an adapter or a main model that the app does not have, or for both in one backend."""
    of_app, plan = workloads.of_app, workloads.plans[0]
    backend, field = of_app.backend, of_app.backend.model_field
    name, is_main = backend.spec[field], field == "model"
    words = {"app": plan.app, "what": "main model" if is_main else "adapter", "name": name}
    if backend.spec.keys() >= _NAMING:
        yield make_diagnostic("E369", backend.model_origin, **words, hint="write adapter or model, not both")
        return
    known = [named.model or named.name for named in plan.named_models if bool(named.task) == is_main]
    known = [plan.model, *known] if is_main else known
    if name not in known:
        role = "main" if is_main else "lora"
        hint = f"claim one with role {role} in its modelClaims, or leave {field} out"
        hint = suggestion(name, known) if known else hint
        yield make_diagnostic("E369", backend.model_origin, **words, hint=hint)


@rule(of=BackendWorkloads, when=lambda workloads: not workloads.of_app.backend.route.off)
def lost_name(workloads: BackendWorkloads) -> Iterator[Diagnostic]:
    """A note where an app says its public name, and no route leads to it: a ModelRoute takes the place of the app's own
    route. Said at the first one.
    """
    backend, app, plan = workloads.of_app.backend, workloads.of_app.app, workloads.plans[0]
    item, context = backend.route.item, backend.route.context
    if not backend.is_first or "servedModelName" not in app.spec:
        return
    over_app = context.traffic[app.namespace, app.name]
    first = next((other for other in over_app if leads_to_main(other, app)), None)
    if first is item and all(other.spec["modelName"] != plan.public_name for other in over_app):
        yield make_diagnostic("N676", backend.origin, kind=app.kind, app=app.name, name=plan.public_name)


@rule(of=RouteShares)
def weightless_priorities(shares: RouteShares) -> Iterator[Diagnostic]:
    """An error for each priority whose weights are all 0."""
    for priority in sorted(shares.priorities):
        indices = [i for i, share in enumerate(shares.shares) if share.priority == priority]
        if not any(shares.shares[i].weight for i in indices):
            origin = shares.route.item.origin("spec", "backends", indices[0], "weight")
            yield make_diagnostic("E645", origin, priority=priority)


@rule(of=RouteShares, when=lambda shares: shares.pool_shares)
def pool_beside_others(shares: RouteShares) -> Iterator[Diagnostic]:
    """Errors where a pool is not all that the route leads to, or the public name is neither its engine's nor that of an
    InferenceModel, and no adapter is named.
    """
    item, pool_shares, backends = shares.route.item, shares.pool_shares, shares.route.item.spec["backends"]
    plan, origin = pool_shares[0].plan, pool_shares[0].origin
    pools = {share.plan.shared_name for share in pool_shares}
    if len(pool_shares) < len(backends) or len(pools) > 1 or len(shares.priorities) > 1:
        yield make_diagnostic("E644", origin, name=plan.shared_name)
        return
    traffic = shares.route.context.traffic.get((item.namespace, plan.shared_name), ())
    names = [other.spec["modelName"] for other in traffic if other.kind == "InferenceModel"]
    names_adapter = any("adapter" in backend for backend in backends)
    if not names_adapter and item.spec["modelName"] not in (plan.public_name, *names):
        params = {"name": plan.shared_name, "model": item.spec["modelName"], "served": plan.public_name}
        yield make_diagnostic("E647", item.origin("spec", "modelName"), **params)


@rule(of=RouteShares, when=lambda shares: shares.pool_shares)
def rewritten_adapter(shares: RouteShares) -> Iterator[Diagnostic]:
    """A warning for a public name that a picker replaces by an adapter's, on a Gateway where tokens are counted."""
    if rewritten := shares.rewritten:
        inputs, gateway = shares.route.context.inputs, shares.route.settings.gateway
        model = shares.route.item.spec["modelName"]
        yield from streaming.rewritten_adapter(inputs, gateway, model, rewritten.origin)


@rule(of=RouteShares, when=lambda shares: not shares.route.off)
def unfit_retries(shares: RouteShares) -> Iterator[Diagnostic]:
    """An error for fewer attempts than there are priorities; warnings for attempts that meet the same pod again."""
    item, plans = shares.route.item, shares.plans
    attempts = (item.spec.get("retries") or {}).get("attempts")
    if attempts is None:
        return
    origin, priorities = item.origin("spec", "retries", "attempts"), len(shares.priorities)
    if attempts < priorities - 1:
        params = {"attempts": attempts, "count": priorities, "least": priorities - 1}
        yield make_diagnostic("E649", origin, **params)
    is_single_pod = len(shares.shares) == 1 and len(plans) == 1 and not plans[0].scaler and plans[0].replicas == 1
    if shares.shares[0].targets[0].pool:
        yield make_diagnostic("W248", origin, name=plans[0].shared_name)
    elif is_single_pod:
        yield make_diagnostic("W243", origin, name=plans[0].name)


@rule(of=RouteShares, when=lambda shares: not shares.route.off)
def providers_first(shares: RouteShares) -> Iterator[Diagnostic]:
    """A warning for a route whose first requests go to providers alone."""
    first = min(shares.priorities)
    own = [share for i, share in enumerate(shares.shares) if share.weight and i not in shares.route.provider_names]
    if shares.providers and not any(share.priority == first for share in own):
        yield make_diagnostic("W242", shares.route.item.origin("spec", "backends"))


@rule(of=RouteShares, when=lambda shares: shares.providers and not shares.route.off)
def unsaid_share(shares: RouteShares) -> Iterator[Diagnostic]:
    """A warning for a provider that says neither a weight nor a priority, and so gets a share of the requests that an
    engine of ours could answer.
    """
    backends = shares.route.item.spec["backends"]
    rivals = [share for share in shares.shares if share.weight and not share.priority]
    total = sum(share.weight for share in rivals)
    own = [i for i, share in enumerate(shares.shares) if share in rivals and i not in shares.route.provider_names]
    for i in shares.route.provider_names if own else ():
        if backends[i].keys().isdisjoint(("weight", "priority")):
            other = backends[own[0]].get("playground") or backends[own[0]].get("service")
            share = f"{shares.shares[i].weight} of {total} requests"
            origin = shares.route.item.origin("spec", "backends", i, "provider")
            yield make_diagnostic("W683", origin, share=share, other=other)


@rule(of=RouteShares, when=lambda shares: len(shares.route.first_backends) > 1 and not shares.route.off)
def uneven_answers(shares: RouteShares) -> Iterator[Diagnostic]:
    """A warning for an engine that leaves in the text of its answers what another engine behind the same name gives a
    field of its own: clients get one or the other by chance.
    """
    plans = {plan.app: plan for plan in shares.plans if plan.task == CHAT}
    backends = {backend.app_name: backend for backend in reversed(shares.backends)}  # the first one of each app
    names = [backend.app_name for backend in shares.backends if backend.app_name in plans]
    for meaning in shaping_options():
        shaped = {name: _is_shaped(plans[name], meaning) for name in names}
        able = next((name for name, is_shaped in shaped.items() if is_shaped), "")
        unable = next((name for name, is_shaped in shaped.items() if is_shaped is False), "")
        if able and unable:
            option = meaning.options[plans[unable].backend][0]
            words = {"name": unable, "other": able, "what": meaning.shapes, "option": option}
            yield make_diagnostic("W686", backends[unable].origin, **words)


def _is_shaped(plan: Plan, meaning: Meaning) -> bool | None:
    """Whether an engine has such an option; None for one that needs none, or of which nobody knows."""
    options = meaning.options.get(plan.backend)
    args = (plan.leader or plan.worker).containers[0].args
    return None if options is None else any(arg.partition("=")[0] in options for arg in args)


@rule(of=RouteShares, when=lambda shares: shares.plans and shares.plans[0].task == EMBEDDING and not shares.route.off)
def mixed_vectors(shares: RouteShares) -> Iterator[Diagnostic]:
    """A warning for embeddings of several models behind one name: their vectors cannot be compared."""
    first, models = shares.plans[0], {plan.app: plan.model for plan in shares.plans}
    for backend in shares.backends:
        other = models.get(backend.app_name, "")
        named = backend.spec["provider"].get("modelName", "") if backend.field == "provider" else ""
        if named.startswith(_OPENAI_VECTORS):
            other = named  # of other providers nobody knows which model it is
        if other and other != first.model:
            yield make_diagnostic("W688", backend.origin, other=other, model=first.model)
            return


@rule(of=RouteShares, when=lambda shares: len(shares.route.first_backends) > 1 and not shares.route.off)
def uneven_contexts(shares: RouteShares) -> Iterator[Diagnostic]:
    """A warning for an engine whose longest request is less than half of that of another one that gets the same
    requests: which of them a long one meets is chance.
    """
    lengths = {plan.app: plan.context_length for plan in shares.plans if plan.context_length}
    for priority in sorted(shares.priorities):
        rivals = [
            backend
            for backend, share in zip(shares.backends, shares.shares, strict=True)
            if share.priority == priority and share.weight and backend.app_name in lengths
        ]
        shortest = min(rivals, key=lambda backend: lengths[backend.app_name], default=None)
        longest = max(rivals, key=lambda backend: lengths[backend.app_name], default=None)
        if shortest and longest and lengths[shortest.app_name] * 2 <= lengths[longest.app_name]:
            words = {"name": shortest.app_name, "other": longest.app_name}
            words |= {"shortest": f"{lengths[shortest.app_name]:,}", "longest": f"{lengths[longest.app_name]:,}"}
            yield make_diagnostic("W923", shortest.origin, **words)


@rule(of=RouteShares, when=lambda shares: not shares.route.off)
def share_of_nobody(shares: RouteShares) -> Iterator[Diagnostic]:
    """A warning for requests that go to an app without replicas, which nothing starts."""
    asleep = {plan.app for plan in shares.plans if plan.replicas == 0 and not plan.scaler and not plan.interceptor}
    for backend, share in zip(shares.backends, shares.shares, strict=True) if asleep else ():
        if share.weight and backend.app_name in asleep:
            yield make_diagnostic("W689", backend.origin, name=backend.app_name, share=f"weight {share.weight}")


@rule(of=RouteShares)
def foreign_hostnames(shares: RouteShares) -> Iterator[Diagnostic]:
    """Errors for hostnames that are not among those of the Gateway."""
    item, settings = shares.route.item, shares.route.settings
    hostnames, served = item.spec.get("hostnames") or (), settings.hostnames
    for i, host in enumerate(hostnames):
        origin = item.origin("spec", "hostnames", i)
        if nearer := [name for name in served if name not in hostnames and public_names.covers(host, name)]:
            yield make_diagnostic("E665", origin, host=host, nearer=nearer[0])
        # Below a wildcard, the other names of the Gateway would answer 404 on this host: the nearest host wins.
        if host not in served:
            params = {"name": "/".join(settings.gateway), "served": ", ".join(served) or "none are said"}
            yield make_diagnostic("E648", origin, host=host, **params)


@rule(of=RouteShares)
def unfit_budgets(shares: RouteShares) -> Iterator[Diagnostic]:
    """Errors for budgets of tokens by a header that clients choose, and for two of the same kind."""
    item, settings = shares.route.item, shares.route.settings
    budgets: set[tuple[str, str, str]] = set()
    for i, entry in enumerate(item.spec.get("tokenLimits") or ()):
        origin = item.origin("spec", "tokenLimits", i)
        header = settings.tenant if entry["per"] == "tenant" else entry["per"]["header"]
        yield from _unset_header(settings, header, entry["per"] == "tenant", origin.at("per"))
        budget = header.lower(), entry["interval"], entry.get("count", "total")
        if budget in budgets:
            yield make_diagnostic("E652", origin)
        budgets.add(budget)


def _unset_header(settings: GatewaySettings, header: str, of_tenants: bool, origin: Origin) -> Iterator[Diagnostic]:
    """An error for a header of a budget that the Gateway does not set; a note where others create the Gateway."""
    name = "/".join(settings.gateway)
    claims = [claim for provider in settings.auth.get("jwt") or () for claim in provider.get("claimToHeaders") or ()]
    if header.lower() == settings.tenant.lower() and settings.auth:
        return
    if of_tenants:
        yield make_diagnostic("E651", origin, name=name)
    elif header.lower() in [str(claim["header"]).lower() for claim in claims]:
        return
    elif settings.created:
        yield make_diagnostic("E650", origin, header=header)
    else:
        yield make_diagnostic("N588", origin, header=header, name=name)
