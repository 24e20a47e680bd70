"""The external objects that RenderConfig and the command line declare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from renderer.api import RenderConfig
from renderer.check.graph.view import ExternalObjects, Place
from renderer.kubernetes import component_versions
from renderer.kubernetes.gateway_limits import MAX_PACKED_ROUTE_RULES

if TYPE_CHECKING:
    from renderer.input_types import RenderConfigGatewaySpec

_NAME, _NAMESPACE, _DOMAIN = "llmaz-gateway", "llmaz-system", "cluster.local"


def declared_objects(config: RenderConfig, external: Sequence[str] = ()) -> ExternalObjects:
    """What a set may refer to: the patterns of RenderConfig's `external` and those given, the Gateways that
    RenderConfig names (the default one where it names none), and its target versions.
    """
    default_gateway: RenderConfigGatewaySpec = config.spec.get("gateway") or {}
    gateways = [default_gateway]
    for overrides in (default_gateway.get("perNamespace") or {}).values():
        gateways.append({**default_gateway, **overrides})
    interceptor = config.get("autoscaling", "keda", "interceptor")
    if interceptor:
        external = (*external, f"Service/{interceptor['namespace']}/{interceptor['service']}")
    targets: Mapping[str, str | None] = config.get("targets") or {}
    limits: dict[Place, int] = {}
    for gateway in gateways:
        max_rules = gateway.get("maxModels") or (
            MAX_PACKED_ROUTE_RULES if gateway.get("routeLayout") == "packed" else 0
        )
        limits[gateway.get("namespace", _NAMESPACE), gateway.get("name", _NAME)] = max_rules
    return ExternalObjects(
        (*(config.get("external") or ()), *external),
        frozenset(limits),
        default_gateway.get("clusterDomain", _DOMAIN),
        {place: max_rules for place, max_rules in limits.items() if max_rules},
        targets=component_versions.TargetVersions(component_versions.set_versions(targets)),
        plain_secrets=tuple(config.get("output", "plainSecrets") or ()),
    )
