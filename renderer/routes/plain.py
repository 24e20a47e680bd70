"""Routes in JSON, for other programs."""

from __future__ import annotations

from typing import Any

from renderer import escapes
from renderer.routes.rows import Leg, Outer, Routes, Row


def plain(found: Routes) -> str:
    """JSON for other programs: `routes`; `reserved`, names that lead nowhere; and `withoutRoute`, the apps that nothing
    leads to.
    """
    said = {
        "routes": [_route(row) for row in found.rows if row.route],
        "reserved": [_head(row) for row in found.rows if not row.route],
        "withoutRoute": [dict(zip(("kind", "namespace", "name", "why"), each, strict=True)) for each in found.apart],
    }
    return escapes.json_text(said, indent=2) + "\n"


def _head(row: Row) -> dict[str, Any]:
    return {
        "name": row.name,
        "owner": {"kind": row.kind, "namespace": row.namespace, "name": row.owner},
        "gateway": {"namespace": row.gateway[0], "name": row.gateway[1]},
        "hostnames": row.hostnames,
        "authentication": row.asked,
    }


def _route(row: Row) -> dict[str, Any]:
    return {
        **_head(row),
        "allow": row.allowed,
        "route": {"namespace": row.namespace, "name": row.route},
        "requestTimeout": row.request,
        "streamIdleTimeout": row.idle or None,
        "retries": row.retries,
        "tokenLimits": [
            # TotalToken → total, as a ModelRoute says it.
            {"header": header, "tokens": tokens, "interval": unit, "count": kind[0].lower() + kind[1:-5]}
            for header, tokens, unit, kind in row.limits
        ],
        "objectivePriority": row.urgency,
        "backends": [_backend(row, leg) for leg in row.legs],
    }


def _backend(row: Row, leg: Leg) -> dict[str, Any]:
    """Every key for every backend; null where it has no such thing."""
    behind, outer = leg.behind, leg.outer
    return {
        "name": leg.to,
        "weight": leg.weight,
        "priority": leg.priority,
        "modelNameOverride": leg.override or None,
        "app": {"kind": behind.kind, "namespace": row.namespace, "name": behind.app} if behind else None,
        "model": behind.model if behind else None,
        "engineCallsIt": behind.called if behind else None,
        "minReplicas": behind.low if behind else None,
        "maxReplicas": behind.high if behind else None,
        "pool": _pool(leg) if leg.pool else None,
        "provider": _provider(outer) if outer else None,
    }


def _pool(leg: Leg) -> dict[str, Any]:
    names = [{"name": name, "weight": weight} for name, weight in leg.names]
    return {"name": leg.to, "picker": leg.behind.picker if leg.behind else None, "targetModels": names}


def _provider(outer: Outer) -> dict[str, Any]:
    auth = {"type": outer.auth, "secretName": outer.secret, **({"region": outer.region} if outer.region else {})}
    return {"hostname": outer.hostname, "port": outer.port, "schema": dict(outer.speaks), "auth": auth}
