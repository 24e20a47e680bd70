"""The command line and the environment of a Playground's engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from renderer import quantity
from renderer.api import App
from renderer.diagnostics import Collector, Origin, Path
from renderer.plan import Body
from renderer.resolve.apps.app_base import AppBase
from renderer.resolve.apps.engine_run import EngineRun
from renderer.resolve.context import RunContext, cache_key
from renderer.resolve.engine import arg_validation, backend_runtime, dialect
from renderer.resolve.engine.backend_runtime import Derivation
from renderer.resolve.engine.dialect import ArgLayer, LineForm
from renderer.resolve.engine.option_validation import refused_preset_options, validate_options
from renderer.resolve.kube import api_defaults
from renderer.resolve.layers import MergedEntries, ValueLayer, merge_entries, replacements
from renderer.template import share_maps

_BACKEND: Path = ("spec", "backendRuntimeConfig")


class CommandLine(Struct, frozen=True):
    """The command line, of these layers and in this form, the environment, and how much shared memory goes with them.
    `theirs`: the layers of people.
    """

    layers: Sequence[ArgLayer]
    args: tuple[str, ...]
    form: LineForm
    theirs: Sequence[ArgLayer]
    merged_env: MergedEntries
    shared_memory: str

    @property
    def env(self) -> tuple[Body, ...]:
        """The environment."""
        return self.merged_env.entries


def command_line(context: RunContext, app: App, base: AppBase, run: EngineRun, diagnostics: Collector) -> CommandLine:
    """Arguments, environment and shared memory, each in its order (docs/design/contract.md#precedence).

    Raises TemplateError.
    """
    engine, user, words, config, claim = run.engine, run.user, run.words, run.config, base.claim
    per_model = backend_runtime.model_settings(base.claim.main, engine)
    own_args, model_args = user.get("args") or (), per_model.get("args") or ()
    first = config.layer(words)
    derived = engine.derivation(words)
    layers = [first, *derived.layers]
    if engine.reserved_env:
        dialect.validate_reserved_env(
            engine.reserved_env, user.get("envs") or (), app.origin(*_BACKEND, "envs"), diagnostics
        )
        dialect.validate_reserved_env(
            engine.reserved_env, per_model.get("envs") or (), _at_model(base, engine, "envs"), diagnostics
        )
        everywhere = context.inputs.config.get("pods", "env", default=())
        dialect.validate_reserved_env(
            engine.reserved_env, everywhere, context.inputs.config.origin("pods", "env"), diagnostics
        )
    if engine.style.splits:
        paths = [
            (weights.path, app.origin(*item.path) if item.model.ours else weights.origin)
            for item, weights in zip(claim.models, base.weights, strict=True)
        ]
        arg_validation.validate_split_paths([arg for layer in layers for arg in layer.args], paths, diagnostics)
    theirs = _theirs(app, base, run)
    layers += theirs
    args, form = dialect.merge_args(engine.style, layers)
    # All that the next asks for, where the version is known; the values that others than people give follow from these.
    judged_by: tuple[Any, ...] = (
        run.version,
        run.held,
        words["TP"],
        base.kit.placement.first_index,
        claim.draft,
        tuple(model_args),
        tuple(own_args),
        "podTemplate" in app.spec,
        id(config),
        id(derived.entries),
    )
    if facts := claim.main.spec.get("facts"):
        heads, longest = (facts.get("attention") or {}).get("heads"), facts.get("contextLength")
        judged_by += heads, longest, words["MaxModelLen"], longest is not None and any("rope" in item for item in args)
    if judged_by not in form.valid:
        before = len(diagnostics.problems)
        if engine.is_other_version and engine.style.parses_options:
            _judge_preset(context, app, run, layers, 1 + len(derived.layers), diagnostics)
        _judge(context, app, base, run, theirs, args, diagnostics)
        if run.version and len(diagnostics.problems) == before:
            form.valid.add(judged_by)
    env = _environment(context, app, base, run, derived, diagnostics)
    return CommandLine(layers, args, form, theirs, env, _shared_memory(app, run, derived, diagnostics))


def shared_memory_layers(app: App, run: EngineRun) -> list[ValueLayer]:
    """Who says how much shared memory there is, as it is written."""
    layers = [*run.engine.derivation(run.words).shared_memory]
    if "sharedMemorySize" in run.config.spec or "sharedMemorySize" in run.user:  # with most in neither
        authors = (run.config.spec, run.config.origin), (run.user, app.origin(*_BACKEND))
        layers += replacements("sharedMemorySize", authors)
    return layers


def _shared_memory(app: App, run: EngineRun, derived: Derivation, diagnostics: Collector) -> str:
    """The size of shared memory, canonical; an error where it is none, or negative."""
    layers = shared_memory_layers(app, run)
    if not layers or layers[-1] in derived.shared_memory:  # a preset's word, judged with it
        return str(layers[-1].value) if layers else ""
    size, origin = layers[-1].value, layers[-1].origin
    try:
        if quantity.nanos(size) < 0:
            diagnostics.add("E307", origin, what=f"{size} is below 0")
        return quantity.canonical(size)
    except ValueError:
        diagnostics.add("E305", origin, value=size)
        return ""


def env_layers(context: RunContext, app: App, base: AppBase, run: EngineRun) -> list[ValueLayer]:
    """The preset's variables, what is derived, every pod's, the model's and the Playground's."""
    engine = run.engine
    return [
        ValueLayer(engine.envs(run.words), engine.origin.at("envs")),
        *engine.derivation(run.words).envs,
        ValueLayer(context.pod_defaults.env, context.inputs.config.origin("pods", "env")),
        ValueLayer(
            backend_runtime.model_settings(base.claim.main, engine).get("envs") or (), _at_model(base, engine, "envs")
        ),
        ValueLayer(run.user.get("envs") or (), app.origin(*_BACKEND, "envs")),
    ]


def _environment(
    context: RunContext, app: App, base: AppBase, run: EngineRun, derived: Derivation, diagnostics: Collector
) -> MergedEntries:
    """The environment: worked out once for all who say the same."""
    known = run.engine.environments
    per_model = backend_runtime.model_settings(base.claim.main, run.engine)
    key = id(derived), cache_key(per_model.get("envs"), run.user.get("envs"))  # the engine keeps what is derived
    if known and key in known:
        return known[key]
    before = len(diagnostics.problems)
    *ours, model, own = env_layers(context, app, base, run)
    theirs = [_entries(context, layer, diagnostics) if layer.value else () for layer in (model, own)]
    env = merge_entries([*(layer.value for layer in ours), *theirs])
    if known is not None and len(diagnostics.problems) == before:
        known[key] = env
    return env


def _entries(context: RunContext, envs: ValueLayer, diagnostics: Collector) -> Sequence[Body]:
    """Somebody's environment, normal: worked out once for all who say the same."""
    key = cache_key(envs.value)
    known = context.envs.get(key)
    if known is None:
        before = len(diagnostics.problems)
        known = share_maps(api_defaults.default_env(envs.value, envs.origin, diagnostics))
        if len(diagnostics.problems) == before:
            context.envs[key] = known
    return known


def _theirs(app: App, base: AppBase, run: EngineRun) -> list[ArgLayer]:
    """What people say of the command line: the model's author, then the Playground's, each with some arguments."""
    model_args, own_args = backend_runtime.model_settings(base.claim.main, run.engine).get("args"), run.user.get("args")
    theirs = [ArgLayer(model_args, _at_model(base, run.engine, "args"))] if model_args else []
    return [*theirs, ArgLayer(own_args, app.origin(*_BACKEND, "args"))] if own_args else theirs


def _judge(
    context: RunContext,
    app: App,
    base: AppBase,
    run: EngineRun,
    theirs: Sequence[ArgLayer],
    line: Sequence[str],
    diagnostics: Collector,
) -> None:
    """What is wrong with the model's and the user's arguments. `line`: all arguments, as they will be."""
    engine, claim = run.engine, base.claim
    _judge_options(context, app, run, theirs, diagnostics)
    if engine.style.parses_options and theirs:
        arg_validation.validate_args(engine, theirs, claim.draft, run.words["Slots"], diagnostics)
    if theirs and not app.spec.get("podTemplate"):  # else the pod may have another time to end
        arg_validation.validate_drain(engine, theirs, line, engine.grace, None, diagnostics)
    on = arg_validation.AcceleratedEngine(
        engine, run.held, run.words["TP"], theirs, line, base.kit.placement, claim.main
    )
    arg_validation.validate_parallelism(on, diagnostics)
    if engine.templated and claim.main.spec.get("facts"):
        arg_validation.validate_model_facts(on, diagnostics)


def _judge_preset(
    context: RunContext, app: App, run: EngineRun, layers: Sequence[ArgLayer], count: int, diagnostics: Collector
) -> None:
    """What the engine of this version would not take of the preset's arguments, as far as they are in the line.
    `count`: how many of the layers are the preset's.
    """
    judge = backend_runtime.option_rules(context.inputs.option_files, run.engine, run.version, diagnostics)
    if judge is None:
        return
    for given_, hint in refused_preset_options(judge, layers, count):
        diagnostics.add(f"{judge.prefix}445", run.versions[-1].origin, of=judge.engine, given=given_, hint=hint)


def _judge_options(
    context: RunContext, app: App, run: EngineRun, theirs: Sequence[ArgLayer], diagnostics: Collector
) -> None:
    """What the engine of this version would not take of the model's and the user's arguments."""
    engine = run.engine
    if not engine.style.parses_options:
        if engine.templated and run.user.get("args") and "options" in engine.spec:
            diagnostics.add("E438", app.origin(*_BACKEND, "args"), backend=engine.runtime.name)
        return
    version = run.version
    judge = backend_runtime.option_rules(context.inputs.option_files, engine, version, diagnostics) if version else None
    if judge is None:
        own = "version" in run.user and ":" not in run.tag
        if (version or own) and "list" in (engine.spec.get("options") or {}):
            place = app.origin(*_BACKEND, "version" if "version" in run.user else "backendName")
            diagnostics.add("W231", place, backend=engine.runtime.name, version=version or run.tag)
        return
    for layer in theirs:
        known = engine.option_findings.get(key := (version, tuple(layer.args)))
        if known is None:
            known = engine.option_findings[key] = validate_options(judge, layer.args)
        for finding in known:
            diagnostics.add(finding.code, layer.origin.at(finding.index), **finding.words)


def _at_model(base: AppBase, engine: backend_runtime.Engine, field: str) -> Origin:
    return Origin(base.claim.main.document, ("spec", "engines", engine.runtime.name, field))
