"""The gateway settings of RenderConfig, by namespace.

docs/design/routing.md#settings
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from renderer import schema_validation
from renderer.api import RenderConfig
from renderer.diagnostics import Origin, Path
from renderer.kubernetes.gateway_limits import MAX_PACKED_ROUTE_RULES, MAX_RULES
from renderer.kubernetes.wellknown import MODEL_HEADER, TENANT_HEADER
from renderer.plan import Body, GatewayPlan
from renderer.resolve import target_versions
from renderer.resolve.context import RunContext
from renderer.template import share_maps

API_KEY_HEADER = "x-api-key"  # the default header for API keys
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
REQUEST_TIMEOUT = "600s"
POLICY = "output/gateway.envoyproxy.io/securitypolicy_v1alpha1"


class GatewaySettings(Struct, frozen=True, eq=False):
    """The gateway settings of one namespace."""

    namespace: str  # '' for the general ones
    values: Mapping[str, object]  # all settings, with defaults
    config: RenderConfig
    gateway: tuple[str, str]  # namespace and name of the Gateway
    auth: Mapping[str, Any]  # its authentication, empty for none
    tenant: str  # the header with the authenticated client
    mode: str  # backend, pool or off
    dns_ttl: int  # seconds that a DNS answer is valid
    hostnames: tuple[str, ...]
    timeouts: Mapping[str, str]
    created: bool  # whether we create the Gateway
    policies: dict[bool, Body]  # a cache of its authentication, by whether another namespace refers to it

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


class Gateways(Struct, frozen=True, eq=False):
    """The Gateways that RenderConfig names."""

    config: RenderConfig
    settings: tuple[GatewaySettings, ...]  # of every namespace that RenderConfig names, the general ones first
    by_name: Mapping[tuple[str, str], GatewaySettings]  # the first settings of each Gateway, by its namespace and name


def collect_gateways(config: RenderConfig) -> Gateways:
    """The Gateways that RenderConfig names."""
    settings = tuple(all_gateway_settings(config))
    return Gateways(config, settings, {setting.gateway: setting for setting in reversed(settings)})


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
            "extractFrom": [{"headers": list(keys.get("headers") or (API_KEY_HEADER,))}],
            "forwardClientIDHeader": settings.tenant,
            "sanitize": True,
        }
    if providers := settings.auth.get("jwt"):
        node = schema_validation.read_schema(POLICY)["properties"]["spec"]["properties"]["jwt"]["properties"][
            "providers"
        ]
        too_new = target_versions.too_new_fields(settings.config, POLICY, "spec", "jwt", "providers")
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
        grant_version=target_versions.reference_grant_version(settings.config),
        origins=lambda: {
            (): settings.at(),
            **{("spec", *path): origin for path, origin in auth_origins(settings)},
            **dict(_listener_origins(settings)),
            ("spec", "to", 0, "name"): settings.at("auth", "apiKeys", "secretName"),
            **{("explain", key): settings.at(key) for key in (*_DEFAULTS, "tls", "auth")},
        },
    )
