"""The command line, the environment and the shared memory of a Playground's engine."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from renderer import quantity
from renderer.api import App
from renderer.diagnostics import Collector, Origin, Path
from renderer.json_values import maps_at
from renderer.plan import Body
from renderer.resolve.apps.app_base import AppBase
from renderer.resolve.apps.engine_run import EngineRun
from renderer.resolve.context import RunContext, cache_key
from renderer.resolve.engine import (
    adapters,
    arg_merge,
    arg_validation,
    backend_runtime,
    dialect,
    disaggregation,
    kv_offloading,
    option_list_choice,
)
from renderer.resolve.engine.backend_runtime import Derivation
from renderer.resolve.engine.dialect import ArgLayer, LineForm
from renderer.resolve.engine.option_list_validation import refused_preset_options, validate_options
from renderer.resolve.engine.parallelism import number_origin
from renderer.resolve.kube import api_defaults
from renderer.resolve.layers import MergedEntries, ValueLayer, merge_entries, replacements
from renderer.resolve.pod import pod_template
from renderer.template import share_maps

_BACKEND: Path = ("spec", "backendRuntimeConfig")


class CommandLine(Struct, frozen=True):
    """The command line of a runner: arguments, environment, and the size of shared memory ('' for none). `layers`: of
    the arguments; `user_layers`: those of the OpenModel and the Playground.
    """

    layers: Sequence[ArgLayer]
    args: tuple[str, ...]
    form: LineForm
    user_layers: Sequence[ArgLayer]
    merged_env: MergedEntries
    shared_memory: str

    @property
    def env(self) -> tuple[Body, ...]:
        """The environment."""
        return self.merged_env.entries


def resolve_command_line(
    context: RunContext, app: App, base: AppBase, run: EngineRun, diagnostics: Collector
) -> CommandLine:
    """Arguments, environment and shared memory, each merged from its layers (docs/design/contract.md#precedence).

    Raises TemplateError.
    """
    engine, backend_config, words, config, claim = run.engine, run.backend_config, run.words, run.config, base.claim
    model_settings = backend_runtime.model_settings(base.claim.main, engine)
    app_args, model_args = backend_config.get("args") or (), model_settings.get("args") or ()
    preset_layer = config.layer(words)
    derivation = engine.derivation(words)
    layers = [preset_layer, *derivation.layers]
    if engine.reserved_env:
        for envs, origin in (
            (backend_config.get("envs"), app.origin(*_BACKEND, "envs")),
            (model_settings.get("envs"), _model_settings_origin(base, engine, "envs")),
            (context.inputs.config.get("pods", "env"), context.inputs.config.origin("pods", "env")),
        ):
            dialect.validate_reserved_env(engine.reserved_env, envs or (), origin, diagnostics)
    if engine.style.splits:
        paths = [
            (weights.path, app.origin(*item.path) if item.model.ours else weights.origin)
            for item, weights in zip(claim.models, base.weights, strict=True)
        ]
        arg_validation.validate_split_paths([arg for layer in layers for arg in layer.args], paths, diagnostics)
    user_layers = _user_layers(app, base, run)
    if run.adapters:
        layers += adapters.adapter_layers(engine, run.adapters, user_layers, diagnostics)
    preset_layer_count = len(layers)
    layers += user_layers
    args, form = arg_merge.merge_args(engine.style, layers)
    # Everything that the validation depends on, where the version is known; the layers of presets follow from these.
    validation_key: tuple[object, ...] = (
        run.version,
        run.accelerator,
        run.parallelism,
        "parallelism" in app.spec,
        base.pod_needs.placement.first_index,
        claim.draft,
        tuple(model_args),
        tuple(app_args),
        "podTemplate" in app.spec,
        id(config),
        id(derivation.entries),
    )
    if facts := claim.main.spec.get("facts"):
        heads, context_length = (facts.get("attention") or {}).get("heads"), facts.get("contextLength")
        has_rope = context_length is not None and any("rope" in arg for arg in args)
        validation_key += heads, context_length, words["MaxModelLen"], has_rope
    if validation_key not in form.valid:
        problem_count = len(diagnostics.problems)
        if engine.is_other_version and engine.style.parses_options:
            _validate_preset_args(context, run, layers, preset_layer_count, diagnostics)
        _validate_user_args(context, app, base, run, user_layers, args, diagnostics)
        if run.version and len(diagnostics.problems) == problem_count:
            form.valid.add(validation_key)
    env = _merge_environment(context, app, base, run, derivation, diagnostics)
    if run.offloading:
        user_envs = env_layers(context, app, base, run)[-2:]
        kv_offloading.validate_options(engine, words, run.offloading, user_layers, user_envs, diagnostics)
        kv_offloading.warn_unbounded(engine, words, run.offloading, diagnostics)
    if app.role:
        user_envs = [*env_layers(context, app, base, run)[-2:], _patched_env(app)]
        disaggregation.validate_options(engine, app, user_layers, user_envs, diagnostics)
    return CommandLine(layers, args, form, user_layers, env, _shared_memory_size(app, run, derivation, diagnostics))


def shared_memory_layers(app: App, run: EngineRun) -> list[ValueLayer]:
    """The layers of the size of shared memory, as written; the last one wins."""
    layers = preset_shared_memory_layers(run)
    if "sharedMemorySize" in run.backend_config:  # rarely
        layers += replacements("sharedMemorySize", [(run.backend_config, app.origin(*_BACKEND))])
    return layers


def preset_shared_memory_layers(run: EngineRun) -> list[ValueLayer]:
    """Those layers without the app's own size: of the preset, and of KV cache that lies there."""
    derivation = run.engine.derivation(run.words)
    layers = [*derivation.shared_memory]
    if "sharedMemorySize" in run.config.spec:  # rarely
        layers += replacements("sharedMemorySize", [(run.config.spec, run.config.origin)])
    if run.offloading and derivation.shared_memory_holds_kv_cache:
        layers += kv_offloading.shared_memory_layers(run.offloading, layers)
    return layers


def _shared_memory_size(app: App, run: EngineRun, derivation: Derivation, diagnostics: Collector) -> str:
    """The canonical size of shared memory, '' for none; an error where it is no quantity, or negative."""
    layers = shared_memory_layers(app, run)
    if not layers or layers[-1] in derivation.shared_memory:  # of the preset, validated with it
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
    """The layers of the environment: preset, derived, RenderConfig's `pods`, OpenModel, Playground."""
    engine = run.engine
    model_envs = backend_runtime.model_settings(base.claim.main, engine).get("envs") or ()
    return [
        ValueLayer(engine.envs(run.words), engine.origin.at("envs")),
        *engine.derivation(run.words).envs,
        ValueLayer(context.pod_defaults.env, context.inputs.config.origin("pods", "env")),
        *base.pod_needs.placement.env_layers(),
        ValueLayer(model_envs, _model_settings_origin(base, engine, "envs")),
        ValueLayer(run.backend_config.get("envs") or (), app.origin(*_BACKEND, "envs")),
    ]


def _patched_env(app: App) -> ValueLayer:
    """The variables that a podTemplate gives the runner."""
    index, runner = pod_template.runner_patch(app.spec)
    return ValueLayer(maps_at(runner, "env"), app.origin("spec", "podTemplate", "spec", "containers", index, "env"))


def _merge_environment(
    context: RunContext, app: App, base: AppBase, run: EngineRun, derivation: Derivation, diagnostics: Collector
) -> MergedEntries:
    """The merged environment, cached by the engine for equal layers, unless there are diagnostics."""
    cache = run.engine.environments
    model_settings = backend_runtime.model_settings(base.claim.main, run.engine)
    access_env = base.pod_needs.placement.access.env
    key = id(derivation), id(access_env), cache_key(model_settings.get("envs"), run.backend_config.get("envs"))
    if cache and key in cache:
        return cache[key]
    problem_count = len(diagnostics.problems)
    *preset_layers, model_layer, app_layer = env_layers(context, app, base, run)
    user_envs = [
        _normalize_env(context, layer, diagnostics) if layer.value else () for layer in (model_layer, app_layer)
    ]
    env = merge_entries([*(layer.value for layer in preset_layers), *user_envs])
    if cache is not None and len(diagnostics.problems) == problem_count:
        cache[key] = env
    return env


def _normalize_env(context: RunContext, envs: ValueLayer, diagnostics: Collector) -> Sequence[Body]:
    """The entries of a layer with API defaults; cached for equal entries, unless there are diagnostics."""
    key = cache_key(envs.value)
    normalized = context.envs.get(key)
    if normalized is None:
        problem_count = len(diagnostics.problems)
        normalized = share_maps(api_defaults.default_env(envs.value, envs.origin, diagnostics))
        if len(diagnostics.problems) == problem_count:
            context.envs[key] = normalized
    return normalized


def _user_layers(app: App, base: AppBase, run: EngineRun) -> list[ArgLayer]:
    """The arguments of the OpenModel, of the Playground and of its role, as far as they have some."""
    model_args = backend_runtime.model_settings(base.claim.main, run.engine).get("args")
    app_args = run.backend_config.get("args")
    layers = [ArgLayer(model_args, _model_settings_origin(base, run.engine, "args"))] if model_args else []
    if app_args and app.role_args:
        shared, own = app_args[: -app.role_args], app_args[-app.role_args :]
        layers += [ArgLayer(shared, app.origin(*_BACKEND, "args"))] if shared else []
        return [*layers, ArgLayer(own, Origin(*app.origin("spec", "disaggregation", app.role, "args").behind))]
    return [*layers, ArgLayer(app_args, app.origin(*_BACKEND, "args"))] if app_args else layers


def _validate_user_args(
    context: RunContext,
    app: App,
    base: AppBase,
    run: EngineRun,
    user_layers: Sequence[ArgLayer],
    args: Sequence[str],
    diagnostics: Collector,
) -> None:
    """Diagnostics about the arguments of `user_layers`. `args`: the whole command line."""
    engine, claim = run.engine, base.claim
    _validate_options(context, app, run, user_layers, diagnostics)
    if engine.style.parses_options and user_layers:
        arg_validation.validate_args(engine, user_layers, claim.draft, run.slots, diagnostics)
    if user_layers and not app.spec.get("podTemplate"):  # which may change the grace period
        sleep = engine.constant["DrainSleep"]
        arg_validation.validate_drain(
            engine, user_layers, args, grace=engine.grace, sleep=sleep, patch_origin=None, diagnostics=diagnostics
        )
    accelerated = arg_validation.AcceleratedEngine(
        engine=engine,
        accelerator=run.accelerator,
        parallelism=run.parallelism,
        layers=user_layers,
        args=args,
        placement=base.pod_needs.placement,
        model=claim.main,
        is_sized="parallelism" in app.spec,
        is_role=bool(app.role),
        number_origin=number_origin(app, base.pod_needs.placement, claim.main),
    )
    arg_validation.validate_parallelism(accelerated, diagnostics)
    if engine.templated and claim.main.spec.get("facts"):
        arg_validation.validate_model_facts(accelerated, diagnostics)


def _validate_preset_args(
    context: RunContext, run: EngineRun, layers: Sequence[ArgLayer], count: int, diagnostics: Collector
) -> None:
    """Diagnostics about arguments of the preset that this version of the engine refuses, as far as they are in the
    command line. `count`: how many of the layers are the preset's.
    """
    judge = option_list_choice.option_rules(context.inputs.option_files, run.engine, run.version, diagnostics)
    if judge is None:
        return
    for option, hint in refused_preset_options(judge, layers, count):
        diagnostics.add(f"{judge.prefix}445", run.version_layers[-1].origin, of=judge.engine, given=option, hint=hint)


def _validate_options(
    context: RunContext, app: App, run: EngineRun, user_layers: Sequence[ArgLayer], diagnostics: Collector
) -> None:
    """Diagnostics about arguments of `user_layers` that this version of the engine refuses."""
    engine = run.engine
    if not engine.style.parses_options:
        if engine.templated and run.backend_config.get("args") and "options" in engine.spec:
            diagnostics.add("E438", app.origin(*_BACKEND, "args"), backend=engine.runtime.name)
        return
    version = run.version
    judge = (
        option_list_choice.option_rules(context.inputs.option_files, engine, version, diagnostics) if version else None
    )
    if judge is None:
        names_version = "version" in run.backend_config and ":" not in run.tag
        if (version or names_version) and "list" in (engine.spec.get("options") or {}):
            origin = app.origin(*_BACKEND, "version" if "version" in run.backend_config else "backendName")
            diagnostics.add("W231", origin, backend=engine.runtime.name, version=version or run.tag)
        return
    for layer in user_layers:
        findings = engine.option_findings.get(key := (version, tuple(layer.args)))
        if findings is None:
            findings = engine.option_findings[key] = validate_options(judge, layer.args)
        for finding in findings:
            diagnostics.add(finding.code, layer.origin.at(finding.index), **finding.words)


def _model_settings_origin(base: AppBase, engine: backend_runtime.Engine, field: str) -> Origin:
    return Origin(base.claim.main.document, ("spec", "engines", engine.runtime.name, field))
