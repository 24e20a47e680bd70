"""Streamed requests that do not get the name which a picker gives them."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.api import App, Inputs, Traffic
from renderer.problems import Findings
from renderer.resolve import gateways, routing


def missed(inputs: Inputs, found: Findings) -> None:
    """InferenceModels over pools, on Gateways where somebody counts tokens.

    To count those of a stream, the AI gateway makes the engine tell them: after the picker has written a target's name
    into the request, it sends its own copy, under the public name. It does so for all streams of the Gateway.
    """
    counted: dict[tuple[str, str], Traffic] = {}
    for each in inputs.traffic:
        if each.kind == "ModelRoute" and each.spec.get("tokenLimits"):
            counted.setdefault(gateways.door(inputs.config, each.namespace).gateway, each)
    if not counted:
        return
    apps = {(each.namespace, each.name): each for each in (*inputs.apps, *inputs.beyond)}
    for each in inputs.ways:
        other = counted.get(gateways.door(inputs.config, each.namespace).gateway)
        renamed = next(_renamed(each), None) if each.kind == "InferenceModel" else None
        if other and renamed is not None and _picked(inputs, each, apps.get((each.namespace, _pool(each)))):
            file, line, _ = other.origin("spec", "tokenLimits").place
            words = {"model": each.spec["modelName"], "route": other.name, "file": file, "line": line}
            found.add("W247", each.origin("spec", "targetModels", renamed, "name"), **words)


def _renamed(item: Traffic) -> Iterator[int]:
    """Which of its targets get requests by another name than the public one."""
    for i, each in enumerate(item.spec.get("targetModels") or ()):
        if each["name"] != item.spec["modelName"] and each.get("weight") != 0:
            yield i


def _pool(item: Traffic) -> str:
    return str(item.spec["poolRef"]["name"])


def _picked(inputs: Inputs, item: Traffic, app: App | None) -> bool:
    """Whether a picker gives the names; to a workload in backend mode the gateway itself does."""
    return app is None or routing.mode(app, gateways.door(inputs.config, item.namespace)) == "pool"
