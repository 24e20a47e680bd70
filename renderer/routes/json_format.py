"""Writes routes as JSON."""

from __future__ import annotations

from msgspec.structs import asdict

from renderer import escapes
from renderer.routes.rows import ProviderBehind, RouteLeg, RouteRow, RouteTable, WorkloadBehind


def to_json(table: RouteTable) -> str:
    """The table as JSON: `routes`; `reserved`: names without a route; `withoutRoute`: apps that no route leads to."""
    document = {
        "routes": [_route(row) for row in table.rows if row.route],
        "reserved": [_name_fields(row) for row in table.rows if not row.route],
        "withoutRoute": [asdict(app) for app in table.unrouted],
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
    """A route backend with all keys; null for what it does not have."""
    workload, provider = leg.workload, leg.provider
    return {
        "name": leg.to,
        "weight": leg.weight,
        "priority": leg.priority,
        "modelNameOverride": leg.override or None,
        "app": {"kind": workload.kind, "namespace": row.namespace, "name": workload.app} if workload else None,
        "model": workload.model if workload else None,
        "engineCallsIt": workload.called if workload else None,
        "minReplicas": workload.low if workload else None,
        "maxReplicas": workload.high if workload else None,
        "prefill": _prefill(workload),
        "pool": _pool(leg) if leg.pool else None,
        "provider": _provider(provider) if provider else None,
    }


def _prefill(workload: WorkloadBehind | None) -> dict[str, int] | None:
    """The bounds of pods that read prompts, where those of the route backend decode."""
    if not workload or not workload.prefill:
        return None
    return dict(zip(("minReplicas", "maxReplicas"), workload.prefill, strict=True))


def _pool(leg: RouteLeg) -> dict[str, object]:
    names = [{"name": name, "weight": weight} for name, weight in leg.names]
    return {"name": leg.to, "picker": leg.workload.picker if leg.workload else None, "targetModels": names}


def _provider(provider: ProviderBehind) -> dict[str, object]:
    auth = {
        "type": provider.auth,
        "secretName": provider.secret,
        **({"region": provider.region} if provider.region else {}),
    }
    return {"hostname": provider.hostname, "port": provider.port, "schema": dict(provider.speaks), "auth": auth}
