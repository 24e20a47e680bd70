"""Names that two inputs want for objects of theirs."""

from __future__ import annotations

from collections.abc import Set

from renderer.api import App, Inputs
from renderer.problems import Findings, Problem
from renderer.resolve import gateways, modelroutes, pools, routing, streams
from renderer.resolve.variants import variants

_SUFFIXES = ("-lb", "-leaders")  # of the Services that stand beside a LeaderWorkerSet


def clashes(inputs: Inputs) -> list[Problem]:
    """Names of apps and their variants that another one has, or that stand for a Service of another one's
    LeaderWorkerSet or pool; objects of providers that two ModelRoutes make; and names that get lost in streams.
    """
    taken, found = {(app.namespace, app.name): app for app in inputs.apps}, Findings()
    split = [each for app in inputs.apps for each in variants(inputs, app) if each.of]
    for each in split:
        other = taken.setdefault((each.namespace, each.name), each)
        if other is not each:
            _said("E627", each, other, each.name, found)
    beside = [place for place in taken if place[1].endswith((*_SUFFIXES, pools.SUFFIX))]  # hardly ever any
    for each in (*inputs.apps, *split) if beside else ():
        for suffix in _SUFFIXES:
            needed = each.name + suffix
            if clash := taken.get((each.namespace, needed)):
                first, second = (each, clash) if each.of else (clash, each)
                _said("E627" if each.of or clash.of else "E288", first, second, needed, found)
    for namespace, name in beside:
        each_pool = taken.get((namespace, name.removesuffix(pools.SUFFIX))) if name.endswith(pools.SUFFIX) else None
        if each_pool and routing.mode(each_pool, gateways.door(inputs.config, namespace)) == "pool":
            _said("E288", taken[namespace, name], each_pool, name, found)
    _provided(inputs, {(each.namespace, each.name) for each in split}, found)
    streams.missed(inputs, found)
    return found.problems


def _said(code: str, at: App, other: App, needed: str, found: Findings) -> None:
    file, line, _ = other.origin("metadata", "name").place
    words = {"name": needed, "other": other.of or other.name, "file": file, "line": line}
    found.add(code, at.origin("metadata", "name"), **words)


def _provided(inputs: Inputs, variants: Set[tuple[str, str]], found: Findings) -> None:
    made: dict[tuple[str, str], str] = {}
    for item in inputs.traffic:
        for i, name in modelroutes.provider_names(item):
            at = item.origin("spec", "backends", i, "provider", "hostname")
            first = made.setdefault((item.namespace, name), item.name)
            if first != item.name:
                found.add("E663", at, name=name, why=f"as those of the ModelRoute '{first}'")
            elif (item.namespace, name) in variants:
                found.add("E663", at, name=name, why="as those of a Playground's variant")
