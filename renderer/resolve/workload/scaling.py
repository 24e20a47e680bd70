"""How many replicas of a Playground's pods run, and what sets their number."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from renderer.api import App
from renderer.diagnostics import Collector
from renderer.kubernetes.json_values import maps_at
from renderer.plan import Interceptor, Pod, Scaler
from renderer.resolve import monitoring
from renderer.resolve.autoscaling import foreign_scalers, keda_triggers, triggers
from renderer.resolve.engine.startup_probe import startup_seconds
from renderer.resolve.gateway.settings import gateway_settings
from renderer.resolve.kube import api_defaults
from renderer.resolve.layers import merge_entries
from renderer.resolve.workload import host_groups
from renderer.resolve.workload.engine_run import EngineRun
from renderer.resolve.workload.planned_pod import PlannedPod


class PlannedScaling(Struct, frozen=True):
    """How many replicas of a pod run."""

    app: App
    run: EngineRun  # how the engine runs
    planned: PlannedPod
    pod: Pod  # with what those that collect metrics look for
    worker: Pod | None  # of the pods beside a leader, None where all are alike
    replicas: int | None  # None where an autoscaler sets them
    foreign: Scaler | None  # of somebody else
    scaler: Scaler | None = None  # that is rendered
    interceptor: Interceptor | None = None

    @property
    def bounds(self) -> Scaler | None:
        """The autoscaler that owns the number of replicas; None without one."""
        return self.foreign or self.scaler

    @property
    def most_groups(self) -> int:
        """How many groups of several pods there may be at once."""
        return host_groups.most_groups(self.app, self.bounds.max_replicas if self.bounds else self.replicas or 1)


def plan_scaling(planned: PlannedPod, diagnostics: Collector) -> PlannedScaling:
    """The autoscaler, and the pods of a replica."""
    run, app, context, pod = planned.run, planned.app, planned.run.base.context, planned.pod
    worker = None
    if run.multi_host and not run.all_serve:
        worker = host_groups.worker_pod(pod, run.engine, run.multi_host, run.words)
        if "workload" in app.spec:
            pod = _with_own_env(pod, app, "leaderEnvs", diagnostics)
            worker = _with_own_env(worker, app, "workerEnvs", diagnostics)
    if context.metrics_collected and not run.mains:  # each model has metrics of its own
        pod = monitoring.with_metrics_path(pod, run.engine, all_serve=run.all_serve)
    unscaled = PlannedScaling(
        app=app,
        run=run,
        planned=planned,
        pod=pod,
        worker=worker,
        replicas=triggers.fixed_replicas(app),
        foreign=foreign_scalers.foreign_scaler(context, app),
    )
    if "elasticConfig" not in app.spec:  # as with most
        return unscaled
    wakes_by = keda_triggers.wakes_by(context, app, gateway_settings(context, app.namespace), diagnostics)
    scaler = _plan_scaler(planned, wakes_by, diagnostics)
    interceptor = None
    if scaler and wakes_by == "interceptor":
        others = [*(main.name for main in run.mains[1:]), *(adapter.name for adapter in run.adapters)]
        public_names = [run.served_name, *others]
        interceptor = keda_triggers.interceptor(context, app, public_names, scaler)
    return replace(unscaled, scaler=scaler, interceptor=interceptor)


def _with_own_env(pod: Pod, app: App, key: str, diagnostics: Collector) -> Pod:
    """The pod whose runner has the variables of this key of `spec.workload`, over all others."""
    envs = maps_at(app.spec, "workload", key)
    if not envs:
        return pod
    runner, *others = pod.containers
    own_env = api_defaults.default_env(envs, app.origin("spec", "workload", key), diagnostics)
    return replace(pod, containers=(replace(runner, env=merge_entries([runner.env, own_env]).entries), *others))


def _plan_scaler(planned: PlannedPod, wakes_by: str, diagnostics: Collector) -> Scaler | None:
    """The autoscaler of an elastic app. `wakes_by`: what wakes it where it may have no replica."""
    run, app, context = planned.run, planned.app, planned.run.base.context
    has_wake_trigger, parallelism = wakes_by == "interceptor", run.size.parallelism
    scaler = triggers.plan_scaler(context, app, run.engine, run.config, diagnostics, has_wake_trigger=has_wake_trigger)
    if scaler is None or not keda_triggers.is_chosen(context.inputs.config):
        return scaler
    elastic = keda_triggers.ElasticApp(
        context=context,
        app=app,
        engine=run.engine,
        settings=gateway_settings(context, app.namespace),
        wakes_by=wakes_by,
        start_seconds=startup_seconds(planned.pod.containers[0].startup_probe),
        ranks=parallelism.data,
        metric_pods=parallelism.hosts if run.all_serve else 1,
    )
    return keda_triggers.with_triggers(scaler, elastic, diagnostics)
