"""The ports of a Playground's engine (docs/workload.md#the-port-of-the-engine), and how containers have ports."""

from __future__ import annotations

from functools import lru_cache

from renderer.api import App
from renderer.kubernetes.json_values import number_at
from renderer.kubernetes.wellknown import DECODE, ENGINE_PORT, PORT
from renderer.plan import Body
from renderer.yamlio import SharedMap


def request_port(app: App) -> int:
    """The port of a pod to which requests go."""
    return int(number_at(app.spec, "service", "enginePort", default=PORT)) if "service" in app.spec else PORT


def engine_port(app: App) -> int:
    """The port on which the engine listens. Of the role decode the picker's sidecar has that of requests."""
    return ENGINE_PORT if app.role == DECODE else request_port(app)


@lru_cache(maxsize=256)
def container_port(name: str, number: int) -> Body:
    """An entry of a container's ports."""
    return SharedMap({"name": name, "containerPort": number, "protocol": "TCP"})
