"""What does not go with the provider of a ModelRoute's backend (docs/design/routing.md#providers)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.kubernetes.gateway_limits import READ_PREFIXES
from renderer.resolve import tasks
from renderer.resolve.target_versions import targets_at_least
from renderer.resolve.traffic.model_route_records import RouteBackend, RouteShares

# By schema of an API: the usual type of key, and which have a version and a prefix.
_AUTH_TYPES = {
    "OpenAI": "APIKey",
    "Cohere": "APIKey",
    "Anthropic": "AnthropicAPIKey",
    "AzureOpenAI": "AzureAPIKey",
    "AWSBedrock": "AWSCredentials",
    "AWSAnthropic": "AWSCredentials",
}
# By schema of an API, the tasks whose requests the AI gateway translates into it, and the path of those with one alone
# (https://github.com/envoyproxy/ai-gateway/blob/v1.0.0/internal/endpointspec/endpointspec.go, GetTranslator).
_TASKS = {
    "OpenAI": (tasks.CHAT, tasks.EMBEDDING, tasks.TRANSCRIPTION),
    "AzureOpenAI": (tasks.CHAT, tasks.EMBEDDING),
    "AWSBedrock": (tasks.CHAT, tasks.EMBEDDING),
    "AWSAnthropic": (tasks.CHAT,),
    "Anthropic": (),
    "Cohere": (tasks.RERANKER,),
}
_ONLY_PATHS = {"Anthropic": "/anthropic/v1/messages", "Cohere": tasks.PATHS[tasks.RERANKER]}
# Whose version the AI gateway reads (schemaToFilterAPI in internal/controller/gateway.go); it drops that of others.
_WITH_VERSION = ("AzureOpenAI", "AWSAnthropic", "Cohere")
_NEEDS_VERSION = ("AzureOpenAI",)
_COHERE = ("api.cohere.com", "api.cohere.ai")
_MAX_NAME = 63
# By host, what stands before /chat/completions in the address of its OpenAI API, as its reference has it.
_PREFIXES = {
    "openrouter.ai": "api/v1",
    "api.groq.com": "openai/v1",
    "generativelanguage.googleapis.com": "v1beta/openai",
    "api.fireworks.ai": "inference/v1",
    "api.deepinfra.com": "v1/openai",
    "api.cohere.com": "compatibility/v1",
    "api.cohere.ai": "compatibility/v1",
}
_BEDROCK = r"bedrock-runtime(-fips)?\..+\.amazonaws\.com"
_BEDROCK_CONTROL = r"bedrock\.([a-z0-9-]+)\.amazonaws\.com"
_BEDROCK_ANYWHERE = r"bedrock(?:-runtime)?(-fips)?\.amazonaws\.com"  # every host of Bedrock has its region in it
_BEDROCK_PREFIX = "openai/v1"
# What a host answers as, of APIs that it is sure to have alone.
_HOSTS = {
    r"api\.openai\.com|generativelanguage\.googleapis\.com|api\.groq\.com": ("OpenAI",),
    r"api\.anthropic\.com": ("Anthropic", "OpenAI"),
    r"api\.cohere\.(com|ai)": ("Cohere", "OpenAI"),
    r".*\.(openai|cognitiveservices)\.azure\.com": ("AzureOpenAI", "OpenAI", "Anthropic"),
    _BEDROCK: ("AWSBedrock", "AWSAnthropic", "OpenAI"),
}
# Where inference profiles of Bedrock begin: their prefix, and the first part of regions (docs.aws.amazon.com/bedrock,
# Supported Regions and models for inference profiles).
_PROFILES = {"us": ("us", "ca"), "eu": ("eu",), "apac": ("ap",)}
_JUDGED_REGIONS = ("us", "eu", "ap")
_AZURE = (".openai.azure.com", ".cognitiveservices.azure.com")


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


@rule(of=RouteShares, when=lambda shares: shares.providers)
def untranslated_task(shares: RouteShares) -> Iterator[Diagnostic]:
    """A warning for an API that cannot be asked for the task of the apps beside it, or for chats where there are none;
    none where that is an error (`several_tasks`).
    """
    task = shares.plans[0].task if shares.plans else tasks.CHAT
    for index in shares.route.provider_names if task != tasks.RERANKER else ():
        backend = RouteBackend(shares.route, index)
        schema = backend.spec["provider"]["schema"]
        if task not in _TASKS[schema]:
            only = _ONLY_PATHS.get(schema)
            hint = f"let clients use {only}, which it answers; or " if only else ""
            words = {"schema": schema, "path": tasks.PATHS[task], "hint": hint}
            yield make_diagnostic("W272", backend.origin.at("schema"), **words)


@rule(of=RouteBackend, when=_is_provider)
def unfit_fields(backend: RouteBackend) -> Iterator[Diagnostic]:
    """Errors where an API lacks its version or has a field of another API."""
    spec, origin, schema = backend.spec["provider"], backend.origin, backend.spec["provider"]["schema"]
    if schema in _NEEDS_VERSION and "version" not in spec:
        params = {"what": "needs a version", "hint": "write version, such as 2025-01-01-preview"}
        yield make_diagnostic("E666", origin, schema=schema, **params)
    config = backend.route.context.inputs.config
    reads_prefix = schema in READ_PREFIXES and targets_at_least(config, "aiGateway", READ_PREFIXES[schema])
    for key, is_read in (("version", schema in _WITH_VERSION), ("prefix", reads_prefix)):
        if key in spec and not is_read:
            params = {"what": f"has no {key}", "hint": "leave it out"}
            yield make_diagnostic("E666", origin.at(key, key=True), schema=schema, **params)


@rule(of=RouteBackend, when=_is_provider)
def missing_version(backend: RouteBackend) -> Iterator[Diagnostic]:
    """A warning where the path that the AI gateway makes without a version is none of Cohere's."""
    spec = backend.spec["provider"]
    if spec["schema"] == "Cohere" and "version" not in spec and spec["hostname"] in _COHERE:
        yield make_diagnostic("W682", backend.origin.at("schema"), host=spec["hostname"])


@rule(of=RouteBackend, when=_is_provider)
def missing_prefix(backend: RouteBackend) -> Iterator[Diagnostic]:
    """A warning for a provider whose OpenAI API has another path than the one that the AI gateway asks for."""
    spec, origin = backend.spec["provider"], backend.origin.at("hostname")
    host = spec["hostname"]
    if spec["schema"] != "OpenAI" or "prefix" in spec:
        return
    reads_prefix = targets_at_least(backend.route.context.inputs.config, "aiGateway", READ_PREFIXES["OpenAI"])
    if reads_prefix and (prefix := _PREFIXES.get(host) or (_BEDROCK_PREFIX if re.fullmatch(_BEDROCK, host) else "")):
        path, hint = f"/{prefix}/chat/completions", f"write prefix: {prefix}"
        yield make_diagnostic("W687", origin, host=host, path=path, hint=hint)
    elif host.endswith(_AZURE):
        path, hint = "/openai/deployments/…", "write schema: AzureOpenAI, and its version"
        yield make_diagnostic("W687", origin, host=host, path=path, hint=hint)


@rule(of=RouteBackend, when=_is_provider)
def foreign_host(backend: RouteBackend) -> Iterator[Diagnostic]:
    """An error for a host that is known for another API."""
    spec = backend.spec["provider"]
    host, schema = spec["hostname"], spec["schema"]
    schemas: tuple[str, ...] = next((known for pattern, known in _HOSTS.items() if re.fullmatch(pattern, host)), ())
    if schemas and schema not in schemas:
        auth = spec["auth"]
        key = f"{{type: {_AUTH_TYPES[schemas[0]]}, secretName: {auth['secretName']}}}"
        more = f" with auth: {key}" if auth["type"] != _AUTH_TYPES[schemas[0]] else ""
        more += " and no version" if "version" in spec and schemas[0] not in _WITH_VERSION else ""
        params = {"what": f"is not at {host}", "hint": f"write schema: {schemas[0]}{more}, or the host of {schema}"}
        yield make_diagnostic("E666", backend.origin.at("hostname"), schema=schema, **params)
    elif match := re.fullmatch(_BEDROCK_CONTROL, host):
        hint = f"write hostname: bedrock-runtime.{match[1]}.amazonaws.com"
        params = {"what": f"is not at {host}, which has no models to ask", "hint": hint}
        yield make_diagnostic("E666", backend.origin.at("hostname"), schema=schema, **params)
    elif match := re.fullmatch(_BEDROCK_ANYWHERE, host):
        region = spec["auth"].get("region")
        hint = f"write hostname: bedrock-runtime{match[1] or ''}.{region or 'us-east-1'}.amazonaws.com"
        hint += "" if region else ", with the account's region"
        params = {"what": f"is not at {host}, which names no region", "hint": hint}
        yield make_diagnostic("E666", backend.origin.at("hostname"), schema=schema, **params)


@rule(of=RouteBackend, when=_is_provider)
def unfit_authentication(backend: RouteBackend) -> Iterator[Diagnostic]:
    """A warning for an unusual kind of key; an error for a region that is missing, or has no use."""
    spec, origin = backend.spec["provider"], backend.origin
    auth, usual = spec["auth"], _AUTH_TYPES[spec["schema"]]
    kind, is_aws = auth["type"], auth["type"] == "AWSCredentials"
    if kind != usual:
        more = ", and the account's region as auth.region" if usual == "AWSCredentials" else ""
        words = {"schema": spec["schema"], "kind": kind, "usual": usual, "more": more}
        yield make_diagnostic("W246", origin.at("auth", "type"), **words)
    if is_aws and "region" not in auth:
        params = {"what": "needs a region", "hint": "write auth.region"}
        yield make_diagnostic("E653", origin.at("auth"), type=kind, **params)
    elif is_aws and (lacking := _missing_model(spec["modelName"], auth["region"])):
        params = {"what": f"is for region {auth['region']}, where Bedrock has no {spec['modelName']}", "hint": lacking}
        yield make_diagnostic("E653", origin.at("auth", "region"), type=kind, **params)
    elif not is_aws and "region" in auth:
        params = {"what": "has no region", "hint": "leave it out"}
        yield make_diagnostic("E653", origin.at("auth", "region", key=True), type=kind, **params)


def _missing_model(name: str, region: str) -> str:
    """What to write for a model that Bedrock does not have in a region, an inference profile or an ARN of another one;
    '' where it may have it.
    """
    if name.startswith("arn:aws"):
        of_name = name.split(":")[3] if name.count(":") > 3 else ""
        return f"write region: {of_name}" if of_name not in ("", region) else ""
    prefix, (place, *_) = name.partition(".")[0], region.split("-")
    if prefix not in _PROFILES or place not in _JUDGED_REGIONS or place in _PROFILES[prefix]:
        return ""
    own = next(own for own, places in _PROFILES.items() if place in places)
    return f"write modelName: {own}.{name.partition('.')[2]}, or a region that begins with {_PROFILES[prefix][0]}-"
