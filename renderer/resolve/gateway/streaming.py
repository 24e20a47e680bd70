"""Warnings about streamed requests whose model name is not rewritten by the picker."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.api import App, Inputs, TrafficInput
from renderer.diagnostics import Diagnostic, Origin, make_diagnostic
from renderer.resolve.gateway import settings, task_routes


def streamed_token_counts(inputs: Inputs) -> Iterator[Diagnostic]:
    """Warnings about InferenceModels over pools that rename, on Gateways where tokens are counted.

    To count the tokens of a stream, the AI gateway makes the engine report them: after the picker has written a
    target's name into the request, it sends its own copy, under the public name. It does so for all streams of the
    Gateway.
    """
    limiting_routes = _limiting_routes(inputs)
    if not limiting_routes:
        return
    apps = {(app.namespace, app.name): app for app in (*inputs.apps, *inputs.outside_apps)}
    for item in inputs.rendered_traffic:
        limiting_route = limiting_routes.get(settings.read_gateway_settings(inputs.config, item.namespace).gateway)
        renamed_target = next(_renamed_targets(item), None) if item.kind == "InferenceModel" else None
        if (
            limiting_route
            and renamed_target is not None
            and _has_picker(inputs, item, apps.get((item.namespace, _pool_name(item))))
        ):
            origin = item.origin("spec", "targetModels", renamed_target, "name")
            yield _lost_name(limiting_route, item.spec["modelName"], origin)


def rewritten_adapter(inputs: Inputs, gateway: tuple[str, str], model: str, origin: Origin) -> Iterator[Diagnostic]:
    """A warning for a public name that a picker replaces by an adapter's, on a Gateway where tokens are counted."""
    if limiting_route := _limiting_routes(inputs).get(gateway):
        yield _lost_name(limiting_route, model, origin)


def _limiting_routes(inputs: Inputs) -> dict[tuple[str, str], TrafficInput]:
    """The first ModelRoute with token limits on each Gateway."""
    routes: dict[tuple[str, str], TrafficInput] = {}
    for item in inputs.traffic:
        if item.kind == "ModelRoute" and item.spec.get("tokenLimits"):
            routes.setdefault(settings.read_gateway_settings(inputs.config, item.namespace).gateway, item)
    return routes


def _lost_name(limiting_route: TrafficInput, model: str, origin: Origin) -> Diagnostic:
    file, line, _ = limiting_route.origin("spec", "tokenLimits").place
    return make_diagnostic("W247", origin, model=model, route=limiting_route.name, file=file, line=line)


def _renamed_targets(item: TrafficInput) -> Iterator[int]:
    """The indices of the targets that get requests under another name than the public one."""
    for i, target in enumerate(item.spec.get("targetModels") or ()):
        if target["name"] != item.spec["modelName"] and target.get("weight") != 0:
            yield i


def _pool_name(item: TrafficInput) -> str:
    return str(item.spec["poolRef"]["name"])


def _has_picker(inputs: Inputs, item: TrafficInput, app: App | None) -> bool:
    """Whether a picker chooses the pod and writes the name; for a workload in backend mode the gateway does."""
    return app is None or task_routes.has_pool(inputs, app)
