"""One file for each Kubernetes kind, or for a few that belong together. BUILDERS make the objects of a workload,
TRAFFIC_BUILDERS those of a ModelRoute or InferenceModel, ROUTE_BUILDERS those of the routes of both, SHARED_BUILDERS
those that apps share; each tuple is in the order of the objects in their file (apply order).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from renderer.build.backend import backends
from renderer.build.configmap import config_map
from renderer.build.gateway import gateway, gateway_class
from renderer.build.hpa import hpa
from renderer.build.lws import lws
from renderer.build.openmodel import open_model
from renderer.build.pdb import pdb
from renderer.build.podmonitor import pod_monitor
from renderer.build.pool import inference_pool, picker, steering
from renderer.build.provider import providers
from renderer.build.route import ai_gateway_route, packed_routes, security_policy, traffic_policy
from renderer.build.service import lb_service, leaders_service
from renderer.plan import Manifest, Plan, SharedPlan, TrafficPlan

BUILDERS: tuple[Callable[[Plan], Iterable[Manifest]], ...] = (
    config_map,
    lws,
    lb_service,
    leaders_service,
    pdb,
    hpa,
    backends,
    picker,
    inference_pool,
)
TRAFFIC_BUILDERS: tuple[Callable[[TrafficPlan], Iterable[Manifest]], ...] = (providers, steering)
ROUTE_BUILDERS: tuple[Callable[[Plan | TrafficPlan], Iterable[Manifest]], ...] = (
    ai_gateway_route,
    traffic_policy,
    security_policy,
)
SHARED_BUILDERS: tuple[Callable[[SharedPlan], Iterable[Manifest]], ...] = (
    open_model,
    pod_monitor,
    gateway_class,
    gateway,
    packed_routes,
)
