"""Routes of several public names: in which of a namespace's routes a name is packed."""

from __future__ import annotations

from renderer.resolve.gateway.settings import GatewaySettings


def packed_route(gateway_settings: GatewaySettings, model: str) -> str:
    """The name of the AIGatewayRoute with the rule of this public name in the packed layout, '' in the other layout.

    It is chosen by rendezvous hashing, so that it stays the same when other names come and go.
    """
    if gateway_settings.get("routeLayout") != "packed":
        return ""
    return max(map(bucket, range(int(gateway_settings.get("routeBuckets")))), key=lambda name: score(name, model))


def bucket(number: int) -> str:
    """The name of the packed route with this number, counted from 0."""
    return f"llmaz-{number}"


def score(bucket: str, model: str) -> bytes:
    """The rendezvous hash of a packed route and a public name: the name belongs to the route with the highest."""
    import hashlib  # few runs need it

    return hashlib.sha256(f"{bucket.removeprefix('llmaz-')}/{model}".encode()).digest()
