"""One file a Kubernetes kind, or few that belong together. BUILDERS is the index of a workload's objects, WAYS of those
that lead to several apps, ROUTES of what both may have, SHARED of those that apps share; each in the order in which a
file holds the objects (apply order).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from renderer.manifests.backend import backends
from renderer.manifests.configmap import config_map
from renderer.manifests.gateway import gateway, gateway_class
from renderer.manifests.hpa import hpa
from renderer.manifests.lws import lws
from renderer.manifests.openmodel import open_model
from renderer.manifests.pdb import pdb
from renderer.manifests.podmonitor import pod_monitor
from renderer.manifests.pool import inference_pool, picker, steering
from renderer.manifests.provider import providers
from renderer.manifests.route import ai_gateway_route, packed_routes, rights, traffic_policy
from renderer.manifests.service import lb_service, leaders_service
from renderer.plan import Joint, Manifest, Plan, Way

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
WAYS: tuple[Callable[[Way], Iterable[Manifest]], ...] = (providers, steering)
ROUTES: tuple[Callable[[Plan | Way], Iterable[Manifest]], ...] = (ai_gateway_route, traffic_policy, rights)
SHARED: tuple[Callable[[Joint], Iterable[Manifest]], ...] = (
    open_model,
    pod_monitor,
    gateway_class,
    gateway,
    packed_routes,
)
