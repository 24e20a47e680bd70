"""How much room API keys take in the routes of a Gateway."""

from __future__ import annotations

from renderer.api import Inputs

_KEY_OVERHEAD = 8  # bytes of an API key in a message, besides its name and value


def key_bytes(inputs: Inputs, namespace: str, secret: str) -> int | None:
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
