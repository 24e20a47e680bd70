"""Public names, the routes to apps, and the tenants that may call (docs/design/routing.md#public-names)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from renderer.api import App, OpenModel, TrafficInput
from renderer.diagnostics import Origin, Path
from renderer.kubernetes import wellknown
from renderer.plan import (
    Body,
    GatewayNeed,
    GrantNeed,
    PackedRule,
    RouteName,
    RoutePlan,
    RouteTarget,
    SharedNeed,
    TokenLimit,
)
from renderer.resolve.gateway import settings
from renderer.resolve.gateway.name_characters import is_portable
from renderer.resolve.gateway.packed_routes import packed_route
from renderer.resolve.gateway.settings import GatewaySettings
from renderer.schema_validation import spec_default
from renderer.yamlio import SharedMap

_ANSWER = 60  # seconds for the answer, once a replica has started


def mode(app: App, gateway_settings: GatewaySettings) -> str:
    """The gateway mode of an app (backend, pool or off): its own setting, else that of RenderConfig."""
    app_gateway = app.spec.get("gateway")
    return str(app_gateway.get("mode") or gateway_settings.mode) if app_gateway else gateway_settings.mode


def host(app: App, gateway_settings: GatewaySettings, mode: str) -> str:
    """The host name by which Envoy finds the leaders of an app or of one of its variants; '' where no route leads
    there.
    """
    if mode != "backend":
        return ""
    return f"{app.name}-leaders.{gateway_settings.namespace}.svc.{gateway_settings.get('clusterDomain')}"


class RouteRequest(Struct, frozen=True):
    """The settings of one route; those left out come from the gateway settings."""

    item: App | TrafficInput  # whose route it is
    settings: GatewaySettings
    model: str  # the public name
    model_origin: Origin
    targets: tuple[RouteTarget, ...]
    open_model: OpenModel | None  # None where none is known
    owner: str = ""  # as the gateway lists the model, '' for that of the OpenModel
    own_timeouts: Mapping[str, str] = {}
    timeouts_origin: Origin | None = None
    allow: tuple[str, ...] = ()  # the tenants that may call, all when empty
    allow_origin: Origin | None = None
    hostnames: tuple[str, ...] = ()
    retries: int = 0  # how often a failed request is repeated
    limits: tuple[TokenLimit, ...] = ()
    entries: tuple[int, ...] = ()  # of each target, the index of the entry that names it
    wake_seconds: int = 0  # how long a target may take to start from zero
    load_seconds: int = 0  # how long a target may take to load the model of a request
    others: tuple[RouteName, ...] = ()  # more public names of the route, of adapters and main models

    @property
    def timeouts(self) -> Mapping[str, str]:
        """The timeouts of the route, over those of the gateway settings."""
        return {**self.settings.timeouts, **self.own_timeouts} if self.own_timeouts else self.settings.timeouts

    @property
    def names(self) -> list[tuple[str, Origin]]:
        """All its public names, and where each is said."""
        return [(self.model, self.model_origin), *((name.model, name.origin) for name in self.others)]

    def timeout_origin(self, key: str) -> Origin:
        """The origin of one of the timeouts."""
        origin = self.timeouts_origin if key in self.own_timeouts else None
        return origin.at(key) if origin else self.settings.at("timeouts", key)

    def with_settings_of(self, app: App | TrafficInput) -> RouteRequest:
        """The request with the timeouts and the tenants that an app or a ModelRoute sets itself."""
        gateway = app.spec.get("gateway") or {}
        spec, path = (gateway, ("spec", "gateway")) if isinstance(app, App) else (app.spec, ("spec",))
        return replace(
            self,
            own_timeouts=spec.get("timeouts") or {},
            timeouts_origin=app.origin(*path, "timeouts") if "timeouts" in spec else None,
            allow=tuple(dict.fromkeys(gateway.get("allow") or ())),
            allow_origin=app.origin("spec", "gateway", "allow", key=True) if "allow" in gateway else None,
        )


def route(request: RouteRequest) -> RoutePlan:
    """The plan of the route of a public name."""
    item, gateway_settings, timeouts = request.item, request.settings, request.timeouts
    model = request.open_model.spec if request.open_model else {}
    across = gateway_settings.gateway[0] != item.namespace
    return RoutePlan(
        name=item.label,
        namespace=item.namespace,
        labels=labels(item.label),
        model=request.model,
        model_origin=request.model_origin,
        gateway=gateway_settings.gateway,
        hostnames=request.hostnames or gateway_settings.hostnames,
        targets=request.targets,
        request_timeout=timeouts.get("request", _default_timeout(request)),
        owned_by=request.owner or owner_of(request.open_model),
        origins=partial(_origins, request),
        stream_idle_timeout=timeouts.get("streamIdle", ""),
        created_at=model.get("createdAt") or "",
        allowed_tenants=request.allow,
        tenant_header=gateway_settings.tenant,
        authentication=settings.auth_policy(gateway_settings, across_namespaces=across),
        packed_route=packed_route(gateway_settings, request.model) if _is_packable(request) else "",
        retries=request.retries,
        limits=request.limits,
        others=request.others,
    )


def owner_of(model: OpenModel | None) -> str:
    """The owner of a model as the gateway lists it."""
    return (model.spec.get("ownedBy") if model else None) or str(spec_default("OpenModel", "ownedBy"))


def _is_packable(request: RouteRequest) -> bool:
    """Whether other names may share its object: one refused name takes all names of its object along."""
    has_policies = request.allow or request.retries or request.limits or "streamIdle" in request.timeouts
    plain = isinstance(request.item, App) and not has_policies and not request.others
    return plain and is_portable(request.model)


def _default_timeout(request: RouteRequest) -> str:
    """How long a request may take where nobody says it: also while a replica starts."""
    return f"{request.wake_seconds + _ANSWER}s" if request.wake_seconds else settings.REQUEST_TIMEOUT


def route_needs(gateway_settings: GatewaySettings, route: RoutePlan) -> tuple[SharedNeed, ...]:
    """The shared objects that the route needs: a Gateway that we create, its ReferenceGrant, a packed route."""
    needs: list[SharedNeed] = []
    if route.packed_route:
        needs.append(
            PackedRule(
                route.namespace,
                route.packed_route,
                model=route.model,
                targets=route.targets,
                request_timeout=route.request_timeout,
                owned_by=route.owned_by,
                created_at=route.created_at,
            )
        )
    if gateway_settings.created:
        needs.append(GatewayNeed(gateway_settings.gateway, gateway_settings.namespace))
        if route.allowed_tenants:
            needs.append(GrantNeed(gateway_settings.gateway, gateway_settings.namespace))
    return tuple(needs)


_LABEL_CACHE: dict[str, Body] = {}


def labels(name: str) -> Body:
    """The labels of the objects of a route; cached, so that all share one map."""
    if name not in _LABEL_CACHE:
        _LABEL_CACHE[name] = SharedMap({**wellknown.own_labels(name, "route")})
    return _LABEL_CACHE[name]


def _backends_field(request: RouteRequest) -> Path:
    """The path below `spec` of the field that names the route backends."""
    if request.item.kind != "InferenceModel":
        return ("backends",)
    return ("poolRef", "name") if any(target.pool for target in request.targets) else ("targetModels",)


def _backend_origins(request: RouteRequest) -> Iterator[tuple[Path, Origin]]:
    """The origins of the route backends of its rule, and of the fields of each by its index."""
    item = request.item
    yield (), item.origin("spec", *_backends_field(request))
    if isinstance(item, App):
        return
    for i in range(len(request.targets) if item.kind == "InferenceModel" else 0):
        yield (i, "name"), item.origin("spec", "poolRef", "name")
    for i, entry in enumerate(request.entries):
        if item.kind == "InferenceModel":
            origin = item.origin("spec", "targetModels", entry)
            yield (i, "modelNameOverride"), origin.at("name")
        else:
            origin, backend = item.origin("spec", "backends", entry), item.spec["backends"][entry]
            if "provider" in backend:
                yield (i, "modelNameOverride"), origin.at("provider", "modelName")
            else:
                yield (i, "name"), origin.at("playground" if "playground" in backend else "service")
                if field := next((key for key in ("adapter", "model") if key in backend), ""):
                    yield (i, "modelNameOverride"), origin.at(field)
        yield (i, "weight"), origin.at("weight")


_RULE: Path = ("spec", "rules", 0)


def _origins(request: RouteRequest) -> Mapping[Path, Origin]:
    """The origins of the fields of the objects of a RoutePlan, as if it had one rule."""
    item, gateway, allow = request.item, request.settings, request.allow_origin or request.item.origin()
    timeout, limits = request.timeouts_origin or gateway.at("timeouts"), item.origin("spec", "tokenLimits")
    field_origins: dict[Path, Origin] = {
        (): item.origin(),
        ("metadata", "name"): item.origin("metadata", "name"),
        ("metadata", "namespace"): item.origin("metadata", "namespace"),
        (*_RULE, "matches"): request.model_origin,
        (*_RULE, "matches", 0, "headers", 0, "value"): request.model_origin,
        **{(*_RULE, "backendRefs", *path): origin for path, origin in _backend_origins(request)},
        (*_RULE, "timeouts", "request"): timeout,
        ("spec", "hostnames"): item.origin("spec", "hostnames") if request.hostnames else gateway.at("hostnames"),
        ("spec", "parentRefs"): gateway.at("name"),
        ("spec", "parentRefs", 0, "name"): gateway.at("name"),
        ("spec", "parentRefs", 0, "namespace"): gateway.at("namespace"),
        **{("spec", *path): origin for path, origin in settings.auth_origins(gateway)},
        ("spec", "timeout"): timeout,
        ("spec", "timeout", "http", "streamIdleTimeout"): request.timeout_origin("streamIdle"),
        **{("explain", key): request.timeout_origin(key) for key in ("request", "streamIdle")},
        ("spec", "authorization"): allow,
        ("spec", "retry"): item.origin("spec", "retries"),
        ("spec", "rateLimit"): limits,
        ("spec", "llmRequestCosts"): limits,
    }
    for i in range(len(request.allow)):
        field_origins["spec", "authorization", "rules", 0, "principal", "headers", 0, "values", i] = allow.at(i)
    for i in range(len(request.limits)):
        limit: Path = ("spec", "rateLimit", "global", "rules", i, "limit")
        field_origins[*limit, "requests"] = limits.at(i, "tokens")
        field_origins[*limit, "unit"] = limits.at(i, "interval")
    return field_origins
