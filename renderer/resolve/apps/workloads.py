"""An app → its Plans, one a workload: what leads to them is decided elsewhere."""

from __future__ import annotations

from contextlib import suppress

from renderer.api import App, Inputs
from renderer.diagnostics import Collector, Stop
from renderer.plan import Plan
from renderer.resolve import claims
from renderer.resolve.apps import playground, service, variants
from renderer.resolve.context import RunContext

_APPS = ("Playground", "Service")


def workloads(context: RunContext, app: App, diagnostics: Collector) -> list[Plan]:
    """One for a Playground or Service, one a flavor under `flavorPolicy: variants`. Raises Stop when nothing is left to
    go on with.

    They are kept where somebody else's route leads to the app too, and asks for them again.
    """
    if (
        not context.traffic
        or (place := (app.namespace, app.name)) not in context.traffic
        or context.apps[place] is not app
    ):
        return _planned(context, app, diagnostics)
    if place not in context.plans:
        before = len(diagnostics.problems)
        plans = _planned(context, app, diagnostics)
        if len(diagnostics.problems) > before:  # everybody says so
            return plans
        context.plans[place] = plans
    return context.plans[place]


def _planned(context: RunContext, app: App, diagnostics: Collector) -> list[Plan]:
    plan = playground.plan if app.kind == "Playground" else service.plan
    if "flavorPolicy" not in app.spec and context.flavor_policy != variants.VARIANTS:  # as with most
        return [plan(context, app, diagnostics)]
    return [plan(context, variant, diagnostics) for variant in variants.app_variants(context.inputs, app)]


def broken(context: RunContext, namespace: str, name: str) -> bool:
    """Whether an app of that name stands in the tree, with problems of its own, or may stand in a file that nobody can
    read.
    """
    usual = context.inputs.config.get("namespace") or "default"
    heads = [document.value.get("metadata") for (kind, _), document in context.inputs.broken.items() if kind in _APPS]
    return context.inputs.unreadable or any(
        isinstance(head, dict) and (head.get("namespace") or usual, head.get("name")) == (namespace, name)
        for head in heads
    )


def serving(context: RunContext, namespace: str) -> dict[str, list[App]]:
    """The apps of a namespace by their public names, in the order of their own."""
    if namespace not in context.apps_by_public_name:
        named: dict[str, list[App]] = {}
        for place in sorted(app for app in context.apps if app[0] == namespace):
            named.setdefault(_served(context.inputs, context.apps[place]), []).append(context.apps[place])
        context.apps_by_public_name[namespace] = {name: named[name] for name in sorted(named) if name}
    return context.apps_by_public_name[namespace]


def _served(inputs: Inputs, app: App) -> str:
    """The public name of an app, by its own word, its model's, or its model's name; '' when nobody knows its model."""
    with suppress(Stop):
        main = claims.read_claim(inputs, app, Collector()).main
        return str(app.spec.get("servedModelName") or main.spec.get("servedModelName") or main.name)
    return ""
