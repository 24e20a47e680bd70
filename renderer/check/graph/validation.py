"""Rules across objects: from a Gateway's listener to the container that answers, over any set of objects.

`validate_graph` follows the references between objects and finds faults that controllers do not report
(docs/routing.md); `find_route_conflicts` compares all routes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from renderer.check.finding import Body, IndexedFinding
from renderer.check.graph import (
    authorization_headers,
    backends,
    blocking_budgets,
    controller_refusals,
    fallbacks,
    gateways,
    groups,
    guarded_models,
    host_networks,
    pod_references,
    pod_selectors,
    pods,
    policies,
    pools,
    references,
    route_timeouts,
    routes,
    set_pods,
    vertical_autoscalers,
)
from renderer.check.graph.policies import api_keys
from renderer.check.graph.route_conflicts import find_route_conflicts
from renderer.check.graph.route_matches import route_matches
from renderer.check.graph.view import ExternalObjects, ObjectView
from renderer.diagnostics import Finding

Rules: TypeAlias = Mapping[str, tuple[Callable[[ObjectView, Body, str, str], Iterator[Finding]], ...]]
"""Rules by the kind of object that they are about."""

REFERENCE_RULES: Rules = {
    **dict.fromkeys(guarded_models.ROUTES, (guarded_models.validate_guarded_models,)),
    "AIGatewayRoute": (
        guarded_models.validate_guarded_models,
        guarded_models.validate_name_patterns,
        routes.validate_ai_gateway_route,
        fallbacks.validate_fallbacks,
        controller_refusals.validate_route_spec,
    ),
    "HTTPRoute": (
        guarded_models.validate_guarded_models,
        guarded_models.validate_name_patterns,
        routes.validate_http_route,
    ),
    "ReferenceGrant": (guarded_models.validate_guarded_models,),
    "AIServiceBackend": (backends.validate_ai_service_backend,),
    "Backend": (backends.validate_backend, controller_refusals.validate_addresses),
    "InferencePool": (pools.validate_pool, groups.validate_pool_groups),
    "Service": (
        guarded_models.validate_guarded_models,
        backends.validate_service_selector,
        groups.validate_service_groups,
    ),
    "PodDisruptionBudget.policy": (
        set_pods.validate_budget_selector,
        groups.validate_budget_groups,
    ),
    pools.OLD: (pools.report_old_pool,),
    "Gateway": (gateways.validate_gateway, controller_refusals.validate_listeners),
    "GatewayConfig": (controller_refusals.validate_gateway_config,),
    "GatewayClass": (gateways.validate_gateway_class,),
    "EnvoyProxy": (gateways.validate_envoy_proxy,),
    "BackendTLSPolicy": (policies.validate_targets,),
    "BackendTrafficPolicy": (
        policies.validate_targets,
        policies.validate_traffic_policy,
        policies.validate_route_overrides,
        policies.validate_listener_overrides,
    ),
    "ClientTrafficPolicy": (policies.validate_targets, policies.validate_listener_overrides),
    "EnvoyExtensionPolicy": (
        policies.validate_targets,
        policies.validate_route_overrides,
        policies.validate_listener_overrides,
    ),
    "EnvoyPatchPolicy": (policies.validate_targets,),
    "SecurityPolicy": (
        policies.validate_targets,
        policies.validate_security_policy,
        authorization_headers.validate_authorization_headers,
        policies.validate_route_overrides,
        policies.validate_listener_overrides,
        controller_refusals.validate_jwt_providers,
        controller_refusals.validate_distinct_keys,
    ),
    "BackendSecurityPolicy": (
        policies.validate_targets,
        policies.validate_backend_security_policy,
        controller_refusals.validate_target_refs,
    ),
    "QuotaPolicy": (policies.validate_targets,),
    "HorizontalPodAutoscaler": (references.validate_autoscaler,),
    "ScaledObject": (references.validate_autoscaler,),
    **{f"InferenceObjective.{group}": (references.validate_pool_companion,) for group in pools.STEERING},
    **{
        f"InferenceModelRewrite.{group}": (references.validate_pool_companion, pools.validate_rewrite)
        for group in pools.STEERING
    },
}
"""Rules about references between objects."""

RULES: Rules = {
    **REFERENCE_RULES,
    **dict.fromkeys(pods.KINDS, (host_networks.validate_host_network, pod_selectors.validate_spread)),
}

_RULES_OF_SETS: Rules = {
    "AIGatewayRoute": (route_timeouts.validate_route_timeout,),
    "HTTPRoute": (route_timeouts.validate_route_timeout,),
    "InferencePool": (pools.validate_silent_pods,),
    "Service": (pod_references.validate_target_ports, pod_selectors.validate_selector),
    "PodDisruptionBudget.policy": (
        pod_selectors.validate_selector,
        blocking_budgets.validate_blocking_budget,
    ),
    "NetworkPolicy.networking.k8s.io": (pod_selectors.validate_selector,),
    "PodMonitor.monitoring.coreos.com": (pod_selectors.validate_selector,),
    **dict.fromkeys(pods.KINDS, (pod_references.validate_pod_references,)),
    vertical_autoscalers.VERTICAL: (vertical_autoscalers.validate_vertical_autoscaler,),
    "RoleBinding.rbac.authorization.k8s.io": (pod_references.validate_binding,),
    "Role.rbac.authorization.k8s.io": (pod_references.validate_picker_role,),
    "ClusterRole.rbac.authorization.k8s.io": (pod_references.validate_picker_role,),
}
"""Rules about labels and names that people mistype, and about what our own objects always have, for `check` alone."""

NAMED_KINDS = frozenset(
    (pools.OLD, vertical_autoscalers.VERTICAL, *(f"InferenceObjective.{group}" for group in pools.STEERING))
)
"""Kinds whose rules look at no more than names, so that no schema has to have judged an object first."""


def validate_graph(view: ObjectView, rules_by_kind: Rules = RULES) -> Iterator[IndexedFinding]:
    """Findings about the references between the objects of a set, each of which is valid alone. Codes that begin with N
    are notes on what cannot be judged.
    """
    for index, key in enumerate(view.keys):
        rules = rules_by_kind.get(key[0])
        if rules and (body := view.objects[key]):
            for rule in rules:
                for finding in rule(view, body, key[1], key[2]):
                    yield index, finding


def validate_whole_graph(bodies: Sequence[Body], external: ExternalObjects) -> Iterator[IndexedFinding]:
    """The findings of `validate_graph` and `find_route_conflicts` over a complete set of objects."""
    view = ObjectView(bodies, external)
    yield from validate_graph(view)
    yield from validate_graph(view, _RULES_OF_SETS)
    yield from find_route_conflicts(route_matches(view), external, api_keys(view))


def known_objects(bodies: Sequence[Body], external: ExternalObjects) -> ExternalObjects:
    """The external objects with these bodies added: rules look into them, and do not judge them."""
    return replace(external, others=ObjectView(bodies, external))
