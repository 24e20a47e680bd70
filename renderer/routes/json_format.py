"""Writes routes as JSON."""

from __future__ import annotations

from msgspec.structs import asdict

from renderer.routes.rows import ProviderBehind, RouteLeg, RouteRow, RouteTable, WorkloadBehind
from renderer.text import escapes


def to_json(table: RouteTable) -> str:
    """The table as JSON: routes, the names without a route (reserved), and the apps that no route leads to
    (withoutRoute); and the names of apps whose route a ModelRoute replaces (replaced).
    """
    document = {
        "routes": [_route(row) for row in table.rows if row.route],
        "reserved": [_name_fields(row) for row in table.rows if not row.route],
        "withoutRoute": [asdict(app) for app in table.unrouted],
        "replaced": [asdict(name) for name in table.replaced],
    }
    return escapes.json_text(document, indent=2) + "\n"


def _name_fields(row: RouteRow) -> dict[str, object]:
    return {
        "name": row.name,
        "owner": {"kind": row.kind, "namespace": row.namespace, "name": row.owner},
        "gateway": {"namespace": row.gateway[0], "name": row.gateway[1]},
        "hostnames": row.hostnames,
        "authentication": row.auth_methods,
    }


def _route(row: RouteRow) -> dict[str, object]:
    return {
        **_name_fields(row),
        "allow": row.allowed,
        "route": {"namespace": row.namespace, "name": row.route},
        "path": row.path or None,
        "requestTimeout": row.request,
        "streamIdleTimeout": row.idle or None,
        "retries": row.retries,
        "tokenLimits": [
            # TotalToken → total, as a ModelRoute says it.
            {
                "header": limit.header,
                "tokens": limit.tokens,
                "interval": limit.unit,
                "count": limit.kind[0].lower() + limit.kind[1:-5],
            }
            for limit in row.limits
        ],
        "objectivePriority": row.objective_priority,
        "backends": [_backend(row, leg) for leg in row.legs],
    }


def _backend(row: RouteRow, leg: RouteLeg) -> dict[str, object]:
    """A route backend with all keys; null for what it does not have, and for what differs among the targets of a
    pool.
    """
    workload, provider = leg.workload, leg.provider
    called = _called(row, leg) if workload else None
    return {
        "name": leg.to,
        "weight": leg.weight,
        "priority": leg.priority,
        "modelNameOverride": leg.override or None,
        "app": {"kind": workload.kind, "namespace": row.namespace, "name": workload.app} if workload else None,
        "model": workload.model if workload else None,
        "adapter": _adapter(leg, called),
        "engineCallsIt": called,
        "minReplicas": workload.low if workload else None,
        "maxReplicas": workload.high if workload else None,
        "prefill": _prefill(workload),
        "pool": _pool(leg) if leg.pool else None,
        "provider": _provider(provider) if provider else None,
    }


def _called(row: RouteRow, leg: RouteLeg) -> str | None:
    """What the engine is asked for; None where a pool's picker shares the requests out among several names."""
    if len(leg.names) > 1:
        return None
    return leg.names[0][0] if leg.names else leg.override or row.name


def _adapter(leg: RouteLeg, called: str | None) -> str | None:
    """The OpenModel of the adapter that the engine knows by that name, or the name that its options give it."""
    return leg.workload.adapters.get(called) if leg.workload and called else None


def _prefill(workload: WorkloadBehind | None) -> dict[str, int] | None:
    """The bounds of pods that read prompts, where those of the route backend decode."""
    if not workload or not workload.prefill:
        return None
    return dict(zip(("minReplicas", "maxReplicas"), workload.prefill, strict=True))


def _pool(leg: RouteLeg) -> dict[str, object]:
    names = [{"name": name, "weight": weight, "adapter": _adapter(leg, name)} for name, weight in leg.names]
    return {"name": leg.to, "picker": leg.workload.picker if leg.workload else None, "targetModels": names}


def _provider(provider: ProviderBehind) -> dict[str, object]:
    auth = {
        "type": provider.auth,
        "secretName": provider.secret,
        **({"region": provider.region} if provider.region else {}),
    }
    return {"hostname": provider.hostname, "port": provider.port, "schema": dict(provider.speaks), "auth": auth}
