"""A Playground → its Plan: the engine, its command line and environment, one pod, and what scales it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from functools import lru_cache

from renderer import quantity
from renderer.api import App, OpenModel, Spec
from renderer.plan import Body, Container, Plan, Pod, Port
from renderer.problems import Findings, Origin, Path, Source, Stop
from renderer.records import NamedTuple
from renderer.resolve import (
    adapters,
    compiling,
    engines,
    everypod,
    fitting,
    flavors,
    given,
    images,
    keys,
    monitoring,
    names,
    normal,
    options,
    patching,
    pods,
    preparing,
    routing,
    saying,
    scaling,
    sizing,
    targets,
)
from renderer.resolve.engines import PORT
from renderer.resolve.environment import merge_env
from renderer.resolve.judging import judged
from renderer.resolve.memo import Claimed, Memo, backend, claimed, door, engine, hardened_at
from renderer.resolve.sources import PULLED, Weights
from renderer.template import TemplateError, Words, shared
from renderer.yamlio import Shared

GRACE = 130
_PORT = Port("http", PORT)
_PORTS = (Shared({"name": "http", "containerPort": PORT, "protocol": "TCP"}),)
_BACKEND: Path = ("spec", "backendRuntimeConfig")


class _Run(NamedTuple):
    """How the engine runs this app. `user`: the Playground's backendRuntimeConfig; `version`: the engine's, as far as
    the image tells; `called`: what it calls the model.
    """

    engine: engines.Engine
    config: engines.Recommended
    user: Spec
    resources: Body
    held: flavors.Accelerator
    variant: Spec
    tag: str
    version: str
    served: str
    words: Words
    called: str


class _Line(NamedTuple):
    """The command line and the options in it, the environment, and how much shared memory goes with them."""

    args: tuple[str, ...]
    names: Set[str]
    env: tuple[Body, ...]
    shared_memory: str


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
    run = _run(memo, app, runtime, base, found)
    pod, line, config = _pod(memo, app, base, run, found)
    if memo.fed:
        pod = monitoring.watched(pod, run.engine)
    scaler = scaling.scaler(memo, app, run.engine, run.config, found)
    monitoring.readable(run.engine.spec, app, pod, scaler, found)
    return Plan(
        name=app.name,
        app=app.label,
        namespace=app.namespace,
        file=app.file,
        labels=base.labels,
        annotations=_annotations(memo, app, base, run, found),
        replicas=count,
        size=1,
        startup_policy="LeaderReady",
        restart_policy="RecreateGroupOnPodRestart",
        rollout=targets.rollout(memo.inputs.config),
        worker=pod,
        config=config,
        port=_PORT,
        model=base.claim.main.name,
        serves=run.served,
        called=run.called,
        backend=runtime.runtime.name if runtime.templated else "",
        metrics=runtime.spec.get("metrics") or {},
        adapters=adapters.loaded(runtime.spec, runtime.style, run.served, line.args, line.names),
        disruptable=(scaler.min_replicas if scaler else count or 0) >= 2,
        scaler=scaler,
        host=routing.host(app, here, mode),
        shared=(*base.shared, *(monitoring.wanted(app.namespace, pod) if memo.fed else ())),
        origins=lambda: _origins(memo, app, base, run, line, pod),
    )


def _engine(memo: Memo, app: App, drain: int, found: Findings) -> engines.Engine:
    """backendName → RenderConfig's → the CRD's default. Raises Stop."""
    said = (app.spec.get("backendRuntimeConfig") or {}).get("backendName")
    name = said or backend(memo)
    known = memo.engines.get((name, drain))
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


def _run(memo: Memo, app: App, engine: engines.Engine, base: Claimed, found: Findings) -> _Run:
    """Config, resources, accelerator, variant, tag and words.

    Raises Stop when the engine cannot run what is claimed.
    """
    inputs, user, at = memo.inputs, app.spec.get("backendRuntimeConfig") or {}, app.origin(*_BACKEND)
    claim, place = base.claim, base.kit.placement
    if notice := engine.spec.get("notice"):
        origin = at.at("backendName") if "backendName" in user else app.origin("spec")
        found.add("W230", origin, backend=engine.runtime.name, notice=" ".join(notice.split()))
    config = engines.recommended(engine, claim.draft, user, at, found)
    said, before = keys.of(user.get("resources"), place.limits, place.params, place.given), len(found.problems)
    sized = config.sized.get(said)
    merged = sized.resources if sized else sizing.merged(config, user, at, place, found)
    if engine.templated:
        so_far = len(found.problems)
        fitting.fit(inputs, app, engine, claim, base.weights, base.skip, found)
        if found.problems and _unreadable(found, so_far):
            raise Stop  # what its pod gets is nobody's question yet
    if sized is None:
        sized = sizing.sized(inputs, app, engine, claim, merged, place, found)
        if len(found.problems) == before:  # what is wrong stands somewhere else for everybody
            config.sized[said] = sized
    _, held, variant, size, length = sized
    if user.get("version"):
        images.judge(user["version"], "tag", at.at("version"), found)
    tag = user.get("version") or variant.get("version") or engine.runtime.spec["version"]
    # servedModelName of the Playground → of the OpenModel → what the source itself calls it (contract, 4.8).
    served = app.spec.get("servedModelName") or claim.main.spec.get("servedModelName") or claim.main.name
    words = _words(engine, base, variant, size, served, length)
    called = engines.called(engine, served, words)
    named = engine.templated and called == served
    if named and (hint := names.unserved(engine.spec, served)):
        found.add("E414", _named(app, claim.main), name=served, backend=engine.runtime.name, hint=hint)
    _fixed(app, engine, variant, tag, found)
    # Nobody knows what an image of the podTemplate holds.
    version = "" if "image" in patching.runner(app.spec)[1] else engine.version(tag)
    return _Run(engine, config, user, merged, held, variant, tag, version, served, words, called)


def _unreadable(found: Findings, before: int) -> bool:
    """Whether the engine cannot take the weights, or a limit is no quantity, so that nobody knows the accelerators."""
    return len(found.problems) > before or any(
        each.code in ("E250", "E305") and ".limits" in each.field for each in found.problems
    )


def _named(app: App, model: OpenModel) -> Origin:
    """Who says the served name."""
    source = app.document if "servedModelName" in app.spec else model.document
    return Origin(source, ("spec", "servedModelName"))


_MOVING = re.compile(r"(?:latest|nightly|main|master|dev|edge|stable)\b|[^0-9]+$")


def _fixed(app: App, engine: engines.Engine, variant: Spec, tag: str, found: Findings) -> None:
    """A warning for a tag that is moved from image to image."""
    if not _moves(tag):
        return
    own = variant.get("version") or engine.runtime.spec["version"]
    said = app.origin(*_BACKEND, "version") if tag != own else Origin(engine.runtime.document, ("spec", "version"))
    hint = "" if _MOVING.match(own) else f", such as {own}"
    found.add("W238", said, tag=tag, hint=f"name a fixed one{hint}, or a digest")


@lru_cache(maxsize=1024)
def _moves(tag: str) -> bool:
    return bool(_MOVING.match(tag)) and "sha256:" not in tag


def _words(engine: engines.Engine, base: Claimed, variant: Spec, size: int, served: str, length: int) -> Words:
    main = base.weights[0]
    second = base.weights[1] if len(base.weights) > 1 else None
    return {
        "ModelPath": _path(engine, main, base.skip),
        "ModelName": main.name if main.kind == PULLED else served,
        "DraftModelPath": _path(engine, second, base.skip) if second else "",
        "Revision": main.revision,
        "DraftRevision": second.revision if second and base.claim.draft else "",
        "Hub": main.hub,
        "Filename": main.filename,
        "Endpoint": main.endpoint if main.kind == "objectStore" else "",
        "Source": main.kind,
        "Format": main.format,
        "Skip": base.skip,
        "Stream": base.skip and main.kind == "objectStore",
        "Accelerator": variant.get("accelerator", "none"),
        "TP": size,
        "MaxModelLen": length,
        "Region": main.words.get("Region", ""),
        "Anonymous": main.words.get("Anonymous", False),
        **engine.constant,
    }


def _path(engine: engines.Engine, weights: Weights, skip: bool) -> str:
    """What the engine opens: the path on disk, or what the user wrote when nothing loads it (gcs:// as gs:// for
    presets).
    """
    if not skip or weights.kind == "oci":
        return weights.path
    if engine.templated and weights.kind == "objectStore":
        return weights.scheme + weights.address[weights.address.index("://") :]
    return weights.address


def _pod(memo: Memo, app: App, base: Claimed, run: _Run, found: Findings) -> tuple[Pod, _Line, Body]:
    """The one pod, the command line that it got, and the files of its ConfigMap.

    Raises Stop when a template of the runtime does not hold.
    """
    inputs, runtime = memo.inputs, run.engine.runtime
    try:
        line = _line(memo, app, base, run, found)
        command = tuple(run.engine.command(run.words))
        lifecycle = run.engine.lifecycle(run.words)
        probes = {key: filler(run.words) for key, filler in run.engine.probes.items()}
        beside = preparing.prepared(inputs.config, app.name, run.engine, run.words)
    except TemplateError as error:
        path = error.path if error.path[:1] == ("spec",) else ("spec", *error.path)
        found.stop("E420", Origin(runtime.document, path), what=error, hint=compiling.hint(error))
    facts = base.claim.main.spec.get("facts") or {}
    runner = Container(
        name=pods.RUNNER,
        image=images.reference(
            inputs.config, images.tagged(run.variant.get("image") or runtime.spec["image"], run.tag)
        ),
        command=command,
        args=line.args,
        env=pods.with_credentials(base.kit, line.env),
        ports=_PORTS,
        resources=run.resources,
        startup_probe=engines.startup(run.engine, probes.get("startupProbe", {}), facts.get("weightsGiB") or 0),
        readiness_probe=probes.get("readinessProbe", {}),
        liveness_probe=probes.get("livenessProbe", {}),
        lifecycle=lifecycle,
    )
    drain = run.engine.spec.get("drain")
    grace = drain["seconds"] + run.engine.constant["DrainSleep"] - 10 if drain else GRACE
    security = run.variant.get("security") or run.engine.spec.get("security") or {}
    kit = base.kit
    if run.engine.templated and base.weights[0].kind == PULLED and not kit.loads:
        kit = pods.without_weights(kit)  # its preset says where they go (upstream-bugs.md, 18)
    pod = pods.playground(kit, runner, line.shared_memory, grace, _tolerations(run.held), security, beside)
    if base.hardening == "restricted" and "user" not in security:
        found.add("W204", hardened_at(memo, app))
    if app.spec.get("podTemplate"):
        pod = _patched(memo, app, base, run, pod, found)
    return pod, line, beside.config


def _patched(memo: Memo, app: App, base: Claimed, run: _Run, pod: Pod, found: Findings) -> Pod:
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


def _line(memo: Memo, app: App, base: Claimed, run: _Run, found: Findings) -> _Line:
    """Arguments, environment and shared memory, each by the contract's order. Raises TemplateError."""
    engine, user, words = run.engine, run.user, run.words
    per_model = _of_model(base, engine)
    own_args, model_args = user.get("args") or (), per_model.get("args") or ()
    layers = [options.Layer(run.config.args(words))]
    derived_env: list[Body] = []
    shm = ""
    for entry in engine.derives(words) if engine.derived else ():
        if entry.args:
            layers.append(options.Layer([str(arg) for arg in entry.args(words)], entry.group))
        if entry.envs:
            derived_env += entry.envs(words)
        shm = entry.shared_memory or shm
    if engine.owned_env:
        options.owned_env(engine.owned_env, user.get("envs") or (), app.origin(*_BACKEND, "envs"), found)
        options.owned_env(engine.owned_env, per_model.get("envs") or (), _at_model(base, engine, "envs"), found)
        everywhere = memo.inputs.config.get("pods", "env", default=())
        options.owned_env(engine.owned_env, everywhere, memo.inputs.config.origin("pods", "env"), found)
    if engine.style.splits:
        paths = [
            (weights.path, app.origin(*each.path) if each.model.ours else weights.origin)
            for each, weights in zip(base.claim.models, base.weights, strict=True)
        ]
        given.unsplit([arg for layer in layers for arg in layer.args], paths, found)
    layers += [options.Layer(each) for each in (model_args, own_args) if each]
    args, form = options.line(engine.style, layers)
    # All that the next asks for, where the version is known.
    said = run.version, run.held, words["TP"], base.claim.draft, tuple(model_args), tuple(own_args)
    if said not in form.sound:
        before = len(found.problems)
        _judge(memo, app, base, run, args, found)
        if run.version and len(found.problems) == before:
            form.sound.add(said)
    env: Sequence[Body] = tuple(engine.envs(words))
    model_env, own_env = per_model.get("envs") or (), user.get("envs") or ()
    if derived_env or model_env or own_env or memo.every.env:
        if model_env:
            path: Path = ("spec", "engines", engine.runtime.name, "envs")
            model_env = _entries(memo, model_env, base.claim.main.document, path, found)
        if own_env:
            own_env = _entries(memo, own_env, app.document, (*_BACKEND, "envs"), found)
        env = merge_env(env, derived_env, memo.every.env, model_env, own_env)
    size = user.get("sharedMemorySize", run.config.spec.get("sharedMemorySize"))
    if size is not None:
        try:
            shm = quantity.canonical(size)
        except ValueError:
            found.add("E305", app.origin(*_BACKEND, "sharedMemorySize"), value=size)
    return _Line(args, form.names, tuple(env), shm)


def _entries(memo: Memo, envs: Sequence[Body], source: Source, path: Path, found: Findings) -> Sequence[Body]:
    """Somebody's environment, normal: worked out once for all who say the same."""
    said = keys.of(envs)
    known = memo.envs.get(said)
    if known is None:
        before = len(found.problems)
        known = shared(normal.entries(envs, Origin(source, path), found))
        if len(found.problems) == before:
            memo.envs[said] = known
    return known


def _judge(memo: Memo, app: App, base: Claimed, run: _Run, line: Sequence[str], found: Findings) -> None:
    """What is wrong with the model's and the user's arguments. `line`: all arguments, as they will be."""
    engine, claim = run.engine, base.claim
    model_args, own_args = _of_model(base, engine).get("args"), run.user.get("args")
    theirs = [given.Given(model_args, _at_model(base, engine, "args"))] if model_args else []
    theirs += [given.Given(own_args, app.origin(*_BACKEND, "args"))] if own_args else []
    _judge_options(memo, app, run, theirs, found)
    if engine.style.read and theirs:
        given.judge(engine, theirs, claim.draft, found)
    given.shared_out(engine, run.held, run.words["TP"], theirs, line, base.kit.placement, claim.main, found)


def _judge_options(memo: Memo, app: App, run: _Run, theirs: Sequence[given.Given], found: Findings) -> None:
    """What the engine of this version would not take of the model's and the user's arguments."""
    engine = run.engine
    if not engine.style.read:
        if engine.templated and run.user.get("args") and "options" in engine.spec:
            found.add("E438", app.origin(*_BACKEND, "args"), backend=engine.runtime.name)
        return
    version = run.version
    judge = engines.judge(memo.inputs.option_files, engine, version, found) if version else None
    if judge is None:
        own = "version" in run.user and ":" not in run.tag and "image" not in patching.runner(app.spec)[1]
        if (version or own) and "list" in (engine.spec.get("options") or {}):
            place = app.origin(*_BACKEND, "version" if "version" in run.user else "backendName")
            found.add("W231", place, backend=engine.runtime.name, version=version or run.tag)
        return
    for args, origin in theirs:
        known = engine.judged.get(key := (version, tuple(args)))
        if known is None:
            known = engine.judged[key] = judged(judge, args)
        for index, code, words in known:
            found.add(code, origin.at(index), **words)


def _of_model(base: Claimed, engine: engines.Engine) -> Spec:
    """What the main model says of this engine."""
    return (base.claim.main.spec.get("engines") or {}).get(engine.runtime.name) or {}


def _at_model(base: Claimed, engine: engines.Engine, field: str) -> Origin:
    return Origin(base.claim.main.document, ("spec", "engines", engine.runtime.name, field))


def _annotations(memo: Memo, app: App, base: Claimed, run: _Run, found: Findings) -> Body:
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


def _asked_for(memo: Memo, app: App, base: Claimed, run: _Run, found: Findings) -> str:
    """What clients send as the model: the public name where a route turns it into the engine's, or where the engine
    does not care, else what the engine calls it.
    """
    called = run.called
    minds = run.engine.spec.get("servedName") in ("directory", "model")
    if called == run.served or not minds or routing.mode(app, door(memo, app.namespace)) != "off":
        return run.served
    if "servedModelName" in app.spec or "servedModelName" in base.claim.main.spec:
        place = _named(app, base.claim.main)
        found.add("W233", place, backend=run.engine.runtime.name, name=called)
    return called


def _origins(memo: Memo, app: App, base: Claimed, run: _Run, line: _Line, pod: Pod) -> Mapping[Path, Origin]:
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
