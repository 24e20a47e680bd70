"""Objects of the same name that two inputs would make."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.api import App
from renderer.diagnostics import Diagnostic, Path, make_diagnostic, rule
from renderer.kubernetes import wellknown
from renderer.resolve.gateway import streaming
from renderer.resolve.traffic import model_route_records
from renderer.resolve.traffic.object_names import TreeNames

_SERVICE: Path = ("spec", "service", "name")


@rule(of=TreeNames, when=lambda names: names.variants)
def taken_variant_names(names: TreeNames) -> Iterator[Diagnostic]:
    """Errors for variants with the name of another app or variant."""
    for app in names.variants:
        owner = names.owners[app.namespace, app.name]
        if owner is not app:
            yield _clash("E627", app, owner, app.name)


@rule(of=TreeNames, when=lambda names: names.suffixed)
def taken_service_names(names: TreeNames) -> Iterator[Diagnostic]:
    """Errors for apps and variants with the name of a Service of another workload or picker."""
    for app, service_name in names.workload_services():
        if clashing_app := names.owners.get((app.namespace, service_name)):
            first, second = (app, clashing_app) if app.variant_of else (clashing_app, app)
            code = "E627" if app.variant_of or clashing_app.variant_of else "E288"
            yield _clash(code, first, second, service_name)
    for namespace, name in names.suffixed:
        suffixless = name.removesuffix(wellknown.PICKER)
        pool_app = names.owners.get((namespace, suffixless)) if suffixless != name else None
        if pool_app and names.has_pool(pool_app):
            yield _clash("E288", names.owners[namespace, name], pool_app, name)


@rule(of=TreeNames)
def taken_client_services(names: TreeNames) -> Iterator[Diagnostic]:
    """An error for each `spec.service` with the name of another Service."""
    by_service: dict[tuple[str, str], App] = {}
    for app in names.inputs.apps:
        name = (app.spec.get("service") or {}).get("name")
        if not name:
            continue
        workload = names.owners.get((app.namespace, name))
        if workload:
            if workload.label != app.label and workload.workload_kind != wellknown.DEPLOYMENT:
                yield _clash("E288", app, workload, name, _SERVICE)  # a Deployment has no Service of its own
            continue
        owner = by_service.setdefault((app.namespace, name), app)
        needing_app = names.service_owner(app.namespace, name)
        if needing_app or owner is not app:
            yield _clash("E288", app, needing_app or owner, name, _SERVICE)


def _clash(code: str, app: App, other: App, name: str, path: Path = ("metadata", "name")) -> Diagnostic:
    """An error at `path` of an app about a name that another one has, or needs."""
    file, line, _ = other.origin("metadata", "name").place
    parts = "prefill and decode" if app.role or other.role else "variants"
    params = {"name": name, "other": other.label, "file": file, "line": line, "parts": parts}
    return make_diagnostic(code, app.origin(*path), **params)


@rule(of=TreeNames, when=lambda names: names.inputs.traffic)
def taken_provider_names(names: TreeNames) -> Iterator[Diagnostic]:
    """An error for each provider whose objects another ModelRoute or a variant makes too."""
    owners: dict[tuple[str, str], str] = {}
    variants = {(app.namespace, app.name) for app in names.variants}
    for item in names.inputs.traffic:
        for i, name in model_route_records.provider_names(item):
            origin = item.origin("spec", "backends", i, "provider", "hostname")
            first = owners.setdefault((item.namespace, name), item.name)
            if first != item.name:
                yield make_diagnostic("E663", origin, name=name, why=f"like those of the ModelRoute '{first}'")
            elif (item.namespace, name) in variants:
                yield make_diagnostic("E663", origin, name=name, why="like those of a Playground's variant")


@rule(of=TreeNames, when=lambda names: names.inputs.traffic)
def lost_stream_names(names: TreeNames) -> Iterator[Diagnostic]:
    """Warnings about model names in streamed requests."""
    yield from streaming.streamed_token_counts(names.inputs)
