"""One file a Kubernetes kind; BUILDERS is the index, in the order in which a file holds the objects (apply order)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from renderer.manifests.hpa import hpa
from renderer.manifests.lws import lws
from renderer.manifests.pdb import pdb
from renderer.manifests.service import lb_service
from renderer.plan import Manifest, Plan

BUILDERS: tuple[Callable[[Plan], Iterator[Manifest]], ...] = (lws, lb_service, pdb, hpa)
