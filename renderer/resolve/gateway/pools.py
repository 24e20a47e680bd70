"""Pool mode: an InferencePool over the pods of an app that answer requests, and a picker that sends each request to one
of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from renderer.api import App
from renderer.diagnostics import Origin, Path
from renderer.kubernetes import wellknown
from renderer.kubernetes.wellknown import ENGINE_PORT, PORT
from renderer.plan import Body, Container, Plan, Pod, PoolPlan, RouteTarget, Steering
from renderer.resolve.context import RunContext, cache_key
from renderer.resolve.gateway.pickers import Picker, RolePicking
from renderer.resolve.gateway.settings import GatewaySettings
from renderer.resolve.pod.hardening import hardening_level, leave_ids
from renderer.yamlio import SharedMap


class PickedApp(Struct, frozen=True, eq=False):
    """An app whose requests a picker sends to its pods."""

    context: RunContext
    app: App
    settings: GatewaySettings
    picker: Picker
    plans: Sequence[Plan]  # its workload, or those of its roles, the one that answers requests last

    @property
    def answering(self) -> Plan:
        """The workload that answers requests."""
        return self.plans[-1]

    @property
    def level(self) -> str:
        """The level of hardening of its pods, and of its picker's."""
        return hardening_level(self.context, self.app)

    @property
    def mode_origin(self) -> Origin:
        """Where its gateway mode is said."""
        own = "mode" in (self.app.spec.get("gateway") or {})
        return self.app.origin("spec", "gateway", "mode") if own else self.settings.at("mode")


class LabelledPods(Struct, frozen=True, eq=False):
    """An app in a pool, with the labels by which the picker knows its pods."""

    of_app: PickedApp
    plans: Sequence[Plan]  # with the labels
    sidecar: Container | None  # that answers for the engine in pods of the role decode


class SteeredPool(Struct, frozen=True, eq=False):
    """An app with adapters in a pool, and what its picker is told of their names."""

    context: RunContext
    settings: GatewaySettings
    steering: Steering | None  # None where the engine knows them by their public names


def label_pods(of_app: PickedApp) -> LabelledPods:
    """The workloads whose serving pods say what engine they have, and all of whose pods say what role."""
    roles, answering = of_app.picker.disaggregation, of_app.answering
    sidecar = _role_sidecar(roles, answering) if roles and answering.role else None
    if sidecar:
        sidecar = replace(sidecar, security_context=leave_ids(sidecar.security_context, of_app.level))
    return LabelledPods(of_app, [_with_pool_labels(of_app.picker, plan) for plan in of_app.plans], sidecar)


def _with_pool_labels(picker: Picker, plan: Plan) -> Plan:
    pod = plan.leader or plan.worker
    plan = _with_serving_pod(plan, replace(pod, labels={**pod.labels, picker.engine_label: plan.backend}))
    if not plan.role or not picker.disaggregation:
        return plan
    role = {picker.disaggregation.role_label: plan.role.name}
    leader = plan.leader and replace(plan.leader, labels={**plan.leader.labels, **role})
    return replace(plan, leader=leader, worker=replace(plan.worker, labels={**plan.worker.labels, **role}))


def _with_serving_pod(plan: Plan, pod: Pod) -> Plan:
    return replace(plan, **{"leader" if plan.leader else "worker": pod})


def _role_sidecar(roles: RolePicking, plan: Plan) -> Container:
    """The container that answers for the engine of the decoding workload."""
    connector = plan.role.connector if plan.role else ""
    words = {"Port": PORT, "EnginePort": ENGINE_PORT, "Connector": connector, "RankPorts": len(plan.rank_ports)}
    return roles.sidecar(words)


def with_pool(labelled: LabelledPods) -> list[Plan]:
    """The workloads with their pool and picker."""
    of_app, (*others, plan) = labelled.of_app, labelled.plans
    if labelled.sidecar and of_app.picker.disaggregation:
        plan = _with_sidecar(of_app.picker, of_app.picker.disaggregation, labelled.sidecar, plan)
    if plan.service and plan.service.name == of_app.app.label + wellknown.PICKER:
        plan = replace(plan, service=None)  # two of one name: see rules/object_names.py
    return [*others, replace(plan, pool=_plan_pool(of_app))]


def _with_sidecar(picker: Picker, roles: RolePicking, sidecar: Container, plan: Plan) -> Plan:
    """The plan of the decoding workload with the container that answers for the engine: a native sidecar, which starts
    behind the loaders and ends after the engine, whose answers under way go through it.
    """
    pod = plan.leader or plan.worker
    origin = picker.origin.at("disaggregation", "sidecar")
    rank_args = [origin.at("rankArgs", i) for i in range(len(sidecar.args) - roles.arg_count)]
    place: Path = ("template", "spec", "initContainers", len(pod.init_containers))
    sidecar_origins: dict[Path, Origin] = {
        place: origin,
        **{(*place, key): origin.at(key) for key in ("image", "args", "resources")},
        **{(*place, "args", roles.arg_count + i): arg for i, arg in enumerate(rank_args)},
        (*place, "securityContext"): origin.at("security"),
    }
    plan = replace(plan, origins=partial(_with_origins, plan, sidecar_origins))
    return _with_serving_pod(plan, replace(pod, init_containers=(*pod.init_containers, sidecar)))


def _with_origins(plan: Plan, more: Mapping[Path, Origin]) -> Mapping[Path, Origin]:
    return {**plan.origins(), **more}


def _plan_pool(of_app: PickedApp) -> PoolPlan:
    context, picker, plan = of_app.context, of_app.picker, of_app.answering
    words = _picker_words(plan)
    config, annotations = _picker_config(context, picker, plan, words)
    labels = SharedMap({**plan.labels, wellknown.COMPONENT: wellknown.PICKER_COMPONENT})
    return PoolPlan(
        name=plan.shared_name + wellknown.PICKER,
        origin=picker.origin,
        labels=labels,
        image=picker.image,
        args=tuple(picker.args(words)),
        config=config,
        watched_groups=picker.watched_groups,
        resources=picker.resources,
        pod_security=picker.pod_security,
        security=leave_ids(picker.security, of_app.level),
        disruption_budget=context.disruption_budget,
        pod_fields=picker.pod_fields,
        pod_labels={**labels, **context.pod_defaults.labels} if context.pod_defaults.labels else labels,
        pod_annotations=annotations,
    )


def _picker_words(plan: Plan) -> Mapping[str, object]:
    """The words of a picker's templates."""
    metrics = plan.metrics
    return {
        "Pool": plan.shared_name,
        "Namespace": plan.namespace,
        "Engine": plan.backend,
        "MetricsPath": metrics["path"],
        "Waiting": metrics["waiting"],
        "Running": metrics["running"],
        "KVUsage": metrics.get("kvUsage", ""),
        # An engine without adapters has no such metric, and the picker would log that for each pod.
        "Adapters": metrics.get("adapters", "") if plan.named_models else "",
        "CacheInfo": metrics.get("cacheInfo", ""),
        "CacheBlockSize": metrics.get("cacheBlockSize", ""),
        "CacheBlocks": metrics.get("cacheBlocks", ""),
        "QueueSeconds": str(plan.scaler.picker_queue_seconds or "") if plan.scaler else "",
    }


def _picker_config(context: RunContext, picker: Picker, plan: Plan, words: Mapping[str, object]) -> tuple[Body, Body]:
    """The data of a picker's ConfigMap, and the annotations of its pod; cached."""
    has_roles = bool(plan.role)
    key = picker.name, plan.backend, cache_key(plan.metrics, words["QueueSeconds"], has_roles), bool(plan.named_models)
    if key not in context.picker_configs:
        annotations = context.pod_defaults.annotations
        context.picker_configs[key] = _config_and_annotations(picker.config(words, has_roles), annotations)
    return context.picker_configs[key]


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
