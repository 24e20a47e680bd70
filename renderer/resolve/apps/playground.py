"""The plan of a Playground: the engine, its command line and environment, the pod, and the autoscaler."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from renderer import wellknown
from renderer.api import App
from renderer.diagnostics import Collector, Origin, Path, Stop
from renderer.json_values import map_at, maps_at, number_at
from renderer.plan import Body, Container, Interceptor, Plan, Pod, Port, Role, Scaler, SharedNeed
from renderer.resolve import flavors, monitoring, names, pod_defaults
from renderer.resolve.apps import command_line, engine_run, field_origins, handwritten_engine, host_groups
from renderer.resolve.apps.app_base import AppBase, compile_engine, default_backend, hardening_origin, resolve_base
from renderer.resolve.apps.command_line import CommandLine
from renderer.resolve.apps.engine_run import EngineRun
from renderer.resolve.autoscaling import foreign_scalers, keda, triggers
from renderer.resolve.context import RunContext
from renderer.resolve.engine import (
    adapters,
    arg_validation,
    backend_runtime,
    compilation,
    dialect,
    disaggregation,
    kv_offloading,
    lora,
    preparation,
    startup_probe,
)
from renderer.resolve.engine.engine_command import EngineCommand, Word, read_engine_command
from renderer.resolve.engine.parallelism import pipeline_origin
from renderer.resolve.gateway import drain, routing
from renderer.resolve.gateway.settings import gateway_settings
from renderer.resolve.kube import api_defaults, images
from renderer.resolve.pod import pod_template, pods
from renderer.resolve.pod.pod_template import KeptToleration, PatchedPod
from renderer.resolve.weight_sources import PULLED
from renderer.template import TemplateError
from renderer.wellknown import PORT
from renderer.yamlio import SharedMap

if TYPE_CHECKING:
    from renderer.input_types import SecuritySpec

_PORT = Port("http", PORT)
_PORTS = (SharedMap({"name": "http", "containerPort": PORT, "protocol": "TCP"}),)
_BACKEND: Path = ("spec", "backendRuntimeConfig")


def plan_playground(context: RunContext, app: App, diagnostics: Collector) -> Plan:
    """The plan of a Playground or of one of its variants. Raises Stop when the engine or a model is not known."""
    names.validate_app_names(app, 1, 1, diagnostics)
    replicas = triggers.fixed_replicas(app, diagnostics)
    triggers.validate_bounds(app, diagnostics)
    settings = gateway_settings(context, app.namespace)
    mode = routing.mode(app, settings)
    try:
        engine = _compile_backend(context, app, drain.drain(settings, mode), diagnostics)
    except Stop:
        with suppress(Stop):
            resolve_base(context, app, diagnostics)  # for the diagnostics about the models
        raise
    base = resolve_base(context, app, diagnostics)
    run = engine_run.resolve_engine_run(context, app, engine, base, mode, diagnostics)
    planned_pod = _plan_pod(context, app, base, run, diagnostics)
    pod, command = planned_pod.pod, planned_pod.command
    worker, all_serve = None, run.multi_host is not None and run.multi_host.all_serve
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
            parallelism=run.parallelism,
            all_serve=all_serve,
            diagnostics=diagnostics,
        )
    interceptor = None
    if scaler and wakes_by == "interceptor":
        public_names = [run.served_name, *(adapter.name for adapter in run.adapters)]
        interceptor = keda.interceptor(context, app, public_names, scaler)
    foreign = foreign_scalers.foreign_scaler(context, app, diagnostics)
    monitoring.validate_metrics(run.engine, app, command.form.names, pod, scaler, diagnostics)
    engine = run.engine  # in the version that runs
    if run.parallelism.hosts > 1:
        bounds = foreign or scaler
        groups = host_groups.most_groups(app, bounds.max_replicas if bounds else replicas or 1)
        names.validate_group_names(app, groups, diagnostics)
        host_groups.validate_worker_sets(context, app, groups, diagnostics)
    if run.adapters:
        origin = engine_run.served_name_origin(app, base.claim.main)
        adapters.validate_names(engine, run.adapters, run.served_name, origin, diagnostics)
    spec, served_name = engine.spec, run.served_name
    return Plan(
        name=app.name,
        namespace=app.namespace,
        file=app.file,
        labels=base.labels,
        annotations=_workload_annotations(context, app, base, run, diagnostics),
        replicas=None if foreign else replicas,
        size=run.parallelism.hosts,
        all_serve=all_serve,
        startup_policy="LeaderReady" if run.parallelism.hosts == 1 else "LeaderCreated",
        restart_policy="RecreateGroupOnPodRestart",
        rollout=context.rollout,
        leader=pod if worker else None,
        worker=worker or pod,
        port=_PORT,
        rank_ports=host_groups.rank_ports(run.multi_host, run.words),
        disruption_budget=host_groups.needs_disruption_budget(run.parallelism.hosts, foreign or scaler, replicas or 0),
        origins=lambda: field_origins.playground_origins(
            field_origins.PlannedPlayground(
                context,
                app,
                base,
                run,
                command,
                pod,
                has_headless_workers=worker is not None,
                patch_origins=planned_pod.patch_origins,
                scaler=scaler,
            )
        ),
        claim_templates=base.pod_needs.claim_templates,
        scaler=foreign or scaler,
        interceptor=interceptor,
        devices=pods.device_template(base.pod_needs),
        config=planned_pod.config,
        shared=(*base.shared, *_needs(context, app, pod, scaler, interceptor)),
        app=app.label,
        model=base.claim.main.name,
        public_name=served_name,
        name_in_engine=run.name_in_engine,
        host=routing.host(app, settings, mode),
        backend=engine.runtime.name if engine.templated else "",
        metrics=spec.get("metrics") or {},
        adapters=adapters.plan_adapters(engine, run.adapters, served_name)
        or lora.loaded_adapters(spec, engine.style, served_name, command.args, command.form.names),
        role=_plan_role(app, base, run, command) if app.role else None,
    )


def _plan_role(app: App, base: AppBase, run: EngineRun, command: CommandLine) -> Role:
    """The role of one of the two workloads that share the work of an app."""
    origin = pipeline_origin(app, base.pod_needs.placement, base.claim.main)
    return disaggregation.plan_role(run.engine, app, run.accelerator, run.parallelism, origin, command.layers)


def _needs(
    context: RunContext, app: App, pod: Pod, scaler: Scaler | None, interceptor: Interceptor | None
) -> tuple[SharedNeed, ...]:
    """The shared objects that scaling needs."""
    needs = keda.interceptor_needs(app, interceptor) if interceptor else ()
    if not context.metrics_collected:
        return needs
    return (
        *monitoring.monitor_needs(app.namespace, pod),
        *keda.picker_monitor_needs(app.namespace, scaler),
        *needs,
    )


def _compile_backend(context: RunContext, app: App, drain: int, diagnostics: Collector) -> backend_runtime.Engine:
    """The compiled runtime of the Playground's backend. Raises Stop where it is not known or broken."""
    explicit_name = (app.spec.get("backendRuntimeConfig") or {}).get("backendName")
    name = explicit_name or default_backend(context)
    cached = context.engines.get((name, drain, ""))
    if cached is None:
        runtimes = context.inputs.runtimes
        runtime = runtimes.get(name) or backend_runtime.find_runtime(
            context.inputs, name, _backend_origin(context, app), diagnostics
        )
        cached = compile_engine(context, runtime, drain)
    engine, problems = cached
    diagnostics.problems += problems
    if engine is None:
        raise Stop
    return engine


def _backend_origin(context: RunContext, app: App) -> Origin:
    """The origin of the backend's name; `spec` of the app where it is the default."""
    if (app.spec.get("backendRuntimeConfig") or {}).get("backendName"):
        return app.origin(*_BACKEND, "backendName")
    return context.inputs.config.origin("backend") if context.inputs.config.get("backend") else app.origin("spec")


class _PlannedPod(Struct, frozen=True):
    """The pod and the runner's command line. `config`: data of the ConfigMap; `patch_origins`: of the fields that the
    podTemplate sets.
    """

    pod: Pod
    command: CommandLine
    config: Mapping[str, str]
    patch_origins: Mapping[Path, Origin]

    def patch_origin(self, path: Path) -> Origin | None:
        """The origin of a field that the podTemplate sets; None for others."""
        for length in range(len(path), 3, -1):
            if origin := self.patch_origins.get(path[:length]):
                return origin.at(*path[length:])
        return None


def _plan_pod(context: RunContext, app: App, base: AppBase, run: EngineRun, diagnostics: Collector) -> _PlannedPod:
    """The pod with its podTemplate. Raises Stop when a template of the runtime is broken."""
    inputs, engine, words, claim, pod_needs = context.inputs, run.engine, run.words, base.claim, base.pod_needs
    runtime, variant = engine.runtime, run.variant
    try:
        command = command_line.resolve_command_line(context, app, base, run, diagnostics)
        shell = engine.shell(words)
        if run.multi_host:
            shell = host_groups.adapt_shell(shell, run.multi_host, words)
        setup = preparation.prepare(inputs.config, app.name, engine, words)
    except TemplateError as error:
        path = error.path if error.path[:1] == ("spec",) else ("spec", *error.path)
        diagnostics.stop("E420", Origin(runtime.document, path), what=error, hint=compilation.template_hint(error))
    if (draft := words["DraftModelPath"]) and claim.draft:
        texts = (*shell.command, *command.args, *command.env, *setup.config.values(), *setup.steps)
        arg_validation.validate_draft_path(str(draft), texts, app.origin(*claim.models[1].path), diagnostics)
    elif run.config.drafts and not claim.draft:
        arg_validation.validate_draft_args(
            run.config, command.args, run.backend_config, app.origin(*_BACKEND), diagnostics
        )
    facts = claim.main.spec.get("facts") or {}
    if run.offloading:
        setup = replace(
            setup,
            mounts=(*setup.mounts, *kv_offloading.tier_mounts(run.offloading)),
            volumes=(*setup.volumes, *kv_offloading.tier_volumes(run.offloading)),
        )
    runner = Container(
        name=pods.RUNNER,
        image=images.image_reference(inputs.config, images.with_tag(run.image_layers[-1].value, run.tag)),
        command=shell.command,
        args=command.args,
        env=pods.add_credentials(pod_needs, command.env),
        ports=_container_ports(app, run),
        resources=run.resources.sides,
        startup_probe=startup_probe.startup_probe(engine, shell.startup, facts.get("weightsGiB") or 0),
        readiness_probe=shell.readiness,
        liveness_probe=shell.liveness,
        lifecycle=shell.lifecycle,
    )
    security: SecuritySpec = variant.get("security") or engine.spec.get("security") or {}
    if engine.templated and base.weights[0].kind == PULLED and not pod_needs.loads:
        pod_needs = pods.without_model_volume(pod_needs)  # docs/design/presets.md#weights-of-pulling-engines
    pod = pods.playground_pod(
        pod_needs,
        runner,
        command.shared_memory,
        engine.grace,
        flavors.accelerator_tolerations(run.accelerator),
        security,
        setup,
    )
    if base.hardening == "restricted" and "user" not in security:
        diagnostics.add("W204", hardening_origin(context, app))
    patch_origins: Mapping[Path, Origin] = {}
    if app.spec.get("podTemplate"):
        patched_pod = _patch_pod(context, app, base, run, pod, diagnostics)
        pod, patch_origins = patched_pod.pod, patched_pod.origins
        grace_origin = app.origin("spec", "podTemplate", "spec", "terminationGracePeriodSeconds")
        sleep = number_at(
            pod.containers[0].lifecycle, "preStop", "sleep", "seconds", default=engine.constant["DrainSleep"]
        )
        arg_validation.validate_drain(
            engine,
            command.user_layers,
            command.args,
            grace=pod.grace_seconds or engine.grace,
            sleep=int(sleep),
            patch_origin=grace_origin,
            diagnostics=diagnostics,
        )
        pods.validate_claim_templates(pod_needs, pod, app.origin("spec", "podTemplate", "spec"), diagnostics)
        if run.multi_host:
            place = app.origin("spec", "podTemplate", "spec", "hostNetwork", key=True)
            host_groups.validate_name_resolution(pod, place, diagnostics)
    planned = _PlannedPod(pod, command, setup.config, patch_origins)
    if run.offloading:
        _validate_offloading(app, base, run, run.offloading, planned, diagnostics)
    if not engine.templated or app.spec.get("podTemplate"):
        _validate_handwritten(context, app, base, run, planned, diagnostics)
    return planned


def _container_ports(app: App, run: EngineRun) -> tuple[Body, ...]:
    """The ports of the runner."""
    if not app.role:
        ranks = host_groups.rank_ports(run.multi_host, run.words)
        return host_groups.container_ports(run.multi_host, ranks) or _PORTS
    number = disaggregation.engine_port(app.role)
    ranks = host_groups.rank_ports(run.multi_host, run.words, number)
    ports = host_groups.container_ports(run.multi_host, ranks) or (
        SharedMap({"name": "http", "containerPort": number, "protocol": "TCP"}),
    )
    return (*ports, *disaggregation.role_ports(run.engine, app.role))


def _validate_offloading(
    app: App,
    base: AppBase,
    run: EngineRun,
    offloading: kv_offloading.KVOffloading,
    planned: _PlannedPod,
    diagnostics: Collector,
) -> None:
    """Errors for a pod that cannot hold the KV cache that it keeps outside of its accelerators."""
    layers = engine_run.resource_layers(app, run.engine, run.config, base.claim.main, offloading)
    side, _ = kv_offloading.runner_memory(planned.pod.containers[0])
    memory_layer = layers[-2]
    sizes = memory_layer.value
    origin = planned.patch_origin(("spec", "containers", 0, "resources", side, "memory"))
    if origin is None and (positions := run.resources.history.get((side, "memory"))):
        flavor = base.pod_needs.placement.origins(base.claim.main)
        position = positions[-1]
        author = layers[position.layer].origin if position.layer < len(layers) else flavor
        origin = author.at(*position.item) if author else None
    shared = command_line.preset_shared_memory_layers(run)
    volumes = [volume["name"] for volume in planned.pod.volumes]
    shared_origin = None
    if "dshm" in volumes:
        shared_origin = planned.patch_origin(("spec", "volumes", volumes.index("dshm"), "emptyDir", "sizeLimit"))
    kv_offloading.validate_pod(
        offloading,
        planned.pod,
        kv_offloading.PodSizes(
            memory=sizes.get(side, sizes["requests"])["memory"],
            memory_origin=origin or memory_layer.origin,
            shared_memory=str(shared[-1].value) if shared and shared[-1].origin == memory_layer.origin else "",
            shared_memory_origin=shared_origin or app.origin(*_BACKEND, "sharedMemorySize"),
        ),
        diagnostics,
    )


def _validate_handwritten(
    context: RunContext, app: App, base: AppBase, run: EngineRun, planned: _PlannedPod, diagnostics: Collector
) -> None:
    """Diagnostics about what podTemplate, and a runtime without `spec.engine`, say of ports, names and folders."""
    runtime, pod, patch_origins = Origin(run.engine.runtime.document, ("spec",)), planned.pod, planned.patch_origins
    runner: Path = ("spec", "containers", 0)

    def origin_of(path: Path) -> Origin | None:
        of_runner = path[:3] == runner
        for length in range(len(path), 4 if of_runner else 2, -1):  # of model-runner a hook, of others the whole
            if origin := patch_origins.get(path[:length]):
                return origin.at(*path[length:])
        return runtime.at(*path[3:]) if of_runner and path[3] == "lifecycle" and not run.engine.templated else None

    engine_command = EngineCommand()
    if not run.engine.templated:
        command = [Word(text, runtime.at("command", i)) for i, text in enumerate(pod.containers[0].command)]
        layers = planned.command.layers
        args = [Word(text, layer.origin.at(i)) for layer in layers for i, text in enumerate(layer.args)]
        engine_command = read_engine_command(command, args, pod.containers[0].image)
    written = handwritten_engine.WrittenPod(pod, engine_command, origin_of)
    handwritten_engine.validate_ports(written, diagnostics)
    handwritten_engine.validate_hooks(written, diagnostics)
    if not run.engine.templated:
        handwritten_engine.validate_model_paths(app, base, written, diagnostics)
        handwritten_engine.validate_served_name(context, app, base, engine_command, diagnostics)


def _patch_pod(
    context: RunContext, app: App, base: AppBase, run: EngineRun, pod: Pod, diagnostics: Collector
) -> PatchedPod:
    """The pod with the Playground's podTemplate merged into it."""
    inputs, origin = context.inputs, app.origin("spec", "podTemplate")
    patch = api_defaults.normalize_part(app.spec["podTemplate"], origin, diagnostics)
    result = pod_template.patch_pod(
        inputs.config,
        pod,
        patch,
        list(base.labels),
        base.hardening != "off",
        origin,
        diagnostics,
        kept_tolerations=_kept_tolerations(base, run),
    )
    patched_pod = result.pod
    if constraints := maps_at(patched_pod.rest, "topologySpreadConstraints"):
        rest = {**patched_pod.rest, "topologySpreadConstraints": pod_defaults.with_pod_selectors(constraints, app.name)}
        patched_pod = replace(patched_pod, rest=rest)
    index, runner = pod_template.runner_patch(app.spec)
    limits_before, limits_after = (map_at(side.containers[0].resources, "limits") for side in (pod, patched_pod))
    changed = [name for name in {**limits_before, **limits_after} if limits_before.get(name) != limits_after.get(name)]
    for name in changed if run.engine.templated else ():
        if flavors.accelerates(inputs, name):
            path: Path = ("spec", "containers", index, "resources")
            if name in map_at(runner, "resources", "limits"):
                path = (*path, "limits", name)
            diagnostics.add("W212", origin.at(*path), name=name)
    paths = [weights.path for _, weights, _ in base.pod_needs.loads]
    pod_template.validate_patch(
        pod, patched_pod, app.spec["podTemplate"], paths, base.hardening == "restricted", origin, diagnostics
    )
    if run.engine.reserved_env:
        env = origin.at("spec", "containers", index, "env")
        dialect.validate_reserved_env(run.engine.reserved_env, maps_at(runner, "env"), env, diagnostics)
    return PatchedPod(patched_pod, result.origins)


def _kept_tolerations(base: AppBase, run: EngineRun) -> list[KeptToleration]:
    """The tolerations that a podTemplate adds its own to: the accelerator's and those of the flavors' catalog."""
    tolerations = [KeptToleration(body) for body in flavors.accelerator_tolerations(run.accelerator)]
    for layer in pods.flavor_tolerations(base.pod_needs):
        tolerations += [KeptToleration(body, layer.origin.at(i)) for i, body in enumerate(layer.value)]
    return tolerations


def _workload_annotations(context: RunContext, app: App, base: AppBase, run: EngineRun, diagnostics: Collector) -> Body:
    """The annotations of the LeaderWorkerSet, each where its value is known."""
    main = base.weights[0]
    annotations: dict[str, object] = {wellknown.BACKEND: run.engine.runtime.name}
    if run.version:
        annotations[wellknown.ENGINE_VERSION] = run.version
    if main.revision:
        annotations[wellknown.MODEL_REVISION] = main.revision
    if run.offloading:
        annotations[wellknown.KV_CACHE_MEMORY] = run.offloading.memory
    if run.engine.templated or app.spec.get("servedModelName"):
        annotations[wellknown.SERVED_MODEL_NAME] = _client_model_name(context, app, base, run, diagnostics)
    if run.adapters:
        annotations[wellknown.ADAPTERS] = ", ".join(adapter.name for adapter in run.adapters)
    return annotations


def _client_model_name(context: RunContext, app: App, base: AppBase, run: EngineRun, diagnostics: Collector) -> str:
    """The model name that clients send: the public name where a route replaces it, or where the engine accepts any
    name; else the name that the engine knows.
    """
    name_in_engine = run.name_in_engine
    name_matters = run.engine.spec.get("servedName") in ("directory", "model")
    if (
        name_in_engine == run.served_name
        or not name_matters
        or routing.mode(app, gateway_settings(context, app.namespace)) != "off"
    ):
        return run.served_name
    if "servedModelName" in app.spec or "servedModelName" in base.claim.main.spec:
        origin = engine_run.served_name_origin(app, base.claim.main)
        diagnostics.add("W233", origin, backend=run.engine.runtime.name, name=name_in_engine)
    return name_in_engine
