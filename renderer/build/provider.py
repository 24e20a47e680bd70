"""Backend, AIServiceBackend and BackendSecurityPolicy of providers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from renderer.build.metadata import name_origins
from renderer.diagnostics import Origin, Path
from renderer.plan import Manifest, ProviderPlan, TrafficPlan
from renderer.yamlio import SharedMap

_AUTH_FIELDS = {"APIKey": "apiKey", "AnthropicAPIKey": "anthropicAPIKey", "AzureAPIKey": "azureAPIKey"}


def providers(traffic_plan: TrafficPlan) -> Iterator[Manifest]:
    """Backend, AIServiceBackend and BackendSecurityPolicy of each provider."""
    for provider in traffic_plan.providers:
        metadata = SharedMap({"name": provider.name, "namespace": provider.namespace, "labels": provider.labels})
        yield _manifest(provider, "gateway.envoyproxy.io/v1alpha1", "Backend", metadata, _backend(provider))
        reference = {"group": "gateway.envoyproxy.io", "kind": "Backend", "name": provider.name}
        spec = {"schema": provider.schema, "backendRef": reference}
        yield _manifest(provider, "aigateway.envoyproxy.io/v1beta1", "AIServiceBackend", metadata, spec)
        yield _manifest(
            provider,
            "aigateway.envoyproxy.io/v1beta1",
            "BackendSecurityPolicy",
            metadata,
            _security_policy_spec(provider),
        )


def _backend(provider: ProviderPlan) -> dict[str, object]:
    """A Backend with TLS by an explicit server name: where Envoy derives it for some backends of a rule, the AI gateway
    loses them all (docs/design/gateway.md#lost-filter).
    """
    endpoint = {"fqdn": {"hostname": provider.hostname, "port": provider.port}}
    tls = {"wellKnownCACertificates": "System", "sni": provider.hostname}
    return {"type": "Endpoints", "endpoints": [endpoint], "tls": tls}


def _security_policy_spec(provider: ProviderPlan) -> dict[str, object]:
    kind, secret, region = provider.auth
    target = {"group": "aigateway.envoyproxy.io", "kind": "AIServiceBackend", "name": provider.name}
    spec: dict[str, object] = {"targetRefs": [target], "type": kind}
    reference = {"secretRef": {"name": secret}}
    if kind == "AWSCredentials":
        spec["awsCredentials"] = {"region": region, "credentialsFile": reference}
    else:
        spec[_AUTH_FIELDS[kind]] = reference
    return spec


def _manifest(provider: ProviderPlan, version: str, kind: str, metadata: SharedMap, spec: dict[str, Any]) -> Manifest:
    return Manifest(
        {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}, lambda: _origins(provider, kind)
    )


def _origins(provider: ProviderPlan, kind: str) -> dict[Path, Origin]:
    origin, auth = provider.origin, provider.origin.at("auth")
    origins: dict[Path, Origin] = {
        **name_origins(provider.item),
        (): origin,
        **{("spec", "endpoints", 0, "fqdn", key): origin.at(key) for key in ("hostname", "port")},
        ("spec", "schema"): origin.at("schema"),
        ("spec", "schema", "name"): origin.at("schema"),
    }
    if kind == "BackendSecurityPolicy":
        origins |= {("spec", field): auth for field in ("type", *_AUTH_FIELDS.values(), "awsCredentials")}
        origins["spec", "awsCredentials", "region"] = auth.at("region")
        if provider.auth[0] in _AUTH_FIELDS:
            origins["spec", _AUTH_FIELDS[provider.auth[0]], "secretRef", "name"] = auth.at("secretName")
    return origins
