"""Inputs → Plans: decides every default and override (docs/design/contract.md#precedence).

`plan` takes one app through the rooms of this package, in the order of `apps/playground.py` and `apps/service.py`.
"""

from __future__ import annotations

from renderer.resolve.apps.conflicts import name_conflicts, route_conflicts
from renderer.resolve.apps.definitions import validate_item, validate_references
from renderer.resolve.apps.fill_jobs import cache_plans
from renderer.resolve.apps.item_plans import fit_verdicts, plan, referenced_objects, shared_needs
from renderer.resolve.apps.judged_context import run_context
from renderer.resolve.apps.placement import AppPlacement, app_placements, flavor_origin
from renderer.resolve.apps.shared_objects import shared_plans
from renderer.resolve.apps.unused_flavors import unused_flavors
from renderer.resolve.autoscaling.triggers import queue_metric
from renderer.resolve.context import RunContext
from renderer.resolve.flavors import accelerates, device_resource
from renderer.resolve.gateway.public_names import claimed_names
from renderer.resolve.gateway.task_routes import pathless_apps
from renderer.resolve.monitoring import adapter_metric_name
from renderer.resolve.tasks import CHAT, PATHS
from renderer.resolve.traffic.replaced_names import ReplacedName, replaced_names

__all__ = [
    "CHAT",
    "PATHS",
    "AppPlacement",
    "ReplacedName",
    "RunContext",
    "accelerates",
    "adapter_metric_name",
    "app_placements",
    "cache_plans",
    "claimed_names",
    "device_resource",
    "fit_verdicts",
    "flavor_origin",
    "name_conflicts",
    "pathless_apps",
    "plan",
    "queue_metric",
    "referenced_objects",
    "replaced_names",
    "route_conflicts",
    "run_context",
    "shared_needs",
    "shared_plans",
    "unused_flavors",
    "validate_item",
    "validate_references",
]
