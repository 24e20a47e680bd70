"""A Playground → its Plan: the engine, its command line and environment, one pod, and what scales it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from renderer.api import App
from renderer.plan import Body, Plan, Pod, Port, new_container, new_plan
from renderer.problems import Findings, Origin, Path, Stop
from renderer.resolve import (
    adapters,
    compiling,
    engines,
    everypod,
    flavors,
    given,
    images,
    lines,
    monitoring,
    names,
    normal,
    options,
    patching,
    pods,
    preparing,
    routing,
    running,
    saying,
    scaling,
)
from renderer.resolve.engines import PORT
from renderer.resolve.lines import Line
from renderer.resolve.memo import Claimed, Memo, backend, claimed, door, engine, hardened_at
from renderer.resolve.running import Run
from renderer.resolve.sources import PULLED
from renderer.template import TemplateError
from renderer.yamlio import Shared

_PORT = Port("http", PORT)
_PORTS = (Shared({"name": "http", "containerPort": PORT, "protocol": "TCP"}),)
_BACKEND: Path = ("spec", "backendRuntimeConfig")


def plan(memo: Memo, app: App, found: Findings) -> Plan:
    """Everything decided. Raises Stop when there is no engine or model to go on with."""
    names.app_names(app, 1, 1, found)
    count = scaling.replicas(app, found)
    scaling.bounds(app, found)
    here = door(memo, app.namespace)
    mode = routing.mode(app, here)
    try:
        runtime = _engine(memo, app, routing.drain(here, mode), found)
    except Stop:
        with suppress(Stop):
            claimed(memo, app, found)  # for what is wrong with the models
        raise
    base = claimed(memo, app, found)
    run = running.run(memo, app, runtime, base, found)
    pod, line, config = _pod(memo, app, base, run, found)
    if memo.fed:
        pod = monitoring.watched(pod, run.engine)
    scaler = scaling.scaler(memo, app, run.engine, run.config, found)
    monitoring.readable(run.engine, app, line.names, pod, scaler, found)
    runtime = run.engine  # in the version that runs
    spec, served = runtime.spec, run.served
    return new_plan(  # by position: so many keywords would take longer than all else here
        app.name,
        app.namespace,
        app.file,
        base.labels,
        _annotations(memo, app, base, run, found),
        count,
        1,  # pod a group
        "LeaderReady",
        "RecreateGroupOnPodRestart",
        memo.rollout,
        pod,
        _PORT,
        (scaler.min_replicas if scaler else count or 0) >= 2,
        lambda: _origins(memo, app, base, run, line, pod),
        None,  # no leader of another kind
        {},  # nor subgroups
        scaler,
        config,
        (*base.shared, *monitoring.wanted(app.namespace, pod)) if memo.fed else base.shared,
        app.label,
        base.claim.main.name,
        served,
        run.called,
        routing.host(app, here, mode),
        runtime.runtime.name if runtime.templated else "",
        spec.get("metrics") or {},
        adapters.loaded(spec, runtime.style, served, line.args, line.names),
    )


def _engine(memo: Memo, app: App, drain: int, found: Findings) -> engines.Engine:
    """backendName → RenderConfig's → the CRD's default. Raises Stop."""
    said = (app.spec.get("backendRuntimeConfig") or {}).get("backendName")
    name = said or backend(memo)
    known = memo.engines.get((name, drain, ""))
    if known is None:
        runtimes = memo.inputs.runtimes
        runtime = runtimes.get(name) or engines.runtime(memo.inputs, name, _named_by(memo, app), found)
        known = engine(memo, runtime, drain)
    made, problems = known
    found.problems += problems
    if made is None:
        raise Stop
    return made


def _named_by(memo: Memo, app: App) -> Origin:
    """Who says the backend; where nobody does, the app as a whole."""
    if (app.spec.get("backendRuntimeConfig") or {}).get("backendName"):
        return app.origin(*_BACKEND, "backendName")
    return memo.inputs.config.origin("backend") if memo.inputs.config.get("backend") else app.origin("spec")


def _pod(memo: Memo, app: App, base: Claimed, run: Run, found: Findings) -> tuple[Pod, Line, Body]:
    """The one pod, the command line that it got, and the files of its ConfigMap.

    Raises Stop when a template of the runtime does not hold.
    """
    inputs, engine, words, claim, kit = memo.inputs, run.engine, run.words, base.claim, base.kit
    runtime, variant = engine.runtime, run.variant
    try:
        line = lines.line(memo, app, base, run, found)
        shell = engine.shell(words)
        beside = preparing.prepared(inputs.config, app.name, engine, words)
    except TemplateError as error:
        path = error.path if error.path[:1] == ("spec",) else ("spec", *error.path)
        found.stop("E420", Origin(runtime.document, path), what=error, hint=compiling.hint(error))
    if (draft := words["DraftModelPath"]) and claim.draft:
        texts = (*shell.command, *line.args, *line.env, *beside.config.values(), *beside.steps)
        given.drafted(str(draft), texts, app.origin(*claim.models[1].path), found)
    elif run.config.drafts and not claim.draft:
        given.undrafted(run.config, line.args, run.user, app.origin(*_BACKEND), found)
    facts = claim.main.spec.get("facts") or {}
    runner = new_container(
        name=pods.RUNNER,
        image=images.reference(inputs.config, images.tagged(variant.get("image") or runtime.spec["image"], run.tag)),
        command=shell.command,
        args=line.args,
        env=pods.with_credentials(kit, line.env),
        ports=_PORTS,
        resources=run.resources,
        startup_probe=engines.startup(engine, shell.startup, facts.get("weightsGiB") or 0),
        readiness_probe=shell.readiness,
        liveness_probe=shell.liveness,
        lifecycle=shell.lifecycle,
    )
    security = variant.get("security") or engine.spec.get("security") or {}
    if engine.templated and base.weights[0].kind == PULLED and not kit.loads:
        kit = pods.without_weights(kit)  # its preset says where they go (upstream-bugs.md, 18)
    pod = pods.playground(kit, runner, line.shared_memory, engine.grace, _tolerations(run.held), security, beside)
    if base.hardening == "restricted" and "user" not in security:
        found.add("W204", hardened_at(memo, app))
    if app.spec.get("podTemplate"):
        pod = _patched(memo, app, base, run, pod, found)
        otherwise = app.origin("spec", "podTemplate", "spec", "terminationGracePeriodSeconds")
        grace = pod.grace_seconds or engine.grace
        given.drained(engine, lines.said(app, base, run), line.args, grace, otherwise, found)
    return pod, line, beside.config


def _patched(memo: Memo, app: App, base: Claimed, run: Run, pod: Pod, found: Findings) -> Pod:
    """The pod under the Playground's podTemplate."""
    inputs, at = memo.inputs, app.origin("spec", "podTemplate")
    patch = normal.part(app.spec["podTemplate"], at, found)
    made = patching.patched(inputs.config, pod, patch, list(base.labels), base.hardening != "off", at, found)
    if spread := made.rest.get("topologySpreadConstraints"):
        rest = {**made.rest, "topologySpreadConstraints": everypod.selecting(spread, app.name)}
        made = made._replace(rest=rest)
    index, said = patching.runner(app.spec)
    before, after = (each.containers[0].resources.get("limits") or {} for each in (pod, made))
    changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    for name in changed if run.engine.templated else ():
        if flavors.accelerates(inputs, name):
            where, limits = at.at("spec", "containers", index, "resources"), said["resources"].get("limits") or {}
            found.add("W212", where.at("limits", name) if name in limits else where, name=name)
    patching.judge(pod, made, app.spec["podTemplate"], base.hardening == "restricted", at, found)
    if run.engine.owned_env:
        env = at.at("spec", "containers", index, "env")
        options.owned_env(run.engine.owned_env, said.get("env") or (), env, found)
    return made


_TOLERATIONS: dict[str, tuple[Body, ...]] = {"": ()}


def _tolerations(held: flavors.Accelerator) -> tuple[Body, ...]:
    """As Kubernetes' ExtendedResourceToleration would add."""
    if held.resource not in _TOLERATIONS:
        toleration = Shared({"key": held.resource, "operator": "Exists", "effect": "NoSchedule"})
        _TOLERATIONS[held.resource] = (toleration,)
    return _TOLERATIONS[held.resource]


def _annotations(memo: Memo, app: App, base: Claimed, run: Run, found: Findings) -> Body:
    """What people read off the LeaderWorkerSet, each where it is known."""
    main = base.weights[0]
    annotations = {"renderer.llmaz.io/backend": run.engine.runtime.name}
    if run.version:
        annotations["renderer.llmaz.io/engine-version"] = run.version
    if main.revision:
        annotations["renderer.llmaz.io/model-revision"] = main.revision
    if run.engine.templated or app.spec.get("servedModelName"):
        annotations["renderer.llmaz.io/served-model-name"] = _asked_for(memo, app, base, run, found)
    return annotations


def _asked_for(memo: Memo, app: App, base: Claimed, run: Run, found: Findings) -> str:
    """What clients send as the model: the public name where a route turns it into the engine's, or where the engine
    does not care, else what the engine calls it.
    """
    called = run.called
    minds = run.engine.spec.get("servedName") in ("directory", "model")
    if called == run.served or not minds or routing.mode(app, door(memo, app.namespace)) != "off":
        return run.served
    if "servedModelName" in app.spec or "servedModelName" in base.claim.main.spec:
        place = running.naming(app, base.claim.main)
        found.add("W233", place, backend=run.engine.runtime.name, name=called)
    return called


def _origins(memo: Memo, app: App, base: Claimed, run: Run, line: Line, pod: Pod) -> Mapping[Path, Origin]:
    """What made each part of the plan; asked for only when something is wrong with an object."""
    at, mine = Origin(run.engine.runtime.document, ("spec",)), app.origin(*_BACKEND)
    origins: dict[Path, Origin] = {
        (): app.origin(),
        ("name",): app.origin("metadata", "name"),
        ("namespace",): app.origin("metadata", "namespace"),
        ("replicas",): app.origin("spec", "replicas"),
        ("elastic",): app.origin("spec", "elasticConfig"),
        ("image",): mine.at("version") if "version" in run.user else at.at("image"),
        ("args",): run.config.origin.at("args"),
        ("env",): at.at("envs"),
        ("resources",): mine.at("resources") if "resources" in run.user else run.config.origin.at("resources"),
        **{(key,): at.at(key) for key in ("command", "lifecycle", "startupProbe", "readinessProbe", "livenessProbe")},
    }
    config = memo.inputs.config
    everywhere = dict.fromkeys(("tolerations", *memo.every.fields, "topologySpreadConstraints"), "pods")
    origins |= {("template", "spec", key): config.origin(word, key) for key, word in everywhere.items()}
    origins["template", "spec", "runtimeClassName"] = config.origin("flavors")
    origins |= saying.said(memo, app, base, run, line.args, pod)
    origins |= {("config", key): path for key, path in preparing.places(run.engine, run.words)}
    if patch := app.spec.get("podTemplate"):
        at = app.origin("spec", "podTemplate")
        origins |= {("template", *here): at.at(*there) for here, there in patching.places(pod, patch)}
    if limits := base.kit.placement.places(base.claim.main, "limits"):
        origins["placement",] = limits.model
    if trigger := scaling.trigger(memo, app, run.engine, run.config):
        origins |= {
            ("said", "scale", i): each for i, each in enumerate(scaling.triggers(run.engine, run.config, trigger))
        }
        origins["metrics",] = trigger[1].at("metrics")
        origins["behavior",] = trigger[1].at("behavior")
    return origins
