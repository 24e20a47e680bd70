"""One file a Kubernetes kind, or few that belong together. BUILDERS is the index of a workload's objects, WAYS of those
that lead to several apps, ROUTES of what both may have, SHARED of those that apps share; each in the order in which a
file holds the objects (apply order).
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
from renderer.build.route import ai_gateway_route, packed_routes, rights, traffic_policy
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
WAYS: tuple[Callable[[TrafficPlan], Iterable[Manifest]], ...] = (providers, steering)
ROUTES: tuple[Callable[[Plan | TrafficPlan], Iterable[Manifest]], ...] = (ai_gateway_route, traffic_policy, rights)
SHARED: tuple[Callable[[SharedPlan], Iterable[Manifest]], ...] = (
    open_model,
    pod_monitor,
    gateway_class,
    gateway,
    packed_routes,
)
