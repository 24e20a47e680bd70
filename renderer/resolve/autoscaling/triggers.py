"""Replicas, triggers and autoscalers of workloads (docs/design/contract.md#scale-trigger)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from renderer import template
from renderer.api import App
from renderer.diagnostics import Collector, Diagnostic, Origin, make_diagnostic
from renderer.kubernetes import quantity
from renderer.plan import Body, Scaler
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


def find_trigger(
    context: RunContext, app: App, engine: Engine, config: RecommendedConfig
) -> tuple[Body, Origin] | None:
    """The trigger and its origin: that of the Playground, else of its recommended config, else the preset's queue
    metric; None without one.
    """
    app_trigger = (app.spec.get("elasticConfig") or {}).get("scaleTrigger")
    if app_trigger is not None:
        origin = app.origin("spec", "elasticConfig", "scaleTrigger", "hpa")
        return (app_trigger["hpa"], origin) if "hpa" in app_trigger else None
    recommended = config.spec.get("scaleTrigger")
    if recommended is not None and recommended.get("hpa") is not None:
        return recommended["hpa"], config.origin.at("scaleTrigger", "hpa")
    if context.metrics_collected and (queue := _queue_trigger(engine)) is not None:
        return queue, engine.origin.at("engine", "scale")
    return None


def trigger_origins(engine: Engine, config: RecommendedConfig, chosen: tuple[Body, Origin]) -> Iterator[Origin]:
    """The origins of all triggers that are set, the winning one last. `chosen`: what find_trigger() returned."""
    origins = [engine.origin.at("engine", "scale")] if "scale" in engine.spec else []
    origins += [config.origin.at("scaleTrigger", "hpa")] if (config.spec.get("scaleTrigger") or {}).get("hpa") else []
    yield from (origin for origin in origins if origin != chosen[1])
    yield chosen[1]


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
    chosen = find_trigger(context, app, engine, config)
    if chosen is None and has_wake_trigger and "scaleTrigger" not in elastic:
        return Scaler(minimum, maximum, ())
    if chosen is None:
        if "scaleTrigger" not in elastic:  # rules/scaling.py reports it
            diagnostics.problems += _missing_trigger(context, app, engine)
        return None
    spec, origin = chosen
    work = partial(_metrics_and_behavior, spec, origin)
    metrics_and_behavior = cached(context.scaling, cache_key(spec), work, diagnostics)
    return Scaler(minimum, maximum, *metrics_and_behavior)


def _metrics_and_behavior(
    spec: Mapping[str, Any], origin: Origin, diagnostics: Collector
) -> tuple[tuple[Body, ...], Body]:
    """The metrics and the behavior of a trigger, with canonical quantities."""
    metrics = spec.get("metrics") or []
    if not metrics:
        diagnostics.add("W203", origin)
    canonical = [template.share_maps(canonicalize_quantities(metric, origin, diagnostics)) for metric in metrics]
    return tuple(canonical) or (_CPU,), template.share_maps(spec.get("behavior") or {})


def queue_metric(engine: EngineSpec) -> str:
    """The metric that a `spec.engine` scales on, by its name in the engine; '' where none is known."""
    metrics: Mapping[str, object] = engine.get("metrics") or {}
    return str(metrics.get((engine.get("scale") or {}).get("metric", ""), ""))


def unknown_metric(engine: EngineSpec, origin: Origin) -> Iterator[Diagnostic]:
    """An error when `engine.scale` names a metric that `engine.metrics` does not. `origin`: of the engine."""
    if "scale" in engine and not queue_metric(engine):
        yield make_diagnostic("E278", origin.at("scale", "metric"), metric=engine["scale"]["metric"])


def _queue_trigger(engine: Engine) -> Body | None:
    """The preset's own trigger: its queue metric, with a behavior that fits the engine's start-up time; None without
    one, or where nothing could read it.
    """
    name, scale = queue_metric(engine.spec), engine.spec.get("scale") or {}
    if not name or "path" not in engine.spec["metrics"]:
        return None
    target = {"type": "AverageValue", "averageValue": scale["target"]}
    metric = {"type": "Pods", "pods": {"metric": {"name": monitoring.adapter_metric_name(name)}, "target": target}}
    return {"metrics": [metric], "behavior": scale.get("behavior")}


def _missing_trigger(context: RunContext, app: App, engine: Engine) -> Iterator[Diagnostic]:
    """An error about why there is nothing to scale on, and so no autoscaler."""
    origin, name = app.origin("spec", "elasticConfig", key=True), engine.runtime.name
    engine_origin = engine.origin.at("engine")
    if not context.metrics_collected:
        yield make_diagnostic("E275", origin, backend=name)
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
