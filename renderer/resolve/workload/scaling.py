"""How many replicas of a Playground's pods run, and what sets their number."""

from __future__ import annotations

from msgspec import Struct

from renderer.diagnostics import Collector
from renderer.plan import Interceptor, Pod, Scaler
from renderer.resolve import monitoring, names
from renderer.resolve.autoscaling import foreign_scalers, keda, triggers
from renderer.resolve.gateway.settings import gateway_settings
from renderer.resolve.workload import host_groups
from renderer.resolve.workload.engine_run import EngineRun
from renderer.resolve.workload.planned_pod import PlannedPod


class PlannedScaling(Struct, frozen=True):
    """How many replicas of a pod run. `worker`: of the pods beside a leader, None where all are alike; `pod`: with what
    those that collect metrics look for.
    """

    planned: PlannedPod
    pod: Pod
    worker: Pod | None
    replicas: int | None
    scaler: Scaler | None  # that is rendered
    foreign: Scaler | None  # of somebody else
    interceptor: Interceptor | None

    @property
    def bounds(self) -> Scaler | None:
        """The autoscaler that owns the number of replicas; None without one."""
        return self.foreign or self.scaler

    @property
    def all_serve(self) -> bool:
        """Whether every pod of a replica of several answers requests."""
        return _all_serve(self.planned.run)


def plan_scaling(planned: PlannedPod, replicas: int | None, diagnostics: Collector) -> PlannedScaling:
    """The autoscaler, and the pods of a replica."""
    run, app, context, pod = planned.run, planned.app, planned.run.base.context, planned.pod
    settings, all_serve = gateway_settings(context, app.namespace), _all_serve(run)
    worker = None
    if run.multi_host and not all_serve:
        worker = host_groups.worker_pod(pod, run.engine, run.multi_host, run.words)
    if context.metrics_collected:
        pod = monitoring.with_metrics_path(pod, run.engine, all_serve=all_serve)
    wakes_by = keda.wakes_by(context, app, settings, diagnostics)
    scaler = triggers.plan_scaler(
        context, app, run.engine, run.config, diagnostics, has_wake_trigger=wakes_by == "interceptor"
    )
    if scaler and keda.is_chosen(context.inputs.config):
        scaler = keda.with_triggers(
            scaler,
            run.engine,
            run.config,
            context=context,
            app=app,
            pod=pod,
            settings=settings,
            wakes_by=wakes_by,
            parallelism=run.size.parallelism,
            all_serve=all_serve,
            diagnostics=diagnostics,
        )
    interceptor = None
    if scaler and wakes_by == "interceptor":
        public_names = [run.served_name, *(adapter.name for adapter in run.adapters)]
        interceptor = keda.interceptor(context, app, public_names, scaler)
    foreign = foreign_scalers.foreign_scaler(context, app, diagnostics)
    scaling = PlannedScaling(planned, pod, worker, replicas, scaler, foreign, interceptor)
    monitoring.validate_metrics(run.engine, app, planned.command.form.names, pod, scaler, diagnostics)
    if run.size.parallelism.hosts > 1:
        groups = host_groups.most_groups(app, scaling.bounds.max_replicas if scaling.bounds else replicas or 1)
        names.validate_group_names(app, groups, diagnostics)
        host_groups.validate_worker_sets(context, app, groups, diagnostics)
    return scaling


def _all_serve(run: EngineRun) -> bool:
    """Whether every pod of a replica of several answers requests."""
    return run.multi_host is not None and run.multi_host.all_serve
