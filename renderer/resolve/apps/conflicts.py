"""Objects of the same name that two inputs would make."""

from __future__ import annotations

from collections.abc import Mapping, Set

from renderer import wellknown
from renderer.api import App, Inputs
from renderer.diagnostics import Collector, Diagnostic, Path
from renderer.resolve.apps import model_routes
from renderer.resolve.apps.variants import app_variants
from renderer.resolve.gateway import routing, settings, streaming

_SUFFIXES = (wellknown.LB_SERVICE, wellknown.LEADERS_SERVICE)  # of the Services of a LeaderWorkerSet


def name_conflicts(inputs: Inputs) -> list[Diagnostic]:
    """Errors for names of apps and variants that another app, or a Service of another workload or pool, has; for
    objects of providers that two ModelRoutes make; and warnings about model names in streamed requests.
    """
    owners, diagnostics = {(app.namespace, app.name): app for app in inputs.apps}, Collector()
    split = [variant for app in inputs.apps for variant in app_variants(inputs, app) if variant.variant_of]
    for app in split:
        owner = owners.setdefault((app.namespace, app.name), app)
        if owner is not app:
            _report_clash("E627", app, owner, app.name, diagnostics)
    suffixed = [key for key in owners if key[1].endswith((*_SUFFIXES, wellknown.PICKER))]  # rarely any
    for app in (*inputs.apps, *split) if suffixed else ():
        for suffix in _SUFFIXES:
            service_name = app.name + suffix
            if clashing_app := owners.get((app.namespace, service_name)):
                first, second = (app, clashing_app) if app.variant_of else (clashing_app, app)
                code = "E627" if app.variant_of or clashing_app.variant_of else "E288"
                _report_clash(code, first, second, service_name, diagnostics)
    for namespace, name in suffixed:
        pool_app = (
            owners.get((namespace, name.removesuffix(wellknown.PICKER))) if name.endswith(wellknown.PICKER) else None
        )
        if pool_app and routing.mode(pool_app, settings.read_gateway_settings(inputs.config, namespace)) == "pool":
            _report_clash("E288", owners[namespace, name], pool_app, name, diagnostics)
    _report_service_clashes(inputs, owners, diagnostics)
    _report_provider_clashes(inputs, {(app.namespace, app.name) for app in split}, diagnostics)
    streaming.warn_streamed_token_counts(inputs, diagnostics)
    return diagnostics.problems


def _report_clash(
    code: str, app: App, other: App, name: str, diagnostics: Collector, path: Path = ("metadata", "name")
) -> None:
    """An error at `path` of an app about a name that another one has, or needs."""
    file, line, _ = other.origin("metadata", "name").place
    parts = "prefill and decode" if app.role or other.role else "variants"
    words = {"name": name, "other": other.label, "file": file, "line": line, "parts": parts}
    diagnostics.add(code, app.origin(*path), **words)


def _is_deployment(app: App) -> bool:
    """Whether Deployments run the app, which make no Service of their own."""
    return app.workload_kind == wellknown.DEPLOYMENT


def _report_service_clashes(inputs: Inputs, owners: Mapping[tuple[str, str], App], diagnostics: Collector) -> None:
    """An error for each `spec.service` with the name of another Service. `owners`: apps and variants by namespace and
    name.
    """
    asking = [app for app in inputs.apps if "service" in app.spec]
    by_service: dict[tuple[str, str], App] = {}
    for app in asking:
        path: Path = ("spec", "service", "name")
        name = app.spec["service"]["name"]
        place = app.namespace, name
        workload = owners.get(place)
        if workload:
            if workload.label != app.label and not _is_deployment(workload):
                _report_clash("E288", app, workload, name, diagnostics, path)
            continue
        owner = by_service.setdefault(place, app)
        for suffix in (*_SUFFIXES, wellknown.PICKER):
            if name.endswith(suffix) and (needing_app := owners.get((app.namespace, name.removesuffix(suffix)))):
                gateway_settings = settings.read_gateway_settings(inputs.config, app.namespace)
                if suffix != wellknown.PICKER or routing.mode(needing_app, gateway_settings) == "pool":
                    _report_clash("E288", app, needing_app, name, diagnostics, path)
                    break
        else:
            if owner is not app:
                _report_clash("E288", app, owner, name, diagnostics, path)


def _report_provider_clashes(inputs: Inputs, variants: Set[tuple[str, str]], diagnostics: Collector) -> None:
    """An error for each provider whose objects another ModelRoute or a variant makes too."""
    owners: dict[tuple[str, str], str] = {}
    for item in inputs.traffic:
        for i, name in model_routes.provider_names(item):
            origin = item.origin("spec", "backends", i, "provider", "hostname")
            first = owners.setdefault((item.namespace, name), item.name)
            if first != item.name:
                diagnostics.add("E663", origin, name=name, why=f"as those of the ModelRoute '{first}'")
            elif (item.namespace, name) in variants:
                diagnostics.add("E663", origin, name=name, why="as those of a Playground's variant")
