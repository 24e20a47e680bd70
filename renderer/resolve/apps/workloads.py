"""The plans of an app's workloads, without the routes to them."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from renderer.api import App, Inputs
from renderer.diagnostics import Collector, Stop
from renderer.plan import Plan
from renderer.resolve import claims, flavors
from renderer.resolve.apps import (
    clients,
    pairs,
    playground,
    role_apps,
    service,
    variants,
    workload_settings,
)
from renderer.resolve.context import RunContext, cached

_APPS = ("Playground", "Service")


def plan_workloads(context: RunContext, app: App, diagnostics: Collector) -> list[Plan]:
    """One plan for a Playground or Service, or one for each flavor under `flavorPolicy: variants`. Raises Stop when
    something that the plans need is not known.

    Cached for apps that a ModelRoute or InferenceModel names, which asks for them again; unless there are diagnostics.
    """
    if not context.traffic or (key := (app.namespace, app.name)) not in context.traffic or context.apps[key] is not app:
        return _plan_variants(context, app, diagnostics)
    return cached(context.plans, key, partial(_plan_variants, context, app), diagnostics)


def _plan_variants(context: RunContext, app: App, diagnostics: Collector) -> list[Plan]:
    make_plan = playground.plan_playground if app.kind == "Playground" else service.plan_service
    if role_apps.KEY in app.spec:
        plans = pairs.plan_roles(context, app, diagnostics)
    elif "flavorPolicy" not in app.spec and context.flavor_policy != flavors.VARIANTS:  # the usual case
        plans = [make_plan(context, app, diagnostics)]
    else:
        plans = [make_plan(context, variant, diagnostics) for variant in variants.app_variants(context.inputs, app)]
    if "workload" in app.spec:
        plans = [workload_settings.with_workload_settings(context, app, plan, diagnostics) for plan in plans]
    if "service" not in app.spec and "gateway" not in app.spec:
        return plans
    return clients.with_clients(app, plans, diagnostics)


def is_broken(context: RunContext, namespace: str, name: str) -> bool:
    """Whether an app of that name is in the tree, but invalid, or may be in a file that cannot be read."""
    if context.inputs.unreadable:
        return True
    default_namespace = context.inputs.config.get("namespace") or "default"
    for (kind, _), document in context.inputs.broken.items():
        metadata = document.value.get("metadata") if kind in _APPS else None
        if isinstance(metadata, dict):
            key = metadata.get("namespace") or default_namespace, metadata.get("name")
            if key == (namespace, name):
                return True
    return False


def apps_by_public_name(context: RunContext, namespace: str) -> dict[str, list[App]]:
    """The apps of a namespace by public name, both sorted; apps whose model is not known are left out. Cached."""
    if namespace not in context.apps_by_public_name:
        apps: dict[str, list[App]] = {}
        for key in sorted(key for key in context.apps if key[0] == namespace):
            apps.setdefault(_public_name(context.inputs, context.apps[key]), []).append(context.apps[key])
        context.apps_by_public_name[namespace] = {name: apps[name] for name in sorted(apps) if name}
    return context.apps_by_public_name[namespace]


def _public_name(inputs: Inputs, app: App) -> str:
    """The public name of an app: its served name; '' when its model is not known."""
    with suppress(Stop):
        return claims.public_name(claims.read_claim(inputs, app, Collector()).main, app)
    return ""
