"""Which builders make the objects of a plan, in apply order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from renderer.build.ai_gateway_route import ai_gateway_route, packed_routes
from renderer.build.backend import backends
from renderer.build.configmap import config_map
from renderer.build.gateway import gateway, gateway_class
from renderer.build.hpa import hpa
from renderer.build.interceptor import interceptor_route
from renderer.build.lws import deployment, disaggregated_set, lws
from renderer.build.model_cache import model_cache
from renderer.build.monitors import models_monitor, picker_monitor, pod_monitor
from renderer.build.network_policy import network_policy
from renderer.build.openmodel import open_model
from renderer.build.pdb import pdb
from renderer.build.pool import inference_pool, picker, steering
from renderer.build.provider import providers
from renderer.build.resourceclaim import resource_claim_template
from renderer.build.route_policies import security_policy, traffic_policy
from renderer.build.scaledobject import scaled_object
from renderer.build.service import client_service, lb_service, leaders_service
from renderer.plan import Manifest, Plan, SharedPlan, TrafficPlan

# Each in the order in which a file holds the objects (apply order).
WORKLOAD: tuple[Callable[[Plan], Iterable[Manifest]], ...] = (
    config_map,
    resource_claim_template,
    lws,
    disaggregated_set,
    deployment,
    lb_service,
    leaders_service,
    client_service,
    pdb,
    models_monitor,
    hpa,
    scaled_object,
    interceptor_route,
    backends,
    picker,
    inference_pool,
    steering,
)
TRAFFIC: tuple[Callable[[TrafficPlan], Iterable[Manifest]], ...] = (providers, steering)
ROUTE: tuple[Callable[[Plan | TrafficPlan], Iterable[Manifest]], ...] = (
    ai_gateway_route,
    traffic_policy,
    security_policy,
)
SHARED: tuple[Callable[[SharedPlan], Iterable[Manifest]], ...] = (
    open_model,
    pod_monitor,
    picker_monitor,
    network_policy,
    gateway_class,
    gateway,
    packed_routes,
    model_cache,
)


def build_manifests(plans: Sequence[Plan | TrafficPlan]) -> list[Manifest]:
    """Every object of one Playground or Service, ModelRoute or InferenceModel, in apply order."""
    manifests: list[Manifest] = []
    for plan in plans:
        if isinstance(plan, TrafficPlan):
            for build_traffic in TRAFFIC:
                manifests += build_traffic(plan)
        else:
            for build_object in WORKLOAD:
                manifests += build_object(plan)
        for build_route in ROUTE:
            manifests += build_route(plan)
    return manifests


def build_shared(shared_plan: SharedPlan) -> list[Manifest]:
    """Every object that apps of one namespace, or of the cluster, share, in apply order."""
    return [manifest for build in SHARED for manifest in build(shared_plan)]
