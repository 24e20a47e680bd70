"""Whether a Gateway holds the public names that are on it."""

from __future__ import annotations

from renderer.api import Inputs
from renderer.diagnostics import Collector
from renderer.gateway_limits import MANY_ROUTES, MANY_WITH_KEYS, MESSAGE_BYTES, RULE_BYTES
from renderer.resolve.gateway.settings import GatewaySettings

_KEY_OVERHEAD = 8  # bytes of an API key in a message, besides its name and value


def validate_capacity(inputs: Inputs, gateway_settings: GatewaySettings, count: int, diagnostics: Collector) -> None:
    """Errors and warnings where a Gateway has more public names than it supports."""
    name, origin = "/".join(gateway_settings.gateway), gateway_settings.at("name")
    if count > gateway_settings.max_rules:
        diagnostics.add("E626", origin, name=name, count=count, most=gateway_settings.max_rules)
    elif count > MANY_ROUTES and gateway_settings.get("routeLayout") == "model":
        diagnostics.add("W240", origin, name=name, count=count, most=MANY_ROUTES)
    keys = gateway_settings.auth.get("apiKeys")
    key_bytes = _key_bytes(inputs, gateway_settings.gateway[0], keys["secretName"]) if keys else 0
    if keys and key_bytes is None and count > MANY_WITH_KEYS:
        diagnostics.add("W241", gateway_settings.at("auth", "apiKeys", key=True), name=name, count=count)
    elif (
        key_bytes
        and not gateway_settings.get("maxModels")
        and (most := MESSAGE_BYTES // (RULE_BYTES + 2 * key_bytes)) < count
    ):
        diagnostics.add("E617", gateway_settings.at("auth", "apiKeys", key=True), name=name, count=count, most=most)


def _key_bytes(inputs: Inputs, namespace: str, secret: str) -> int | None:
    """The bytes that the API keys of a Secret take in each route; None when the Secret is not in the tree."""
    for body in inputs.foreign_objects:
        metadata = body.get("metadata")
        matches = isinstance(metadata, dict) and (metadata.get("namespace"), metadata.get("name")) == (
            namespace,
            secret,
        )
        if body.get("kind") == "Secret" and matches:
            encodings = (body.get("data"), body.get("stringData"))  # not validated
            coded, plain = (part if isinstance(part, dict) else {} for part in encodings)
            size = sum(len(key) + len(str(value)) * 3 // 4 + _KEY_OVERHEAD for key, value in coded.items())
            return size + sum(len(key) + len(str(value)) + _KEY_OVERHEAD for key, value in plain.items())
    return None
