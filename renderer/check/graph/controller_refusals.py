"""Objects that an API server accepts and a controller refuses, or cannot use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from renderer.check.cel import cost_error
from renderer.check.finding import Body
from renderer.check.graph.rules import reference_rules
from renderer.check.graph.view import ObjectView, Place, kind_in, named_place
from renderer.diagnostics import Finding, Path, ReplacingHint
from renderer.kubernetes import jwt_providers
from renderer.kubernetes.json_values import as_map, as_maps, as_text, list_at, map_at, maps_at, text_at

# Both as text: few runs need them, and re keeps what it has compiled.
_ADDRESS = r"\d+(\.\d+){3}"
_LOOPBACK = r"127\.|(0{1,4}:){7}0{0,3}1$"
_ENCRYPTED = ("HTTPS", "TLS")  # may stand on one port
_UNANSWERED = "every request to it is answered with 500"


@reference_rules.about("Backend")
def validate_addresses(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Findings about a Backend: Envoy Gateway must accept its hosts, and know how to verify their certificates."""
    spec = as_map(body.get("spec"))
    for i, endpoint in enumerate(as_maps(spec.get("endpoints"))):
        path: Path = ("spec", "endpoints", i)
        if fqdn := as_map(endpoint.get("fqdn")):
            host = as_text(fqdn.get("hostname"))
            if "." not in host:
                whole = f"{host}.{namespace or '<namespace>'}.svc.{view.external.domain}"
                hint = f"write the whole name: {whole}"
                hint = ReplacingHint(hint, host, whole) if namespace else hint
                yield _refused_backend(name, f"the host '{host}' has one part", hint, (*path, "fqdn", "hostname"))
            elif host[-1].isdigit() and re.fullmatch(_ADDRESS, host):
                hint = f"write ip: {{address: {host}, port: {fqdn['port']}}}"
                yield _refused_backend(name, f"the host '{host}' is an address", hint, (*path, "fqdn", "hostname"))
        elif re.match(_LOOPBACK, address := text_at(endpoint, "ip", "address")):
            reason = f"the address {address} is the proxy's own machine"
            yield _refused_backend(name, reason, "name the host of a Service", (*path, "ip", "address"))
    if (
        spec.get("tls") is not None
        and not _validates_certificates(as_map(spec.get("tls")))
        and (namespace, name) not in view.once("trusted", _backends_with_tls_policy)
    ):
        reason = "its tls does not set which certificates are valid"
        if not view.external.declared("BackendTLSPolicy", namespace, "*"):
            yield _refused_backend(
                name, reason, "write wellKnownCACertificates: System, or caCertificateRefs", ("spec", "tls")
            )


def _refused_backend(name: str, reason: str, hint: str, path: Path) -> Finding:
    what = f"Backend '{name}'"
    return Finding("E611", path, {"what": what, "why": reason, "effect": _UNANSWERED, "hint": hint})


def _validates_certificates(tls: Body) -> bool:
    """Whether the TLS settings say which certificates are trusted."""
    return bool(tls.get("insecureSkipVerify") or tls.get("wellKnownCACertificates") or tls.get("caCertificateRefs"))


def _backends_with_tls_policy(view: ObjectView) -> set[Place]:
    """The Backends for which a BackendTLSPolicy says which certificates are trusted."""
    return {
        (namespace, text_at(target, "name"))
        for namespace, _, body in view.all("BackendTLSPolicy")
        for target in maps_at(body, "spec", "targetRefs")
        if kind_in(target["group"], target["kind"]) == "Backend"
    }


@reference_rules.about("Gateway")
def validate_listeners(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Findings about the listeners of a Gateway: certificates where they need some, and one protocol for each port."""
    protocols_by_port: dict[object, tuple[str, str]] = {}
    for i, listener in enumerate(maps_at(body, "spec", "listeners")):
        protocol, port, path = text_at(listener, "protocol"), listener["port"], ("spec", "listeners", i)
        listener_name = text_at(listener, "name")
        words = {"what": f"listener '{listener_name}'", "effect": "it serves no requests"}
        if protocol in _ENCRYPTED and "tls" not in listener:
            reason, hint = f"{protocol} needs tls", "write tls: {certificateRefs: [{name: …}]}"
            yield Finding("E611", path, {**words, "why": reason, "hint": hint})
        kind = "HTTPS" if protocol in _ENCRYPTED else protocol
        other_kind, first_name = (
            protocols_by_port.setdefault(port, (kind, listener_name)) if protocol != "UDP" else (kind, "")
        )
        if other_kind != kind:
            reason = f"port {port} speaks {other_kind} for '{first_name}' and {protocol} here"
            yield Finding("E611", (*path, "port"), {**words, "why": reason, "hint": "give each a port of its own"})


@reference_rules.about("SecurityPolicy")
def validate_jwt_providers(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Findings about the JWT providers of a SecurityPolicy that Envoy Gateway refuses."""
    base_path: Path = ("spec", "jwt", "providers")
    for path, reason, hint in jwt_providers.provider_faults(maps_at(body, "spec", "jwt", "providers")):
        yield _refused_security_policy(name, reason, hint, (*base_path, *path))


def _refused_security_policy(name: str, reason: str, hint: str, path: Path) -> Finding:
    effect = "every request there is answered with 500"
    return Finding("E611", path, {"what": f"SecurityPolicy '{name}'", "why": reason, "effect": effect, "hint": hint})


@reference_rules.about("SecurityPolicy")
def validate_distinct_keys(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding where two clients have the same API key."""
    for i, reference in enumerate(maps_at(body, "spec", "apiKeyAuth", "credentialRefs")):
        secret = view.find("Secret", *named_place(reference, namespace))
        if pair := _equal_pair(map_at(secret, "stringData")) or _equal_pair(map_at(secret, "data")):
            reason = f"'{pair[0]}' and '{pair[1]}' have one key in the Secret '{reference['name']}'"
            yield _refused_security_policy(
                name, reason, "give each a key", ("spec", "apiKeyAuth", "credentialRefs", i, "name")
            )


def _equal_pair(data: Mapping[str, object]) -> tuple[str, str] | None:
    """The first two keys with the same value, None when all values differ."""
    first_keys: dict[object, str] = {}
    for key, value in data.items():
        if (first := first_keys.setdefault(value, key)) != key:
            return first, key
    return None


@reference_rules.about("AIGatewayRoute")
def validate_route_spec(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """An AIGatewayRoute must name a Gateway, and costs that can be evaluated."""
    spec = as_map(body.get("spec"))
    if not spec.get("parentRefs"):
        yield Finding("E612", ("spec",), {})
    yield from _validate_costs(spec, "llmRequestCosts")


@reference_rules.about("GatewayConfig")
def validate_gateway_config(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Findings about the costs of a GatewayConfig, which must be such as can be evaluated."""
    yield from _validate_costs(map_at(body, "spec"), "globalLLMRequestCosts")


def _validate_costs(spec: Body, field: str) -> Iterator[Finding]:
    for i, cost in enumerate(as_maps(spec.get(field))):
        if cost["type"] != "CEL":
            continue
        if "cel" not in cost:
            yield Finding("E614", ("spec", field, i), {"why": "it is missing"})
        elif reason := cost_error(as_text(cost.get("cel"))):
            yield Finding("E614", ("spec", field, i, "cel"), {"why": reason})


# How hosts of providers name the region that they are in, by the credentials with which one asks them.
_REGIONAL_HOSTS = {
    "awsCredentials": r"(?:[\w-]+\.)?bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.(?:vpce\.)?amazonaws\.com",
    "gcpCredentials": r"([a-z]+-[a-z]+[0-9]+)-aiplatform\.googleapis\.com",
}


@reference_rules.about("BackendSecurityPolicy")
def validate_regions(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Findings about the region of a BackendSecurityPolicy, which must be that of the hosts of its backends."""
    for field, pattern in _REGIONAL_HOSTS.items():
        region = text_at(body, "spec", field, "region")
        for host in _hosts(view, body, namespace) if region else ():
            if (match := re.fullmatch(pattern, host)) and match[1] != region:
                what = f"is for region {region}, and {host} is in {match[1]}, which refuses it"
                words = {"type": text_at(body, "spec", "type"), "what": what, "hint": f"write region: {match[1]}"}
                yield Finding("E653", ("spec", field, "region"), words)


def _hosts(view: ObjectView, policy: Body, namespace: str) -> Iterator[str]:
    """The hosts of the backends of a BackendSecurityPolicy."""
    for target in maps_at(policy, "spec", "targetRefs"):
        service = view.find("AIServiceBackend", namespace, text_at(target, "name"))
        backend = view.find("Backend", *named_place(map_at(service, "spec", "backendRef"), namespace))
        for endpoint in maps_at(backend, "spec", "endpoints"):
            yield text_at(endpoint, "fqdn", "hostname")


@reference_rules.about("BackendSecurityPolicy")
def validate_target_refs(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A BackendSecurityPolicy must name its backends."""
    if not list_at(body, "spec", "targetRefs"):
        yield Finding("E613", ("spec",), {})
