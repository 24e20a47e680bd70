"""What RenderConfig and the command line say of things that exist elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from renderer import since
from renderer.api import Config
from renderer.check.chain.fleet import MOST_PACKED
from renderer.check.chain.view import Outside, Place

_NAME, _NAMESPACE, _DOMAIN = "llmaz-gateway", "llmaz-system", "cluster.local"


def outside(config: Config, external: Sequence[str] = ()) -> Outside:
    """What a set may refer to: RenderConfig's `external` and more patterns, and the Gateways that it names (the
    default one where it names none); and the targets that it names.
    """
    general: Mapping[str, Any] = config.get("gateway", default={}) or {}
    apart: Mapping[str, Mapping[str, Any]] = general.get("perNamespace") or {}
    targets: Mapping[str, str | None] = config.get("targets") or {}
    limits: dict[Place, int] = {}
    for said in (general, *({**general, **own} for own in apart.values())):
        most = said.get("maxModels") or (MOST_PACKED if said.get("routeLayout") == "packed" else 0)
        limits[said.get("namespace", _NAMESPACE), said.get("name", _NAME)] = most
    return Outside(
        (*(config.get("external") or ()), *external),
        frozenset(limits),
        general.get("clusterDomain", _DOMAIN),
        {place: most for place, most in limits.items() if most},
        targets=since.Targets({key: value for key, value in targets.items() if value}),
    )
