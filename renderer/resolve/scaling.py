"""How many groups run, and what scales them (contract, section 2, scale trigger)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from renderer import quantity, template
from renderer.api import App, Spec
from renderer.plan import Body, Scaler
from renderer.problems import Findings, Origin
from renderer.records import quick
from renderer.resolve import monitoring
from renderer.resolve.engines import Engine, Recommended
from renderer.resolve.memo import Memo, key_of
from renderer.yamlio import Shared

_scaler = quick(Scaler)
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


def trigger(memo: Memo, app: App, engine: Engine, config: Recommended) -> tuple[Body, Origin] | None:
    """What to scale on, and who says so: the Playground, its config, the preset's queue metric; None when nobody
    does.
    """
    own = (app.spec.get("elasticConfig") or {}).get("scaleTrigger")
    if own is not None:
        return (own["hpa"], app.origin("spec", "elasticConfig", "scaleTrigger", "hpa")) if "hpa" in own else None
    recommended = config.spec.get("scaleTrigger")
    if recommended is not None and recommended.get("hpa") is not None:
        return recommended["hpa"], config.origin.at("scaleTrigger", "hpa")
    if memo.fed and (queue := _queue(engine)) is not None:
        return queue, engine.origin.at("engine", "scale")
    return None


def triggers(engine: Engine, config: Recommended, won: tuple[Body, Origin]) -> Iterator[Origin]:
    """All who say what to scale on, the one that wins last."""
    others = [engine.origin.at("engine", "scale")] if "scale" in engine.spec else []
    others += [config.origin.at("scaleTrigger", "hpa")] if (config.spec.get("scaleTrigger") or {}).get("hpa") else []
    yield from (each for each in others if each != won[1])
    yield won[1]


def bounds(app: App, found: Findings) -> None:
    """What is wrong with the autoscaler's bounds, and with a trigger that names no autoscaler."""
    elastic = app.spec.get("elasticConfig")
    if elastic is None:
        return
    low, high = elastic.get("minReplicas", 1), elastic["maxReplicas"]
    if low < 1:
        found.add("E272", app.origin("spec", "elasticConfig", "minReplicas"), value=low)
    elif low > high:
        found.add("E273", app.origin("spec", "elasticConfig", "minReplicas"), low=low, high=high)
    if (own := elastic.get("scaleTrigger")) is not None and own.get("hpa") is None:
        found.add("E274", app.origin("spec", "elasticConfig", "scaleTrigger", key=True))


def scaler(memo: Memo, app: App, engine: Engine, config: Recommended, found: Findings) -> Scaler | None:
    """The autoscaler, None without elasticConfig."""
    elastic = app.spec.get("elasticConfig")
    if elastic is None:
        return None
    low, high = elastic.get("minReplicas", 1), elastic["maxReplicas"]
    said = trigger(memo, app, engine, config)
    if said is None:
        if "scaleTrigger" not in elastic:  # bounds() has said what is wrong with it
            _untriggered(memo, app, engine, found)
        return None
    spec, origin = said
    known = memo.scales.get(name := key_of(spec))
    if known is None:
        before = len(found.problems)
        known = _scales(spec, origin, found)
        if len(found.problems) == before:
            memo.scales[name] = known
    return _scaler(low, high, *known)


def _scales(spec: Body, origin: Origin, found: Findings) -> tuple[tuple[Body, ...], Body]:
    """What a trigger scales on, and how."""
    metrics = spec.get("metrics") or []
    if not metrics:
        found.add("W203", origin)
    made = tuple([template.shared(quantities(each, origin, found)) for each in metrics])
    return made or (_CPU,), template.shared(spec.get("behavior") or {})


def queue_metric(engine: Spec) -> str:
    """The metric that a `spec.engine` scales on, as the engine calls it; '' where nobody knows one."""
    return str((engine.get("metrics") or {}).get((engine.get("scale") or {}).get("metric"), ""))


def metric_known(engine: Spec, origin: Origin, found: Findings) -> None:
    """An error when `engine.scale` names a metric that `engine.metrics` does not. `origin`: of the engine."""
    if "scale" in engine and not queue_metric(engine):
        found.add("E278", origin.at("scale", "metric"), metric=engine["scale"]["metric"])


def _queue(engine: Engine) -> Body | None:
    """The preset's own trigger: its queue metric, with a behavior that fits the time a start takes; None where nobody
    knows one, or where nothing could read it.
    """
    name, scale = queue_metric(engine.spec), engine.spec.get("scale") or {}
    if not name or "path" not in engine.spec["metrics"]:
        return None
    target = {"type": "AverageValue", "averageValue": scale["target"]}
    metric = {"type": "Pods", "pods": {"metric": {"name": monitoring.adapted(name)}, "target": target}}
    return {"metrics": [metric], "behavior": scale.get("behavior")}


def _untriggered(memo: Memo, app: App, engine: Engine, found: Findings) -> None:
    """Why there is nothing to scale on, and so no autoscaler."""
    at, name, own = app.origin("spec", "elasticConfig", key=True), engine.runtime.name, engine.origin.at("engine")
    if not memo.fed:
        found.add("E275", at, backend=name)
    elif "scale" not in engine.spec:
        found.add("E276", at, backend=name)
    elif not queue_metric(engine.spec):
        metric_known(engine.spec, own, found)
    else:
        found.add("E279", own.at("metrics", key=True), backend=name)


def quantities(value: Any, origin: Origin, found: Findings) -> Any:
    """A metric with its target's quantities canonical."""
    if isinstance(value, dict):
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
