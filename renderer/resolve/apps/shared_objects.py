"""What apps share: the objects that they want together → one Joint a file, everything decided.

A Plan only names what its app needs of them (Wanted), since each process plans its own apps; here all have spoken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial

from renderer.api import App, TrafficInput
from renderer.diagnostics import Collector, Diagnostic, Origin, Path
from renderer.plan import GatewayPlan, PackedRoute, SharedNeed, SharedPlan
from renderer.resolve import monitoring
from renderer.resolve.apps import open_models
from renderer.resolve.context import RunContext
from renderer.resolve.gateway import routing, settings
from renderer.resolve.gateway.settings import gateway_settings

_MODEL, _MONITOR = open_models.KIND, monitoring.KIND


def shared_plans(context: RunContext, wanted: Iterable[SharedNeed]) -> tuple[list[SharedPlan], list[Diagnostic]]:
    """What is shared of the cluster and of each namespace, in this order; and what is wrong with it, or with the
    settings for it.
    """
    inputs, diagnostics = context.inputs, Collector()
    monitoring.validate_monitor_settings(inputs, diagnostics)
    gates = _gates(context, wanted := sorted(need for need in wanted if need.kind != routing.NAME))
    by_namespace: dict[str, dict[str, list[SharedNeed]]] = {gate.namespace: {} for gate in gates}
    if gates:
        by_namespace[""] = {}
    for need in wanted:
        by_namespace.setdefault(need.namespace, {}).setdefault(need.kind, []).append(need)
    plans = [
        SharedPlan(
            namespace,
            models=tuple(
                [
                    open_models.model_plan(inputs, context.catalog, kind.name, diagnostics)
                    for kind in kinds.get(_MODEL, ())
                ]
            ),
            monitor=monitoring.monitor_plan(inputs) if _MONITOR in kinds else None,
            classes=() if namespace else tuple({gate.class_name: gate for gate in reversed(gates)}.values()),
            gates=tuple(gate for gate in gates if gate.namespace == namespace),
        )
        for namespace, kinds in sorted(by_namespace.items())
    ]
    return plans + _packed(context, wanted, diagnostics), diagnostics.problems


def _packed(context: RunContext, wanted: Iterable[SharedNeed], diagnostics: Collector) -> list[SharedPlan]:
    """The routes that hold several models, a file each."""
    by_route: dict[tuple[str, str], list[SharedNeed]] = {}
    for need in wanted:
        if need.kind == routing.ROUTE:
            by_route.setdefault((need.namespace, need.name), []).append(need)
    plans = []
    fitting: dict[str, int] = {}  # by namespace
    for (namespace, name), facts in by_route.items():
        gateway, count = gateway_settings(context, namespace), len(facts)
        others: tuple[App | TrafficInput, ...] = (*context.inputs.apps, *context.inputs.rendered_traffic)
        for other in others:
            if (other.namespace, other.name) == (namespace, name):
                diagnostics.add("E633", other.origin("metadata", "name"), name=name)
        if count > routing.MOST_RULES:
            if namespace not in fitting:
                all_of = [fact for other in by_route if other[0] == namespace for fact in by_route[other]]
                fitting[namespace] = _fitting(gateway, all_of)
            fits = fitting[namespace]
            words = {"name": name, "namespace": namespace, "count": count, "most": routing.MOST_RULES, "fits": fits}
            diagnostics.add("E628", gateway.at("routeBuckets"), **words)
            continue
        route = PackedRoute(
            name=name,
            namespace=namespace,
            gateway=gateway.gateway,
            hostnames=gateway.hostnames,
            rules=tuple(routing.rules(facts)),
            origins=partial(_at, gateway),
        )
        plans.append(SharedPlan(namespace, part=name.replace("llmaz", "routes"), routes=route))
    return plans


def _at(gateway: settings.GatewaySettings) -> Mapping[Path, Origin]:
    return {(): gateway.at("routeLayout")}


def _fitting(gateway: settings.GatewaySettings, facts: list[SharedNeed]) -> int:
    """The next number of buckets that holds all of a namespace's models."""
    models = [rule.model for rule in routing.rules(facts)]
    buckets = {model: routing.packed_route(gateway, model) for model in models}
    scores = {model: routing.score(bucket, model) for model, bucket in buckets.items()}
    most = int(gateway.get("routeBuckets"))
    while max(Counter(buckets.values()).values()) > routing.MOST_RULES:
        bucket = routing.bucket(most)  # of one more, into which those go that it suits best
        most += 1
        for model, best in scores.items():
            if (score := routing.score(bucket, model)) > best:
                buckets[model], scores[model] = bucket, score
    return most


def _gates(context: RunContext, wanted: Iterable[SharedNeed]) -> list[GatewayPlan]:
    """The Gateways that RenderConfig makes, with the namespaces of their routes."""
    routes: dict[tuple[str, str], list[str]] = {}
    grants: dict[tuple[str, str], list[str]] = {}
    for need in wanted:
        if need.kind in (routing.GATEWAY, routing.GRANT):
            kept = routes if need.kind == routing.GATEWAY else grants
            kept.setdefault((need.namespace, need.name), []).append(need.fact)
    gateways = settings.collect_gateways(context.inputs.config, Collector())
    return [
        settings.plan_gateway(door, tuple(routes.get(key, ())), tuple(grants.get(key, ())))
        for key, door in sorted(gateways.items())
        if door.created
    ]
