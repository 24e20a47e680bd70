"""The rules about RenderConfig, ModelRoutes, InferenceModels and what they have in common with apps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from renderer.api import RenderConfig, TrafficInput
from renderer.diagnostics import Diagnostic
from renderer.resolve import names
from renderer.resolve.gateway.pools import LabelledPods, PickedApp, SteeredPool
from renderer.resolve.gateway.routing import RouteRequest
from renderer.resolve.gateway.settings import Gateways, GatewaySettings
from renderer.resolve.rules import (
    autoscaling_settings,
    gateway_settings,
    inference_models,
    model_routes,
    object_names,
    packed_routes,
    pools,
    providers,
    public_names,
    routes,
)
from renderer.resolve.traffic.claims import Claims, NamesOfGateway
from renderer.resolve.traffic.inference_model import ServedPool, TargetModels, TargetShares
from renderer.resolve.traffic.model_route import AppBackend, BackendWorkloads, RouteBackend, RouteShares
from renderer.resolve.traffic.object_names import TreeNames
from renderer.resolve.traffic.packed_routes import RuleBucket

_Rule = Callable[[Any], Iterator[Diagnostic]]

TRAFFIC_GATES: frozenset[_Rule] = frozenset([pools.several_workloads, pools.unfit_pods])
"""The rules after whose errors nothing more is said or decided."""


def _always(record: object) -> bool:
    return True


TRAFFIC_RULES: Mapping[type, tuple[tuple[Callable[[Any], object], tuple[_Rule, ...]], ...]] = {
    RenderConfig: (
        (
            lambda config: config.get("autoscaling"),
            (
                autoscaling_settings.settings_of_keda,
                autoscaling_settings.half_of_authentication,
                autoscaling_settings.unused_monitor,
                autoscaling_settings.policy_before_prometheus,
                autoscaling_settings.replaced_monitor_labels,
            ),
        ),
    ),
    Gateways: (
        (
            lambda gateways: gateways.config.get("gateway") is not None,
            (
                gateway_settings.different_settings,
                gateway_settings.invalid_proxies,
                gateway_settings.empty_settings,
                gateway_settings.unused_settings,
            ),
        ),
    ),
    GatewaySettings: (
        (lambda settings: settings.created, (gateway_settings.issuer_without_hostnames,)),
        (
            lambda settings: settings.auth,
            (
                gateway_settings.wrong_kinds_of_authentication,
                gateway_settings.colliding_headers,
                gateway_settings.invalid_providers,
                gateway_settings.refused_providers,
            ),
        ),
    ),
    TreeNames: (
        (lambda names: names.variants, (object_names.taken_variant_names,)),
        (lambda names: names.suffixed, (object_names.taken_service_names,)),
        (_always, (object_names.taken_client_services,)),
        (
            lambda names: names.inputs.traffic,
            (object_names.taken_provider_names, object_names.lost_stream_names),
        ),
    ),
    Claims: (
        (lambda claims: claims.contested, (public_names.taken_public_names, public_names.taken_routes)),
        (lambda claims: claims.rewrites, (public_names.taken_rewrites, public_names.different_rewrites)),
        (lambda claims: claims.interceptor_names, (public_names.taken_held_names,)),
    ),
    NamesOfGateway: ((_always, (public_names.too_many_names, public_names.too_many_keys)),),
    RuleBucket: ((_always, (packed_routes.taken_route_name, packed_routes.overfull_bucket)),),
    RouteRequest: (
        (_always, (routes.refused_names,)),
        (lambda request: request.timeouts, (routes.short_idle_timeout, routes.timeouts_before_wake)),
        (lambda request: request.allow_origin, (routes.unenforced_rights,)),
    ),
    PickedApp: (
        (_always, (pools.several_workloads, pools.unfit_pods)),
        (_always, (pools.unreadable_metrics, pools.metrics_of_proxy, pools.unused_ports)),
    ),
    LabelledPods: (
        (_always, (pools.replaced_labels,)),
        (lambda labelled: labelled.sidecar, (pools.taken_container_names,)),
    ),
    SteeredPool: ((lambda steered: steered.steering, (pools.rewritten_adapters,)),),
    TrafficInput: ((_always, (names.invalid_route_names,)),),
    RouteBackend: (
        (
            lambda backend: backend.field == "provider",
            (
                providers.refused_object_name,
                providers.one_path,
                providers.unfit_fields,
                providers.unfit_authentication,
            ),
        ),
        (lambda backend: backend.field != "provider", (model_routes.repeated_backend,)),
    ),
    AppBackend: ((_always, (model_routes.lost_settings,)),),
    BackendWorkloads: (
        (lambda workloads: "adapter" in workloads.of_app.backend.spec, (model_routes.unknown_adapter,)),
        (lambda workloads: not workloads.of_app.backend.route.off, (model_routes.lost_name,)),
    ),
    RouteShares: (
        (_always, (model_routes.weightless_priorities, model_routes.foreign_hostnames, model_routes.unfit_budgets)),
        (lambda shares: shares.pool_shares, (model_routes.pool_beside_others, model_routes.rewritten_adapter)),
        (lambda shares: not shares.route.off, (model_routes.unfit_retries, model_routes.providers_first)),
    ),
    TargetModels: (
        (_always, (inference_models.unsendable_names,)),
        (
            lambda models: models.listed,
            (inference_models.repeated_targets, inference_models.weights_of_nothing),
        ),
    ),
    ServedPool: (
        (lambda pool: pool.in_pool and pool.plans, (inference_models.unserved_names,)),
        (lambda pool: not pool.in_pool, (inference_models.unread_criticality,)),
    ),
    TargetShares: ((lambda shares: len(shares.apps) > 1, (inference_models.different_rights,)),),
}
"""The rules of a record in their order, in sections that many need not read."""
