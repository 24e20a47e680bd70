"""The TrafficPlan of a ModelRoute: one public name over several apps and providers
(docs/design/routing.md#public-names).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal, NoReturn

from msgspec import Struct
from msgspec.structs import replace

from renderer.api import App, TrafficInput
from renderer.diagnostics import Collector, Origin, Path, Stop, suggestion
from renderer.plan import Plan, ProviderPlan, Rewrite, RouteTarget, Steering, TokenLimit, TrafficPlan
from renderer.resolve import names
from renderer.resolve.apps import adapters
from renderer.resolve.apps.workloads import is_broken, plan_workloads
from renderer.resolve.context import RunContext
from renderer.resolve.gateway import pickers, pools, public_names, route_backends, routing, streaming
from renderer.resolve.gateway.route_backends import BackendShare
from renderer.resolve.gateway.routing import RouteRequest
from renderer.resolve.gateway.settings import GatewaySettings, gateway_settings

if TYPE_CHECKING:
    from renderer.input_types import BackendSpec, ProviderSpec

_KINDS = {"playground": "Playground", "service": "Service"}
_TOKEN_KINDS = {
    "total": "TotalToken",
    "input": "InputToken",
    "output": "OutputToken",
    "cachedInput": "CachedInputToken",
    "reasoning": "ReasoningToken",
}
# By schema of an API: the usual type of key, and which have a version and a prefix (docs/design/routing.md#providers).
_AUTH_TYPES = {
    "OpenAI": "APIKey",
    "Cohere": "APIKey",
    "Anthropic": "AnthropicAPIKey",
    "AzureOpenAI": "AzureAPIKey",
    "AWSBedrock": "AWSCredentials",
    "AWSAnthropic": "AWSCredentials",
}
# APIs to which the AI gateway translates no chat completions, and the one path that they serve
# (https://github.com/envoyproxy/ai-gateway/blob/v1.0.0/internal/endpointspec/endpointspec.go, GetTranslator).
_ONLY_PATHS = {"Anthropic": "/anthropic/v1/messages", "Cohere": "/cohere/v2/rerank"}
_WITH_VERSION = ("AzureOpenAI",)
_WITH_PREFIX = ("OpenAI", "Cohere")
_RETRIES = 2  # the default where several priorities need some (docs/design/routing.md#retries)
_MAX_NAME = 63


def plan_model_route(context: RunContext, item: TrafficInput, diagnostics: Collector) -> TrafficPlan:
    """The plan of a ModelRoute. Raises Stop when a backend is not known."""
    names.validate_route_name(item, diagnostics)
    settings, spec = gateway_settings(context, item.namespace), item.spec
    routes_off = settings.mode == "off" and not any(
        _wants_route(context, item, backend, settings) for backend in spec["backends"]
    )
    provider_names_by_index = dict(provider_names(item))
    shares: list[BackendShare] = []
    plans: list[Plan] = []
    providers: list[ProviderPlan] = []
    backend_indices: dict[tuple[str, str, int], int] = {}
    pool_shares: list[PoolShare] = []
    for i, backend in enumerate(spec["backends"]):
        origin = item.origin("spec", "backends", i)
        weight, priority = backend.get("weight", 1), backend.get("priority", 0)
        if "provider" in backend:
            provider = _plan_provider(
                context, item, backend["provider"], provider_names_by_index[i], origin.at("provider"), diagnostics
            )
            providers.append(provider)
            target = RouteTarget(provider.name, 1, backend["provider"]["modelName"])
            shares.append(BackendShare((target,), weight, priority))
            continue
        field: Literal["playground", "service"] = "playground" if "playground" in backend else "service"
        origin = origin.at(field)
        if backend_indices.setdefault((backend[field], backend.get("adapter", ""), priority), i) != i:
            diagnostics.add("E646", origin, name=backend.get("adapter", backend[field]))
        app = find_app(context, item.namespace, backend[field], _KINDS[field], origin, diagnostics)
        if not any(other.get(field) == backend[field] for other in spec["backends"][:i]):
            _validate_rights(item, app, origin, diagnostics)
        if routes_off:  # weights are validated all the same
            shares.append(BackendShare((RouteTarget(app.name, 1, ""),), weight, priority))
            continue
        app_plans = reachable_workloads(context, app, origin, diagnostics)
        plans += app_plans
        in_pool = routing.mode(app, settings) == "pool"
        targets = [pools.pool_target(app_plans[-1])] if in_pool else route_backends.workload_targets(app_plans)
        if "adapter" in backend:
            asked = _asked_name(backend["adapter"], app_plans[0], origin, diagnostics)
            targets = [replace(target, model=asked) for target in targets]
        shares.append(BackendShare(targets, weight, priority))
        if targets[0].pool:
            place = item.origin("spec", "backends", i, "adapter") if "adapter" in backend else origin
            pool_shares.append(PoolShare(app_plans[0], targets[0].model, weight, place))
    _validate_weights(item, shares, diagnostics)
    if pool_shares:
        _validate_pool_backends(context, item, pool_shares, diagnostics)
    hostnames, limits = _hostnames(item, settings, diagnostics), _token_limits(item, settings, diagnostics)
    if routes_off:
        return TrafficPlan(app=f"{item.name}.route", namespace=item.namespace, file=item.file)
    priorities = {part.priority for part in shares}
    retries = _retries(item, shares, plans, len(priorities), diagnostics)
    app_shares = [part for i, part in enumerate(shares) if part.weight and i not in provider_names_by_index]
    if providers and not any(part.priority == min(priorities) for part in app_shares):
        diagnostics.add("W242", item.origin("spec", "backends"))
    model = context.inputs.models[plans[0].model] if plans else None
    targets, entries = (
        route_backends.split_weights(shares),
        [i for i, share in enumerate(shares) for _ in share.targets],
    )
    if pool_shares:  # one of its pool, whose picker shares the requests out
        targets, entries = [replace(targets[0], model=spec["modelName"], weight=1)], entries[:1]
    request = RouteRequest(
        model=spec["modelName"],
        model_origin=item.origin("spec", "modelName"),
        targets=tuple(targets),
        entries=tuple(entries),
        open_model=model,
        owner="" if plans else providers[0].hostname,
        hostnames=hostnames,
        retries=retries,
        limits=limits,
        wake_seconds=route_backends.wake_seconds(plans),
    ).with_settings_of(item)
    route = routing.route(item, settings, request, diagnostics)
    steering = _steering(context, item, settings, pool_shares, diagnostics)
    return TrafficPlan(
        app=f"{item.name}.route",
        namespace=item.namespace,
        file=item.file,
        references=referenced_objects(item.namespace, route.targets, [provider.name for provider in providers]),
        shared=(
            *routing.shared_needs(settings, route),
            public_names.name_claim(item, settings, route.model, request.hostnames, route.name),
            *public_names.rewrite_claims(item, steering),
        ),
        providers=tuple(providers),
        route=route,
        steering=steering,
    )


class PoolShare(Struct, frozen=True):
    """A backend in a pool: the workload, the name that requests ask its engine for, and their weight."""

    plan: Plan
    asked: str
    weight: int
    origin: Origin


def _asked_name(name: str, plan: Plan, origin: Origin, diagnostics: Collector) -> str:
    """The name by which requests ask an app's engine for an adapter; an error where the app has none of that name."""
    if adapter := adapters.find_adapter(plan, name):
        return adapter.asked
    known = [adapter.model or adapter.name for adapter in plan.adapters]
    hint = suggestion(name, known) if known else "claim one with role lora in its modelClaims, or leave adapter out"
    place = Origin(origin.source, (*origin.path[:-1], "adapter"))
    diagnostics.add("E369", place, app=plan.app, name=name, hint=hint)
    return name


def _steering(
    context: RunContext,
    item: TrafficInput,
    settings: GatewaySettings,
    shares: list[PoolShare],
    diagnostics: Collector,
) -> Steering | None:
    """What a pool's picker replaces the public name by, where its engine is to be asked for others."""
    if not any("adapter" in backend for backend in item.spec["backends"]):
        return None  # E647 holds the names together
    if all(share.asked == item.spec["modelName"] for share in shares):
        return None
    place = next(share.origin for share in shares if share.asked != item.spec["modelName"])
    streaming.warn_rewritten_adapter(context.inputs, settings.gateway, item.spec["modelName"], place, diagnostics)
    kept = [share for share in shares if share.weight]  # an InferenceModelRewrite takes no weight of 0
    targets = tuple([(share.asked, share.weight if len(kept) > 1 else None) for share in kept])
    places: dict[Path, Origin] = {("targets", 0, i): share.origin for i, share in enumerate(kept)}
    picker = pickers.find_picker(context, pickers.picker_name(context.inputs, settings, Collector()))
    return Steering(
        name=item.name,
        namespace=item.namespace,
        labels=routing.labels(item.name),
        group=picker.group,
        pool=shares[0].plan.shared_name,
        priority=None,
        rewrites=(Rewrite(item.spec["modelName"], targets),),
        origins=lambda: {
            (): item.origin(),
            ("name",): item.origin("metadata", "name"),
            ("namespace",): item.origin("metadata", "namespace"),
            ("targets",): item.origin("spec", "backends"),
            ("model", 0): item.origin("spec", "modelName"),
            ("pool",): shares[0].origin,
            **places,
        },
    )


def referenced_objects(
    namespace: str, targets: tuple[RouteTarget, ...], excluded: list[str]
) -> tuple[tuple[str, str, str], ...]:
    """The objects of apps that a route refers to, by kind, namespace and name; `excluded`: names of providers."""
    return tuple(
        (kind, namespace, target.name)
        for target in targets
        if target.name not in excluded
        for kind in (("InferencePool",) if target.pool else ("AIServiceBackend", "Backend"))
    )


def _wants_route(context: RunContext, item: TrafficInput, backend: BackendSpec, settings: GatewaySettings) -> bool:
    """Whether a backend turns routes on for itself although RenderConfig turns them off."""
    app = context.apps.get((item.namespace, backend.get("playground") or backend.get("service") or ""))
    return app is not None and routing.mode(app, settings) != "off"


def _validate_rights(item: TrafficInput, app: App, origin: Origin, diagnostics: Collector) -> None:
    """An error for rights, and a warning for timeouts, that an app sets and the ModelRoute over it does not repeat:
    they would be lost.
    """
    gateway = app.spec.get("gateway") or {}
    if gateway.get("allow") and not (item.spec.get("gateway") or {}).get("allow"):
        diagnostics.add("E664", origin, name=app.name, hint="write spec.gateway.allow here too")
    if gateway.get("timeouts") and "timeouts" not in item.spec:
        diagnostics.add("W245", origin, name=app.name)


def find_app(context: RunContext, namespace: str, name: str, kind: str, origin: Origin, diagnostics: Collector) -> App:
    """The app of that name and kind. Raises Stop when there is none."""
    app = context.apps.get((namespace, name))
    if app is None and is_broken(context, namespace, name):
        raise Stop
    if app is None or app.kind != kind:
        _stop_unknown_app(context, namespace, name, kind, origin, diagnostics)
    return app


def _stop_unknown_app(
    context: RunContext, namespace: str, name: str, kind: str, origin: Origin, diagnostics: Collector
) -> NoReturn:
    app = context.apps.get((namespace, name))
    hint = f"there is a {app.kind} of that name; write {app.kind.lower()}: {name}" if app else ""
    if not hint and (
        namespaces := sorted(app_namespace for app_namespace, app_name in context.apps if app_name == name)
    ):
        hint = f"there is one in namespace '{namespaces[0]}', and a route leads to its own namespace only"
    app_names = [
        app_name
        for (app_namespace, app_name), app in context.apps.items()
        if app_namespace == namespace and app.kind == kind
    ]
    diagnostics.stop(
        "E640", origin, kind=kind, name=name, namespace=namespace, hint=hint or suggestion(name, app_names)
    )


def reachable_workloads(context: RunContext, app: App, origin: Origin, diagnostics: Collector) -> list[Plan]:
    """The plans of an app to which a ModelRoute or InferenceModel leads. Raises Stop where the app turns routes off."""
    if routing.mode(app, gateway_settings(context, app.namespace)) == "off":
        diagnostics.stop("E643", origin, name=app.name)
    return plan_workloads(context, app, diagnostics)


def _validate_pool_backends(
    context: RunContext, item: TrafficInput, shares: list[PoolShare], diagnostics: Collector
) -> None:
    """Errors where a pool is not all that the route leads to, or the public name is neither its engine's nor that of an
    InferenceModel, and no adapter is named.
    """
    plan, origin, backends = shares[0].plan, shares[0].origin, item.spec["backends"]
    inference_models = [
        traffic_input
        for traffic_input in context.traffic.get((item.namespace, plan.shared_name), ())
        if traffic_input.kind == "InferenceModel"
    ]
    priorities = {backend.get("priority", 0) for backend in backends}
    if len(shares) < len(backends) or len({share.plan.shared_name for share in shares}) > 1 or len(priorities) > 1:
        diagnostics.add("E644", origin, name=plan.shared_name)
    elif not any("adapter" in backend for backend in backends) and item.spec["modelName"] not in (
        plan.public_name,
        *(inference_model.spec["modelName"] for inference_model in inference_models),
    ):
        words = {"name": plan.shared_name, "model": item.spec["modelName"], "served": plan.public_name}
        diagnostics.add("E647", item.origin("spec", "modelName"), **words)


def _validate_weights(item: TrafficInput, parts: list[BackendShare], diagnostics: Collector) -> None:
    """An error for each priority whose weights are all 0."""
    for priority in sorted({part.priority for part in parts}):
        indexes = [i for i, part in enumerate(parts) if part.priority == priority]
        if not any(parts[i].weight for i in indexes):
            diagnostics.add("E645", item.origin("spec", "backends", indexes[0], "weight"), priority=priority)


def _retries(
    item: TrafficInput, parts: list[BackendShare], plans: list[Plan], priorities: int, diagnostics: Collector
) -> int:
    attempts = (item.spec.get("retries") or {}).get("attempts")
    if attempts is None:
        return max(_RETRIES, priorities - 1) if priorities > 1 else 0
    origin = item.origin("spec", "retries", "attempts")
    if attempts < priorities - 1:
        diagnostics.add("E649", origin, attempts=attempts, count=priorities, least=priorities - 1)
    is_single_pod = len(parts) == 1 and len(plans) == 1 and not plans[0].scaler and plans[0].replicas == 1
    if parts[0].targets[0].pool:
        diagnostics.add("W248", origin, name=plans[0].shared_name)
    elif is_single_pod:
        diagnostics.add("W243", origin, name=plans[0].name)
    return int(attempts)


def _hostnames(item: TrafficInput, settings: GatewaySettings, diagnostics: Collector) -> tuple[str, ...]:
    """The hostnames of the route, which must be among those of the Gateway."""
    hostnames, served = item.spec.get("hostnames") or (), settings.hostnames
    for i, host in enumerate(hostnames):
        origin = item.origin("spec", "hostnames", i)
        if nearer := [
            hostname for hostname in served if hostname not in hostnames and public_names.covers(host, hostname)
        ]:
            diagnostics.add("E665", origin, host=host, nearer=nearer[0])
        # Below a wildcard, the other names of the Gateway would answer 404 on this host: the nearest host wins.
        if host not in served:
            diagnostics.add(
                "E648", origin, host=host, name="/".join(settings.gateway), served=", ".join(served) or "none are said"
            )
    return tuple(dict.fromkeys(hostnames))


def _token_limits(item: TrafficInput, settings: GatewaySettings, diagnostics: Collector) -> tuple[TokenLimit, ...]:
    limits: dict[tuple[str, str, str], TokenLimit] = {}
    for i, entry in enumerate(item.spec.get("tokenLimits") or ()):
        origin = item.origin("spec", "tokenLimits", i)
        header = settings.tenant if entry["per"] == "tenant" else entry["per"]["header"]
        _validate_budget_header(settings, header, entry["per"] == "tenant", origin.at("per"), diagnostics)
        limit = TokenLimit(header, entry["tokens"], entry["interval"], _TOKEN_KINDS[entry.get("count", "total")])
        if limits.setdefault((header.lower(), limit.unit, limit.kind), limit) is not limit:
            diagnostics.add("E652", origin)
    return tuple(limits.values())


def _validate_budget_header(
    settings: GatewaySettings, header: str, tenant: bool, origin: Origin, diagnostics: Collector
) -> None:
    """A token budget must count by a header that the Gateway sets, not one that clients choose."""
    name = "/".join(settings.gateway)
    claims = [claim for provider in settings.auth.get("jwt") or () for claim in provider.get("claimToHeaders") or ()]
    if header.lower() == settings.tenant.lower() and settings.auth:
        return
    if tenant:
        diagnostics.add("E651", origin, name=name)
    elif header.lower() in [str(claim["header"]).lower() for claim in claims]:
        return
    elif settings.created:
        diagnostics.add("E650", origin, header=header)
    else:
        diagnostics.add("N588", origin, header=header, name=name)


def provider_names(item: TrafficInput) -> Iterator[tuple[int, str]]:
    """The names of the objects of a ModelRoute's providers, by the index of the backend."""
    names: list[str] = []
    for i, backend in enumerate(item.spec["backends"] if item.kind == "ModelRoute" else ()):
        if "provider" in backend:
            name = f"{item.name}-{backend['provider']['hostname'].replace('.', '-')}"
            while name in names:
                name += "-2"
            names.append(name)
            yield i, name


def _validate_api(spec: ProviderSpec, origin: Origin, diagnostics: Collector) -> None:
    """An error where an API lacks its version or has a field of another API; warnings for an unusual kind of key, and
    for an API that answers no chat completions.
    """
    speaks, kind = spec["schema"], spec["auth"]["type"]
    if path := _ONLY_PATHS.get(speaks):
        diagnostics.add("W272", origin.at("schema"), schema=speaks, path=path)
    if speaks in _WITH_VERSION and "version" not in spec:
        words = {"what": "needs a version", "hint": "write version, such as 2025-01-01-preview"}
        diagnostics.add("E666", origin, schema=speaks, **words)
    for key, schemas in (("version", (*_WITH_VERSION, "AWSAnthropic")), ("prefix", _WITH_PREFIX)):
        if key in spec and speaks not in schemas:
            diagnostics.add("E666", origin.at(key, key=True), schema=speaks, what=f"has no {key}", hint="leave it out")
    usual = _AUTH_TYPES[speaks]
    if kind != usual:
        diagnostics.add("W246", origin.at("auth", "type"), schema=speaks, kind=kind, usual=usual)


def _plan_provider(
    context: RunContext, item: TrafficInput, spec: ProviderSpec, name: str, origin: Origin, diagnostics: Collector
) -> ProviderPlan:
    host, auth = spec["hostname"], spec["auth"]
    if len(name) > _MAX_NAME:
        diagnostics.add("E663", origin.at("hostname"), name=name, why=f"which is longer than {_MAX_NAME} characters")
    elif app := context.apps.get((item.namespace, name)):
        diagnostics.add("E663", origin.at("hostname"), name=name, why=f"as those of a {app.kind}")
    _validate_api(spec, origin, diagnostics)
    aws = auth["type"] == "AWSCredentials"
    if aws and "region" not in auth:
        diagnostics.add("E653", origin.at("auth"), type=auth["type"], what="needs a region", hint="write auth.region")
    elif not aws and "region" in auth:
        words = {"type": auth["type"], "what": "has no region", "hint": "leave it out"}
        diagnostics.add("E653", origin.at("auth", "region", key=True), **words)
    speaks: dict[str, str] = {"name": spec["schema"]}
    speaks |= {key: spec[key] for key in ("prefix", "version") if key in spec}
    return ProviderPlan(
        name=name,
        namespace=item.namespace,
        labels=routing.labels(item.name),
        schema=speaks,
        hostname=host,
        port=spec.get("port", 443),
        auth=(auth["type"], auth["secretName"], auth.get("region", "")),
        origins=lambda: _provider_origins(item, origin),
    )


def _provider_origins(item: TrafficInput, origin: Origin) -> Mapping[Path, Origin]:
    """The origins of the fields of a ProviderPlan."""
    return {
        (): origin,
        ("name",): item.origin("metadata", "name"),
        ("namespace",): item.origin("metadata", "namespace"),
        ("hostname",): origin.at("hostname"),
        ("port",): origin.at("port"),
        ("speaks",): origin.at("schema"),
        ("auth",): origin.at("auth"),
    }
