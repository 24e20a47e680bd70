"""Public names, the routes to apps, and the tenants that may call (docs/design/routing.md#public-names)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from renderer import wellknown
from renderer.api import App, OpenModel, TrafficInput
from renderer.diagnostics import Collector, Origin, Path
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
from renderer.resolve.gateway.name_characters import can_be_sent, is_portable
from renderer.resolve.gateway.packed_routes import packed_route
from renderer.resolve.gateway.settings import GatewaySettings
from renderer.schema_validation import spec_default
from renderer.yamlio import SharedMap

MAX_PACKED_RULES = 15  # of a route; the AI gateway adds a sixteenth
_MAX_HEADER = 4096  # bytes of a header's value (Gateway API)
_ANSWER = 60  # seconds for the answer, once a replica has started
_SHORT_IDLE = 60  # seconds; a prompt may be read for so long before the first token
_DURATION_PART = re.compile(r"([0-9]+)(ms|h|m|s)")
_UNIT_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


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
    """The settings of one route; those left out come from the gateway settings. `model`: the public name;
    `open_model`: if one is known; `allow`: the tenants that may call, all when empty. `entries`:
    of each target, the index of the entry that names it; `wake_seconds`: how long a target may take to start from zero;
    `others`: more public names of the route, of adapters; `other_origins`: of each of them.
    """

    model: str
    model_origin: Origin
    targets: tuple[RouteTarget, ...]
    open_model: OpenModel | None
    owner: str = ""
    timeouts: Mapping[str, str] = {}
    timeouts_origin: Origin | None = None
    allow: tuple[str, ...] = ()
    allow_origin: Origin | None = None
    hostnames: tuple[str, ...] = ()
    retries: int = 0
    limits: tuple[TokenLimit, ...] = ()
    entries: tuple[int, ...] = ()
    wake_seconds: int = 0
    others: tuple[RouteName, ...] = ()
    other_origins: Mapping[str, Origin] = {}

    def with_settings_of(self, app: App | TrafficInput) -> RouteRequest:
        """The request with the timeouts and the tenants that an app or a ModelRoute sets itself."""
        gateway = app.spec.get("gateway") or {}
        spec, path = (gateway, ("spec", "gateway")) if isinstance(app, App) else (app.spec, ("spec",))
        return replace(
            self,
            timeouts=spec.get("timeouts") or {},
            timeouts_origin=app.origin(*path, "timeouts") if "timeouts" in spec else None,
            allow=tuple(dict.fromkeys(gateway.get("allow") or ())),
            allow_origin=app.origin("spec", "gateway", "allow", key=True) if "allow" in gateway else None,
        )


def route(
    app: App | TrafficInput, gateway_settings: GatewaySettings, request: RouteRequest, diagnostics: Collector
) -> RoutePlan:
    """The plan of the route of a public name."""
    portable = _validate_name(gateway_settings, request.model, request.model_origin, diagnostics)
    for other in request.others:
        _validate_name(gateway_settings, other.model, request.other_origins[other.model], diagnostics)
    timeouts = {**gateway_settings.timeouts, **request.timeouts} if request.timeouts else gateway_settings.timeouts
    if "streamIdle" in timeouts and _seconds(timeouts["streamIdle"]) < _SHORT_IDLE:
        origin = _timeout_origin(gateway_settings, request, "streamIdle")
        diagnostics.add("W271", origin, value=timeouts["streamIdle"])
    if request.wake_seconds:
        _warn_short_timeouts(gateway_settings, request, timeouts, diagnostics)
    if request.allow_origin:
        _validate_rights(app, gateway_settings, request, request.allow_origin, diagnostics)
    has_policies = request.allow or request.retries or request.limits or "streamIdle" in timeouts
    # One refused name takes all names of its object along.
    packable = portable and not has_policies and not request.others
    model = request.open_model.spec if request.open_model else {}
    name = app.label
    namespace, gateway = app.namespace, gateway_settings.gateway
    return RoutePlan(
        name=name,
        namespace=namespace,
        labels=labels(name),
        model=request.model,
        gateway=gateway,
        hostnames=request.hostnames or gateway_settings.hostnames,
        targets=request.targets,
        request_timeout=timeouts.get("request", _default_timeout(request)),
        owned_by=request.owner or model.get("ownedBy") or str(spec_default("OpenModel", "ownedBy")),
        origins=lambda: _origins(app, gateway_settings, request),
        stream_idle_timeout=timeouts.get("streamIdle", ""),
        created_at=model.get("createdAt") or "",
        allowed_tenants=request.allow,
        tenant_header=gateway_settings.tenant,
        authentication=settings.auth_policy(gateway_settings, across_namespaces=gateway[0] != namespace),
        packed_route=packed_route(gateway_settings, request.model) if packable and isinstance(app, App) else "",
        retries=request.retries,
        limits=request.limits,
        others=request.others,
    )


def _default_timeout(request: RouteRequest) -> str:
    """How long a request may take where nobody says it: also while a replica starts."""
    return f"{request.wake_seconds + _ANSWER}s" if request.wake_seconds else settings.REQUEST_TIMEOUT


def _warn_short_timeouts(
    gateway_settings: GatewaySettings, request: RouteRequest, timeouts: Mapping[str, str], diagnostics: Collector
) -> None:
    """Warns of timeouts that end a request before the replica that it wakes has started."""
    for key, value in timeouts.items():
        if _seconds(value) < request.wake_seconds:
            origin = _timeout_origin(gateway_settings, request, key)
            diagnostics.add("W351", origin, value=value, seconds=request.wake_seconds)


def _validate_name(gateway_settings: GatewaySettings, name: str, origin: Origin, diagnostics: Collector) -> bool:
    """Whether both channels of Gateway API take a public name; an error for one that none takes."""
    if (length := len(name.encode())) > _MAX_HEADER:
        diagnostics.add("E623", origin, length=length, most=_MAX_HEADER)
    portable = is_portable(name)
    if not portable and can_be_sent(name):
        _report_unportable_name(gateway_settings, name, origin, diagnostics)
    return portable


def _report_unportable_name(
    gateway_settings: GatewaySettings, name: str, origin: Origin, diagnostics: Collector
) -> None:
    """A public name that the experimental channel of Gateway API refuses: an error where the clusters have it, a
    warning where nobody says which they have.
    """
    channel = gateway_settings.config.get("targets", "gatewayAPIChannel")
    if channel != "standard":
        diagnostics.add("E668" if channel else "W270", origin, name=name)


def _seconds(duration: str) -> float:
    """The seconds of a duration of Gateway API, such as `1m30s`."""
    return sum(int(number) * _UNIT_SECONDS[unit] for number, unit in _DURATION_PART.findall(duration))


def _validate_rights(
    app: App | TrafficInput,
    gateway_settings: GatewaySettings,
    request: RouteRequest,
    origin: Origin,
    diagnostics: Collector,
) -> None:
    """Errors where `allow` cannot be enforced for this model."""
    if not gateway_settings.auth:
        diagnostics.add("E624", origin, name="/".join(gateway_settings.gateway))
    if request.allow and gateway_settings.created and gateway_settings.gateway == (app.namespace, app.label):
        diagnostics.add("E631", app.origin("metadata", "name"), name=app.label)
    references = [
        "remoteJWKS.backendRefs" if "backendRefs" in (provider.get("remoteJWKS") or {}) else "localJWKS.valueRef"
        for provider in gateway_settings.auth.get("jwt") or ()
        if "backendRefs" in (provider.get("remoteJWKS") or {}) or "valueRef" in (provider.get("localJWKS") or {})
    ]
    if request.allow and references and gateway_settings.gateway[0] != app.namespace:
        diagnostics.add("E636", origin, what=references[0])


def shared_needs(gateway_settings: GatewaySettings, route: RoutePlan) -> tuple[SharedNeed, ...]:
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


def name_origin(app: App, model: OpenModel) -> Origin:
    """The origin of the public name of an app: `servedModelName` of the app or the OpenModel, else the OpenModel's
    name.
    """
    return app.origin("spec", "servedModelName") if "servedModelName" in app.spec else own_name_origin(model)


def own_name_origin(model: OpenModel) -> Origin:
    """The origin of the public name that an OpenModel has where no app says another."""
    if "servedModelName" in model.spec:
        return Origin(model.document, ("spec", "servedModelName"))
    return Origin(model.document, ("metadata", "name"))


def _backends_field(app: App | TrafficInput, request: RouteRequest) -> Path:
    """The path below `spec` of the field that names the route backends."""
    if app.kind != "InferenceModel":
        return ("backends",)
    return ("poolRef", "name") if any(target.pool for target in request.targets) else ("targetModels",)


def _timeout_origin(gateway_settings: GatewaySettings, request: RouteRequest, key: str) -> Origin:
    """The origin of one of the timeouts."""
    origin = request.timeouts_origin if key in request.timeouts else None
    return origin.at(key) if origin else gateway_settings.at("timeouts", key)


def _backend_origins(app: App | TrafficInput, request: RouteRequest) -> Iterator[tuple[Path, Origin]]:
    """The origins of the route backends, and of the fields of each by its index."""
    yield ("backends",), app.origin("spec", *_backends_field(app, request))
    if isinstance(app, App):
        return
    for i in range(len(request.targets) if app.kind == "InferenceModel" else 0):
        yield ("backends", i, "name"), app.origin("spec", "poolRef", "name")
    for i, entry in enumerate(request.entries):
        if app.kind == "InferenceModel":
            origin = app.origin("spec", "targetModels", entry)
            yield ("backends", i, "modelNameOverride"), origin.at("name")
        else:
            origin, backend = app.origin("spec", "backends", entry), app.spec["backends"][entry]
            if "provider" in backend:
                yield ("backends", i, "modelNameOverride"), origin.at("provider", "modelName")
            else:
                yield ("backends", i, "name"), origin.at("playground" if "playground" in backend else "service")
                if "adapter" in backend:
                    yield ("backends", i, "modelNameOverride"), origin.at("adapter")
        yield ("backends", i, "weight"), origin.at("weight")


def _origins(
    app: App | TrafficInput, gateway_settings: GatewaySettings, request: RouteRequest
) -> Mapping[Path, Origin]:
    """The origins of the fields of a RoutePlan."""
    return {
        (): app.origin(),
        ("name",): app.origin("metadata", "name"),
        ("namespace",): app.origin("metadata", "namespace"),
        ("model",): request.model_origin,
        ("gateway",): gateway_settings.at("name"),
        ("gateway namespace",): gateway_settings.at("namespace"),
        **{("auth", *path): origin for path, origin in settings.auth_origins(gateway_settings)},
        ("hostnames",): app.origin("spec", "hostnames") if request.hostnames else gateway_settings.at("hostnames"),
        ("request",): request.timeouts_origin or gateway_settings.at("timeouts"),
        **{("explain", key): _timeout_origin(gateway_settings, request, key) for key in ("request", "streamIdle")},
        ("streamIdle",): _timeout_origin(gateway_settings, request, "streamIdle"),
        ("allowed",): request.allow_origin or app.origin(),
        **dict(_backend_origins(app, request)),
        **{("others", name): origin for name, origin in request.other_origins.items()},
        ("limits",): app.origin("spec", "tokenLimits"),
        ("retries",): app.origin("spec", "retries"),
    }
