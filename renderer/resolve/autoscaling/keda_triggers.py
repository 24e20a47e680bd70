"""What KEDA scales on: triggers in the place of an HPA's metrics (docs/autoscaling.md#keda)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from renderer.api import App, ConfigPart, RenderConfig
from renderer.diagnostics import Collector, Origin
from renderer.kubernetes import quantity, wellknown
from renderer.kubernetes.json_values import map_at, text_at
from renderer.kubernetes.wellknown import PORT
from renderer.plan import Body, Cooldown, HeldName, Interceptor, KedaTrigger, PickerMonitorNeed, Scaler
from renderer.resolve import monitoring
from renderer.resolve.context import RunContext
from renderer.resolve.engine.backend_runtime import Engine
from renderer.resolve.gateway import task_routes
from renderer.resolve.gateway.settings import GatewaySettings, gateway_settings
from renderer.text import escapes

if TYPE_CHECKING:
    from renderer.input_types import FlowControlSpec

_AUTOSCALING = "autoscaling"
PROMETHEUS = (_AUTOSCALING, "keda", "prometheus")
_INTERCEPTOR = (_AUTOSCALING, "keda", "interceptor")
_COOLDOWN, _USUAL_COOLDOWN = (_AUTOSCALING, "keda", "cooldown"), 300  # seconds
_SCALER, _SCALER_PORT = "keda-add-ons-http-external-scaler", 9090
_CONCURRENCY = 16
_PUSH = "external-push"  # the type of the trigger that asks the interceptor
_ZERO_HINT = (
    "write 1; or {keda}let the picker of a pool wake it (spec.gateway.mode: pool), or in backend mode the interceptor "
    "that autoscaling.keda.interceptor of RenderConfig names"
)
_SET_KEDA = "set autoscaling.autoscaler: keda in RenderConfig, and "
_SCALED_METRICS = ("waiting", "running", "kvUsage")  # of `engine.metrics`: numbers that add up over replicas
_SHARE = "kvUsage"  # the one among them that is a share, and adds up over no ranks of one replica
_RESOURCES = ("cpu", "memory")  # names of triggers, and of what they measure
_QUEUE_MARGIN = 30  # seconds that a picker holds requests beyond the start of an engine
_POD_ENDS = {  # how names of pods end, by the kind of workload
    wellknown.LEADER_WORKER_SET: "[0-9]+",
    wellknown.DEPLOYMENT: "[0-9a-z]+-[0-9a-z]{5}",
}
_REVISIONS = "-[0-9]+-[0-9a-f]{8}-"  # between the names of a DisaggregatedSet and its role: slice and revision
_ALL_PODS = "[0-9]+(-[0-9]+)?"  # of a LeaderWorkerSet, workers too


def is_chosen(config: RenderConfig) -> bool:
    """Whether elastic Playgrounds get ScaledObjects of KEDA."""
    return bool(config.get(_AUTOSCALING, "autoscaler") == "keda")


def wakes_by(context: RunContext, app: App, settings: GatewaySettings, diagnostics: Collector) -> str:
    """What wakes an app that may have no replica: `picker` or `interceptor`; '' where it always has one, and, with an
    error, where nothing would wake it.
    """
    if (app.spec.get("elasticConfig") or {}).get("minReplicas") != 0:
        return ""
    origin, config = app.origin("spec", "elasticConfig", "minReplicas"), context.inputs.config
    if is_chosen(config):
        mode = task_routes.app_mode(context.inputs, app, settings)
        if mode == "pool" and _flow_control(context, app, settings):
            return "picker"
        if mode == "backend" and config.get(*_INTERCEPTOR):
            if app.flavor:
                diagnostics.add("E354", origin)
            return "interceptor"
    diagnostics.add("E272", origin, value=0, hint=_ZERO_HINT.format(keda="" if is_chosen(config) else _SET_KEDA))
    return ""


def interceptor(context: RunContext, app: App, models: Sequence[str], scaler: Scaler) -> Interceptor:
    """The interceptor before an app. `models`: its own public names, beside which those of the ModelRoutes and
    InferenceModels over it lead there.
    """
    spec = context.inputs.config.get(*_INTERCEPTOR)
    settings = gateway_settings(context, app.namespace)
    routes = context.traffic.get((app.namespace, app.label), ()) if context.traffic else ()
    return Interceptor(
        host=f"{spec['service']}.{spec['namespace']}.svc.{settings.get('clusterDomain')}",
        port=spec.get("port", PORT),
        models=tuple(dict.fromkeys([*models, *(str(item.spec["modelName"]) for item in routes)])),
        seconds=scaler.wake_seconds,
        concurrency=spec.get("concurrency", _CONCURRENCY),
    )


def interceptor_needs(app: App, interceptor_plan: Interceptor) -> tuple[HeldName, ...]:
    """The claims of the public names by which the interceptor knows requests: one workload of the cluster for each."""
    return tuple(HeldName(model, f"{app.namespace}/{app.label}") for model in interceptor_plan.models)


class ElasticApp(Struct, frozen=True):
    """An app whose replicas KEDA scales."""

    context: RunContext
    app: App
    engine: Engine
    settings: GatewaySettings
    wakes_by: str  # picker or interceptor, '' where it always has a replica
    start_seconds: int  # that its engine may take to start
    ranks: int  # data parallel, of a replica
    metric_pods: int  # of a replica that have metrics: all, or its leader alone


def with_triggers(scaler: Scaler, elastic: ElasticApp, diagnostics: Collector) -> Scaler:
    """The autoscaler with its triggers: queries for the metrics that an HPA would read, or in place of the preset's own
    for those of the pool's picker, or what the interceptor counts. What wakes it is beside triggers of the user too. A
    role that is never away is scaled on its own engines, since a picker counts requests of both.
    """
    app, wakes_by, run_config = elastic.app, elastic.wakes_by, elastic.context.inputs.config
    if wakes_by:
        cooldown = Cooldown(run_config.get(*_COOLDOWN, default=_USUAL_COOLDOWN), run_config.origin(*_COOLDOWN))
        scaler = replace(scaler, wake_seconds=max(1, elastic.start_seconds), cooldown=cooldown)
    of_preset = bool(scaler.layers) and scaler.layers[-1].of_engine
    of_pool = of_preset and (not app.role or bool(wakes_by))  # the engines of each role have a queue of their own
    if of_preset and wakes_by == "interceptor":
        scaler = replace(scaler, metrics=())
    scaling_triggers: list[KedaTrigger] = []
    if (of_pool or wakes_by == "picker") and (flow := _flow_control(elastic.context, app, elastic.settings)):
        scaling_triggers += _prometheus_triggers(run_config, app, _picker_queries(app, *flow), diagnostics)
        scaler = replace(scaler, picker_queue_seconds=elastic.start_seconds + _QUEUE_MARGIN)
        scaler = replace(scaler, metrics=()) if of_pool else scaler
    if wakes_by == "interceptor":
        scaling_triggers.append(_interceptor_trigger(run_config, app))
    scaling_triggers += _engine_triggers(elastic, scaler, diagnostics)
    return replace(scaler, triggers=tuple(scaling_triggers))


def _interceptor_trigger(config: RenderConfig, app: App) -> KedaTrigger:
    """The trigger on the requests that the interceptor has."""
    spec = config.get(*_INTERCEPTOR)
    address = f"{spec.get('scaler', _SCALER)}.{spec['namespace']}:{_SCALER_PORT}"
    metadata = {"scalerAddress": address, "interceptorRoute": app.name}
    body = {"type": _PUSH, "metricType": "AverageValue", "metadata": metadata}
    return KedaTrigger(body, config.origin(*_INTERCEPTOR))


def picker_monitor_needs(namespace: str, scaler: Scaler | None) -> tuple[PickerMonitorNeed, ...]:
    """The ServiceMonitor of the namespace's pickers, where an autoscaler reads one of them."""
    return (PickerMonitorNeed(namespace),) if scaler and scaler.picker_queue_seconds else ()


def _flow_control(context: RunContext, app: App, settings: GatewaySettings) -> tuple[FlowControlSpec, Origin] | None:
    """How the picker of the app's pool counts requests, and where that is said; None where there is no pool, or its
    picker cannot.
    """
    if task_routes.app_mode(context.inputs, app, settings) != "pool":
        return None
    document = context.inputs.pickers.get(str(settings.get("picker")))
    spec: FlowControlSpec | None = document.value["spec"].get("flowControl") if document else None
    return (spec, document.origin("spec", "flowControl")) if document and spec else None


class _Query(Struct, frozen=True):
    """A query to Prometheus."""

    name: str  # of the trigger, '' for none
    text: str
    target: str  # of what it returns, for each replica
    origin: Origin  # of metric and target


def _picker_queries(app: App, spec: FlowControlSpec, origin: Origin) -> Iterator[_Query]:
    """Those of a picker's metrics. A picker that nobody has asked yet has no series for them: then the query is 0 as
    long as the picker is read, and nothing when it is not.
    """
    namespace = f"namespace={escapes.promql_string(app.namespace)}"
    labels = namespace, f"service={escapes.promql_string(app.label + wellknown.PICKER)}"
    for i, entry in enumerate(spec["scale"]):
        metric, up = escapes.promql_selector(entry["metric"], *labels), escapes.promql_selector("up", *labels)
        query = f"sum({metric}) or 0 * sum({up} == 1)"
        yield _Query(entry["name"], query, entry["target"], origin.at("scale", i))


def _query(elastic: ElasticApp, metric: str, *, is_share: bool) -> str:
    """The sum of a metric over replicas; of a share the mean of each replica's ranks."""
    app = elastic.app
    ends = _POD_ENDS[app.workload_kind] if elastic.metric_pods == 1 else _ALL_PODS
    name = escapes.regex_literal(app.label if app.role_scaler else app.name)
    name += f"{_REVISIONS}{app.role}" if app.role_scaler else ""
    pods = f"pod=~{escapes.promql_string(f'{name}-{ends}')}"
    series = escapes.promql_selector(metric, f"namespace={escapes.promql_string(app.namespace)}", pods)
    if not is_share or elastic.ranks == 1:
        return f"sum({series})"
    return f"sum(avg by (pod) ({series}))" + (f" / {elastic.metric_pods}" if elastic.metric_pods > 1 else "")


def _engine_triggers(elastic: ElasticApp, scaler: Scaler, diagnostics: Collector) -> Iterator[KedaTrigger]:
    """The triggers for the metrics that an HPA would have."""
    config, app, chosen = elastic.context.inputs.config, elastic.app, scaler.layers[-1] if scaler.layers else None
    origin = chosen.origin if chosen else app.origin("spec", "elasticConfig")
    metrics: Mapping[str, object] = elastic.engine.spec.get("metrics") or {}
    names = {str(metrics[key]) for key in _SCALED_METRICS if metrics.get(key)}
    series = {name: name for name in names} | {monitoring.adapter_metric_name(name): name for name in names}
    for i, metric in enumerate(scaler.metrics):
        kind, metric_origin = text_at(metric, "type"), origin.at("metrics", i)
        if kind in ("Resource", "ContainerResource") and (trigger := _resource_trigger(metric, kind)):
            yield KedaTrigger(trigger, metric_origin)
            continue
        name = text_at(metric, "pods", "metric", "name")
        if kind != "Pods" or name not in series:
            words = {"name": _metric_name(metric, kind), "kind": kind, "why": ""}
            hint = f"scale on one of {', '.join([*sorted(names), *_RESOURCES])}"
            diagnostics.add("E353", metric_origin, **words, hint=hint)
            continue
        if map_at(metric, "pods", "metric", "selector"):
            words = {"name": name, "kind": kind, "why": " with a selector", "hint": "leave selector out"}
            diagnostics.add("E353", metric_origin.at("pods", "metric", "selector", key=True), **words)
            continue
        target = _decimal(map_at(metric, "pods", "target").get("averageValue", ""))
        query = _query(elastic, series[name], is_share=series[name] == metrics.get(_SHARE))
        scale_origin = chosen.origin if chosen and chosen.of_engine else metric_origin
        yield from _prometheus_triggers(config, app, [_Query("", query, target, scale_origin)], diagnostics)


def _metric_name(metric: Body, kind: str) -> str:
    """The name of a metric, of whatever kind."""
    source = kind[:1].lower() + kind[1:]
    return text_at(metric, source, "metric", "name") or text_at(metric, source, "name") or "?"


def _resource_trigger(metric: Body, kind: str) -> Body | None:
    """The trigger for a Resource or ContainerResource metric; None for another resource than cpu and memory."""
    source = map_at(metric, kind[:1].lower() + kind[1:])
    target = map_at(source, "target")
    if source.get("name") not in _RESOURCES:
        return None
    metadata = {"value": str(target.get("averageUtilization", target.get("averageValue", "")))}
    if "container" in source:
        metadata["containerName"] = text_at(source, "container")
    return {"type": source["name"], "metricType": target.get("type", ""), "metadata": metadata}


def _prometheus_triggers(
    config: RenderConfig, app: App, queries: Iterable[_Query], diagnostics: Collector
) -> Iterator[KedaTrigger]:
    """The triggers of queries; an error where no Prometheus is named."""
    prometheus = config.get(*PROMETHEUS)
    if not prometheus:
        diagnostics.add("E351", app.origin("spec", "elasticConfig", key=True))
        return
    for query in queries:
        metadata = {
            "serverAddress": prometheus["serverAddress"],
            "query": query.text,
            "threshold": query.target,
            # A query without an answer is a failure, and no zero, which would scale down what runs.
            "ignoreNullValues": "false",
        }
        trigger: dict[str, object] = {"type": "prometheus", **({"name": query.name} if query.name else {})}
        trigger |= {"metricType": "AverageValue", "metadata": metadata}
        if modes := prometheus.get("authModes"):
            metadata["authModes"] = ",".join(modes)
        if reference := prometheus.get("authenticationRef"):
            trigger["authenticationRef"] = dict(reference)
        yield KedaTrigger(trigger, query.origin, ConfigPart(config, PROMETHEUS))


def _decimal(value: object) -> str:
    """A quantity in the decimal digits that KEDA reads, such as 0.5 for 500m; a broken one as it stands, which is
    reported elsewhere.
    """
    try:
        nanos = quantity.nanos(value)
    except ValueError:
        return str(value)
    whole, rest = divmod(nanos, 10**9)
    return f"{whole}.{rest:09}".rstrip("0").rstrip(".")
