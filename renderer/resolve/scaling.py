"""How many groups run, and what scales them (contract, section 2, scale trigger)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from renderer import quantity
from renderer.api import App, Inputs
from renderer.plan import Body, Scaler
from renderer.problems import Findings, Origin
from renderer.resolve.engines import Engine, Recommended
from renderer.yamlio import Shared

_CPU = Shared(
    {
        "type": "Resource",
        "resource": Shared({"name": "cpu", "target": Shared({"type": "Utilization", "averageUtilization": 80})}),
    }
)


def replicas(app: App, found: Findings) -> int | None:
    """The fixed number of groups; None where an autoscaler owns it."""
    count = app.spec.get("replicas")
    if app.spec.get("elasticConfig") is not None:
        if count is not None:
            found.add("W202", app.origin("spec", "replicas", key=True))
        return None
    if count is not None and count < 0:
        found.add("E270", app.origin("spec", "replicas"), value=count)
    return 1 if count is None else count


def scaler(
    inputs: Inputs, app: App, engine: Engine, config: Recommended, origins: dict[Any, Origin], found: Findings
) -> Scaler | None:
    """The autoscaler, None without elasticConfig. Where the trigger comes from is noted in `origins`."""
    elastic = app.spec.get("elasticConfig")
    if elastic is None:
        return None
    at = app.origin("spec", "elasticConfig")
    low, high = elastic.get("minReplicas", 1), elastic.get("maxReplicas")
    if high is None:
        found.add("E271", at)
        high = low
    elif low < 1:
        found.add("E272", at.at("minReplicas"), value=low)
    elif low > high:
        found.add("E273", at.at("minReplicas"), low=low, high=high)
    own, recommended = elastic.get("scaleTrigger"), config.spec.get("scaleTrigger")
    if own is not None and own.get("hpa") is None:
        found.add("E274", at.at("scaleTrigger"))
        return None
    if own is not None:
        trigger, origin = own["hpa"], at.at("scaleTrigger", "hpa")
    elif recommended is not None and recommended.get("hpa") is not None:
        trigger, origin = recommended["hpa"], config.origin.at("scaleTrigger", "hpa")
    elif (queue := _queue(inputs, engine)) is not None:
        trigger, origin = {"metrics": [queue]}, engine.origin.at("engine", "scale")
    else:
        found.add("E275", at, backend=engine.runtime.name)
        return None
    metrics = trigger.get("metrics") or []
    if not metrics:
        found.add("W203", origin)
    origins["metrics",] = origin.at("metrics")
    origins["behavior",] = origin.at("behavior")
    return Scaler(
        low,
        high,
        tuple(quantities(metric, origin, found) for metric in metrics) or (_CPU,),
        trigger.get("behavior") or {},
    )


def _queue(inputs: Inputs, engine: Engine) -> Body | None:
    """The preset's queue metric, where RenderConfig says that somebody feeds it (`:` is `_` in the adapter's names)."""
    scale, metrics = engine.spec.get("scale"), engine.spec.get("metrics") or {}
    if (
        inputs.config.get("autoscaling", "metricSource", "type", default="none") == "none"
        or not scale
        or scale["metric"] not in metrics
    ):
        return None
    name = metrics[scale["metric"]].replace(":", "_")
    return Shared(
        {
            "type": "Pods",
            "pods": {"metric": {"name": name}, "target": {"type": "AverageValue", "averageValue": scale["target"]}},
        }
    )


def quantities(value: Any, origin: Origin, found: Findings) -> Any:
    """A metric with its target's quantities canonical."""
    if isinstance(value, Mapping):
        made = {}
        for key, item in value.items():
            if item is None:
                continue
            if key in ("value", "averageValue") and not isinstance(item, (dict, list)):
                try:
                    made[key] = quantity.canonical(item)
                except ValueError:
                    found.add("E305", origin, value=item)
            else:
                made[key] = quantities(item, origin, found)
        return made
    if isinstance(value, list):
        return [quantities(item, origin, found) for item in value]
    return value
