"""The plans of objects that apps share, one SharedPlan for each file.

A Plan only names its SharedNeeds, since each process plans some of the apps; here the needs of all apps are known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial

from renderer.api import App, TrafficInput
from renderer.diagnostics import Collector, Diagnostic, Origin, Path
from renderer.plan import GatewayPlan, PackedRoute, SharedNeed, SharedPlan
from renderer.resolve import monitoring
from renderer.resolve.apps import fill_jobs, open_models
from renderer.resolve.autoscaling import keda
from renderer.resolve.context import RunContext
from renderer.resolve.gateway import packed_routes, routing, settings
from renderer.resolve.gateway.settings import gateway_settings
from renderer.resolve.workload.claimed import OPEN_MODEL

_MODEL, _MONITOR = OPEN_MODEL, monitoring.KIND
_CLAIMS = (routing.PUBLIC_NAME, routing.HELD_NAME, routing.REWRITE)  # kinds of needs that make no object


def shared_plans(context: RunContext, needs: Iterable[SharedNeed]) -> tuple[list[SharedPlan], list[Diagnostic]]:
    """The shared objects of the cluster, of each namespace, caches of models, and packed routes, in this order; and the
    diagnostics about them and their settings.
    """
    inputs, diagnostics = context.inputs, Collector()
    diagnostics.problems += monitoring.invalid_monitor_settings(inputs)
    diagnostics.problems += keda.invalid_settings(inputs)
    gateways = _plan_gateways(context, needs := sorted(need for need in needs if need.kind not in _CLAIMS))
    by_namespace: dict[str, dict[str, list[SharedNeed]]] = {gateway.namespace: {} for gateway in gateways}
    if gateways:
        by_namespace[""] = {}
    for need in needs:
        by_namespace.setdefault(need.namespace, {}).setdefault(need.kind, []).append(need)
    plans = [
        SharedPlan(
            namespace,
            models=tuple(
                [
                    open_models.model_plan(inputs, context.catalog, need.name, diagnostics)
                    for need in kinds.get(_MODEL, ())
                ]
            ),
            monitor=monitoring.monitor_plan(inputs, kinds.get(_MONITOR, ())),
            deployment_monitor=monitoring.monitor_plan(inputs, kinds.get(_MONITOR, ()), monitoring.DEPLOYMENTS),
            group_monitor=monitoring.monitor_plan(inputs, kinds.get(_MONITOR, ()), monitoring.GROUPS),
            picker_monitor=monitoring.picker_monitor_plan(inputs) if monitoring.PICKER_KIND in kinds else None,
            gateway_classes=()
            if namespace
            else tuple({gateway.class_name: gateway for gateway in reversed(gateways)}.values()),
            gateways=tuple(gateway for gateway in gateways if gateway.namespace == namespace),
        )
        for namespace, kinds in sorted(by_namespace.items())
    ]
    plans += fill_jobs.cache_plans(context, needs)
    return plans + _plan_packed_routes(context, needs, diagnostics), diagnostics.problems


def _plan_packed_routes(context: RunContext, needs: Iterable[SharedNeed], diagnostics: Collector) -> list[SharedPlan]:
    """The packed routes, one for each file."""
    by_route: dict[tuple[str, str], list[SharedNeed]] = {}
    for need in needs:
        if need.kind == routing.ROUTE:
            by_route.setdefault((need.namespace, need.name), []).append(need)
    plans = []
    bucket_counts: dict[str, int] = {}  # by namespace
    for (namespace, name), route_needs in by_route.items():
        gateway, count = gateway_settings(context, namespace), len(route_needs)
        apps: tuple[App | TrafficInput, ...] = (*context.inputs.apps, *context.inputs.rendered_traffic)
        for app in apps:
            if (app.namespace, app.name) == (namespace, name):
                diagnostics.add("E633", app.origin("metadata", "name"), name=name)
        if count > routing.MAX_PACKED_RULES:
            if namespace not in bucket_counts:
                namespace_needs = [need for key in by_route if key[0] == namespace for need in by_route[key]]
                bucket_counts[namespace] = _sufficient_buckets(gateway, namespace_needs)
            words = {"name": name, "namespace": namespace, "count": count, "most": routing.MAX_PACKED_RULES}
            diagnostics.add("E628", gateway.at("routeBuckets"), **words, fits=bucket_counts[namespace])
            continue
        route = PackedRoute(
            name=name,
            namespace=namespace,
            labels=routing.labels(name),
            gateway=gateway.gateway,
            hostnames=gateway.hostnames,
            rules=tuple(packed_routes.packed_rules(route_needs)),
            origins=partial(_packed_route_origins, gateway),
        )
        plans.append(SharedPlan(namespace, part=name.replace("llmaz", "routes"), packed_route=route))
    return plans


def _packed_route_origins(gateway: settings.GatewaySettings) -> Mapping[Path, Origin]:
    return {(): gateway.at("routeLayout")}


def _sufficient_buckets(gateway: settings.GatewaySettings, needs: list[SharedNeed]) -> int:
    """The smallest larger number of buckets that holds all models of a namespace."""
    models = [rule.model for rule in packed_routes.packed_rules(needs)]
    buckets = {model: packed_routes.packed_route(gateway, model) for model in models}
    scores = {model: packed_routes.score(bucket, model) for model, bucket in buckets.items()}
    count = int(gateway.get("routeBuckets"))
    while max(Counter(buckets.values()).values()) > routing.MAX_PACKED_RULES:
        bucket = packed_routes.bucket(count)  # the next bucket gets the models for which its score is the highest
        count += 1
        for model, best in scores.items():
            if (score := packed_routes.score(bucket, model)) > best:
                buckets[model], scores[model] = bucket, score
    return count


def _plan_gateways(context: RunContext, needs: Iterable[SharedNeed]) -> list[GatewayPlan]:
    """The Gateways that RenderConfig creates, with the namespaces of their routes."""
    routes: dict[tuple[str, str], list[str]] = {}
    grants: dict[tuple[str, str], list[str]] = {}
    for need in needs:
        if need.kind in (routing.GATEWAY, routing.GRANT):
            namespaces = routes if need.kind == routing.GATEWAY else grants
            namespaces.setdefault((need.namespace, need.name), []).append(need.fact)
    gateways = settings.collect_gateways(context.inputs.config, Collector())
    return [
        settings.plan_gateway(gateway, tuple(routes.get(key, ())), tuple(grants.get(key, ())))
        for key, gateway in sorted(gateways.items())
        if gateway.created
    ]
