"""Headers by which SecurityPolicies authorize: clients must not be able to send them themselves."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.finding import Body
from renderer.check.graph.policies import EARLY_FILTERS, parent_gateways, policies_by_gateway, targets
from renderer.check.graph.rules import reference_rules
from renderer.check.graph.view import ObjectView, Place
from renderer.diagnostics import Finding, Path
from renderer.kubernetes.json_values import map_at, maps_at, text_at, texts_at
from renderer.kubernetes.wellknown import MODEL_HEADER

_ANY_HEADER = "*"  # in place of a header: something sets headers that nobody knows


@reference_rules.about("SecurityPolicy")
def validate_authorization_headers(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Findings about headers by which a SecurityPolicy authorizes, and which clients may send themselves: nothing at
    the Gateway sets them.
    """
    spec = map_at(body, "spec")
    asked_headers = list(_asked_headers(spec))
    if not asked_headers:
        return
    own_headers = _set_headers(spec)
    for target in targets(view, body, namespace):
        places = [(target.namespace, target.name)] if target.kind == "Gateway" else []
        if target.kind == "HTTPRoute" and not ("mergeType" in spec or spec.keys() & set(EARLY_FILTERS)):
            continue  # E602 reports it
        if target.kind == "HTTPRoute" and (route := view.find("AIGatewayRoute", target.namespace, target.name)):
            places = [place for place, _ in parent_gateways(route, target.namespace)]
        for place in places:
            known_headers = own_headers | _gateway_headers(view, place, inherits="mergeType" in spec)
            for path, header in asked_headers:
                words = {"header": header, "known": ", ".join(sorted(known_headers - {MODEL_HEADER})) or "none"}
                if _ANY_HEADER in known_headers or header.lower() in known_headers:
                    continue
                if own_headers or view.find("Gateway", *place):
                    yield Finding("E669", path, words)
                else:
                    key = ("Gateway", *place)
                    yield from view.note_once("N588", key, path, header=header, name="/".join(place))


def _asked_headers(spec: Body) -> Iterator[tuple[Path, str]]:
    """The headers that alone let a request through, with their paths."""
    for r, rule in enumerate(maps_at(spec, "authorization", "rules")):
        principal = map_at(rule, "principal")
        if rule.get("action") != "Allow" or set(principal) - {"headers"}:
            continue
        for h, header in enumerate(maps_at(principal, "headers")):
            yield ("spec", "authorization", "rules", r, "principal", "headers", h, "name"), text_at(header, "name")


def _set_headers(spec: Body) -> set[str]:
    """The headers, in small letters, that the authentication of a SecurityPolicy sets; _ANY_HEADER where it is a
    service that may set any.
    """
    external_auth = map_at(spec, "extAuth")
    headers = {
        text_at(spec, "apiKeyAuth", "forwardClientIDHeader"),
        text_at(spec, "basicAuth", "forwardUsernameHeader"),
        *(
            text_at(claim, "header")
            for provider in maps_at(spec, "jwt", "providers")
            for claim in maps_at(provider, "claimToHeaders")
        ),
        *texts_at(external_auth, "http", "headersToBackend"),
        "authorization" if map_at(spec, "oidc").get("forwardAccessToken") else "",
        _ANY_HEADER if "grpc" in external_auth else "",
    }
    return {header.lower() for header in headers if header}


def _gateway_headers(view: ObjectView, place: Place, *, inherits: bool) -> set[str]:
    """The headers, in small letters, that the policies of a Gateway set before authorization. `inherits`: with those of
    its SecurityPolicy.
    """
    headers = {MODEL_HEADER}
    for _, policy in policies_by_gateway(view, "ClientTrafficPolicy").get(place, ()):
        early_headers = map_at(policy, "spec", "headers", "earlyRequestHeaders")
        headers |= {text_at(header, "name").lower() for key in ("set", "add") for header in maps_at(early_headers, key)}
    if any(policies_by_gateway(view, kind).get(place) for kind in ("EnvoyExtensionPolicy", "EnvoyPatchPolicy")):
        headers.add(_ANY_HEADER)
    for _, policy in policies_by_gateway(view, "SecurityPolicy").get(place, ()) if inherits else ():
        headers |= _set_headers(map_at(policy, "spec"))
    return headers
