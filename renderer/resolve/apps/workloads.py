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


def workloads(memo: RunContext, app: App, diagnostics: Collector) -> list[Plan]:
    """One for a Playground or Service, one a flavor under `flavorPolicy: variants`. Raises Stop when nothing is left to
    go on with.

    They are kept where somebody else's route leads to the app too, and asks for them again.
    """
    if not memo.traffic or (place := (app.namespace, app.name)) not in memo.traffic or memo.apps[place] is not app:
        return _planned(memo, app, diagnostics)
    if place not in memo.plans:
        before = len(diagnostics.problems)
        plans = _planned(memo, app, diagnostics)
        if len(diagnostics.problems) > before:  # everybody says so
            return plans
        memo.plans[place] = plans
    return memo.plans[place]


def _planned(memo: RunContext, app: App, diagnostics: Collector) -> list[Plan]:
    plan = playground.plan if app.kind == "Playground" else service.plan
    if "flavorPolicy" not in app.spec and memo.policy != variants.VARIANTS:  # as with most
        return [plan(memo, app, diagnostics)]
    return [plan(memo, variant, diagnostics) for variant in variants.app_variants(memo.inputs, app)]


def broken(memo: RunContext, namespace: str, name: str) -> bool:
    """Whether an app of that name stands in the tree, with problems of its own, or may stand in a file that nobody can
    read.
    """
    usual = memo.inputs.config.get("namespace") or "default"
    heads = [document.value.get("metadata") for (kind, _), document in memo.inputs.broken.items() if kind in _APPS]
    return memo.inputs.unreadable or any(
        isinstance(head, dict) and (head.get("namespace") or usual, head.get("name")) == (namespace, name)
        for head in heads
    )


def serving(memo: RunContext, namespace: str) -> dict[str, list[App]]:
    """The apps of a namespace by their public names, in the order of their own."""
    if namespace not in memo.served:
        named: dict[str, list[App]] = {}
        for place in sorted(app for app in memo.apps if app[0] == namespace):
            named.setdefault(_served(memo.inputs, memo.apps[place]), []).append(memo.apps[place])
        memo.served[namespace] = {name: named[name] for name in sorted(named) if name}
    return memo.served[namespace]


def _served(inputs: Inputs, app: App) -> str:
    """The public name of an app, by its own word, its model's, or its model's name; '' when nobody knows its model."""
    with suppress(Stop):
        main = claims.claim(inputs, app, Collector()).main
        return str(app.spec.get("servedModelName") or main.spec.get("servedModelName") or main.name)
    return ""
