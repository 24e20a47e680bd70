"""The gateway settings of RenderConfig, by namespace.

docs/design/routing.md#settings
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from renderer import jwt_providers, schema_validation
from renderer.api import RenderConfig
from renderer.diagnostics import Collector, Origin, Path
from renderer.gateway_limits import MAX_PACKED_ROUTE_RULES, MAX_RULES
from renderer.plan import Body, GatewayPlan
from renderer.resolve import versioned_fields
from renderer.resolve.context import RunContext
from renderer.template import share_maps
from renderer.wellknown import MODEL_HEADER, TENANT_HEADER

_API_KEY_HEADER = "x-api-key"  # the default header for API keys
_DEFAULTS: Mapping[str, object] = {
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
REQUEST_TIMEOUT = "300s"
_MAX_SERVICE_NAME = 63  # characters of a Service's name
_POLICY = "output/gateway.envoyproxy.io/securitypolicy_v1alpha1"
_CREATION_KEYS = ("className", "serviceType", "replicas", "tls")  # apply only to a Gateway that we create
# Settings of the Gateway itself, which must be equal for all namespaces with the same Gateway.
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
    the Gateway; `auth`: its authentication, empty for none; `tenant`: the header with the authenticated client;
    `dns_ttl`: seconds that a DNS answer is valid; `created`: whether we create the Gateway; `policies`: a cache of its
    authentication, by whether it is referred to from another namespace.
    """

    namespace: str
    values: Mapping[str, object]
    config: RenderConfig
    gateway: tuple[str, str]
    auth: Mapping[str, Any]
    tenant: str
    mode: str
    dns_ttl: int
    hostnames: tuple[str, ...]
    timeouts: Mapping[str, str]
    created: bool
    policies: dict[bool, Body]

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
    def max_rules(self) -> int:
        """The largest number of rules on the Gateway."""
        return int(
            self.get("maxModels") or (MAX_PACKED_ROUTE_RULES if self.get("routeLayout") == "packed" else MAX_RULES)
        )


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
        tenant=str(auth.get("tenantHeader", TENANT_HEADER)),
        mode=str(values["mode"]),
        dns_ttl=int(values["dnsTTL"]),
        hostnames=tuple(values["hostnames"]),
        timeouts=values["timeouts"] or {},
        created=bool(values["create"]),
        policies={},
    )


def gateway_settings(context: RunContext, namespace: str) -> GatewaySettings:
    """The settings of a namespace; cached."""
    settings = context.gateways.get(namespace)
    if settings is None:
        settings = context.gateways[namespace] = read_gateway_settings(context.inputs.config, namespace)
    return settings


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
        first_setting, name = gateways.setdefault(setting.gateway, setting), "/".join(setting.gateway)
        for key in _GATEWAY_KEYS:
            if _comparable_value(first_setting, key) != _comparable_value(setting, key):
                diagnostics.add("E620", setting.at(key), key=key, name=name, namespace=setting.namespace)
        proxy = "-".join(setting.gateway)
        if first_setting is setting and setting.created:
            proxy_owner = proxies.setdefault(proxy, setting)
            if len(proxy) > _MAX_SERVICE_NAME or not proxy[0].isalpha() or proxy_owner is not setting:
                diagnostics.add("E634", setting.at("name"), name=name, proxy=proxy)
    for key, code in (("auth", "E621"), ("tls", "E630")):
        if config.get("gateway", key) == {}:  # only a namespace may, to have none
            diagnostics.add(code, config.origin("gateway", key, key=True))
    for settings in gateways.values():
        if settings.created and "issuer" in (settings.get("tls") or {}) and not settings.hostnames:
            diagnostics.add("E629", settings.at("tls", "issuer", key=True), name="/".join(settings.gateway))
    _validate_auth(gateways, diagnostics)
    _note_unused_settings(config, diagnostics)
    return gateways


def _note_unused_settings(config: RenderConfig, diagnostics: Collector) -> None:
    """Notes on settings that apply only to a Gateway that we create, where RenderConfig does not ask for one."""
    general, *others = all_gateway_settings(config)
    for key in _CREATION_KEYS:
        used = general.created
        for settings in others:
            overrides = config.get("gateway", "perNamespace", settings.namespace, default={})
            used = used or (settings.created and key not in overrides)
            if key in overrides and not settings.created:
                diagnostics.add("N589", settings.at(key, key=True), key=key, name="/".join(settings.gateway))
        if key in config.get("gateway", default={}) and not used:
            diagnostics.add("N589", general.at(key, key=True), key=key, name="/".join(general.gateway))


def _comparable_value(settings: GatewaySettings, key: str) -> object:
    """The value of a setting, with None for everything empty, to be compared between namespaces."""
    value = settings.max_rules if key == "maxModels" else settings.get(key)
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
            if header.lower() in (MODEL_HEADER, "host", tenant):
                diagnostics.add(
                    "E632", settings.at("auth", "apiKeys", "headers", i), header=header, other=_API_KEY_HEADER
                )
        valid = _validate_providers(settings, diagnostics)
        if tenant in (MODEL_HEADER, "host", *(_credential_headers(auth) if valid else ())):
            diagnostics.add("E632", settings.at("auth", "tenantHeader"), header=settings.tenant, other=TENANT_HEADER)
        if valid:
            for path, reason, hint in jwt_providers.provider_faults(auth.get("jwt") or ()):
                words = {"what": f"SecurityPolicy of {'/'.join(settings.gateway)}", "why": reason, "hint": hint}
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
        yield _API_KEY_HEADER
    for provider in auth.get("jwt") or ():
        extraction = provider.get("extractFrom")
        yield from (
            (header["name"].lower() for header in extraction.get("headers") or ()) if extraction else ("authorization",)
        )


def _validate_providers(settings: GatewaySettings, diagnostics: Collector) -> bool:
    """Whether the JWT providers are valid by the schema of a SecurityPolicy; an error for each finding."""
    providers = settings.auth.get("jwt") or ()
    target = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "x"}
    body = {
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": "SecurityPolicy",
        "metadata": {"name": "x"},
        "spec": {"targetRefs": [target], "jwt": {"providers": list(providers)}},
    }
    if not providers or schema_validation.is_valid(_POLICY, body):
        return True
    for finding in schema_validation.findings(_POLICY, body):
        origin = settings.at("auth", "jwt", *finding.path[3:])  # below `spec.jwt.providers`
        diagnostics.add(finding.code, origin, **schema_validation.message_words(finding, None))
    return False


def _with_schema_defaults(node: Any, value: object, too_new: Mapping[str, Any]) -> object:
    """The value with the defaults of its schema, which must be written out in lists (docs/design/drift.md#rules).
    `too_new`: fields that are too new for the target, which get no default.
    """
    if isinstance(value, dict):
        properties = node.get("properties") or {}
        values = {
            key: _with_schema_defaults(properties.get(key) or {}, item, too_new.get(key, {}))
            for key, item in value.items()
        }
        defaults = {key: property_["default"] for key, property_ in properties.items() if "default" in property_}
        return {**{key: property_ for key, property_ in defaults.items() if "!" not in too_new.get(key, {})}, **values}
    if isinstance(value, list):
        return [_with_schema_defaults(node.get("items") or {}, item, too_new.get("[]", {})) for item in value]
    return value


def auth_policy(settings: GatewaySettings, *, across_namespaces: bool) -> Body:
    """The Gateway's authentication as fields of a SecurityPolicy; `across_namespaces`: referred to from another
    namespace.
    """
    if across_namespaces not in settings.policies:
        settings.policies[across_namespaces] = share_maps(_build_auth_policy(settings, across_namespaces))
    return settings.policies[across_namespaces]


def _build_auth_policy(settings: GatewaySettings, across_namespaces: bool) -> Body:
    spec: dict[str, object] = {}
    if keys := settings.auth.get("apiKeys"):
        reference = {"group": "", "kind": "Secret", "name": keys["secretName"]}
        if across_namespaces:
            reference["namespace"] = settings.gateway[0]
        spec["apiKeyAuth"] = {
            "credentialRefs": [reference],
            "extractFrom": [{"headers": list(keys.get("headers") or (_API_KEY_HEADER,))}],
            "forwardClientIDHeader": settings.tenant,
            "sanitize": True,
        }
    if providers := settings.auth.get("jwt"):
        node = schema_validation.read_schema(_POLICY)["properties"]["spec"]["properties"]["jwt"]["properties"][
            "providers"
        ]
        too_new = versioned_fields.too_new_fields(settings.config, _POLICY, "spec", "jwt", "providers")
        spec["jwt"] = {"providers": _with_schema_defaults(node, providers, too_new)}
    return spec


def auth_origins(settings: GatewaySettings) -> Iterator[tuple[Path, Origin]]:
    """The origins of the fields that `auth_policy` makes, by their path in the policy's spec."""
    keys = settings.at("auth", "apiKeys")
    yield ("apiKeyAuth",), keys
    yield ("apiKeyAuth", "credentialRefs", 0, "name"), keys.at("secretName")
    yield ("apiKeyAuth", "extractFrom", 0, "headers"), keys.at("headers")
    yield ("jwt", "providers"), settings.at("auth", "jwt")


def _listener_origins(settings: GatewaySettings) -> Iterator[tuple[Path, Origin]]:
    yield ("metadata", "annotations", "cert-manager.io/cluster-issuer"), settings.at("tls", "issuer")
    for i in range(len(settings.hostnames)):
        listener: Path = ("spec", "listeners", i)
        yield (*listener, "hostname"), settings.at("hostnames", i)
        yield (*listener, "tls", "certificateRefs", 0, "name"), settings.at("tls", "secretName")


def plan_gateway(
    settings: GatewaySettings, namespaces: tuple[str, ...], granted_namespaces: tuple[str, ...]
) -> GatewayPlan:
    """The plan of a Gateway that we create. `namespaces`: of the routes on it; `granted_namespaces`: of the routes that
    repeat its authentication.
    """
    namespace, name = settings.gateway
    removed_headers = [MODEL_HEADER, *([settings.tenant] if settings.auth else [TENANT_HEADER])]
    return GatewayPlan(
        name=name,
        namespace=namespace,
        class_name=settings.get("className"),
        service_type=settings.get("serviceType"),
        replicas=settings.get("replicas"),
        hostnames=settings.hostnames,
        tls=settings.get("tls") or {},
        route_namespaces=namespaces,
        removed_headers=tuple(removed_headers),
        authentication=auth_policy(settings, across_namespaces=False),
        secret=(settings.auth.get("apiKeys") or {}).get("secretName", ""),
        granted_namespaces=tuple(granted for granted in granted_namespaces if granted != namespace),
        grant_version=versioned_fields.reference_grant_version(settings.config),
        origins=lambda: {
            (): settings.at(),
            **{("spec", *path): origin for path, origin in auth_origins(settings)},
            **dict(_listener_origins(settings)),
            ("spec", "to", 0, "name"): settings.at("auth", "apiKeys", "secretName"),
            **{("explain", key): settings.at(key) for key in (*_DEFAULTS, "tls", "auth")},
        },
    )
