"""A Playground → its Plan: the engine, its command line and environment, one pod, and what scales it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from msgspec.structs import replace

from renderer.api import App
from renderer.diagnostics import Collector, Origin, Path, Stop
from renderer.plan import Body, Container, Plan, Pod, Port
from renderer.resolve import flavors, monitoring, names, pod_defaults
from renderer.resolve.apps import command_line, engine_run, provenance
from renderer.resolve.apps.app_base import AppBase, app_base, backend, engine, hardening_origin
from renderer.resolve.apps.command_line import CommandLine
from renderer.resolve.apps.engine_run import EngineRun
from renderer.resolve.autoscaling import triggers
from renderer.resolve.context import RunContext
from renderer.resolve.engine import arg_validation, backend_runtime, compilation, dialect, lora, preparation
from renderer.resolve.engine.backend_runtime import PORT
from renderer.resolve.gateway import routing
from renderer.resolve.gateway.settings import gateway_settings
from renderer.resolve.kube import api_defaults, images
from renderer.resolve.pod import pod_template, pods
from renderer.resolve.pod.pod_template import PatchedPod
from renderer.resolve.weight_sources import PULLED
from renderer.template import TemplateError
from renderer.yamlio import SharedMap

_PORT = Port("http", PORT)
_PORTS = (SharedMap({"name": "http", "containerPort": PORT, "protocol": "TCP"}),)
_BACKEND: Path = ("spec", "backendRuntimeConfig")


def plan(context: RunContext, app: App, diagnostics: Collector) -> Plan:
    """Everything decided. Raises Stop when there is no engine or model to go on with."""
    names.validate_app_names(app, 1, 1, diagnostics)
    count = triggers.replicas(app, diagnostics)
    triggers.validate_bounds(app, diagnostics)
    settings = gateway_settings(context, app.namespace)
    mode = routing.mode(app, settings)
    try:
        runtime = _engine(context, app, routing.drain(settings, mode), diagnostics)
    except Stop:
        with suppress(Stop):
            app_base(context, app, diagnostics)  # for what is wrong with the models
        raise
    base = app_base(context, app, diagnostics)
    run = engine_run.engine_run(context, app, runtime, base, diagnostics)
    pod, line, config, patched = _pod(context, app, base, run, diagnostics)
    if context.metrics_collected:
        pod = monitoring.with_metrics_path(pod, run.engine)
    scaler = triggers.scaler(context, app, run.engine, run.config, diagnostics)
    monitoring.validate_metrics(run.engine, app, line.form.names, pod, scaler, diagnostics)
    runtime = run.engine  # in the version that runs
    spec, served = runtime.spec, run.served
    return Plan(
        name=app.name,
        namespace=app.namespace,
        file=app.file,
        labels=base.labels,
        annotations=_annotations(context, app, base, run, diagnostics),
        replicas=count,
        size=1,  # pod a group
        startup_policy="LeaderReady",
        restart_policy="RecreateGroupOnPodRestart",
        rollout=context.rollout,
        worker=pod,
        port=_PORT,
        disruptable=(scaler.min_replicas if scaler else count or 0) >= 2,
        origins=lambda: _origins(context, app, base, run, line, pod, patched),
        scaler=scaler,
        config=config,
        shared=(*base.shared, *monitoring.monitor_needs(app.namespace, pod))
        if context.metrics_collected
        else base.shared,
        app=app.label,
        model=base.claim.main.name,
        serves=served,
        called=run.called,
        host=routing.host(app, settings, mode),
        backend=runtime.runtime.name if runtime.templated else "",
        metrics=spec.get("metrics") or {},
        adapters=lora.lora_names(spec, runtime.style, served, line.args, line.form.names),
    )


def _engine(context: RunContext, app: App, drain: int, diagnostics: Collector) -> backend_runtime.Engine:
    """backendName → RenderConfig's → the CRD's default. Raises Stop."""
    backend_name = (app.spec.get("backendRuntimeConfig") or {}).get("backendName")
    name = backend_name or backend(context)
    known = context.engines.get((name, drain, ""))
    if known is None:
        runtimes = context.inputs.runtimes
        runtime = runtimes.get(name) or backend_runtime.find_runtime(
            context.inputs, name, _named_by(context, app), diagnostics
        )
        known = engine(context, runtime, drain)
    compiled, problems = known
    diagnostics.problems += problems
    if compiled is None:
        raise Stop
    return compiled


def _named_by(context: RunContext, app: App) -> Origin:
    """Who says the backend; where nobody does, the app as a whole."""
    if (app.spec.get("backendRuntimeConfig") or {}).get("backendName"):
        return app.origin(*_BACKEND, "backendName")
    return context.inputs.config.origin("backend") if context.inputs.config.get("backend") else app.origin("spec")


def _pod(
    context: RunContext, app: App, base: AppBase, run: EngineRun, diagnostics: Collector
) -> tuple[Pod, CommandLine, Body, Mapping[Path, Origin]]:
    """The one pod, the command line that it got, the files of its ConfigMap, and where the podTemplate sets a field.

    Raises Stop when a template of the runtime does not hold.
    """
    inputs, engine, words, claim, kit = context.inputs, run.engine, run.words, base.claim, base.kit
    runtime, variant = engine.runtime, run.variant
    try:
        line = command_line.command_line(context, app, base, run, diagnostics)
        shell = engine.shell(words)
        beside = preparation.prepare(inputs.config, app.name, engine, words)
    except TemplateError as error:
        path = error.path if error.path[:1] == ("spec",) else ("spec", *error.path)
        diagnostics.stop("E420", Origin(runtime.document, path), what=error, hint=compilation.template_hint(error))
    if (draft := words["DraftModelPath"]) and claim.draft:
        texts = (*shell.command, *line.args, *line.env, *beside.config.values(), *beside.steps)
        arg_validation.validate_draft_path(str(draft), texts, app.origin(*claim.models[1].path), diagnostics)
    elif run.config.drafts and not claim.draft:
        arg_validation.validate_draft_args(run.config, line.args, run.user, app.origin(*_BACKEND), diagnostics)
    facts = claim.main.spec.get("facts") or {}
    runner = Container(
        name=pods.RUNNER,
        image=images.image_reference(inputs.config, images.with_tag(run.images[-1].value, run.tag)),
        command=shell.command,
        args=line.args,
        env=pods.with_credentials(kit, line.env),
        ports=_PORTS,
        resources=run.resources.sides,
        startup_probe=backend_runtime.startup_probe(engine, shell.startup, facts.get("weightsGiB") or 0),
        readiness_probe=shell.readiness,
        liveness_probe=shell.liveness,
        lifecycle=shell.lifecycle,
    )
    security = variant.get("security") or engine.spec.get("security") or {}
    if engine.templated and base.weights[0].kind == PULLED and not kit.loads:
        kit = pods.without_weights(kit)  # docs/design/presets.md#weights-of-pulling-engines
    pod = pods.playground_pod(kit, runner, line.shared_memory, engine.grace, _tolerations(run.held), security, beside)
    if base.hardening == "restricted" and "user" not in security:
        diagnostics.add("W204", hardening_origin(context, app))
    patched: Mapping[Path, Origin] = {}
    if app.spec.get("podTemplate"):
        patched_pod = _patched(context, app, base, run, pod, diagnostics)
        pod, patched = patched_pod.pod, patched_pod.origins
        otherwise = app.origin("spec", "podTemplate", "spec", "terminationGracePeriodSeconds")
        grace = pod.grace_seconds or engine.grace
        arg_validation.validate_drain(engine, line.theirs, line.args, grace, otherwise, diagnostics)
    return pod, line, beside.config, patched


def _patched(
    context: RunContext, app: App, base: AppBase, run: EngineRun, pod: Pod, diagnostics: Collector
) -> PatchedPod:
    """The pod under the Playground's podTemplate."""
    inputs, at = context.inputs, app.origin("spec", "podTemplate")
    patch = api_defaults.normalize_part(app.spec["podTemplate"], at, diagnostics)
    patched = pod_template.patch_pod(
        inputs.config, pod, patch, list(base.labels), base.hardening != "off", at, diagnostics
    )
    patched_pod = patched.pod
    if spread := patched_pod.rest.get("topologySpreadConstraints"):
        rest = {**patched_pod.rest, "topologySpreadConstraints": pod_defaults.with_pod_selectors(spread, app.name)}
        patched_pod = replace(patched_pod, rest=rest)
    index, runner = pod_template.runner_patch(app.spec)
    before, after = (side.containers[0].resources.get("limits") or {} for side in (pod, patched_pod))
    changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    for name in changed if run.engine.templated else ():
        if flavors.accelerates(inputs, name):
            where, limits = at.at("spec", "containers", index, "resources"), runner["resources"].get("limits") or {}
            diagnostics.add("W212", where.at("limits", name) if name in limits else where, name=name)
    pod_template.validate_patch(
        pod, patched_pod, app.spec["podTemplate"], base.hardening == "restricted", at, diagnostics
    )
    if run.engine.reserved_env:
        env = at.at("spec", "containers", index, "env")
        dialect.validate_reserved_env(run.engine.reserved_env, runner.get("env") or (), env, diagnostics)
    return PatchedPod(patched_pod, patched.origins)


_TOLERATIONS: dict[str, tuple[Body, ...]] = {"": ()}


def _tolerations(held: flavors.Accelerator) -> tuple[Body, ...]:
    """As Kubernetes' ExtendedResourceToleration would add."""
    if held.resource not in _TOLERATIONS:
        toleration = SharedMap({"key": held.resource, "operator": "Exists", "effect": "NoSchedule"})
        _TOLERATIONS[held.resource] = (toleration,)
    return _TOLERATIONS[held.resource]


def _annotations(context: RunContext, app: App, base: AppBase, run: EngineRun, diagnostics: Collector) -> Body:
    """What people read off the LeaderWorkerSet, each where it is known."""
    main = base.weights[0]
    annotations = {"renderer.llmaz.io/backend": run.engine.runtime.name}
    if run.version:
        annotations["renderer.llmaz.io/engine-version"] = run.version
    if main.revision:
        annotations["renderer.llmaz.io/model-revision"] = main.revision
    if run.engine.templated or app.spec.get("servedModelName"):
        annotations["renderer.llmaz.io/served-model-name"] = _asked_for(context, app, base, run, diagnostics)
    return annotations


def _asked_for(context: RunContext, app: App, base: AppBase, run: EngineRun, diagnostics: Collector) -> str:
    """What clients send as the model: the public name where a route turns it into the engine's, or where the engine
    does not care, else what the engine calls it.
    """
    called = run.called
    minds = run.engine.spec.get("servedName") in ("directory", "model")
    if called == run.served or not minds or routing.mode(app, gateway_settings(context, app.namespace)) != "off":
        return run.served
    if "servedModelName" in app.spec or "servedModelName" in base.claim.main.spec:
        place = engine_run.served_name_origin(app, base.claim.main)
        diagnostics.add("W233", place, backend=run.engine.runtime.name, name=called)
    return called


def _origins(
    context: RunContext,
    app: App,
    base: AppBase,
    run: EngineRun,
    line: CommandLine,
    pod: Pod,
    patched: Mapping[Path, Origin],
) -> Mapping[Path, Origin]:
    """What made each part of the plan; asked for only when something is wrong with an object."""
    at, mine = Origin(run.engine.runtime.document, ("spec",)), app.origin(*_BACKEND)
    origins: dict[Path, Origin] = {
        (): app.origin(),
        ("name",): app.origin("metadata", "name"),
        ("namespace",): app.origin("metadata", "namespace"),
        ("replicas",): app.origin("spec", "replicas"),
        ("elastic",): app.origin("spec", "elasticConfig"),
    }
    runner: Path = ("template", "spec", "containers", 0)
    origins |= {
        (*runner, "image"): run.versions[-1].origin if "version" in run.user else run.images[-1].origin,
        (*runner, "args"): run.config.origin.at("args"),
        (*runner, "env"): at.at("envs"),
        (*runner, "resources"): (mine if "resources" in run.user else run.config.origin).at("resources"),
    }
    as_written = ("command", "lifecycle", "startupProbe", "readinessProbe", "livenessProbe")
    origins |= {(*runner, key): at.at(key) for key in as_written}
    if flavor := base.kit.placement.origins(base.claim.main):
        origins |= {("template", "spec", key): flavor.model.at("nodeSelector") for key in ("nodeSelector", "affinity")}
    config = context.inputs.config
    everywhere = dict.fromkeys(("tolerations", *context.pod_defaults.fields, "topologySpreadConstraints"), "pods")
    origins |= {("template", "spec", key): config.origin(word, key) for key, word in everywhere.items()}
    origins["template", "spec", "runtimeClassName"] = config.origin("flavors")
    origins |= provenance.said(context, app, base, run, line, pod, patched)
    origins |= {("config", key): path for key, path in preparation.file_origins(run.engine, run.words)}
    touched = {path[:2] for path in patched}  # their items have other numbers, or are others
    origins |= {
        ("template", *path): origin
        for path, origin in pods.origins(base.kit, {}, _tolerations(run.held))
        if not isinstance(path[-1], int) or path[:2] not in touched
    }
    origins |= {("template", *path): origin for path, origin in patched.items()}
    if trigger := triggers.trigger(context, app, run.engine, run.config):
        origins |= {
            ("speakers", "scale", i): origin
            for i, origin in enumerate(triggers.triggers(run.engine, run.config, trigger))
        }
        origins["metrics",] = trigger[1].at("metrics")
        origins["behavior",] = trigger[1].at("behavior")
    return origins
