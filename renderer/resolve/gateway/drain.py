"""How long a pod that ends still gets requests."""

from __future__ import annotations

from renderer.resolve.gateway.settings import GatewaySettings

_DIRECT_DRAIN = 10  # seconds until a pod has left the endpoints, where clients do not use DNS


def drain(gateway_settings: GatewaySettings, mode: str) -> int:
    """The seconds that a pod's hook waits until no more requests are sent to it: in backend mode the lifetime of a DNS
    answer and five more, since Envoy looks the pods up in DNS (docs/design/routing.md#drain).
    """
    return gateway_settings.dns_ttl + 5 if mode == "backend" else _DIRECT_DRAIN
