"""Backend, AIServiceBackend and BackendSecurityPolicy: an API outside of the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from renderer.plan import Manifest, Provider, Way
from renderer.problems import Origin, Path
from renderer.yamlio import Shared

_FIELDS = {"APIKey": "apiKey", "AnthropicAPIKey": "anthropicAPIKey", "AzureAPIKey": "azureAPIKey"}


def providers(way: Way) -> Iterator[Manifest]:
    """Where each is, what it speaks, and how the gateway says who it is."""
    for each in way.providers:
        metadata = Shared({"name": each.name, "namespace": each.namespace, "labels": each.labels})
        yield _made(each, "gateway.envoyproxy.io/v1alpha1", "Backend", metadata, _backend(each))
        reference = {"group": "gateway.envoyproxy.io", "kind": "Backend", "name": each.name}
        spec = {"schema": each.speaks, "backendRef": reference}
        yield _made(each, "aigateway.envoyproxy.io/v1beta1", "AIServiceBackend", metadata, spec)
        yield _made(each, "aigateway.envoyproxy.io/v1beta1", "BackendSecurityPolicy", metadata, _key(each))


def _backend(provider: Provider) -> dict[str, Any]:
    """TLS by a name that is said: where Envoy finds it itself for some backends of a rule, the AI gateway loses them
    all (gateway-proof.md, surprise 2).
    """
    endpoint = {"fqdn": {"hostname": provider.hostname, "port": provider.port}}
    tls = {"wellKnownCACertificates": "System", "sni": provider.hostname}
    return {"type": "Endpoints", "endpoints": [endpoint], "tls": tls}


def _key(provider: Provider) -> dict[str, Any]:
    kind, secret, region = provider.auth
    target = {"group": "aigateway.envoyproxy.io", "kind": "AIServiceBackend", "name": provider.name}
    made: dict[str, Any] = {"targetRefs": [target], "type": kind}
    reference = {"secretRef": {"name": secret}}
    if kind == "AWSCredentials":
        made["awsCredentials"] = {"region": region, "credentialsFile": reference}
    else:
        made[_FIELDS[kind]] = reference
    return made


def _made(provider: Provider, version: str, kind: str, metadata: Shared, spec: dict[str, Any]) -> Manifest:
    return Manifest(
        {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}, lambda: _origins(provider, kind)
    )


def _origins(provider: Provider, kind: str) -> dict[Path, Origin]:
    made = provider.origins()
    origins = {
        (): made[()],
        ("metadata", "name"): made["name",],
        ("metadata", "namespace"): made["namespace",],
        ("spec", "endpoints", 0, "fqdn", "hostname"): made["hostname",],
        ("spec", "endpoints", 0, "fqdn", "port"): made["port",],
        ("spec", "schema"): made["speaks",],
    }
    if kind == "BackendSecurityPolicy":
        origins |= {("spec", field): made["auth",] for field in ("type", *_FIELDS.values(), "awsCredentials")}
    return origins
