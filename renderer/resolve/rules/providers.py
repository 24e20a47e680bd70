"""What does not go with the provider of a ModelRoute's backend (docs/design/routing.md#providers)."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.resolve.traffic.model_route_records import RouteBackend

# By schema of an API: the usual type of key, and which have a version and a prefix.
_AUTH_TYPES = {
    "OpenAI": "APIKey",
    "Cohere": "APIKey",
    "Anthropic": "AnthropicAPIKey",
    "AzureOpenAI": "AzureAPIKey",
    "AWSBedrock": "AWSCredentials",
    "AWSAnthropic": "AWSCredentials",
}
# APIs to which the AI gateway translates no chat completions, and the one path that they serve
# (https://github.com/envoyproxy/ai-gateway/blob/v1.0.0/internal/endpointspec/endpointspec.go, GetTranslator).
_ONLY_PATHS = {"Anthropic": "/anthropic/v1/messages", "Cohere": "/cohere/v2/rerank"}
_WITH_VERSION = ("AzureOpenAI",)
_WITH_PREFIX = ("OpenAI", "Cohere")
_MAX_NAME = 63


def _is_provider(backend: RouteBackend) -> object:
    """Whether the backend is a provider."""
    return backend.field == "provider"


@rule(of=RouteBackend, when=_is_provider)
def refused_object_name(backend: RouteBackend) -> Iterator[Diagnostic]:
    """An error for a provider whose objects would have too long a name, or that of an app's."""
    route, name = backend.route, backend.route.provider_names[backend.index]
    if len(name) > _MAX_NAME:
        why = f"which is longer than {_MAX_NAME} characters"
        yield make_diagnostic("E663", backend.origin.at("hostname"), name=name, why=why)
    elif app := route.context.apps.get((route.item.namespace, name)):
        yield make_diagnostic("E663", backend.origin.at("hostname"), name=name, why=f"like those of a {app.kind}")


@rule(of=RouteBackend, when=_is_provider)
def one_path(backend: RouteBackend) -> Iterator[Diagnostic]:
    """A warning for an API that answers no chat completions."""
    schema = backend.spec["provider"]["schema"]
    if path := _ONLY_PATHS.get(schema):
        yield make_diagnostic("W272", backend.origin.at("schema"), schema=schema, path=path)


@rule(of=RouteBackend, when=_is_provider)
def unfit_fields(backend: RouteBackend) -> Iterator[Diagnostic]:
    """Errors where an API lacks its version or has a field of another API."""
    spec, origin, schema = backend.spec["provider"], backend.origin, backend.spec["provider"]["schema"]
    if schema in _WITH_VERSION and "version" not in spec:
        params = {"what": "needs a version", "hint": "write version, such as 2025-01-01-preview"}
        yield make_diagnostic("E666", origin, schema=schema, **params)
    for key, schemas in (("version", (*_WITH_VERSION, "AWSAnthropic")), ("prefix", _WITH_PREFIX)):
        if key in spec and schema not in schemas:
            params = {"what": f"has no {key}", "hint": "leave it out"}
            yield make_diagnostic("E666", origin.at(key, key=True), schema=schema, **params)


@rule(of=RouteBackend, when=_is_provider)
def unfit_authentication(backend: RouteBackend) -> Iterator[Diagnostic]:
    """A warning for an unusual kind of key; an error for a region that is missing, or has no use."""
    spec, origin = backend.spec["provider"], backend.origin
    auth, usual = spec["auth"], _AUTH_TYPES[spec["schema"]]
    kind, is_aws = auth["type"], auth["type"] == "AWSCredentials"
    if kind != usual:
        yield make_diagnostic("W246", origin.at("auth", "type"), schema=spec["schema"], kind=kind, usual=usual)
    if is_aws and "region" not in auth:
        params = {"what": "needs a region", "hint": "write auth.region"}
        yield make_diagnostic("E653", origin.at("auth"), type=kind, **params)
    elif not is_aws and "region" in auth:
        params = {"what": "has no region", "hint": "leave it out"}
        yield make_diagnostic("E653", origin.at("auth", "region", key=True), type=kind, **params)
