"""The plan of a Playground: the engine, its command line and environment, the pod, and the autoscaler."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from renderer.api import App
from renderer.diagnostics import Collector, Diagnostic, Origin, Stop
from renderer.fit.verdict import FitVerdict
from renderer.kubernetes import wellknown
from renderer.plan import Body, Plan, Port, Role, SharedNeed
from renderer.resolve import disruptions, monitoring, tasks
from renderer.resolve.autoscaling import keda_triggers
from renderer.resolve.chosen_backend import backend_of, backend_origin
from renderer.resolve.context import RunContext
from renderer.resolve.engine import adapters, backend_runtime, compilation, disaggregation, lora, ports
from renderer.resolve.engine.parallel_sizes import own_size_origin
from renderer.resolve.engine.startup_probe import load_seconds
from renderer.resolve.engine.template_words import ConstantWords
from renderer.resolve.gateway import drain, routing, task_routes
from renderer.resolve.gateway.settings import gateway_settings
from renderer.resolve.pod.needs import device_template
from renderer.resolve.rules import run_rules_or_stop
from renderer.resolve.workload import engine_run, field_origins, host_groups, model_file
from renderer.resolve.workload.claimed import resolve_base
from renderer.resolve.workload.context_length import longest_context
from renderer.resolve.workload.engine_process import EngineProcess, resolve_process
from renderer.resolve.workload.engine_run import AppEngine, EngineChoice, EngineRun
from renderer.resolve.workload.gpu_fit import gpu_fit, unchecked_fit
from renderer.resolve.workload.handwritten_pod import patched_pod
from renderer.resolve.workload.model_file import ModelSection
from renderer.resolve.workload.model_monitor import models_monitor
from renderer.resolve.workload.planned_pod import plan_pod
from renderer.resolve.workload.run_context import find_engine
from renderer.resolve.workload.running_playground import engine_line, running_engine
from renderer.resolve.workload.scaling import PlannedScaling, plan_scaling
from renderer.resolve.workload.written_app import WrittenPlayground
from renderer.template import TemplateError


def plan_playground(context: RunContext, app: App, diagnostics: Collector) -> Plan:
    """The plan of a Playground or of one of its variants. Raises Stop when the engine or a model is not known."""
    run_rules_or_stop(WrittenPlayground(context, app), diagnostics)
    mode = task_routes.app_mode(context.inputs, app, gateway_settings(context, app.namespace))
    app_engine = run_rules_or_stop(_find_engine(context, app, mode, diagnostics), diagnostics)
    choice = run_rules_or_stop(engine_run.choose_config(app_engine, diagnostics), diagnostics)
    if choice.engine.templated and _has_unreadable_limits(diagnostics.problems):
        raise Stop  # the accelerators are not known
    size = engine_run.size_runner(choice, diagnostics)
    with _reporting_templates(choice, diagnostics):
        run = run_rules_or_stop(engine_run.run_engine(choice, size, mode, diagnostics), diagnostics)
        command = run_rules_or_stop(resolve_process(run, diagnostics), diagnostics)
        if run.mains and run.engine.args_of_several:
            command = _server(command, choice, size, mode, diagnostics)
        fit = gpu_fit(command)
        unchecked = None if fit else unchecked_fit(command)
        if fit:
            run_rules_or_stop(fit, diagnostics)
        elif unchecked:
            run_rules_or_stop(unchecked, diagnostics)
        line = run_rules_or_stop(engine_line(command), diagnostics)
        planned = run_rules_or_stop(plan_pod(command, diagnostics), diagnostics)
    run_rules_or_stop(running_engine(line, planned), diagnostics)
    if written := patched_pod(planned):
        run_rules_or_stop(written, diagnostics)
    verdict = fit.verdict if fit else unchecked.verdict if unchecked else None
    return _plan(run_rules_or_stop(plan_scaling(planned, diagnostics), diagnostics), mode, verdict)


def _server(
    process: EngineProcess, choice: EngineChoice, size: backend_runtime.RunnerSize, mode: str, diagnostics: Collector
) -> EngineProcess:
    """The command line of a server that reads the options of its models from a file, each of which is judged alone."""
    sections = []
    for main, run in model_file.model_sections(process.run, choice, size, mode, diagnostics):
        alone = run_rules_or_stop(resolve_process(run_rules_or_stop(run, diagnostics), diagnostics), diagnostics)
        run_rules_or_stop(engine_line(alone), diagnostics)
        sections.append(run_rules_or_stop(ModelSection(main, alone), diagnostics))
    return model_file.server_process(process, sections)


def _find_engine(context: RunContext, app: App, mode: str, diagnostics: Collector) -> AppEngine:
    """The models and the engine; what is wrong with one of them is reported even where the other is not known."""
    try:
        engine = _compile_backend(context, app, mode, diagnostics)
    except Stop:
        with suppress(Stop):
            run_rules_or_stop(resolve_base(context, app, diagnostics), diagnostics)
        raise
    base = run_rules_or_stop(resolve_base(context, app, diagnostics), diagnostics)
    settings = backend_runtime.model_settings(base.claim.main, engine)
    return AppEngine(base, engine, app.spec.get("backendRuntimeConfig") or {}, settings)


def _has_unreadable_limits(problems: Iterable[Diagnostic]) -> bool:
    """Whether a limit is not a valid quantity."""
    return any(problem.code in ("E250", "E305") and ".limits" in problem.field for problem in problems)


@contextmanager
def _reporting_templates(choice: EngineChoice, diagnostics: Collector) -> Iterator[None]:
    """Reports a broken template of the runtime. Raises Stop then."""
    try:
        yield
    except TemplateError as error:
        path = error.path if error.path[:1] == ("spec",) else ("spec", *error.path)
        origin = Origin(choice.engine.runtime.document, path)
        diagnostics.stop("E420", origin, what=error, hint=compilation.template_hint(error))


def _plan(scaling: PlannedScaling, mode: str, fit: FitVerdict | None) -> Plan:
    planned, run, command = scaling.planned, scaling.planned.run, scaling.planned.command
    base, app, engine, hosts = run.base, planned.app, run.engine, run.size.parallelism.hosts
    settings, port = gateway_settings(base.context, app.namespace), ports.request_port(app)
    return Plan(
        name=app.name,
        namespace=app.namespace,
        file=app.file,
        labels=base.labels,
        annotations=_workload_annotations(run),
        replicas=None if scaling.foreign else scaling.replicas,
        size=hosts,
        all_serve=run.all_serve,
        startup_policy="LeaderReady" if hosts == 1 else "LeaderCreated",
        restart_policy="RecreateGroupOnPodRestart",
        rollout=base.context.rollout,
        leader=scaling.pod if scaling.worker else None,
        worker=scaling.worker or scaling.pod,
        port=Port("http", port),
        rank_ports=host_groups.rank_ports(run.multi_host, run.words, port),
        disruption_budget=base.context.disruption_budget
        if disruptions.needs_disruption_budget(hosts, scaling.bounds, scaling.replicas or 0)
        else {},
        origin=app.origin(),
        origins=lambda: field_origins.playground_origins(scaling),
        claim_templates=base.pod_needs.claim_templates,
        scaler=scaling.bounds,
        interceptor=scaling.interceptor,
        devices=device_template(base.pod_needs),
        config=planned.setup.config,
        shared=(*base.shared, *_needs(scaling)),
        app=app.label,
        model=base.claim.main.name,
        public_name=run.served_name,
        name_in_engine=run.name_in_engine,
        task=base.claim.task,
        task_origin=tasks.task_origin(base.claim.main),
        schema=task_routes.schema_for(base.context.inputs, app, base.claim.main),
        host=routing.host(app, settings, mode),
        backend=engine.runtime.name if engine.templated else "",
        metrics=engine.spec.get("metrics") or {},
        named_models=engine_run.plan_mains(run)
        or adapters.plan_adapters(engine, run.adapters, run.served_name)
        or lora.loaded_adapters(engine.spec, engine.style, run.served_name, command.args, command.form.names),
        role=_role(command) if app.role else None,
        monitor=models_monitor(run) if run.mains else None,
        load_seconds=_seconds_for_a_load(run) if base.claim.loaded < base.claim.mains else 0,
        fit=fit,
        context_length=longest_context(command) if (app.namespace, app.name) in base.context.traffic else 0,
    )


def _seconds_for_a_load(run: EngineRun) -> int:
    """How long a request may wait until its model, one of several, has taken the place of another."""
    return math.ceil(load_seconds(run.engine, run.base.claim.largest_gib))


def _role(command: EngineProcess) -> Role:
    run, base = command.run, command.run.base
    pipeline = own_size_origin(base.app, base.placement, base.claim.main, "pipeline") or run.size_origin
    return disaggregation.plan_role(
        run.engine, base.app, run.size.accelerator, run.size.parallelism, pipeline, command.layers
    )


def _needs(scaling: PlannedScaling) -> tuple[SharedNeed, ...]:
    """The shared objects that scaling needs."""
    app, context = scaling.planned.app, scaling.planned.run.base.context
    needs = keda_triggers.interceptor_needs(app, scaling.interceptor) if scaling.interceptor else ()
    if not context.metrics_collected:
        return needs
    return (
        *monitoring.monitor_needs(app.namespace, scaling.pod),
        *keda_triggers.picker_monitor_needs(app.namespace, scaling.scaler),
        *needs,
    )


def _compile_backend(context: RunContext, app: App, mode: str, diagnostics: Collector) -> backend_runtime.Engine:
    """The compiled runtime of the Playground's backend. Raises Stop where it is not known or broken."""
    name = backend_of(context.inputs, app)
    origin = backend_origin(context.inputs, app) or app.origin("spec")
    runtime = backend_runtime.find_runtime(context.inputs, name, origin, diagnostics)
    sleep = drain.drain(gateway_settings(context, app.namespace), mode)
    engine, problems = find_engine(context, runtime, ConstantWords(sleep, ports.request_port(app)))
    diagnostics.problems += problems
    if engine is None:
        raise Stop
    return engine


def _workload_annotations(run: EngineRun) -> Body:
    """The annotations of the LeaderWorkerSet, each where its value is known."""
    main, annotations = run.base.weights[0], dict[str, object]({wellknown.BACKEND: run.engine.runtime.name})
    if run.version:
        annotations[wellknown.ENGINE_VERSION] = run.version
    if main.revision:
        annotations[wellknown.MODEL_REVISION] = main.revision
    if run.offloading:
        annotations[wellknown.KV_CACHE_MEMORY] = run.offloading.memory
    if run.engine.templated or run.base.app.spec.get("servedModelName"):
        annotations[wellknown.SERVED_MODEL_NAME] = engine_run.client_model_name(run)
    if run.mains:
        annotations[wellknown.MODELS] = ", ".join(main.name for main in run.mains)
    if run.adapters:
        annotations[wellknown.ADAPTERS] = ", ".join(adapter.name for adapter in run.adapters)
    return annotations
