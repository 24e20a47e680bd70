"""Which Gateway the models of a namespace are reached through, and what RenderConfig says of it.

docs/design/routing.md#settings
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from renderer import component_versions, jwt_providers, schema
from renderer.api import RenderConfig
from renderer.diagnostics import Collector, Origin
from renderer.plan import Body, GatewayPlan
from renderer.resolve import target_versions
from renderer.resolve.context import RunContext
from renderer.template import share_maps

TENANT = "x-tenant-id"
_KEY = "x-api-key"  # the header that holds an API key where nobody says another
MODEL = "x-ai-eg-model"  # what the AI gateway calls the model of a request
MANY_WITH_KEYS = 250  # models, above which API keys may fill the message (docs/design/gateway.md#message-size)
MANY_ROUTES = 300  # above, Envoy Gateway's memory grows with the square (docs/design/gateway.md#memory)
_DEFAULTS: Mapping[str, Any] = {
    "mode": "backend",
    "name": "llmaz-gateway",
    "namespace": "llmaz-system",
    "create": False,
    "className": "llmaz-gateway",
    "serviceType": "ClusterIP",
    "replicas": 2,
    "hostnames": (),
    "timeouts": {},
    "clusterDomain": "cluster.local",
    "picker": "llm-d",
    "dnsTTL": 30,
    "routeLayout": "model",
    "routeBuckets": 8,
}
_MOST = {"model": 1200, "packed": 1400}  # rules on one Gateway (docs/design/gateway.md#message-size)
REQUEST = "300s"
_LONGEST = 63  # characters of a Service's name
_POLICY = "output/gateway.envoyproxy.io/securitypolicy_v1alpha1"
_MAKING = ("className", "serviceType", "replicas", "tls")  # of a Gateway that we make, and of no other
# What belongs to the Gateway itself, so that two namespaces which name one Gateway must say the same of it.
_GATEWAY_KEYS = (
    "create",
    "className",
    "serviceType",
    "replicas",
    "hostnames",
    "tls",
    "auth",
    "maxModels",
    "routeLayout",
)


class GatewaySettings(Struct, frozen=True, eq=False):
    """The gateway settings of one namespace. `values`: all settings, with defaults; `gateway`: namespace and name of
    the Gateway; `auth`: its authentication, empty for none; `tenant`: the header that holds the authenticated client;
    `dns_ttl`: seconds that a DNS answer is valid; `created`: whether we make the Gateway; `policies`: a cache of its
    authentication, by whether it is referred to from another namespace.
    """

    namespace: str
    values: Mapping[str, Any]
    config: RenderConfig
    gateway: tuple[str, str]
    auth: Mapping[str, Any]
    tenant: str
    mode: str
    dns_ttl: int
    hostnames: tuple[str, ...]
    timeouts: Mapping[str, str]
    created: bool
    policies: dict[bool, Body]  # a memory of its authentication, by whether it is named from elsewhere

    def get(self, key: str) -> Any:
        """The value of a setting: that of the namespace, else the general one, else the default."""
        return self.values.get(key)

    def at(self, *path: str | int, key: bool = False) -> Origin:
        """The origin of a setting in RenderConfig."""
        namespace_path: tuple[str, ...] = ("gateway", "perNamespace", self.namespace)
        if path and path[0] in self.config.get(*namespace_path, default={}):
            return self.config.origin(*namespace_path, *path, key=key)
        return self.config.origin("gateway", *path, key=key)

    @property
    def most(self) -> int:
        """The largest number of rules on the Gateway."""
        return int(self.get("maxModels") or _MOST[self.get("routeLayout")])


def read_gateway_settings(config: RenderConfig, namespace: str) -> GatewaySettings:
    """The settings of a namespace: `gateway`, overridden key by key by `gateway.perNamespace.<namespace>`."""
    general = config.get("gateway", default={})
    overrides = config.get("gateway", "perNamespace", namespace, default={})
    values = {key: value for key, value in {**_DEFAULTS, **general, **overrides}.items() if key != "perNamespace"}
    auth = values.get("auth") or {}
    gateway = str(values["namespace"]), str(values["name"])
    return GatewaySettings(
        namespace=namespace,
        values=values,
        config=config,
        gateway=gateway,
        auth=auth,
        tenant=str(auth.get("tenantHeader", TENANT)),
        mode=str(values["mode"]),
        dns_ttl=int(values["dnsTTL"]),
        hostnames=tuple(values["hostnames"]),
        timeouts=values["timeouts"] or {},
        created=bool(values["create"]),
        policies={},
    )


def gateway_settings(context: RunContext, namespace: str) -> GatewaySettings:
    """What the models of a namespace are reached through."""
    known = context.gateway_settings.get(namespace)
    if known is None:
        known = context.gateway_settings[namespace] = read_gateway_settings(context.inputs.config, namespace)
    return known


def all_gateway_settings(config: RenderConfig) -> Iterator[GatewaySettings]:
    """The settings of every namespace that RenderConfig names, the general ones (namespace '') first."""
    yield read_gateway_settings(config, "")
    for namespace in sorted(config.get("gateway", "perNamespace", default={})):
        yield read_gateway_settings(config, namespace)


def collect_gateways(config: RenderConfig, diagnostics: Collector) -> dict[tuple[str, str], GatewaySettings]:
    """The Gateways that RenderConfig names, by namespace and name; errors where two namespaces set one Gateway
    differently, or a setting is not valid.
    """
    gateways: dict[tuple[str, str], GatewaySettings] = {}
    proxies: dict[str, GatewaySettings] = {}
    for setting in all_gateway_settings(config):
        first, name = gateways.setdefault(setting.gateway, setting), "/".join(setting.gateway)
        for key in _GATEWAY_KEYS:
            if _comparable_value(first, key) != _comparable_value(setting, key):
                diagnostics.add("E620", setting.at(key), key=key, name=name, namespace=setting.namespace)
        proxy = "-".join(setting.gateway)
        if first is setting and setting.created:
            other = proxies.setdefault(proxy, setting)
            if len(proxy) > _LONGEST or not proxy[0].isalpha() or other is not setting:
                diagnostics.add("E634", setting.at("name"), name=name, proxy=proxy)
    for key, code in (("auth", "E621"), ("tls", "E630")):
        if config.get("gateway", key) == {}:  # a namespace may say so, to have none
            diagnostics.add(code, config.origin("gateway", key, key=True))
    for settings in gateways.values():
        if settings.created and "issuer" in (settings.get("tls") or {}) and not settings.hostnames:
            diagnostics.add("E629", settings.at("tls", "issuer", key=True), name="/".join(settings.gateway))
    _validate_auth(gateways, diagnostics)
    _note_unused_settings(config, diagnostics)
    return gateways


def _note_unused_settings(config: RenderConfig, diagnostics: Collector) -> None:
    """Notes on settings of a Gateway's making where RenderConfig does not make the Gateway."""
    general, *others = all_gateway_settings(config)
    for key in _MAKING:
        used = general.created
        for settings in others:
            overrides = config.get("gateway", "perNamespace", settings.namespace, default={})
            used = used or (settings.created and key not in overrides)
            if key in overrides and not settings.created:
                diagnostics.add("N589", settings.at(key, key=True), key=key, name="/".join(settings.gateway))
        if key in config.get("gateway", default={}) and not used:
            diagnostics.add("N589", general.at(key, key=True), key=key, name="/".join(general.gateway))


def _comparable_value(settings: GatewaySettings, key: str) -> Any:
    """The value of a setting, with None for everything empty, to be compared between namespaces."""
    value = settings.most if key == "maxModels" else settings.get(key)
    return list(value) if isinstance(value, tuple) and value else value or None


def _validate_auth(gateways: Mapping[tuple[str, str], GatewaySettings], diagnostics: Collector) -> None:
    """Errors of `auth`: no or two kinds of authentication, headers that collide, JWT providers that Envoy Gateway
    refuses.
    """
    for settings in gateways.values():
        auth = settings.auth
        if auth and not (auth.get("apiKeys") or auth.get("jwt")):
            diagnostics.add("E621", settings.at("auth", key=True))
        if auth.get("apiKeys") and auth.get("jwt"):
            diagnostics.add("E635", settings.at("auth", "jwt", key=True))
        tenant, keys = settings.tenant.lower(), (auth.get("apiKeys") or {}).get("headers") or ()
        for i, header in enumerate(keys):
            if header.lower() in (MODEL, "host", tenant):
                diagnostics.add("E632", settings.at("auth", "apiKeys", "headers", i), header=header, other=_KEY)
        valid = _validate_providers(settings, diagnostics)
        if tenant in (MODEL, "host", *(_credential_headers(auth) if valid else ())):
            diagnostics.add("E632", settings.at("auth", "tenantHeader"), header=settings.tenant, other=TENANT)
        if valid:
            for path, why, hint in jwt_providers.provider_faults(auth.get("jwt") or ()):
                words = {"what": f"SecurityPolicy of {'/'.join(settings.gateway)}", "why": why, "hint": hint}
                diagnostics.add(
                    "E611", settings.at("auth", "jwt", *path), effect="every request is answered with 500", **words
                )
            for i, provider in enumerate(auth.get("jwt") or ()):
                claims = provider.get("claimToHeaders") or ()
                if tenant not in [claim["header"].lower() for claim in claims]:
                    diagnostics.add("E622", settings.at("auth", "jwt", i), header=settings.tenant)


def _credential_headers(auth: Mapping[str, Any]) -> Iterator[str]:
    """The lowercase headers that carry credentials; of API keys only the default header."""
    if "headers" not in (auth.get("apiKeys") or {"headers": ()}):
        yield _KEY
    for provider in auth.get("jwt") or ():
        where = provider.get("extractFrom")
        yield from (header["name"].lower() for header in where.get("headers") or ()) if where else ("authorization",)


def _validate_providers(settings: GatewaySettings, diagnostics: Collector) -> bool:
    """Whether the JWT providers hold against the schema of a SecurityPolicy; an error for each finding."""
    providers = settings.auth.get("jwt") or ()
    target = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "x"}
    body = {
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": "SecurityPolicy",
        "metadata": {"name": "x"},
        "spec": {"targetRefs": [target], "jwt": {"providers": list(providers)}},
    }
    if not providers or schema.is_valid(_POLICY, body):
        return True
    for finding in schema.findings(_POLICY, body):
        origin = settings.at("auth", "jwt", *finding.path[3:])  # as check says it of the policy
        diagnostics.add(finding.code, origin, **schema.message_words(finding, None))
    return False


def _with_schema_defaults(node: Any, value: Any, late: component_versions.Node) -> Any:
    """The value with the defaults of its schema, which must be written out in lists (docs/design/drift.md#rules).
    `late`: fields that are too new for the target, which get no default.
    """
    if isinstance(value, dict):
        properties = node.get("properties") or {}
        filled = {
            key: _with_schema_defaults(properties.get(key) or {}, item, late.get(key, {}))
            for key, item in value.items()
        }
        defaults = {key: property_["default"] for key, property_ in properties.items() if "default" in property_}
        return {**{key: property_ for key, property_ in defaults.items() if "!" not in late.get(key, {})}, **filled}
    if isinstance(value, list):
        return [_with_schema_defaults(node.get("items") or {}, item, late.get("[]", {})) for item in value]
    return value


def policy(settings: GatewaySettings, *, across: bool) -> Body:
    """The Gateway's authentication as fields of a SecurityPolicy; `across`: referred to from another namespace."""
    if across not in settings.policies:
        settings.policies[across] = share_maps(_policy(settings, across))
    return settings.policies[across]


def _policy(settings: GatewaySettings, across: bool) -> Body:
    spec: dict[str, Any] = {}
    if keys := settings.auth.get("apiKeys"):
        reference = {"group": "", "kind": "Secret", "name": keys["secretName"]}
        if across:
            reference["namespace"] = settings.gateway[0]
        spec["apiKeyAuth"] = {
            "credentialRefs": [reference],
            "extractFrom": [{"headers": list(keys.get("headers") or (_KEY,))}],
            "forwardClientIDHeader": settings.tenant,
            "sanitize": True,
        }
    if providers := settings.auth.get("jwt"):
        node = schema.read_schema(_POLICY)["properties"]["spec"]["properties"]["jwt"]["properties"]["providers"]
        late = target_versions.too_new_fields(settings.config, _POLICY, "spec", "jwt", "providers")
        spec["jwt"] = {"providers": _with_schema_defaults(node, providers, late)}
    return spec


def plan_gateway(settings: GatewaySettings, namespaces: tuple[str, ...], granted: tuple[str, ...]) -> GatewayPlan:
    """The plan of a Gateway that we make. `namespaces`: of the routes on it; `granted`: of the routes that repeat its
    authentication.
    """
    namespace, name = settings.gateway
    removed = [MODEL, *([settings.tenant] if settings.auth else [TENANT])]
    return GatewayPlan(
        name=name,
        namespace=namespace,
        class_name=settings.get("className"),
        service_type=settings.get("serviceType"),
        replicas=settings.get("replicas"),
        hostnames=settings.hostnames,
        tls=settings.get("tls") or {},
        routes_from=namespaces,
        removed_headers=tuple(removed),
        authentication=policy(settings, across=False),
        secret=(settings.auth.get("apiKeys") or {}).get("secretName", ""),
        granted=tuple(other for other in granted if other != namespace),
        grants=target_versions.reference_grant_version(settings.config),
        origins=lambda: {
            (): settings.at(),
            ("spec", "apiKeyAuth"): settings.at("auth", "apiKeys"),
            ("spec", "jwt", "providers"): settings.at("auth", "jwt"),
            **{("said", key): settings.at(key) for key in (*_DEFAULTS, "tls", "auth")},
        },
    )
