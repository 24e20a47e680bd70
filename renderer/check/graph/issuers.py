"""cert-manager's issuers that cannot get the certificates that the set asks of them."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.finding import Body
from renderer.check.graph.rules import side_rules
from renderer.check.graph.view import ObjectView, kind_in
from renderer.diagnostics import Finding
from renderer.kubernetes.json_values import map_at, maps_at, text_at, texts_at

_GROUP = "cert-manager.io"
CLUSTER_ISSUER, ISSUER, CERTIFICATE = (kind_in(_GROUP, kind) for kind in ("ClusterIssuer", "Issuer", "Certificate"))
# The annotations of a Gateway by which cert-manager makes its certificates.
_ANNOTATIONS = {f"{_GROUP}/cluster-issuer": CLUSTER_ISSUER, f"{_GROUP}/issuer": ISSUER}


@side_rules.about(CLUSTER_ISSUER, ISSUER)
def validate_issuer(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding for an issuer of ACME without DNS, of which the set asks a certificate of a wildcard: RFC 8555, 7.1.3
    and the rules of Let's Encrypt leave no other way to prove it.
    """
    solvers = maps_at(body, "spec", "acme", "solvers")
    if not solvers or any("dns01" in solver for solver in solvers):
        return
    kind = f"{text_at(body, 'kind')}.{_GROUP}"
    for space, who, hosts in _asking(view, kind, name):
        wildcard = next((host for host in hosts if host.startswith("*.")), "")
        if wildcard and (kind == CLUSTER_ISSUER or space == namespace):
            yield Finding("E578", ("spec", "acme", "solvers"), {"name": name, "who": who, "host": wildcard})
            return


def _asking(view: ObjectView, kind: str, name: str) -> Iterator[tuple[str, str, list[str]]]:
    """Namespace, words and hosts of what asks an issuer for certificates."""
    for space, gateway, body in view.all("Gateway"):
        annotations = map_at(body, "metadata", "annotations")
        if any(annotations.get(key) == name for key, issuer in _ANNOTATIONS.items() if issuer == kind):
            listeners = [listener for listener in maps_at(body, "spec", "listeners") if "tls" in listener]
            yield space, f"Gateway '{gateway}'", [text_at(listener, "hostname") for listener in listeners]
    for space, certificate, body in view.all(CERTIFICATE):
        issuer = map_at(body, "spec", "issuerRef")
        if text_at(issuer, "name") == name and f"{text_at(issuer, 'kind') or 'Issuer'}.{_GROUP}" == kind:
            yield space, f"Certificate '{certificate}'", texts_at(body, "spec", "dnsNames")
