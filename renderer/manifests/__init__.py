"""One file a Kubernetes kind. BUILDERS is the index of an app's objects, SHARED of those that apps share; both in the
order in which a file holds the objects (apply order).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from renderer.manifests.configmap import config_map
from renderer.manifests.hpa import hpa
from renderer.manifests.lws import lws
from renderer.manifests.openmodel import open_model
from renderer.manifests.pdb import pdb
from renderer.manifests.podmonitor import pod_monitor
from renderer.manifests.service import lb_service
from renderer.plan import Joint, Manifest, Plan

BUILDERS: tuple[Callable[[Plan], Iterator[Manifest]], ...] = (config_map, lws, lb_service, pdb, hpa)
SHARED: tuple[Callable[[Joint], Iterator[Manifest]], ...] = (open_model, pod_monitor)
