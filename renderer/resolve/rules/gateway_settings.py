"""What does not go with RenderConfig's settings of Gateways."""

from __future__ import annotations

from collections.abc import Iterator

from renderer import schema_validation
from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.kubernetes import jwt_providers
from renderer.kubernetes.wellknown import MODEL_HEADER, TENANT_HEADER
from renderer.plan import Body
from renderer.resolve.gateway.settings import API_KEY_HEADER, POLICY, Gateways, GatewaySettings

_MAX_SERVICE_NAME = 63  # characters of a Service's name
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


def _has_settings(gateways: Gateways) -> object:
    """Whether RenderConfig has settings of Gateways."""
    return gateways.config.get("gateway") is not None


@rule(of=Gateways, when=_has_settings)
def different_settings(gateways: Gateways) -> Iterator[Diagnostic]:
    """Errors where two namespaces set one Gateway differently."""
    for settings in gateways.settings:
        first, name = gateways.by_name[settings.gateway], "/".join(settings.gateway)
        for key in _GATEWAY_KEYS:
            if _comparable_value(first, key) != _comparable_value(settings, key):
                params = {"key": key, "name": name, "namespace": settings.namespace}
                yield make_diagnostic("E620", settings.at(key), **params)


def _comparable_value(settings: GatewaySettings, key: str) -> object:
    """The value of a setting, with None for everything empty, to be compared between namespaces."""
    value = settings.max_rules if key == "maxModels" else settings.get(key)
    return list(value) if isinstance(value, tuple) and value else value or None


@rule(of=Gateways, when=_has_settings)
def invalid_proxies(gateways: Gateways) -> Iterator[Diagnostic]:
    """Errors for Gateways that we create whose proxy has no valid name, or that of another."""
    proxies: dict[str, GatewaySettings] = {}
    for settings in gateways.settings:
        if settings.created and gateways.by_name[settings.gateway] is settings:
            proxy = "-".join(settings.gateway)
            owner = proxies.setdefault(proxy, settings)
            if len(proxy) > _MAX_SERVICE_NAME or not proxy[0].isalpha() or owner is not settings:
                yield make_diagnostic("E634", settings.at("name"), name="/".join(settings.gateway), proxy=proxy)


@rule(of=Gateways, when=_has_settings)
def empty_settings(gateways: Gateways) -> Iterator[Diagnostic]:
    """Errors for an empty `auth` or `tls`, which only a namespace may have, to have none."""
    for key, code in (("auth", "E621"), ("tls", "E630")):
        if gateways.config.get("gateway", key) == {}:
            yield make_diagnostic(code, gateways.config.origin("gateway", key, key=True))


@rule(of=Gateways, when=_has_settings)
def unused_settings(gateways: Gateways) -> Iterator[Diagnostic]:
    """Notes on settings that apply only to a Gateway that we create, where RenderConfig does not ask for one."""
    config, (general, *others) = gateways.config, gateways.settings
    for key in _CREATION_KEYS:
        used = general.created
        for settings in others:
            overrides = config.get("gateway", "perNamespace", settings.namespace, default={})
            used = used or (settings.created and key not in overrides)
            if key in overrides and not settings.created:
                yield make_diagnostic("N589", settings.at(key, key=True), key=key, name="/".join(settings.gateway))
        if key in config.get("gateway", default={}) and not used:
            yield make_diagnostic("N589", general.at(key, key=True), key=key, name="/".join(general.gateway))


@rule(of=GatewaySettings, when=lambda settings: settings.created)
def issuer_without_hostnames(settings: GatewaySettings) -> Iterator[Diagnostic]:
    """An error for an issuer of certificates where no hostname needs one."""
    if settings.created and "issuer" in (settings.get("tls") or {}) and not settings.hostnames:
        yield make_diagnostic("E629", settings.at("tls", "issuer", key=True), name="/".join(settings.gateway))


def _authenticates(settings: GatewaySettings) -> object:
    """Whether clients have to say who they are."""
    return settings.auth


@rule(of=GatewaySettings, when=_authenticates)
def wrong_kinds_of_authentication(settings: GatewaySettings) -> Iterator[Diagnostic]:
    """Errors for no or two kinds of authentication."""
    if not (settings.auth.get("apiKeys") or settings.auth.get("jwt")):
        yield make_diagnostic("E621", settings.at("auth", key=True))
    if settings.auth.get("apiKeys") and settings.auth.get("jwt"):
        yield make_diagnostic("E635", settings.at("auth", "jwt", key=True))


@rule(of=GatewaySettings, when=_authenticates)
def colliding_headers(settings: GatewaySettings) -> Iterator[Diagnostic]:
    """Errors for headers of API keys, and of the authenticated client, that mean something else."""
    auth, tenant = settings.auth, settings.tenant.lower()
    for i, header in enumerate((auth.get("apiKeys") or {}).get("headers") or ()):
        if header.lower() in (MODEL_HEADER, "host", tenant):
            origin = settings.at("auth", "apiKeys", "headers", i)
            yield make_diagnostic("E632", origin, header=header, other=API_KEY_HEADER)
    if tenant in (MODEL_HEADER, "host", *(_credential_headers(settings) if _has_valid_providers(settings) else ())):
        origin = settings.at("auth", "tenantHeader")
        yield make_diagnostic("E632", origin, header=settings.tenant, other=TENANT_HEADER)


def _credential_headers(settings: GatewaySettings) -> Iterator[str]:
    """The lowercase headers that carry credentials; of API keys only the default header."""
    auth = settings.auth
    if "headers" not in (auth.get("apiKeys") or {"headers": ()}):
        yield API_KEY_HEADER
    for provider in auth.get("jwt") or ():
        extraction = provider.get("extractFrom")
        yield from (
            (header["name"].lower() for header in extraction.get("headers") or ()) if extraction else ("authorization",)
        )


@rule(of=GatewaySettings, when=_authenticates)
def invalid_providers(settings: GatewaySettings) -> Iterator[Diagnostic]:
    """An error for each finding of the schema of a SecurityPolicy in the JWT providers."""
    if _has_valid_providers(settings):
        return
    for finding in schema_validation.findings(POLICY, _provider_policy(settings)):
        origin = settings.at("auth", "jwt", *finding.path[3:])  # below `spec.jwt.providers`
        yield make_diagnostic(finding.code, origin, **schema_validation.message_words(finding, None))


@rule(of=GatewaySettings, when=_authenticates)
def refused_providers(settings: GatewaySettings) -> Iterator[Diagnostic]:
    """Errors for JWT providers that Envoy Gateway refuses, or that do not tell the authenticated client."""
    if not _has_valid_providers(settings):
        return
    providers = settings.auth.get("jwt") or ()
    for path, reason, hint in jwt_providers.provider_faults(providers):
        params = {"what": f"SecurityPolicy of {'/'.join(settings.gateway)}", "why": reason, "hint": hint}
        effect = "every request is answered with 500"
        yield make_diagnostic("E611", settings.at("auth", "jwt", *path), effect=effect, **params)
    for i, provider in enumerate(providers):
        headers = [claim["header"].lower() for claim in provider.get("claimToHeaders") or ()]
        if settings.tenant.lower() not in headers:
            yield make_diagnostic("E622", settings.at("auth", "jwt", i), header=settings.tenant)


def _has_valid_providers(settings: GatewaySettings) -> bool:
    """Whether the JWT providers are valid by the schema of a SecurityPolicy; also where there are none."""
    return not settings.auth.get("jwt") or schema_validation.is_valid(POLICY, _provider_policy(settings))


def _provider_policy(settings: GatewaySettings) -> Body:
    """A SecurityPolicy with the JWT providers."""
    target = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "x"}
    return {
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": "SecurityPolicy",
        "metadata": {"name": "x"},
        "spec": {"targetRefs": [target], "jwt": {"providers": list(settings.auth["jwt"])}},
    }
