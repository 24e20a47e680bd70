"""Names that two inputs want for objects of theirs."""

from __future__ import annotations

from collections.abc import Set

from renderer.api import App, Inputs
from renderer.diagnostics import Collector, Diagnostic
from renderer.resolve.apps import model_routes
from renderer.resolve.apps.variants import app_variants
from renderer.resolve.gateway import pools, routing, settings, streaming

_SUFFIXES = ("-lb", "-leaders")  # of the Services that stand beside a LeaderWorkerSet


def name_conflicts(inputs: Inputs) -> list[Diagnostic]:
    """Names of apps and their variants that another one has, or that stand for a Service of another one's
    LeaderWorkerSet or pool; objects of providers that two ModelRoutes make; and names that get lost in streams.
    """
    taken, diagnostics = {(app.namespace, app.name): app for app in inputs.apps}, Collector()
    split = [variant for app in inputs.apps for variant in app_variants(inputs, app) if variant.of]
    for app in split:
        other = taken.setdefault((app.namespace, app.name), app)
        if other is not app:
            _said("E627", app, other, app.name, diagnostics)
    beside = [place for place in taken if place[1].endswith((*_SUFFIXES, pools.SUFFIX))]  # hardly ever any
    for app in (*inputs.apps, *split) if beside else ():
        for suffix in _SUFFIXES:
            needed = app.name + suffix
            if clash := taken.get((app.namespace, needed)):
                first, second = (app, clash) if app.of else (clash, app)
                _said("E627" if app.of or clash.of else "E288", first, second, needed, diagnostics)
    for namespace, name in beside:
        pool_app = taken.get((namespace, name.removesuffix(pools.SUFFIX))) if name.endswith(pools.SUFFIX) else None
        if pool_app and routing.mode(pool_app, settings.read_gateway_settings(inputs.config, namespace)) == "pool":
            _said("E288", taken[namespace, name], pool_app, name, diagnostics)
    _provided(inputs, {(app.namespace, app.name) for app in split}, diagnostics)
    streaming.streamed_token_counts(inputs, diagnostics)
    return diagnostics.problems


def _said(code: str, at: App, other: App, needed: str, diagnostics: Collector) -> None:
    file, line, _ = other.origin("metadata", "name").place
    words = {"name": needed, "other": other.of or other.name, "file": file, "line": line}
    diagnostics.add(code, at.origin("metadata", "name"), **words)


def _provided(inputs: Inputs, variants: Set[tuple[str, str]], diagnostics: Collector) -> None:
    owners: dict[tuple[str, str], str] = {}
    for item in inputs.traffic:
        for i, name in model_routes.provider_names(item):
            at = item.origin("spec", "backends", i, "provider", "hostname")
            first = owners.setdefault((item.namespace, name), item.name)
            if first != item.name:
                diagnostics.add("E663", at, name=name, why=f"as those of the ModelRoute '{first}'")
            elif (item.namespace, name) in variants:
                diagnostics.add("E663", at, name=name, why="as those of a Playground's variant")
