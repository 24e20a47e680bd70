"""Pool mode: an InferencePool over the pods of an app that answer requests, and a picker that sends each request to one
of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from renderer import wellknown
from renderer.api import App
from renderer.diagnostics import Collector, Origin, Path, quoted
from renderer.json_values import list_at
from renderer.plan import Body, Plan, Pod, PoolPlan, Role, RouteTarget
from renderer.resolve import versioned_fields
from renderer.resolve.context import RunContext, cache_key
from renderer.resolve.gateway import pickers
from renderer.resolve.gateway.pickers import find_picker
from renderer.resolve.gateway.settings import GatewaySettings
from renderer.wellknown import ENGINE_PORT, PORT
from renderer.yamlio import SharedMap

_METRICS_EFFECTS = {  # of variables and options that these keys of `engine.metrics` list
    "guardedBy": "puts its metrics behind a key, and the picker has none",
    "turnedOffBy": "turns its metrics off, by which the picker chooses",
}


def _mode_origin(app: App, gateway_settings: GatewaySettings) -> Origin:
    """The origin of the app's gateway mode."""
    return (
        app.origin("spec", "gateway", "mode")
        if "mode" in (app.spec.get("gateway") or {})
        else gateway_settings.at("mode")
    )


def add_pool(
    context: RunContext, app: App, gateway_settings: GatewaySettings, plans: Sequence[Plan], diagnostics: Collector
) -> list[Plan]:
    """The workload of an app, or those of its roles, with its pool and picker. Raises Stop where it has several
    workloads of one role, or where a picker cannot choose among its pods.
    """
    picker_preset = find_picker(context, pickers.picker_name(context.inputs, gateway_settings, diagnostics))
    if len(plans) > 1 and not plans[0].role:
        diagnostics.stop("E638", _mode_origin(app, gateway_settings), name=app.name)
    plan = plans[-1]
    if reason := _unfit_reason(plan):
        diagnostics.stop("E637", _mode_origin(app, gateway_settings), name=app.label, why=reason)
    pod = plan.leader or plan.worker
    runner = pod.containers[0]
    configured_names = [str(entry["name"]) for entry in runner.env] + [arg.partition("=")[0] for arg in runner.args]
    for key, effect in _METRICS_EFFECTS.items():
        names = list_at(plan.metrics, key)
        for name in dict.fromkeys([name for name in configured_names if name in names]):
            diagnostics.add("E639", _mode_origin(app, gateway_settings), app=app.name, name=name, what=effect)
    if plan.answering_port:
        diagnostics.add("W332", app.origin("spec", "gateway", "port"), path=plan.metrics["path"])
    if len(plan.pool_ports) > 1:
        backends = "" if plan.role else "; or set gateway.mode to backend, where they share a port"
        _validate_several_ports(context, gateway_settings, picker_preset, len(plan.pool_ports), backends, diagnostics)
    labelled_plans = [_with_pool_labels(picker_preset, role_plan) for role_plan in plans]
    for before, after in zip(plans, labelled_plans, strict=True):
        _validate_labels(before, after, diagnostics)
    if plan.role:
        labelled_plans[-1] = _with_sidecar(app, picker_preset, plan.role, labelled_plans[-1], diagnostics)
    if plan.service and plan.service.name == app.label + wellknown.PICKER:  # two of one name: see name_conflicts()
        labelled_plans[-1] = replace(labelled_plans[-1], service=None)
    return [*labelled_plans[:-1], replace(labelled_plans[-1], pool=_plan_pool(context, picker_preset, plan))]


def _with_pool_labels(picker_preset: pickers.Picker, plan: Plan) -> Plan:
    """The plan whose serving pods say what engine they have, and all of whose pods say what role."""
    pod = plan.leader or plan.worker
    plan = _with_serving_pod(plan, replace(pod, labels={**pod.labels, picker_preset.engine_label: plan.backend}))
    if not plan.role or not picker_preset.disaggregation:
        return plan
    role = {picker_preset.disaggregation.role_label: plan.role.name}
    leader = plan.leader and replace(plan.leader, labels={**plan.leader.labels, **role})
    return replace(plan, leader=leader, worker=replace(plan.worker, labels={**plan.worker.labels, **role}))


def _validate_labels(before: Plan, after: Plan, diagnostics: Collector) -> None:
    """An error for each label of pods that the pool needs with another value. `before`: the plan without the pool's."""
    labels, pool_labels = ((plan.leader or plan.worker).labels for plan in (before, after))
    for key in [key for key, value in labels.items() if pool_labels[key] != value]:
        if origin := before.origins().get(("template", "metadata", "labels", key)):
            diagnostics.add("E291", Origin(origin.source, origin.path, key=True), name=key)


def _with_serving_pod(plan: Plan, pod: Pod) -> Plan:
    return replace(plan, **{"leader" if plan.leader else "worker": pod})


def _with_sidecar(app: App, picker_preset: pickers.Picker, role: Role, plan: Plan, diagnostics: Collector) -> Plan:
    """The plan of the decoding workload with the container that answers for the engine: a native sidecar, which starts
    behind the loaders and ends after the engine, whose answers under way go through it.
    """
    roles, pod = picker_preset.disaggregation, plan.leader or plan.worker
    if roles is None:
        return plan  # unreachable: validate_picker() has reported it
    words = {"Port": PORT, "EnginePort": ENGINE_PORT, "Connector": role.connector, "RankPorts": len(plan.rank_ports)}
    sidecar = roles.sidecar(words)
    for group, containers in (("initContainers", pod.init_containers), ("containers", pod.containers)):
        for i, container in enumerate(containers):
            if container.name == sidecar.name:
                name_origin = plan.origins().get(("template", "spec", group, i, "name"))
                diagnostics.add("E386", name_origin or app.origin("spec", "disaggregation"), name=sidecar.name)
    origin = picker_preset.origin.at("disaggregation", "sidecar")
    rank_args = [origin.at("rankArgs", i) for i in range(len(sidecar.args) - roles.arg_count)]
    place: Path = ("template", "spec", "initContainers", len(pod.init_containers))
    plan_origins = plan.origins

    def origins() -> Mapping[Path, Origin]:
        return {
            **plan_origins(),
            place: origin,
            **{(*place, key): origin.at(key) for key in ("image", "args", "resources")},
            **{(*place, "args", roles.arg_count + i): arg for i, arg in enumerate(rank_args)},
            (*place, "securityContext"): origin.at("security"),
        }

    plan = replace(plan, origins=origins)
    return _with_serving_pod(plan, replace(pod, init_containers=(*pod.init_containers, sidecar)))


def validate_picker(
    context: RunContext, app: App, gateway_settings: GatewaySettings, mode: str, diagnostics: Collector
) -> None:
    """Raises Stop, with an error, where no picker sends the requests of this app to both of its roles."""
    if mode != "pool":
        diagnostics.stop("E375", app.origin("spec", "disaggregation", key=True), mode=mode)
    name = pickers.picker_name(context.inputs, gateway_settings, diagnostics)
    if find_picker(context, name).disaggregation is None:
        able = [
            other for other, document in context.inputs.pickers.items() if "disaggregation" in document.value["spec"]
        ]
        diagnostics.stop("E376", gateway_settings.at("picker"), name=name, app=app.name, able=quoted(able))


def _validate_several_ports(
    context: RunContext,
    gateway_settings: GatewaySettings,
    picker_preset: pickers.Picker,
    count: int,
    instead: str,
    diagnostics: Collector,
) -> None:
    """Errors where only the first of so many ports of a pod would ever get a request. `instead`: the end of the hints,
    what else an app may do that has no roles.
    """
    config = context.inputs.config
    if not versioned_fields.pools_have_several_ports(config):
        version = config.get("targets", "inferenceExtension")
        what = f"an InferencePool of version {version} has one port for all"
        hint = "write targets.inferenceExtension: '1.1' or above where every cluster has it" + instead
        diagnostics.add("E349", config.origin("targets", "inferenceExtension"), ranks=count, what=what, hint=hint)
    if not picker_preset.reads_all_ports:
        able = [
            name for name, document in context.inputs.pickers.items() if pickers.reads_all_ports(document.value["spec"])
        ]
        what = f"the picker '{picker_preset.name}' knows one of them"
        hint = f"pickers that know all: {quoted(able)}{instead}"
        diagnostics.add("E349", gateway_settings.at("picker"), ranks=count, what=what, hint=hint)


def _unfit_reason(plan: Plan) -> str:
    """Why a picker cannot choose among these pods, '' when it can."""
    if not plan.backend:
        return "nobody knows which metrics its pods have"
    if not (plan.metrics.get("waiting") and plan.metrics.get("running") and plan.metrics.get("path")):
        return f"no metric of the queue is known of '{plan.backend}'"
    if plan.name_in_engine != plan.public_name:
        return (
            f"'{plan.backend}' calls the model '{plan.name_in_engine}', and whether a request to a pool gets another "
            "name than its public one depends on the gateway's version"
        )
    return ""


def _plan_pool(context: RunContext, picker_preset: pickers.Picker, plan: Plan) -> PoolPlan:
    metrics = plan.metrics
    words = {
        "Pool": plan.shared_name,
        "Namespace": plan.namespace,
        "Engine": plan.backend,
        "MetricsPath": metrics["path"],
        "Waiting": metrics["waiting"],
        "Running": metrics["running"],
        "KVUsage": metrics.get("kvUsage", ""),
        # An engine without adapters has no such metric, and the picker would log that for each pod.
        "Adapters": metrics.get("adapters", "") if plan.adapters else "",
        "CacheInfo": metrics.get("cacheInfo", ""),
        "CacheBlockSize": metrics.get("cacheBlockSize", ""),
        "CacheBlocks": metrics.get("cacheBlocks", ""),
        "QueueSeconds": str(plan.scaler.picker_queue_seconds or "") if plan.scaler else "",
    }
    key = (
        picker_preset.name,
        plan.backend,
        cache_key(metrics, words["QueueSeconds"], bool(plan.role)),
        bool(plan.adapters),
    )
    if key not in context.picker_configs:
        context.picker_configs[key] = _config_and_annotations(
            picker_preset.config(words, bool(plan.role)), context.pod_defaults.annotations
        )
    config, annotations = context.picker_configs[key]
    labels = SharedMap({**plan.labels, wellknown.COMPONENT: wellknown.PICKER_COMPONENT})
    return PoolPlan(
        name=plan.shared_name + wellknown.PICKER,
        origin=picker_preset.origin,
        labels=labels,
        image=picker_preset.image,
        args=tuple(picker_preset.args(words)),
        config=config,
        watched_groups=picker_preset.watched_groups,
        resources=picker_preset.resources,
        pod_security=picker_preset.pod_security,
        security=picker_preset.security,
        pod_fields=picker_preset.pod_fields,
        pod_labels={**labels, **context.pod_defaults.labels} if context.pod_defaults.labels else labels,
        pod_annotations=annotations,
    )


def _config_and_annotations(config: str, annotations: Body) -> tuple[Body, Body]:
    """The data of a picker's ConfigMap, and the annotations of its pod. They hold the hash of the data, since a picker
    reads its configuration only when it starts.
    """
    import hashlib  # few runs need it

    mark = {wellknown.PICKER_CONFIG: hashlib.sha256(config.encode()).hexdigest()[:16]}
    return SharedMap({"config.yaml": config}), SharedMap({**mark, **annotations})


def pool_target(plan: Plan) -> RouteTarget:
    """The pool as a route backend."""
    return RouteTarget(plan.shared_name, 1, plan.public_name, pool=True)
