"""The plan of a Service: hand-written pods, and what the models need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from renderer.api import App
from renderer.diagnostics import Collector, Origin, Path, Stop, has_errors
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import map_at, text_at
from renderer.kubernetes.wellknown import PORT, RUNNER
from renderer.plan import Plan, Pod, Port, Rollout
from renderer.resolve import claims, disruptions, monitoring, target_versions, tasks
from renderer.resolve.apps import workload_settings
from renderer.resolve.autoscaling import foreign_scalers
from renderer.resolve.context import RunContext
from renderer.resolve.gateway import routing, task_routes
from renderer.resolve.gateway.settings import gateway_settings
from renderer.resolve.pod import pod_origins
from renderer.resolve.pod.needs import device_template
from renderer.resolve.rules import run_rules_or_stop
from renderer.resolve.workload import field_origins
from renderer.resolve.workload.claimed import AppBase, resolve_base
from renderer.resolve.workload.handwritten_pod import ServicePods, TemplatePod, service_pod
from renderer.resolve.workload.running_service import running_service
from renderer.resolve.workload.written_app import WrittenService

# Fields of LeaderWorkerSet under its own names, which are handed on.
_SET_FIELDS = ("networkConfig", "groupIdentity", "groupReplacementPolicy", "scheduling")
_TEMPLATE_FIELDS = ("maxGroupRestarts", "persistentVolumeClaimRetentionPolicy")
_CLAIMS: Literal["volumeClaimTemplates"] = "volumeClaimTemplates"
_POLICY = "RecreateGroupOnPodRestart"


def plan_service(context: RunContext, app: App, diagnostics: Collector) -> Plan:
    """The plan of a Service or of one of its variants. Raises Stop when a model is not known or a template invalid."""
    written = run_rules_or_stop(WrittenService(context, app), diagnostics)
    base = run_rules_or_stop(resolve_base(context, app, diagnostics), diagnostics)
    leader = None
    if written.template.get("leaderTemplate") is not None:
        leader = run_rules_or_stop(service_pod(written, base, "leaderTemplate", diagnostics), diagnostics)
    worker = run_rules_or_stop(service_pod(written, base, "workerTemplate", diagnostics), diagnostics)
    for template in filter(None, (leader, worker)):
        if running := running_service(template, written.size):
            run_rules_or_stop(running.line, diagnostics)
            run_rules_or_stop(running, diagnostics)
    if has_errors(diagnostics.problems):
        raise Stop
    claim_templates = workload_settings.claim_templates(
        written.template.get(_CLAIMS) or (),
        written.origin.at(_CLAIMS),
        diagnostics,
        generated=base.pod_needs.claim_templates,
    )
    foreign = foreign_scalers.foreign_scaler(context, app)
    return _plan(run_rules_or_stop(ServicePods(written, base, leader, worker, claim_templates, foreign), diagnostics))


def _plan(service: ServicePods) -> Plan:
    written, base, app, context = service.written, service.base, service.app, service.written.context
    template, spec = written.template, app.spec
    leader, worker = service.leader.pod if service.leader else None, service.worker.pod
    policy = template.get("restartPolicy", _POLICY)
    settings = gateway_settings(context, app.namespace)
    public_name = claims.public_name(base.claim.main, app)
    monitor_needs = monitoring.monitor_needs(app.namespace, leader or worker) if context.metrics_collected else ()
    return Plan(
        name=app.name,
        app=app.label,
        namespace=app.namespace,
        file=app.file,
        labels=base.labels,
        annotations=_annotations(base),
        replicas=None if service.foreign else written.count,
        scaler=service.foreign,
        size=written.size,
        # A leader that waits for its workers would never get ready before they start
        # (docs/deviations.md#bugs-of-the-operator, 33).
        startup_policy=spec.get("startupPolicy") or ("LeaderReady" if written.size == 1 else "LeaderCreated"),
        restart_policy="None" if policy == "Default" else policy,
        rollout=Rollout.read(
            {**context.rollout.body(), **map_at(spec, "rolloutStrategy", "rollingUpdateConfiguration")}
        ),
        leader=leader,
        worker=worker,
        port=_runner_port(leader or worker),
        model=base.claim.main.name,
        public_name=public_name,
        name_in_engine=public_name,  # which name its containers serve is not known
        disruption_budget=context.disruption_budget
        if disruptions.needs_disruption_budget(written.size, service.foreign, written.count)
        else {},
        task=base.claim.task,
        task_origin=tasks.task_origin(base.claim.main),
        schema=task_routes.schema_of(context.inputs, app),
        host=routing.host(app, settings, task_routes.app_mode(context.inputs, app, settings)),
        shared=(*base.shared, *monitor_needs),
        devices=device_template(base.pod_needs),
        set_fields={key: value for key, value in spec.items() if key in _SET_FIELDS and value},
        template_fields={key: value for key, value in template.items() if key in _TEMPLATE_FIELDS},
        claim_templates=(*base.pod_needs.claim_templates, *service.claim_templates),
        sub_groups=target_versions.sub_group_policy(context.inputs.config, template.get("subGroupPolicy") or {}),
        origin=app.origin(),
        origins=lambda: _origins(service),
    )


def _annotations(base: AppBase) -> dict[str, object]:
    """The annotations of the workload."""
    values = {
        wellknown.MODEL_REVISION: base.weights[0].revision,
        wellknown.SERVED_MODEL_NAME: base.app.spec.get("servedModelName"),
    }
    return {key: value for key, value in values.items() if value}


def _runner_port(pod: Pod) -> Port:
    """The port that the runner listens on: the one called http, else its first; 8080 when it names none."""
    runner = next((container for container in pod.containers if container.name == RUNNER), pod.containers[0])
    port = next(
        (port_body for port_body in runner.ports if port_body.get("name") == "http"),
        runner.ports[0] if runner.ports else {},
    )
    number = port.get("containerPort")
    return Port(text_at(port, "name") or "http", number if isinstance(number, int) else PORT)


def _origins(service: ServicePods) -> Mapping[Path, Origin]:
    """What made each part of the plan."""
    app, base, at = service.app, service.base, service.written.origin
    in_pods = dict[Path, Origin]()
    for pod in (service.leader, service.worker):
        if pod:
            in_pods |= {("explain", pod.key, *path): origin for path, origin in _pod_origins(pod).items()}
    return {
        ("size",): at.at("size"),
        **{("set_fields", key): app.origin("spec", key) for key in ("startupPolicy", *_SET_FIELDS)},
        **{("set_fields", "leaderWorkerTemplate", key): at.at(key) for key in (*_TEMPLATE_FIELDS, _CLAIMS)},
        ("rollout",): app.origin("spec", "rolloutStrategy", "rollingUpdateConfiguration"),
        ("sub_groups",): at.at("subGroupPolicy"),
        ("leader",): at.at("leaderTemplate"),
        ("worker",): at.at("workerTemplate"),
        ("explain", "restartPolicy"): at.at("restartPolicy"),
        **field_origins.claim_origins(base),
        **in_pods,
    }


def _pod_origins(pod: TemplatePod) -> Mapping[Path, Origin]:
    """What the models, the flavor and RenderConfig add to a pod, by path in its template."""
    base, template = pod.base, pod.template
    tolerations = (template.get("spec") or {}).get("tolerations") or ()
    env, known = pod_origins.runner_origins(base.pod_needs, template, base.flavor, pod.origin)
    return {
        **known,
        **{path[1:]: origin for path, origin in field_origins.loader_origins(base, env)},
        **dict(pod_origins.added_origins(base.pod_needs, template, tolerations)),
    }
