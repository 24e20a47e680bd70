"""`flavorPolicy: variants`: one workload for each flavor, behind one route (contract, section 4.7)."""

from __future__ import annotations

from contextlib import suppress

from renderer.api import App, Inputs
from renderer.problems import Findings, Problem, Stop
from renderer.resolve import claims, flavors

VARIANTS = "variants"
_SUFFIXES = ("-lb", "-leaders")  # of the Services that stand beside a LeaderWorkerSet


def variants(inputs: Inputs, app: App) -> tuple[App, ...]:
    """The app for each flavor of its claim, as `<name>-<flavor>`; itself where one workload is all there is."""
    if flavors.policy(inputs, app) != VARIANTS:
        return (app,)
    with suppress(Stop):  # what is wrong with the claim is said where it is worked out
        claim = claims.claim(inputs, app, Findings())
        known = flavors.names(claim.main)
        chosen = tuple(dict.fromkeys(claim.flavors)) or known
        if len(chosen) > 1 and set(chosen) <= set(known):
            return tuple(app._replace(name=f"{app.name}-{each}", of=app.name, flavor=each) for each in chosen)
    return (app,)


def clashes(inputs: Inputs) -> list[Problem]:
    """Names of apps and their variants that another one has, or that stand for a Service of another one's
    LeaderWorkerSet.
    """
    taken, found = {(app.namespace, app.name): app for app in inputs.apps}, Findings()
    split = [each for app in inputs.apps for each in variants(inputs, app) if each.of]
    for each in split:
        other = taken.setdefault((each.namespace, each.name), each)
        if other is not each:
            _said("E627", each, other, each.name, found)
    for each in (*inputs.apps, *split):
        for suffix in _SUFFIXES:
            needed = each.name + suffix
            if clash := taken.get((each.namespace, needed)):
                first, second = (each, clash) if each.of else (clash, each)
                _said("E627" if each.of or clash.of else "E288", first, second, needed, found)
    return found.problems


def _said(code: str, at: App, other: App, needed: str, found: Findings) -> None:
    file, line, _ = other.origin("metadata", "name").place
    words = {"name": needed, "other": other.of or other.name, "file": file, "line": line}
    found.add(code, at.origin("metadata", "name"), **words)
