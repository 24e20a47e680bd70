"""The command line, the environment and the shared memory of a Playground's engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from msgspec import Struct

from renderer.api import App
from renderer.diagnostics import Collector, Origin
from renderer.engines.dialect import ArgLayer, LineForm
from renderer.engines.given_options import given_options
from renderer.engines.option_rules import OptionRules
from renderer.kubernetes import quantity
from renderer.kubernetes.json_values import maps_at
from renderer.plan import Body
from renderer.resolve import claims
from renderer.resolve.context import RunContext, cache_key, cached
from renderer.resolve.engine import (
    adapters,
    arg_merge,
    kv_offloading,
    model_args,
    preset_args,
)
from renderer.resolve.kube import api_defaults
from renderer.resolve.layers import MergedEntries, ValueLayer, merge_entries, replacements
from renderer.resolve.layers import origins as origins_of
from renderer.resolve.pod import pod_template
from renderer.resolve.pod.loaders import without_offline
from renderer.resolve.workload.engine_run import BACKEND, EngineRun
from renderer.template import share_maps

OWN_ENVS = ("leaderEnvs", "workerEnvs")
"""The keys of `spec.workload` with the variables of leaders or workers alone."""


class ModelFile(Struct, frozen=True):
    """A file beside the command line."""

    path: str
    lines: Sequence[tuple[str, Origin]]  # each with what it is of

    @property
    def text(self) -> str:
        """What stands in it."""
        return "".join([f"{line}\n" for line, _ in self.lines])


class EngineProcess(Struct, frozen=True):
    """The command line of a runner: arguments, environment, and the size of shared memory."""

    run: EngineRun
    layers: Sequence[ArgLayer]  # of the arguments
    user_layers: Sequence[ArgLayer]  # of the layers, those of the OpenModel and the Playground
    args: tuple[str, ...]
    form: LineForm
    option_rules: OptionRules | None  # of the engine's version, None where nobody knows its options
    left_out: tuple[str, ...]  # of the model's arguments, what the version does not have
    user_options: frozenset[str]  # the names of the options in `user_layers`
    merged_env: MergedEntries
    user_env: Sequence[ValueLayer]  # variables of users as they are written
    shared_memory: str  # '' for none
    model_file: ModelFile | None = None  # with the options of several models

    @property
    def app(self) -> App:
        """The app."""
        return self.run.base.app

    @property
    def preset_layers(self) -> Sequence[ArgLayer]:
        """The layers of the preset, derived ones too."""
        return self.layers[: len(self.layers) - len(self.user_layers)]

    @property
    def env(self) -> tuple[Body, ...]:
        """The environment."""
        return self.merged_env.entries

    @property
    def loader_env(self) -> tuple[Body, ...]:
        """The environment of the loaders: without what a preset derives, and without what keeps an engine from asking
        the hub, which loaders have to ask.
        """
        layers = self.run.engine.derivation(self.run.words).envs
        for_engine = [entry for layer in layers for entry in layer.value]
        env = without_offline(self.env) if self.user_env else self.env
        return tuple([entry for entry in env if entry not in for_engine]) if for_engine else env

    def arg_origins(self) -> list[tuple[Origin, list[Origin]]]:
        """Of each argument its origin, and those of all that give its option."""
        return list(arg_merge.arg_origins(self.run.engine.style, self.layers, self.args, self.form))

    def env_origins(self) -> dict[str, list[Origin]]:
        """By variable, the origins of all layers that set it, the winner last."""
        layers = [layer.origin for layer in env_layers(self.run)]
        return {str(path[0]): origins for path, origins in origins_of(self.merged_env.history, layers)}


def resolve_process(run: EngineRun, diagnostics: Collector) -> EngineProcess:
    """Arguments, environment and shared memory, each merged from its layers (docs/design/contract.md#precedence).

    Raises TemplateError.
    """
    preset_layers: list[ArgLayer] = [run.config.layer(run.words), *run.engine.derivation(run.words).layers]
    option_rules = _option_rules(run, diagnostics)
    settings = run.model_settings
    model_layer = None
    if settings.get("args"):
        origin = run.model_settings_origin
        model_layer = model_args.model_args(run.base.claim.main, settings, origin, run.version, option_rules)
    user_layers = [*([model_layer.layer] if model_layer and model_layer.layer.args else ()), *_app_layers(run)]
    if run.adapters:
        preset_layers += adapters.adapter_layers(run.engine, run.adapters, user_layers, diagnostics)
    layers = [*preset_layers, *user_layers]
    args, form = arg_merge.merge_args(run.engine.style, layers)
    env, shared_memory = _merge_environment(run, diagnostics), _shared_memory_size(run, diagnostics)
    return EngineProcess(
        run=run,
        layers=layers,
        user_layers=user_layers,
        user_options=given_options(run.engine.style, user_layers) if user_layers else frozenset(),
        args=args,
        form=form,
        option_rules=option_rules,
        left_out=model_layer.left_out if model_layer else (),
        merged_env=env,
        user_env=list(_user_env(run)),
        shared_memory=shared_memory,
    )


def _option_rules(run: EngineRun, diagnostics: Collector) -> OptionRules | None:
    if not (run.version and run.engine.style.parses_options):
        return None
    return preset_args.option_rules(run.base.context.inputs.option_files, run.engine, run.version, diagnostics)


def shared_memory_layers(run: EngineRun) -> list[ValueLayer]:
    """The layers of the size of shared memory, as written; the last one wins."""
    layers = preset_shared_memory_layers(run)
    if "sharedMemorySize" in run.backend_config:  # rarely
        layers += replacements("sharedMemorySize", [(run.backend_config, run.base.app.origin(*BACKEND))])
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


def _shared_memory_size(run: EngineRun, diagnostics: Collector) -> str:
    """The canonical size of shared memory, '' for none; an error where it is not a valid quantity, or negative."""
    layers = shared_memory_layers(run)
    if not layers or layers[-1] in run.engine.derivation(run.words).shared_memory:  # of the preset, validated with it
        return str(layers[-1].value) if layers else ""
    size, origin = layers[-1].value, layers[-1].origin
    try:
        if quantity.nanos(size) < 0:
            diagnostics.add("E307", origin, what=f"{size} is below 0")
        return quantity.canonical(size)
    except ValueError:
        diagnostics.add("E305", origin, value=size, hint=quantity.hint(size))
        return ""


def env_layers(run: EngineRun) -> list[ValueLayer]:
    """The layers of the environment: preset, derived, RenderConfig's `pods`, OpenModel, Playground."""
    context, engine, ca = run.base.context, run.engine, run.base.context.pod_defaults.ca
    return [
        ValueLayer(engine.envs(run.words), engine.origin.at("envs")),
        *engine.derivation(run.words).envs,
        *([ValueLayer(ca.env, ca.origin)] if ca else ()),
        ValueLayer(context.pod_defaults.env, context.inputs.config.origin("pods", "env")),
        *run.base.placement.env_layers(),
        ValueLayer(run.model_settings.get("envs") or (), run.model_settings_origin.at("envs")),
        ValueLayer(run.backend_config.get("envs") or (), run.base.app.origin(*BACKEND, "envs")),
    ]


def _user_env(run: EngineRun) -> Iterator[ValueLayer]:
    """The variables of users as they are written, and where: in the Playground (of leaders or workers alone, of both),
    the OpenModel and RenderConfig.
    """
    app, config = run.base.app, run.base.context.inputs.config
    for key in OWN_ENVS if "workload" in app.spec else ():
        yield ValueLayer(maps_at(app.spec, "workload", key), app.origin("spec", "workload", key))
    if envs := run.backend_config.get("envs"):
        yield ValueLayer(envs, app.origin(*BACKEND, "envs"))
    if envs := run.model_settings.get("envs"):
        yield ValueLayer(envs, run.model_settings_origin.at("envs"))
    if envs := config.get("pods", "env"):
        yield ValueLayer(envs, config.origin("pods", "env"))


def patched_env(app: App) -> ValueLayer:
    """The variables that a podTemplate gives the runner."""
    index, runner = pod_template.runner_patch(app.spec)
    return ValueLayer(maps_at(runner, "env"), app.origin("spec", "podTemplate", "spec", "containers", index, "env"))


def _merge_environment(run: EngineRun, diagnostics: Collector) -> MergedEntries:
    """The merged environment, cached by the engine for equal layers."""
    access, user_envs = run.base.placement.access, (run.model_settings.get("envs"), run.backend_config.get("envs"))
    key = id(run.engine.derivation(run.words)), id(access.env), cache_key(user_envs)
    cache = {} if run.engine.environments is None else run.engine.environments  # apps' own words are in it
    return cached(cache, key, partial(_merge_env_layers, run), diagnostics)


def _merge_env_layers(run: EngineRun, diagnostics: Collector) -> MergedEntries:
    *preset_layers, model_layer, app_layer = env_layers(run)
    user_entries = [
        _normalize_env(run.base.context, layer, diagnostics) if layer.value else ()
        for layer in (model_layer, app_layer)
    ]
    return merge_entries([*(layer.value for layer in preset_layers), *user_entries])


def _normalize_env(context: RunContext, envs: ValueLayer, diagnostics: Collector) -> Sequence[Body]:
    """The entries of a layer with API defaults; cached for equal entries."""

    def normalize(diagnostics: Collector) -> Sequence[Body]:
        entries: Sequence[Body] = share_maps(api_defaults.default_env(envs.value, envs.origin, diagnostics))
        return entries

    return cached(context.envs, cache_key(envs.value), normalize, diagnostics)


def _app_layers(run: EngineRun) -> list[ArgLayer]:
    """The arguments of the Playground, of its role and of the model's entry in its claim, as far as they have some."""
    app, app_args = run.base.app, run.backend_config.get("args")
    if app_args and app.role_args:
        shared, own = app_args[: -app.role_args], app_args[-app.role_args :]
        layers = [ArgLayer(shared, app.origin(*BACKEND, "args"))] if shared else []
        return [*layers, ArgLayer(own, Origin(*app.origin("spec", "disaggregation", app.role, "args").behind))]
    layers = [ArgLayer(app_args, app.origin(*BACKEND, "args"))] if app_args else []
    claimed = run.base.claim.models[0]
    if "modelClaims" in app.spec and (entry_args := claims.entry_of(app, claimed).get("args")):
        layers.append(ArgLayer(entry_args, app.origin(*claimed.path[:-1], "args")))
    return layers
