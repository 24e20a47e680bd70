"""Public names, the routes to apps, and the tenants that may call (docs/design/routing.md#public-names)."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import astuple, replace

from renderer import wellknown
from renderer.api import App, Inputs, OpenModel, TrafficInput
from renderer.diagnostics import Collector, Diagnostic, Origin, Path
from renderer.plan import Body, PackedRule, Plan, RoutePlan, RouteTarget, SharedNeed, TokenLimit
from renderer.resolve.gateway import settings
from renderer.resolve.gateway.settings import GatewaySettings
from renderer.schema import spec_default
from renderer.wellknown import MANY_ROUTES, MANY_WITH_KEYS, MESSAGE_BYTES, RULE_BYTES
from renderer.yamlio import SharedMap

if TYPE_CHECKING:
    from fractions import Fraction

GATEWAY, GRANT = "Gateway", "ReferenceGrant"  # kinds of SharedNeeds
ROUTE = "AIGatewayRoute"
MAX_PACKED_RULES = 15  # of a route; the AI gateway adds a sixteenth
PUBLIC_NAME = "PublicName"  # the kind of SharedNeeds that claim a public name, which has one owner
_SEPARATOR = "\n"  # no name contains it
_KEY_OVERHEAD = 8  # bytes of an API key in a message, besides its name and value
_MAX_WEIGHT = 1_000_000  # of a backend (Gateway API)
_MAX_HEADER = 4096  # bytes of a header's value (Gateway API)
_DIRECT_DRAIN = 10  # seconds until a pod has left the endpoints, where clients do not use DNS


class RouteFact(Struct, frozen=True, order=True):
    """A claim of a public name, as the whole run compares them. `kind`: of a ModelRoute or InferenceModel, '' for an
    app; `object`: the name of the route that this claim alone makes, '' for none; `hostnames`: joined by commas.
    """

    gateway: tuple[str, str]
    namespace: str
    kind: str
    name: str
    object: str
    hostnames: str
    model: str

    @property
    def owner(self) -> tuple[str, str, str]:
        """Namespace, kind and name of what claims the public name."""
        return self.namespace, self.kind, self.name


def mode(app: App, gateway_settings: GatewaySettings) -> str:
    """The gateway mode of an app (backend, pool or off): its own setting, else that of RenderConfig."""
    app_gateway = app.spec.get("gateway")
    return str(app_gateway.get("mode") or gateway_settings.mode) if app_gateway else gateway_settings.mode


def drain(gateway_settings: GatewaySettings, mode: str) -> int:
    """The seconds that a pod's hook waits until no more requests are sent to it: in backend mode the lifetime of a DNS
    answer and five more, since Envoy looks the pods up in DNS (docs/design/routing.md#drain).
    """
    return gateway_settings.dns_ttl + 5 if mode == "backend" else _DIRECT_DRAIN


def host(app: App, gateway_settings: GatewaySettings, mode: str) -> str:
    """The host name by which Envoy finds the leaders of an app or of one of its variants; '' where no route leads
    there.
    """
    if mode != "backend":
        return ""
    return f"{app.name}-leaders.{gateway_settings.namespace}.svc.{gateway_settings.get('clusterDomain')}"


def workload_targets(plans: Sequence[Plan]) -> list[RouteTarget]:
    """The route backends of an app: its variants, weighted by their replicas, or by 1 where they are autoscaled."""
    if len(plans) == 1:
        return [RouteTarget(plans[0].name, 1, plans[0].name_in_engine)]
    sizes = [1 if plan.replicas is None else plan.replicas for plan in plans]
    return [
        RouteTarget(plan.name, size if any(sizes) else 1, plan.name_in_engine)
        for plan, size in zip(plans, sizes, strict=True)
    ]


class BackendShare(Struct, frozen=True):
    """The route backends of one app among several, with the weight and priority that they share."""

    targets: Sequence[RouteTarget]
    weight: int
    priority: int = 0


def split_weights(parts: Sequence[BackendShare]) -> list[RouteTarget]:
    """All route backends with their weights: each app gets its weight within its priority and divides it among its
    variants. Weights are the smallest whole numbers; where no app has several variants, those that the user wrote.
    """
    if all(len(part.targets) == 1 and part.weight <= _MAX_WEIGHT for part in parts):
        return [replace(part.targets[0], weight=part.weight, priority=part.priority) for part in parts]
    from fractions import Fraction  # few runs need it

    shares: dict[int, list[Fraction]] = {}
    for part in parts:
        total = sum(target.weight for target in part.targets) if len(part.targets) > 1 else 1
        shares.setdefault(part.priority, []).extend(
            Fraction(part.weight * (target.weight if len(part.targets) > 1 else 1), total) for target in part.targets
        )
    split_priorities = {part.priority for part in parts if len(part.targets) > 1}
    weights = {
        priority: iter(_whole_numbers(portions, smallest=priority in split_priorities))
        for priority, portions in shares.items()
    }
    return [
        replace(target, weight=next(weights[part.priority]), priority=part.priority)
        for part in parts
        for target in part.targets
    ]


def _whole_numbers(shares: Sequence[Fraction], *, smallest: bool) -> list[int]:
    """Whole numbers in these proportions, within Gateway API's limit; `smallest`: the smallest such numbers."""
    scale = math.lcm(*(share.denominator for share in shares))
    numbers = [int(share * scale) for share in shares]
    if smallest and (common := math.gcd(*numbers)):
        numbers = [number // common for number in numbers]
    if (largest := max(numbers)) > _MAX_WEIGHT:
        numbers = [max(1, round(number * _MAX_WEIGHT / largest)) if number else 0 for number in numbers]
    return numbers


class RouteRequest(Struct, frozen=True):
    """The settings of one route; those left out come from the gateway settings. `model`: the public name;
    `open_model`: if one is known; `allow`: the tenants that may call, all when empty. `entries`:
    of each target, the index of the entry that names it.
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
    if (length := len(request.model.encode())) > _MAX_HEADER:
        diagnostics.add("E623", request.model_origin, length=length, most=_MAX_HEADER)
    timeouts = {**gateway_settings.timeouts, **request.timeouts} if request.timeouts else gateway_settings.timeouts
    if request.allow_origin:
        _validate_rights(app, gateway_settings, request, request.allow_origin, diagnostics)
    packable = not request.allow and not request.retries and not request.limits and "streamIdle" not in timeouts
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
        request_timeout=timeouts.get("request", settings.REQUEST_TIMEOUT),
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
    )


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


def packed_route(gateway_settings: GatewaySettings, model: str) -> str:
    """The name of the AIGatewayRoute with the rule of this public name in the packed layout, '' in the other layout.

    It is chosen by rendezvous hashing, so that it stays the same when other names come and go.
    """
    if gateway_settings.get("routeLayout") != "packed":
        return ""
    return max(map(bucket, range(int(gateway_settings.get("routeBuckets")))), key=lambda name: score(name, model))


def bucket(number: int) -> str:
    """The name of the packed route with this number, counted from 0."""
    return f"llmaz-{number}"


def score(bucket: str, model: str) -> bytes:
    """The rendezvous hash of a packed route and a public name: the name belongs to the route with the highest."""
    import hashlib  # few runs need it

    return hashlib.sha256(f"{bucket.removeprefix('llmaz-')}/{model}".encode()).digest()


def packed_rules(facts: Iterable[SharedNeed]) -> Iterator[PackedRule]:
    """The rules of a packed route, from its SharedNeeds, sorted by public name."""
    for model, targets, *rest in sorted(json.loads(fact.fact) for fact in facts):
        yield PackedRule(model, tuple(RouteTarget(*target) for target in targets), *rest)


def shared_needs(gateway_settings: GatewaySettings, route: RoutePlan) -> tuple[SharedNeed, ...]:
    """The shared objects that the route needs: a Gateway that we create, its ReferenceGrant, a packed route."""
    needs: list[SharedNeed] = []
    if route.packed_route:
        targets = [astuple(target) for target in route.targets]
        fact = json.dumps([route.model, targets, route.request_timeout, route.owned_by, route.created_at])
        needs.append(SharedNeed(ROUTE, route.namespace, route.packed_route, fact))
    if gateway_settings.created:
        kinds = (GATEWAY, GRANT) if route.allowed_tenants else (GATEWAY,)
        needs += [SharedNeed(kind, *gateway_settings.gateway, gateway_settings.namespace) for kind in kinds]
    return tuple(needs)


def name_claim(
    app: App | TrafficInput,
    gateway_settings: GatewaySettings,
    model: str,
    hostnames: Sequence[str] = (),
    object_name: str = "",
) -> SharedNeed:
    """The claim of a public name on a Gateway, for `hostnames` or for all its hosts, as a SharedNeed, since claims are
    compared across all apps. `object_name`: of the route that is created for this claim alone, '' for none.
    """
    kind = app.kind if isinstance(app, TrafficInput) else ""
    parts = (app.namespace, kind, app.label, object_name, ",".join(hostnames), model)
    namespace, name = gateway_settings.gateway
    return SharedNeed(PUBLIC_NAME, namespace, name, _SEPARATOR.join(parts))


def route_conflicts(inputs: Inputs, needs: Iterable[SharedNeed]) -> list[Diagnostic]:
    """Diagnostics about public names that are claimed twice on one Gateway, routes that two inputs would create, and
    Gateways with too many public names.
    """
    diagnostics = Collector()
    claims = [need for need in needs if need.kind == PUBLIC_NAME]
    if several := _contested_claims(claims):
        _report_collisions(inputs, several, diagnostics)
    count = Counter((claim.namespace, claim.name) for claim in claims)
    for gateway_settings in {
        setting.gateway: setting for setting in reversed(list(settings.all_gateway_settings(inputs.config)))
    }.values():
        _validate_capacity(inputs, gateway_settings, count[gateway_settings.gateway], diagnostics)
    return diagnostics.problems


def _contested_claims(claims: Iterable[SharedNeed]) -> list[RouteFact]:
    """The claims of a public name or of a route that others claim too, sorted."""
    first_claims: dict[tuple[object, str], RouteFact] = {}
    contested: set[RouteFact] = set()
    for claim in claims:
        fact = RouteFact((claim.namespace, claim.name), *claim.fact.split(_SEPARATOR, 5))
        rival = first_claims.setdefault((fact.gateway, fact.model), fact)
        same = first_claims.setdefault((fact.namespace, fact.object), fact) if fact.object else fact
        if rival is not fact or same is not fact:
            contested |= {fact, rival, same}
    return sorted(contested)


def _report_collisions(inputs: Inputs, facts: Iterable[RouteFact], diagnostics: Collector) -> None:
    """Errors for claims of one public name on hosts in common, and for routes that two inputs would create."""
    owners: dict[tuple[str, str, str], App | TrafficInput] = {
        (app.namespace, "", app.name): app for app in inputs.apps
    } | {
        (traffic_input.namespace, traffic_input.kind, traffic_input.name): traffic_input
        for traffic_input in inputs.traffic
        if not traffic_input.outside
    }
    claims_by_name: dict[tuple[tuple[str, str], str], list[RouteFact]] = {}
    objects: dict[tuple[str, str], RouteFact] = {}
    for fact in facts:
        rivals = claims_by_name.setdefault((fact.gateway, fact.model), [])
        if other := next((rival for rival in rivals if _share_host(rival, fact)), None):
            _report_duplicate_name(owners[fact.owner], owners[other.owner], fact, diagnostics)
        rivals.append(fact)
        same = objects.setdefault((fact.namespace, fact.object), fact)
        if fact.object and same is not fact:
            later, earlier = sorted(
                (owners[fact.owner], owners[same.owner]), key=lambda owner: isinstance(owner, TrafficInput)
            )[::-1]
            file, line, _ = earlier.origin("metadata", "name").place
            words = {"name": fact.object, "kind": earlier.kind, "file": file, "line": line}
            diagnostics.add("E642", later.origin("metadata", "name"), **words)


def _share_host(first: RouteFact, other: RouteFact) -> bool:
    """Whether two claims have a host in common."""
    hosts, other_hosts = (fact.hostnames.split(",") if fact.hostnames else [] for fact in (first, other))
    return not hosts or not other_hosts or any(covers(a, b) or covers(b, a) for a in hosts for b in other_hosts)


def covers(host: str, other: str) -> bool:
    """Whether a host name, perhaps with a wildcard as its first label, equals the other or matches it."""
    return host == other or (host.startswith("*.") and other.endswith(host[1:]))


def _report_duplicate_name(
    app: App | TrafficInput, other: App | TrafficInput, fact: RouteFact, diagnostics: Collector
) -> None:
    """An error at `app`: `other` claims its public name already."""
    file, line, _ = other.origin("metadata", "name").place
    same_namespace = app.namespace == other.namespace
    both_apps = isinstance(app, App) and isinstance(other, App)
    hint = "set spec.servedModelName" if isinstance(app, App) else "give one of them another modelName"
    if not same_namespace:
        hint += ", or give the namespace a Gateway of its own"
    elif both_apps:
        hint += ", or write a ModelRoute over both"
    field = "modelName" if isinstance(app, TrafficInput) else "servedModelName"
    origin = app.origin("spec", field) if field in app.spec else app.origin("metadata", "name")
    words = {"kind": other.kind, "other": f"{other.namespace}/{other.name}", "file": file, "line": line}
    diagnostics.add("E625", origin, model=fact.model, gateway="/".join(fact.gateway), hint=hint, **words)


def _validate_capacity(inputs: Inputs, gateway_settings: GatewaySettings, count: int, diagnostics: Collector) -> None:
    """Errors and warnings where a Gateway has more public names than it supports."""
    name, origin = "/".join(gateway_settings.gateway), gateway_settings.at("name")
    if count > gateway_settings.max_rules:
        diagnostics.add("E626", origin, name=name, count=count, most=gateway_settings.max_rules)
    elif count > MANY_ROUTES and gateway_settings.get("routeLayout") == "model":
        diagnostics.add("W240", origin, name=name, count=count, most=MANY_ROUTES)
    keys = gateway_settings.auth.get("apiKeys")
    key_bytes = _key_bytes(inputs, gateway_settings.gateway[0], keys["secretName"]) if keys else 0
    if keys and key_bytes is None and count > MANY_WITH_KEYS:
        diagnostics.add("W241", gateway_settings.at("auth", "apiKeys", key=True), name=name, count=count)
    elif (
        key_bytes
        and not gateway_settings.get("maxModels")
        and (most := MESSAGE_BYTES // (RULE_BYTES + 2 * key_bytes)) < count
    ):
        diagnostics.add("E617", gateway_settings.at("auth", "apiKeys", key=True), name=name, count=count, most=most)


def _key_bytes(inputs: Inputs, namespace: str, secret: str) -> int | None:
    """The bytes that the API keys of a Secret take in each route; None when the Secret is not in the tree."""
    for body in inputs.foreign_objects:
        metadata = body.get("metadata")
        matches = isinstance(metadata, dict) and (metadata.get("namespace"), metadata.get("name")) == (
            namespace,
            secret,
        )
        if body.get("kind") == "Secret" and matches:
            encodings = (body.get("data"), body.get("stringData"))  # not validated
            coded, plain = (part if isinstance(part, dict) else {} for part in encodings)
            size = sum(len(key) + len(str(value)) * 3 // 4 + _KEY_OVERHEAD for key, value in coded.items())
            return size + sum(len(key) + len(str(value)) + _KEY_OVERHEAD for key, value in plain.items())
    return None


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
    if "servedModelName" in app.spec:
        return app.origin("spec", "servedModelName")
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
        ("limits",): app.origin("spec", "tokenLimits"),
        ("retries",): app.origin("spec", "retries"),
    }
