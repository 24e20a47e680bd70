"""One file a Kubernetes kind. BUILDERS is the index of an app's objects, SHARED of those that apps share; both in the
order in which a file holds the objects (apply order).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from renderer.manifests.backend import ai_service_backend, backend
from renderer.manifests.configmap import config_map
from renderer.manifests.gateway import gateway, gateway_class
from renderer.manifests.hpa import hpa
from renderer.manifests.lws import lws
from renderer.manifests.openmodel import open_model
from renderer.manifests.pdb import pdb
from renderer.manifests.podmonitor import pod_monitor
from renderer.manifests.route import ai_gateway_route, packed_routes, rights, traffic_policy
from renderer.manifests.service import lb_service, leaders_service
from renderer.plan import Joint, Manifest, Plan

BUILDERS: tuple[Callable[[Plan], Iterator[Manifest]], ...] = (
    config_map,
    lws,
    lb_service,
    leaders_service,
    pdb,
    hpa,
    backend,
    ai_service_backend,
    ai_gateway_route,
    traffic_policy,
    rights,
)
SHARED: tuple[Callable[[Joint], Iterator[Manifest]], ...] = (
    open_model,
    pod_monitor,
    gateway_class,
    gateway,
    packed_routes,
)
