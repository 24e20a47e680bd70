"""An app → its Plans, one a workload: what leads to them is decided elsewhere."""

from __future__ import annotations

from contextlib import suppress

from renderer.api import App, Inputs
from renderer.plan import Plan
from renderer.problems import Findings, Stop
from renderer.resolve import claims, playground, service, variants
from renderer.resolve.memo import Memo

_APPS = ("Playground", "Service")


def workloads(memo: Memo, app: App, found: Findings) -> list[Plan]:
    """One for a Playground or Service, one a flavor under `flavorPolicy: variants`. Raises Stop when nothing is left to
    go on with.

    They are kept where somebody else's route leads to the app too, and asks for them again.
    """
    if not memo.traffic or (place := (app.namespace, app.name)) not in memo.traffic or memo.apps[place] is not app:
        return _planned(memo, app, found)
    if place not in memo.plans:
        before = len(found.problems)
        made = _planned(memo, app, found)
        if len(found.problems) > before:  # everybody says so
            return made
        memo.plans[place] = made
    return memo.plans[place]


def _planned(memo: Memo, app: App, found: Findings) -> list[Plan]:
    plan = playground.plan if app.kind == "Playground" else service.plan
    if "flavorPolicy" not in app.spec and memo.policy != variants.VARIANTS:  # as with most
        return [plan(memo, app, found)]
    return [plan(memo, each, found) for each in variants.variants(memo.inputs, app)]


def broken(memo: Memo, namespace: str, name: str) -> bool:
    """Whether an app of that name stands in the tree, with problems of its own, or may stand in a file that nobody can
    read.
    """
    usual = memo.inputs.config.get("namespace") or "default"
    heads = [each.value.get("metadata") for (kind, _), each in memo.inputs.broken.items() if kind in _APPS]
    return memo.inputs.unreadable or any(
        isinstance(each, dict) and (each.get("namespace") or usual, each.get("name")) == (namespace, name)
        for each in heads
    )


def serving(memo: Memo, namespace: str) -> dict[str, list[App]]:
    """The apps of a namespace by their public names, in the order of their own."""
    if namespace not in memo.served:
        named: dict[str, list[App]] = {}
        for each in sorted(each for each in memo.apps if each[0] == namespace):
            named.setdefault(_served(memo.inputs, memo.apps[each]), []).append(memo.apps[each])
        memo.served[namespace] = {name: named[name] for name in sorted(named) if name}
    return memo.served[namespace]


def _served(inputs: Inputs, app: App) -> str:
    """The public name of an app, by its own word, its model's, or its model's name; '' when nobody knows its model."""
    with suppress(Stop):
        main = claims.claim(inputs, app, Findings()).main
        return str(app.spec.get("servedModelName") or main.spec.get("servedModelName") or main.name)
    return ""
