"""The plans of objects that apps share, one SharedPlan for each file.

A Plan only names its SharedNeeds, since each process plans some of the apps; here the needs of all apps are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from renderer.diagnostics import Collector, Diagnostic
from renderer.plan import (
    CacheNeed,
    GatewayNeed,
    GatewayPlan,
    GrantNeed,
    ModelNeed,
    ModelPlan,
    MonitorNeed,
    NetworkPolicyNeed,
    PackedRoute,
    PackedRule,
    PickerMonitorNeed,
    SharedNeed,
    SharedPlan,
)
from renderer.resolve import monitoring, network_policy
from renderer.resolve.apps import fill_jobs, open_models
from renderer.resolve.context import RunContext
from renderer.resolve.gateway import routing, settings
from renderer.resolve.rules import run_rules_or_stop
from renderer.resolve.shared_needs import needs_of
from renderer.resolve.traffic.rule_buckets import rule_buckets


def shared_plans(context: RunContext, needs: Iterable[SharedNeed]) -> tuple[list[SharedPlan], list[Diagnostic]]:
    """The shared objects of the cluster, of each namespace, caches of models, and packed routes, in this order; and the
    diagnostics about them and their settings.
    """
    diagnostics, needs = Collector(), list(needs)
    run_rules_or_stop(context.inputs.config, diagnostics)
    gateways = _plan_gateways(context, needs)
    models = open_models.model_plans(context, needs_of(ModelNeed, needs), diagnostics)
    plans = [
        *([_cluster_plan(models, gateways)] if models or gateways else []),
        *_namespace_plans(context, needs, gateways),
        *fill_jobs.cache_plans(context, needs_of(CacheNeed, needs), diagnostics.problems),
        *_plan_packed_routes(context, needs_of(PackedRule, needs), diagnostics),
    ]
    return plans, diagnostics.problems


def _cluster_plan(models: Sequence[ModelPlan], gateways: Sequence[GatewayPlan]) -> SharedPlan:
    """The objects of the whole cluster."""
    first_of_class = {gateway.class_name: gateway for gateway in reversed(gateways)}
    return SharedPlan("", models=tuple(models), gateway_classes=tuple(first_of_class.values()))


def _namespace_plans(
    context: RunContext, needs: Sequence[SharedNeed], gateways: Sequence[GatewayPlan]
) -> list[SharedPlan]:
    """The objects that the apps of a namespace share, and the Gateways in it."""
    inputs, monitors = context.inputs, dict[str, list[MonitorNeed]]()
    for need in needs_of(MonitorNeed, needs):
        monitors.setdefault(need.namespace, []).append(need)
    pickers = {need.namespace for need in needs_of(PickerMonitorNeed, needs)}
    policies = {need.namespace for need in needs_of(NetworkPolicyNeed, needs)}
    return [
        SharedPlan(
            namespace,
            monitor=monitoring.monitor_plan(inputs, monitors.get(namespace, ())),
            deployment_monitor=monitoring.monitor_plan(inputs, monitors.get(namespace, ()), monitoring.DEPLOYMENTS),
            group_monitor=monitoring.monitor_plan(inputs, monitors.get(namespace, ()), monitoring.GROUPS),
            picker_monitor=monitoring.picker_monitor_plan(inputs) if namespace in pickers else None,
            network_policy=network_policy.network_policy_plan(inputs.config, namespace)
            if namespace in policies
            else None,
            gateways=tuple([gateway for gateway in gateways if gateway.namespace == namespace]),
        )
        for namespace in sorted({*monitors, *pickers, *policies, *(gateway.namespace for gateway in gateways)})
    ]


def _plan_packed_routes(context: RunContext, rules: Sequence[PackedRule], diagnostics: Collector) -> list[SharedPlan]:
    """The packed routes, one for each file, without those that are too full."""
    buckets = [run_rules_or_stop(bucket, diagnostics) for bucket in rule_buckets(context, rules)]
    return [
        SharedPlan(
            bucket.namespace,
            part=bucket.name.replace("llmaz", "routes"),
            packed_route=PackedRoute(
                name=bucket.name,
                namespace=bucket.namespace,
                labels=routing.labels(bucket.name),
                gateway=bucket.settings.gateway,
                hostnames=bucket.settings.hostnames,
                rules=tuple(bucket.rules),
                origin=bucket.settings.at("routeLayout"),
            ),
        )
        for bucket in buckets
        if bucket.fits
    ]


def _plan_gateways(context: RunContext, needs: Sequence[SharedNeed]) -> list[GatewayPlan]:
    """The Gateways that RenderConfig creates, with the namespaces of their routes."""
    routes, grants = dict[tuple[str, str], list[str]](), dict[tuple[str, str], list[str]]()
    for need in needs_of(GatewayNeed, needs):
        routes.setdefault(need.gateway, []).append(need.namespace)
    for grant in needs_of(GrantNeed, needs):
        grants.setdefault(grant.gateway, []).append(grant.namespace)
    gateways = settings.collect_gateways(context.inputs.config).by_name
    return [
        settings.plan_gateway(gateway, tuple(routes.get(key, ())), tuple(grants.get(key, ())))
        for key, gateway in sorted(gateways.items())
        if gateway.created
    ]
