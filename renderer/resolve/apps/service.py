"""The plan of a Service: hand-written pods, and what the models need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec.structs import replace

from renderer import wellknown
from renderer.api import App
from renderer.diagnostics import Collector, Origin, Path, Stop, has_errors
from renderer.json_values import maps_at, text_at
from renderer.plan import Plan, Pod, Port, Rollout
from renderer.resolve import monitoring, names, versioned_fields
from renderer.resolve.apps import workload_settings
from renderer.resolve.autoscaling import foreign_scalers
from renderer.resolve.context import RunContext
from renderer.resolve.engine.engine_command import EngineCommand, Word, read_engine_command
from renderer.resolve.gateway import routing
from renderer.resolve.gateway.settings import gateway_settings
from renderer.resolve.kube import api_defaults
from renderer.resolve.pod import pods
from renderer.resolve.rules import handwritten, judged
from renderer.resolve.workload import field_origins, host_groups
from renderer.resolve.workload.claimed import AppBase, resolve_base
from renderer.resolve.workload.written_pod import WrittenPod
from renderer.wellknown import PORT

# Fields of LeaderWorkerSet under its own names, which are handed on.
_SET_FIELDS = ("networkConfig", "groupIdentity", "groupReplacementPolicy", "scheduling")
_TEMPLATE_FIELDS = ("maxGroupRestarts", "persistentVolumeClaimRetentionPolicy")
_CLAIMS = "volumeClaimTemplates"
_POLICY = "RecreateGroupOnPodRestart"


def plan_service(context: RunContext, app: App, diagnostics: Collector) -> Plan:
    """The plan of a Service or of one of its variants. Raises Stop when a model is not known or a template invalid."""
    spec = app.spec
    template, origin = spec["workloadTemplate"], app.origin("spec", "workloadTemplate")
    size, count = template.get("size", 1), spec.get("replicas", 1)
    if size < 1:
        diagnostics.add("E285", origin.at("size"), value=size)
    if count < 0:
        diagnostics.add("E270", app.origin("spec", "replicas"), value=count)
    names.validate_app_names(app, size, count, diagnostics)
    if size > 1:
        host_groups.validate_worker_sets(context, app, count, diagnostics)
    base = judged(resolve_base(context, app, diagnostics), diagnostics)
    leader = None
    if template.get("leaderTemplate") is not None:
        leader = _plan_pod(context, app, base, "leaderTemplate", diagnostics)
    worker = _plan_pod(context, app, base, "workerTemplate", diagnostics, with_model_labels=leader is None)
    if has_errors(diagnostics.problems):
        raise Stop
    rollout = (spec.get("rolloutStrategy") or {}).get("rollingUpdateConfiguration") or {}
    policy, groups = template.get("restartPolicy", _POLICY), template.get("subGroupPolicy") or {}
    claim_templates = workload_settings.claim_templates(
        template.get("volumeClaimTemplates") or (), origin.at("volumeClaimTemplates"), diagnostics
    )
    values: Mapping[str, object] = spec
    template_values: Mapping[str, object] = template
    revision, served_name = base.weights[0].revision, spec.get("servedModelName")
    settings = gateway_settings(context, app.namespace)
    public_name = served_name or base.claim.main.spec.get("servedModelName") or base.claim.main.name
    scaler = foreign_scalers.foreign_scaler(context, app, diagnostics)
    monitor_needs = monitoring.monitor_needs(app.namespace, leader or worker) if context.metrics_collected else ()
    return Plan(
        name=app.name,
        app=app.label,
        namespace=app.namespace,
        file=app.file,
        labels=base.labels,
        annotations={
            **({wellknown.MODEL_REVISION: revision} if revision else {}),
            **({wellknown.SERVED_MODEL_NAME: served_name} if served_name else {}),
        },
        replicas=None if scaler else count,
        scaler=scaler,
        size=size,
        # A leader that waits for its workers would never get ready before they start
        # (docs/deviations.md#bugs-of-the-operator, 33).
        startup_policy=spec.get("startupPolicy") or ("LeaderReady" if size == 1 else "LeaderCreated"),
        restart_policy="None" if policy == "Default" else policy,
        rollout=_rollout(context, rollout),
        leader=leader,
        worker=worker,
        port=_runner_port(leader or worker),
        model=base.claim.main.name,
        public_name=public_name,
        name_in_engine=public_name,  # which name its containers serve is not known
        disruption_budget=host_groups.needs_disruption_budget(size, scaler, count),
        host=routing.host(app, settings, routing.mode(app, settings)),
        shared=(*base.shared, *monitor_needs),
        devices=pods.device_template(base.pod_needs),
        set_fields={key: values[key] for key in _SET_FIELDS if values.get(key)},
        template_fields={key: template_values[key] for key in _TEMPLATE_FIELDS if key in template_values},
        claim_templates=(*base.pod_needs.claim_templates, *claim_templates),
        sub_groups=versioned_fields.sub_group_policy(context.inputs.config, groups),
        origins=lambda: _origins(context, app, base),
    )


def _rollout(context: RunContext, settings: Mapping[str, Any]) -> Rollout:
    bounds = settings.get("maxUnavailable", 1), settings.get("maxSurge", 0)
    rollout = versioned_fields.rollout(context.inputs.config, *bounds)
    return replace(rollout, partition=settings["partition"]) if "partition" in settings else rollout


def _plan_pod(
    context: RunContext,
    app: App,
    base: AppBase,
    key: Literal["leaderTemplate", "workerTemplate"],
    diagnostics: Collector,
    *,
    with_model_labels: bool = True,
) -> Pod:
    """The pod of one template. `with_model_labels`: with the model's labels and annotation."""
    origin = app.origin("spec", "workloadTemplate", key)
    template = app.spec["workloadTemplate"][key]
    if not any(container.get("name") == pods.RUNNER for container in maps_at(template, "spec", "containers")):
        # Upstream's webhook requires a runner in the worker only, so a leader without one works there.
        code = "E286" if key == "workerTemplate" else "W208"
        diagnostics.add(code, origin.at("spec", "containers"), key=key)
    normalized = api_defaults.default_pod_template(template, origin, diagnostics)
    pod = pods.handwritten_pod(
        context.inputs.config, base.pod_needs, normalized, with_model_labels, diagnostics, origin
    )
    diagnostics.problems += pods.clashing_claim_templates(base.pod_needs, pod, origin.at("spec"))
    written = WrittenPod(pod, _engine_command(pod, origin), lambda path: origin.at(*path))
    diagnostics.problems += handwritten.validate_ports(written)
    diagnostics.problems += handwritten.validate_hooks(written)
    diagnostics.problems += handwritten.validate_model_paths(app, base, written)
    if with_model_labels:  # workers of a leader are not asked
        diagnostics.problems += handwritten.validate_served_name(context, app, base, written.command)
    return pod


def _engine_command(pod: Pod, origin: Origin) -> EngineCommand:
    """The command line of the runner. `origin`: of the pod's template."""
    for i, container in enumerate(pod.containers):
        if container.name == pods.RUNNER:
            at = origin.at("spec", "containers", i)
            command = [Word(text, at.at("command", j)) for j, text in enumerate(container.command)]
            args = [Word(text, at.at("args", j)) for j, text in enumerate(container.args)]
            return read_engine_command(command, args, container.image)
    return EngineCommand()


def _runner_port(pod: Pod) -> Port:
    """The port that the runner listens on: the one called http, else its first; 8080 when it names none."""
    runner = next((container for container in pod.containers if container.name == pods.RUNNER), pod.containers[0])
    port = next(
        (port_body for port_body in runner.ports if port_body.get("name") == "http"),
        runner.ports[0] if runner.ports else {},
    )
    number = port.get("containerPort")
    return Port(text_at(port, "name") or "http", number if isinstance(number, int) else PORT)


def _origins(context: RunContext, app: App, base: AppBase) -> Mapping[Path, Origin]:
    """What made each part of the plan."""
    at = app.origin("spec", "workloadTemplate")
    flavor, in_pods = base.pod_needs.placement.origins(base.claim.main), dict[Path, Origin]()
    for key in ("leaderTemplate", "workerTemplate"):
        if app.spec["workloadTemplate"].get(key) is None:
            continue
        template = api_defaults.default_pod_template(app.spec["workloadTemplate"][key], at.at(key), Collector())
        tolerations = (template.get("spec") or {}).get("tolerations") or ()
        env, known = pods.runner_origins(base.pod_needs, template, flavor, at.at(key))
        known |= {
            **dict(field_origins.loader_origins(base, env)),
            **dict(pods.origins(base.pod_needs, template, tolerations)),
        }
        in_pods |= {("explain", key, *path): origin for path, origin in known.items()}
    return {
        (): app.origin(),
        ("name",): app.origin("metadata", "name"),
        ("namespace",): app.origin("metadata", "namespace"),
        ("replicas",): app.origin("spec", "replicas"),
        ("size",): at.at("size"),
        **{("set_fields", key): app.origin("spec", key) for key in ("startupPolicy", *_SET_FIELDS)},
        **{("set_fields", "leaderWorkerTemplate", key): at.at(key) for key in (*_TEMPLATE_FIELDS, _CLAIMS)},
        ("rollout",): app.origin("spec", "rolloutStrategy", "rollingUpdateConfiguration"),
        ("sub_groups",): at.at("subGroupPolicy"),
        ("leader",): at.at("leaderTemplate"),
        ("worker",): at.at("workerTemplate"),
        ("explain", "restartPolicy"): at.at("restartPolicy"),
        **field_origins.claim_origins(app, base),
        **dict(field_origins.client_origins(app)),
        **dict(field_origins.device_origins(base)),
        **in_pods,
    }
