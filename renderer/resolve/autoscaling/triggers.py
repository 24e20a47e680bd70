"""Replicas, triggers and autoscalers of workloads (docs/design/contract.md#scale-trigger)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from renderer import template
from renderer.api import App
from renderer.diagnostics import Collector, Diagnostic, Origin, make_diagnostic
from renderer.kubernetes import quantity
from renderer.kubernetes.json_values import maps_at
from renderer.plan import Body, Scaler, ScaleTrigger
from renderer.resolve import monitoring
from renderer.resolve.context import RunContext, cache_key, cached
from renderer.resolve.engine.backend_runtime import Engine, RecommendedConfig
from renderer.yamlio import SharedMap

if TYPE_CHECKING:
    from renderer.input_types import EngineSpec

_CPU = SharedMap(
    {
        "type": "Resource",
        "resource": SharedMap({"name": "cpu", "target": SharedMap({"type": "Utilization", "averageUtilization": 80})}),
    }
)


def fixed_replicas(app: App) -> int | None:
    """The fixed number of groups; None where an autoscaler sets it."""
    return None if app.spec.get("elasticConfig") is not None else app.spec.get("replicas", 1)


def scale_triggers(context: RunContext, app: App, engine: Engine, config: RecommendedConfig) -> list[ScaleTrigger]:
    """What the layers scale on, the winner last: the preset's queue metric, its recommended config, the Playground.
    None where the winner scales on nothing.
    """
    layers = []
    if "scale" in engine.spec:
        spec = _queue_trigger(engine) if context.metrics_collected else {}
        layers.append(ScaleTrigger(spec, engine.origin.at("engine", "scale"), of_engine=True))
    recommended = (config.spec.get("scaleTrigger") or {}).get("hpa")
    if recommended is not None:
        layers.append(ScaleTrigger(recommended, config.origin.at("scaleTrigger", "hpa")))
    own = (app.spec.get("elasticConfig") or {}).get("scaleTrigger")
    if own is not None:
        origin = app.origin("spec", "elasticConfig", "scaleTrigger", "hpa")
        layers.append(ScaleTrigger(own.get("hpa") or {}, origin))
    scales = layers and (layers[-1].spec or not layers[-1].of_engine) and (own is None or "hpa" in own)
    return layers if scales else []


def plan_scaler(
    context: RunContext,
    app: App,
    engine: Engine,
    config: RecommendedConfig,
    diagnostics: Collector,
    *,
    has_wake_trigger: bool = False,
) -> Scaler | None:
    """The autoscaler, None without elasticConfig; an error where there is nothing to scale on, unless what wakes it is
    a trigger too.
    """
    elastic = app.spec.get("elasticConfig")
    if elastic is None:
        return None
    minimum, maximum = elastic.get("minReplicas", 1), elastic["maxReplicas"]
    layers = scale_triggers(context, app, engine, config)
    if not layers and has_wake_trigger and "scaleTrigger" not in elastic:
        return Scaler(minimum, maximum, ())
    if not layers:
        if "scaleTrigger" not in elastic:  # rules/scaling.py reports it
            diagnostics.problems += _missing_trigger(context, app, engine)
        return None
    work = partial(_metrics_and_behavior, layers[-1])
    metrics, behavior = cached(context.scaling, cache_key(layers[-1].spec), work, diagnostics)
    return Scaler(minimum, maximum, metrics, behavior, tuple(layers))


def _metrics_and_behavior(trigger: ScaleTrigger, diagnostics: Collector) -> tuple[tuple[Body, ...], Body]:
    """The metrics and the behavior of a trigger, with canonical quantities."""
    metrics, origin = maps_at(trigger.spec, "metrics"), trigger.origin
    if not metrics:
        diagnostics.add("W203", origin)
    canonical = [template.share_maps(canonicalize_quantities(metric, origin, diagnostics)) for metric in metrics]
    return tuple(canonical) or (_CPU,), template.share_maps(trigger.spec.get("behavior") or {})


def queue_metric(engine: EngineSpec) -> str:
    """The metric that a `spec.engine` scales on, by its name in the engine; '' where none is known."""
    metrics: Mapping[str, object] = engine.get("metrics") or {}
    return str(metrics.get((engine.get("scale") or {}).get("metric", ""), ""))


def unknown_metric(engine: EngineSpec, origin: Origin) -> Iterator[Diagnostic]:
    """An error when `engine.scale` names a metric that `engine.metrics` does not. `origin`: of the engine."""
    if "scale" in engine and not queue_metric(engine):
        yield make_diagnostic("E278", origin.at("scale", "metric"), metric=engine["scale"]["metric"])


def _queue_trigger(engine: Engine) -> Body:
    """The preset's own trigger: its queue metric, with a behavior that fits the engine's start-up time; empty where
    nothing could read it.
    """
    name, scale = queue_metric(engine.spec), engine.spec["scale"]
    if not name or "path" not in engine.spec["metrics"]:
        return {}
    target = {"type": "AverageValue", "averageValue": scale["target"]}
    metric = {"type": "Pods", "pods": {"metric": {"name": monitoring.adapter_metric_name(name)}, "target": target}}
    return {"metrics": [metric], "behavior": scale.get("behavior")}


def _missing_trigger(context: RunContext, app: App, engine: Engine) -> Iterator[Diagnostic]:
    """An error about why there is nothing to scale on, and so no autoscaler."""
    origin, name = app.origin("spec", "elasticConfig", key=True), engine.runtime.name
    engine_origin = engine.origin.at("engine")
    if not context.metrics_collected:
        uses_keda = context.inputs.config.get("autoscaling", "autoscaler") == "keda"
        source = "prometheus" if uses_keda else "prometheusAdapter"
        yield make_diagnostic("E275", origin, backend=name, source=source)
    elif "scale" not in engine.spec:
        yield make_diagnostic("E276", origin, backend=name)
    elif not queue_metric(engine.spec):
        yield from unknown_metric(engine.spec, engine_origin)
    else:
        yield make_diagnostic("E279", engine_origin.at("metrics", key=True), backend=name)


def canonicalize_quantities(value: object, origin: Origin, diagnostics: Collector) -> Any:
    """A metric whose target has canonical quantities."""
    if isinstance(value, dict):
        canonical = {}
        for key, item in value.items():
            if item is None:
                continue
            if key in ("value", "averageValue") and not isinstance(item, (dict, list)):
                try:
                    canonical[key] = quantity.canonical(item)
                except ValueError:
                    diagnostics.add("E305", origin, value=item, hint=quantity.hint(item))
            else:
                canonical[key] = canonicalize_quantities(item, origin, diagnostics)
        return canonical
    if isinstance(value, list):
        return [canonicalize_quantities(item, origin, diagnostics) for item in value]
    return value
