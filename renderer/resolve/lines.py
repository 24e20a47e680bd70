"""The command line and the environment of a Playground's engine."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

from renderer import quantity
from renderer.api import App, Spec
from renderer.plan import Body
from renderer.problems import Findings, Origin, Path, Source
from renderer.records import NamedTuple, quick
from renderer.resolve import engines, given, normal, options
from renderer.resolve.engines import Derivation
from renderer.resolve.environment import merge_env
from renderer.resolve.judging import judged, untaken
from renderer.resolve.memo import Claimed, Memo, key_of
from renderer.resolve.running import Run, version_at
from renderer.template import shared

_BACKEND: Path = ("spec", "backendRuntimeConfig")


class Line(NamedTuple):
    """The command line and the options in it, the environment, and how much shared memory goes with them."""

    args: tuple[str, ...]
    names: Set[str]
    env: tuple[Body, ...]
    shared_memory: str


_line = quick(Line)


def line(memo: Memo, app: App, base: Claimed, run: Run, found: Findings) -> Line:
    """Arguments, environment and shared memory, each by the contract's order. Raises TemplateError."""
    engine, user, words, config, claim = run.engine, run.user, run.words, run.config, base.claim
    per_model = engines.model_settings(base.claim.main, engine)
    own_args, model_args = user.get("args") or (), per_model.get("args") or ()
    first = config.layer(words)
    derived = engine.derives(words)
    layers, shm = [first, *derived.layers], derived.shared_memory
    if engine.owned_env:
        options.owned_env(engine.owned_env, user.get("envs") or (), app.origin(*_BACKEND, "envs"), found)
        options.owned_env(engine.owned_env, per_model.get("envs") or (), _at_model(base, engine, "envs"), found)
        everywhere = memo.inputs.config.get("pods", "env", default=())
        options.owned_env(engine.owned_env, everywhere, memo.inputs.config.origin("pods", "env"), found)
    if engine.style.splits:
        paths = [
            (weights.path, app.origin(*each.path) if each.model.ours else weights.origin)
            for each, weights in zip(claim.models, base.weights, strict=True)
        ]
        given.unsplit([arg for layer in layers for arg in layer.args], paths, found)
    layers += [options.new_layer(each) for each in (model_args, own_args) if each]
    args, form = options.line(engine.style, layers)
    # All that the next asks for, where the version is known; the values that others than people give follow from these.
    asked: tuple[Any, ...] = (
        run.version,
        run.held,
        words["TP"],
        base.kit.placement.first,
        claim.draft,
        tuple(model_args),
        tuple(own_args),
        "podTemplate" in app.spec,
        id(config),
        id(derived.held),
    )
    if facts := claim.main.spec.get("facts"):
        heads, longest = (facts.get("attention") or {}).get("heads"), facts.get("contextLength")
        asked += heads, longest, words["MaxModelLen"], longest is not None and any("rope" in each for each in args)
    if asked not in form.sound:
        before = len(found.problems)
        if engine.other and engine.style.read:
            _judge_preset(memo, app, run, layers, 1 + len(derived.layers), found)
        _judge(memo, app, base, run, args, found)
        if run.version and len(found.problems) == before:
            form.sound.add(asked)
    env = _environment(memo, app, base, run, derived, per_model, found)
    size = user.get("sharedMemorySize", config.spec.get("sharedMemorySize"))
    if size is not None:
        own = "sharedMemorySize" in user
        shm = _sized(size, app.origin(*_BACKEND) if own else config.origin, found)
    return _line(args, form.names, env, shm)


def _sized(size: object, at: Origin, found: Findings) -> str:
    """The size of shared memory, canonical; an error where it is none, or negative."""
    try:
        if quantity.nanos(size) < 0:
            found.add("E307", at.at("sharedMemorySize"), what=f"{size} is below 0")
        return quantity.canonical(size)
    except ValueError:
        found.add("E305", at.at("sharedMemorySize"), value=size)
        return ""


def _environment(
    memo: Memo, app: App, base: Claimed, run: Run, derived: Derivation, per_model: Spec, found: Findings
) -> tuple[Body, ...]:
    """The preset's, what is derived, every pod's, the model's and the Playground's: worked out once for all who say the
    same.
    """
    engine, known = run.engine, run.engine.environments
    model_env, own_env = per_model.get("envs") or (), run.user.get("envs") or ()
    said = id(derived), key_of(model_env, own_env)  # the engine keeps what is derived
    if known and said in known:
        return known[said]
    before = len(found.problems)
    env = tuple(engine.envs(run.words))
    if model_env:
        path: Path = ("spec", "engines", engine.runtime.name, "envs")
        model_env = _entries(memo, model_env, base.claim.main.document, path, found)
    if own_env:
        own_env = _entries(memo, own_env, app.document, (*_BACKEND, "envs"), found)
    if derived.envs or model_env or own_env or memo.every.env:
        env = merge_env(env, derived.envs, memo.every.env, model_env, own_env)
    if known is not None and len(found.problems) == before:
        known[said] = env
    return env


def _entries(memo: Memo, envs: Sequence[Body], source: Source, path: Path, found: Findings) -> Sequence[Body]:
    """Somebody's environment, normal: worked out once for all who say the same."""
    said = key_of(envs)
    known = memo.envs.get(said)
    if known is None:
        before = len(found.problems)
        known = shared(normal.entries(envs, Origin(source, path), found))
        if len(found.problems) == before:
            memo.envs[said] = known
    return known


def said(app: App, base: Claimed, run: Run) -> list[given.Given]:
    """What people say of the command line: the model's author, then the Playground's, each with some arguments."""
    model_args, own_args = engines.model_settings(base.claim.main, run.engine).get("args"), run.user.get("args")
    theirs = [given.Given(model_args, _at_model(base, run.engine, "args"))] if model_args else []
    return [*theirs, given.Given(own_args, app.origin(*_BACKEND, "args"))] if own_args else theirs


def _judge(memo: Memo, app: App, base: Claimed, run: Run, line: Sequence[str], found: Findings) -> None:
    """What is wrong with the model's and the user's arguments. `line`: all arguments, as they will be."""
    engine, claim, theirs = run.engine, base.claim, said(app, base, run)
    _judge_options(memo, app, run, theirs, found)
    if engine.style.read and theirs:
        given.judge(engine, theirs, claim.draft, run.words["Slots"], found)
    if theirs and not app.spec.get("podTemplate"):  # else the pod may have another time to end
        given.drained(engine, theirs, line, engine.grace, None, found)
    on = given.Accelerated(engine, run.held, run.words["TP"], theirs, line, base.kit.placement, claim.main)
    given.shared_out(on, found)
    if engine.templated and claim.main.spec.get("facts"):
        given.known(on, found)


def _judge_preset(memo: Memo, app: App, run: Run, layers: Sequence[options.Layer], count: int, found: Findings) -> None:
    """What the engine of this version would not take of the preset's arguments, as far as they are in the line.
    `count`: how many of the layers are the preset's.
    """
    judge = engines.judge(memo.inputs.option_files, run.engine, run.version, found)
    if judge is None:
        return
    for given_, hint in untaken(judge, layers, count):
        at = version_at(app, run.engine, run.variant)
        found.add(f"{judge.prefix}445", at, of=judge.of, given=given_, hint=hint)


def _judge_options(memo: Memo, app: App, run: Run, theirs: Sequence[given.Given], found: Findings) -> None:
    """What the engine of this version would not take of the model's and the user's arguments."""
    engine = run.engine
    if not engine.style.read:
        if engine.templated and run.user.get("args") and "options" in engine.spec:
            found.add("E438", app.origin(*_BACKEND, "args"), backend=engine.runtime.name)
        return
    version = run.version
    judge = engines.judge(memo.inputs.option_files, engine, version, found) if version else None
    if judge is None:
        own = "version" in run.user and ":" not in run.tag
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


def _at_model(base: Claimed, engine: engines.Engine, field: str) -> Origin:
    return Origin(base.claim.main.document, ("spec", "engines", engine.runtime.name, field))
