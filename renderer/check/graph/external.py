"""The external objects that RenderConfig and the command line declare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from renderer import component_versions
from renderer.api import RenderConfig
from renderer.check.graph.view import ExternalObjects, Place
from renderer.wellknown import MAX_PACKED_ROUTE_RULES

_NAME, _NAMESPACE, _DOMAIN = "llmaz-gateway", "llmaz-system", "cluster.local"


def declared_objects(config: RenderConfig, external: Sequence[str] = ()) -> ExternalObjects:
    """What a set may refer to: the patterns of RenderConfig's `external` and those given, the Gateways that
    RenderConfig names (the default one where it names none), and its target versions.
    """
    default_gateway: Mapping[str, Any] = config.get("gateway", default={}) or {}
    per_namespace: Mapping[str, Mapping[str, Any]] = default_gateway.get("perNamespace") or {}
    targets: Mapping[str, str | None] = config.get("targets") or {}
    limits: dict[Place, int] = {}
    for gateway in (default_gateway, *({**default_gateway, **overrides} for overrides in per_namespace.values())):
        max_rules = gateway.get("maxModels") or (
            MAX_PACKED_ROUTE_RULES if gateway.get("routeLayout") == "packed" else 0
        )
        limits[gateway.get("namespace", _NAMESPACE), gateway.get("name", _NAME)] = max_rules
    return ExternalObjects(
        (*(config.get("external") or ()), *external),
        frozenset(limits),
        default_gateway.get("clusterDomain", _DOMAIN),
        {place: max_rules for place, max_rules in limits.items() if max_rules},
        targets=component_versions.TargetVersions({key: value for key, value in targets.items() if value}),
    )
