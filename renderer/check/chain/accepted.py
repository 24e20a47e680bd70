"""What an API server takes and a controller does not accept, or can do nothing with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from renderer import tokens
from renderer.check.cel import uncountable
from renderer.check.chain.view import Place, View, kind_in
from renderer.check.finding import Body, Finding
from renderer.problems import Path

# Both as text: few runs need them, and re keeps what it has compiled.
_ADDRESS = r"\d+(\.\d+){3}"
_LOOPBACK = r"127\.|(0{1,4}:){7}0{0,3}1$"
_ENCRYPTED = ("HTTPS", "TLS")  # may stand on one port
_UNANSWERED = "every request to it is answered with 500"


def addressed(view: View, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A Backend has hosts that Envoy Gateway takes, and knows by what to judge their certificates."""
    for i, endpoint in enumerate(body["spec"].get("endpoints") or ()):
        at: Path = ("spec", "endpoints", i)
        if fqdn := endpoint.get("fqdn"):
            host = fqdn["hostname"]
            if "." not in host:
                hint = f"write the whole name: {host}.{namespace or '<namespace>'}.svc.{view.outside.domain}"
                yield _refused(name, f"the host '{host}' has one part", hint, (*at, "fqdn", "hostname"))
            elif host[-1].isdigit() and re.fullmatch(_ADDRESS, host):
                hint = f"write ip: {{address: {host}, port: {fqdn['port']}}}"
                yield _refused(name, f"the host '{host}' is an address", hint, (*at, "fqdn", "hostname"))
        elif (ip := endpoint.get("ip")) and re.match(_LOOPBACK, ip["address"]):
            why = f"the address {ip['address']} is the proxy's own machine"
            yield _refused(name, why, "name the host of a Service", (*at, "ip", "address"))
    tls = body["spec"].get("tls")
    if tls is not None and not _judges(tls) and (namespace, name) not in view.once("trusted", _trusted):
        why = "its tls does not say which certificates are good"
        if not view.outside.declared("BackendTLSPolicy", namespace, "*"):
            yield _refused(name, why, "write wellKnownCACertificates: System, or caCertificateRefs", ("spec", "tls"))


def _refused(name: str, why: str, hint: str, path: Path) -> Finding:
    what = f"Backend '{name}'"
    return "E611", path, {"what": what, "why": why, "effect": _UNANSWERED, "hint": hint}


def _judges(tls: Body) -> bool:
    return bool(tls.get("insecureSkipVerify") or tls.get("wellKnownCACertificates") or tls.get("caCertificateRefs"))


def _trusted(view: View) -> set[Place]:
    """The Backends for which a BackendTLSPolicy says which certificates are good."""
    return {
        (namespace, target["name"])
        for namespace, _, body in view.all("BackendTLSPolicy")
        for target in body["spec"]["targetRefs"]
        if kind_in(target["group"], target["kind"]) == "Backend"
    }


def listeners(view: View, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """The listeners of a Gateway have certificates where they need some, and agree on what a port speaks."""
    spoken: dict[int, tuple[str, str]] = {}
    for i, each in enumerate(body["spec"].get("listeners") or ()):
        protocol, port, at = each["protocol"], each["port"], ("spec", "listeners", i)
        words = {"what": f"listener '{each['name']}'", "effect": "nobody is served there"}
        if protocol in _ENCRYPTED and "tls" not in each:
            why, hint = f"{protocol} needs tls", "write tls: {certificateRefs: [{name: …}]}"
            yield "E611", at, {**words, "why": why, "hint": hint}
        kind = "HTTPS" if protocol in _ENCRYPTED else protocol
        other, first = spoken.setdefault(port, (kind, each["name"])) if protocol != "UDP" else (kind, "")
        if other != kind:
            why = f"port {port} speaks {other} for '{first}' and {protocol} here"
            yield "E611", (*at, "port"), {**words, "why": why, "hint": "give each a port of its own"}


def providers(view: View, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Envoy Gateway takes the providers of tokens in a SecurityPolicy."""
    at: Path = ("spec", "jwt", "providers")
    for path, why, hint in tokens.refused((body["spec"].get("jwt") or {}).get("providers") or ()):
        yield _locked(name, why, hint, (*at, *path))


def _locked(name: str, why: str, hint: str, path: Path) -> Finding:
    effect = "every request there is answered with 500"
    return "E611", path, {"what": f"SecurityPolicy '{name}'", "why": why, "effect": effect, "hint": hint}


def keys_apart(view: View, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """No two clients have one API key."""
    for i, reference in enumerate((body["spec"].get("apiKeyAuth") or {}).get("credentialRefs") or ()):
        found = view.find("Secret", reference.get("namespace") or namespace, reference["name"])
        if found and (pair := _alike(found.get("stringData") or {}) or _alike(found.get("data") or {})):
            why = f"'{pair[0]}' and '{pair[1]}' have one key in the Secret '{reference['name']}'"
            yield _locked(name, why, "give each a key", ("spec", "apiKeyAuth", "credentialRefs", i, "name"))


def _alike(held: Mapping[str, Any]) -> tuple[str, str] | None:
    seen: dict[Any, str] = {}
    for key, value in held.items():
        if (first := seen.setdefault(value, key)) != key:
            return first, key
    return None


def attached(view: View, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """An AIGatewayRoute names a Gateway, and costs that can be worked out."""
    if not body["spec"].get("parentRefs"):
        yield "E612", ("spec",), {}
    yield from _costs(body["spec"], "llmRequestCosts")


def gateway_config(view: View, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """The costs of all requests to a Gateway can be worked out."""
    yield from _costs(body.get("spec") or {}, "globalLLMRequestCosts")


def _costs(spec: Body, field: str) -> Iterator[Finding]:
    for i, cost in enumerate(spec.get(field) or ()):
        if cost["type"] != "CEL":
            continue
        if "cel" not in cost:
            yield "E614", ("spec", field, i), {"why": "nothing is said"}
        elif why := uncountable(cost["cel"]):
            yield "E614", ("spec", field, i, "cel"), {"why": why}


def aims(view: View, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A BackendSecurityPolicy names the backends that it is for."""
    if not body["spec"].get("targetRefs"):
        yield "E613", ("spec",), {}
