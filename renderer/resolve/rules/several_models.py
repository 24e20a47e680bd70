"""What does not go with several main models in one server, and with what a claim says of each
(docs/sources.md#several-models-in-one-server).
"""

from __future__ import annotations

from collections.abc import Iterator

from renderer.api import OpenModel
from renderer.diagnostics import Diagnostic, Origin, Path, counted, make_diagnostic, quoted, rule
from renderer.engines.given_options import option_names
from renderer.engines.models_file import unwritable
from renderer.kubernetes.json_values import maps_at, text_at
from renderer.resolve.claims import MAIN, ONE_MAIN, public_name_origin
from renderer.resolve.engine.backend_runtime import model_settings
from renderer.resolve.engine.chat_template import FIELD
from renderer.resolve.gateway import task_routes
from renderer.resolve.gateway.settings import gateway_settings
from renderer.resolve.monitoring import adapter_metric_name
from renderer.resolve.workload.claimed import AppBase
from renderer.resolve.workload.engine_process import EngineProcess
from renderer.resolve.workload.engine_run import AppEngine, EngineRun, MainModel
from renderer.resolve.workload.model_file import ModelSection
from renderer.resolve.workload.scaling import PlannedScaling

_CLAIMS = ("spec", "modelClaims")
_OF_SERVER = "beside several models: the server itself reads it"
_LOADED = "{{ Loaded }}"
_ALONE = "leave it out, or serve this model with a Playground of its own"
_IN_FILE = ("maxModelLen",)  # of an OpenModel's `engines`, what its section has
_OF_ONE = ("args", "preload")  # keys of an entry that are about this model alone


def _has_several(of_app: AppEngine) -> bool:
    """Whether the app claims several main models."""
    return of_app.base.claim.mains > 1


@rule(of=AppEngine, when=_has_several, gate=True)
def no_place(of_app: AppEngine) -> Iterator[Diagnostic]:
    """An error for several main models of an engine that serves one, which names those that serve several."""
    base, engine = of_app.base, of_app.engine
    if "models" in engine.spec:
        return
    runtimes = base.context.inputs.runtimes
    able = [name for name, runtime in runtimes.items() if "models" in (runtime.spec.get("engine") or {})]
    names = quoted(entry.model.name for entry in base.claim.served)
    hint = f"{ONE_MAIN}; backends that serve several: {quoted(able)}"
    yield make_diagnostic("E225", base.app.origin(*base.claim.models[1].path[:-1]), names=names, hint=hint)


@rule(of=AppEngine, when=_has_several, after=no_place)
def beside_several(of_app: AppEngine) -> Iterator[Diagnostic]:
    """An error for all that is made for one model."""
    for origin, what, hint in _unfit(of_app):
        yield make_diagnostic("E944", origin, count=of_app.base.claim.mains, what=what, hint=hint)


def _unfit(of_app: AppEngine) -> Iterator[tuple[Origin, str, str]]:
    """What does not go with several main models, in words, where it is said, and what to do instead. What the engine
    does with no model is told elsewhere.
    """
    base, app, able = of_app.base, of_app.base.app, of_app.engine.spec
    adapter = next((entry for entry in base.claim.models if entry.role == "lora"), None)
    if adapter:
        hint = "serve the model with its adapters by a Playground of its own"
        yield app.origin(*adapter.path[:-1]), "an adapter", hint
    if "servedModelName" in app.spec:
        hint = "write it in the OpenModels instead: each model has its own"
        yield app.origin("spec", "servedModelName", key=True), "servedModelName", hint
    for key in ("disaggregation", "kvCacheOffloading"):
        if key in app.spec and key in able:
            yield app.origin("spec", key, key=True), key, f"leave it out, or {ONE_MAIN}"
    if FIELD in able:
        places = [app.origin("spec", FIELD, key=True)] if FIELD in app.spec else []
        for entry in base.claim.served:
            if FIELD in model_settings(entry.model, of_app.engine):
                path = ("spec", "engines", of_app.engine.runtime.name, FIELD)
                places.append(Origin(entry.model.document, path, key=True))
        yield from ((origin, FIELD, f"leave it out, or {ONE_MAIN}") for origin in places)
    settings = gateway_settings(base.context, app.namespace)
    if "metrics" in able and task_routes.app_mode(base.context.inputs, app, settings) == "pool":
        origin = app.origin(*_CLAIMS, "models")
        if "mode" in (app.spec.get("gateway") or {}):
            origin = app.origin("spec", "gateway", "mode")
        yield origin, "gateway.mode: pool", "set spec.gateway.mode: backend: a picker knows one model of each pod"
    schemas = [task_routes.schema_for(base.context.inputs, app, entry.model) for entry in base.claim.models]
    for entry, schema in zip(base.claim.served, schemas, strict=False):
        if schema != schemas[0]:
            what = f"'{entry.model.name}', to which another kind of route leads than to '{base.claim.main.name}',"
            yield app.origin(*entry.path), what, "serve it with a Playground of its own"


@rule(of=EngineRun, when=_has_several)
def several_hosts(run: EngineRun) -> Iterator[Diagnostic]:
    """An error for replicas of several hosts."""
    hosts = run.size.parallelism.hosts
    if hosts > 1 and run.multi_host:
        words = {"what": f"a replica of {hosts} pods", "hint": f"use one pod, or {ONE_MAIN}"}
        yield make_diagnostic("E944", run.size_origin, count=len(run.mains), **words)


@rule(of=EngineRun, when=_has_several)
def settings_of_the_pod(run: EngineRun) -> Iterator[Diagnostic]:
    """A warning for each setting of a user's OpenModel that its pod has of the first model instead."""
    first, name = run.mains[0].claimed.model, run.engine.runtime.name
    own_settings, own_params = run.model_settings, [params for _, params in _flavor_params(first)]
    in_file = _IN_FILE if run.engine.args_of_several else ()
    for model in [main.claimed.model for main in run.mains[1:] if not main.claimed.model.ours]:
        settings = model_settings(model, run.engine)
        for key in ("envs", "resources", "maxModelLen"):
            elsewhere = "" if key == "maxModelLen" else f"backendRuntimeConfig.{key}"
            differs = key in settings and settings.get(key) != own_settings.get(key)
            if differs and key not in in_file and not (key == "resources" and key in run.backend_config):
                origin = Origin(model.document, ("spec", "engines", name, key), key=True)
                hint = f"write {elsewhere} instead" if elsewhere else f"write it in '{first.name}' instead"
                words = {"key": key, "model": model.name, "first": first.name, "hint": hint}
                yield make_diagnostic("W926", origin, **words)
        for path, params in _flavor_params(model):
            if params not in own_params:
                instead = f"spec.engines.{name}.maxModelLen of '{model.name}'" if in_file else f"them in '{first.name}'"
                words = {"key": "params", "model": model.name, "first": first.name, "hint": f"write {instead} instead"}
                yield make_diagnostic("W926", Origin(model.document, (*path, "params"), key=True), **words)


def _flavor_params(model: OpenModel) -> Iterator[tuple[Path, object]]:
    """The parameters of each flavor of a model that has some, and the place of the flavor."""
    path = ("spec", "inferenceConfig", "flavors")
    for i, flavor in enumerate(maps_at(model.spec, *path[1:])):
        if flavor.get("params"):
            yield (*path, i), flavor["params"]


@rule(of=EngineRun, when=_has_several)
def shared_names(run: EngineRun) -> Iterator[Diagnostic]:
    """An error for two main models of one name: clients could not tell them apart, or the engine."""
    names: dict[str, MainModel] = {}
    tag = ":" + run.engine.spec["models"].get("defaultTag", "")
    for main in run.mains:
        model = main.claimed.model
        # In a file of models each section has the name of the OpenModel.
        own_names = [main.name, main.name_in_engine, *([model.name] if run.engine.args_of_several else ())]
        own_names = [name.removesuffix(tag) for name in own_names]
        for name in dict.fromkeys(own_names):
            if name in names:
                other = names[name].claimed.model
                origin = run.base.app.origin(*main.claimed.path)
                if model.name != other.name and name == main.name and not model.ours:
                    origin = public_name_origin(model)
                words = {"what": f"the model '{model.name}'", "other": f"'{other.name}'", "name": name}
                same_in_engine = _engine_name(main, tag) == _engine_name(names[name], tag)
                alone = "the engine has one model of that name: give '{}' another servedModelName"
                hint = "give one of the OpenModels another servedModelName"
                if model.name == other.name:
                    hint = "claim each model once"
                elif not (main.path or names[name].path) and same_in_engine:
                    hint = "claim one of them: the engine pulls the same model for both"
                elif same_in_engine and not names[name].path:
                    hint = alone.format(model.name)
                elif name != main.name or (same_in_engine and not main.path):
                    hint = alone.format(other.name)
                yield make_diagnostic("E360", origin, **words, hint=hint)
                break
        names |= dict.fromkeys(own_names, main)


def _engine_name(main: MainModel, tag: str) -> str:
    """The engine's name for a model, without the tag that it stands for anyway."""
    return main.name_in_engine.removesuffix(tag)


@rule(of=AppBase, when=lambda base: "modelClaims" in base.app.spec)
def settings_of_models(base: AppBase) -> Iterator[Diagnostic]:
    """An error for what a claim says of single models where it has one main model, and for a number of models in memory
    that it cannot have.
    """
    app, claims = base.app, base.app.spec["modelClaims"]
    if base.claim.mains == 1:
        places: list[Path] = [(*_CLAIMS, "loaded")] if "loaded" in claims else []
        entries = claims["models"]
        places += [(*_CLAIMS, "models", i, key) for i, entry in enumerate(entries) for key in _OF_ONE if key in entry]
        for path in places:
            hint = "write backendRuntimeConfig.args instead" if path[-1] == "args" else "leave it out"
            words = {"key": path[-1], "what": "is for several main models in one server"}
            yield make_diagnostic("E946", app.origin(*path, key=True), **words, hint=hint)
        return
    preloaded = len([entry for entry in claims["models"] if entry.get("preload")])
    loaded, mains = base.claim.loaded, base.claim.mains
    if not preloaded <= loaded <= mains:
        what = f"there are {mains}" if loaded > mains else f"{preloaded} are preloaded"
        hint = f"write {mains}, or leave it out" if loaded > mains else f"write at least {preloaded}"
        yield make_diagnostic(
            "E945", app.origin(*_CLAIMS, "loaded"), value=counted(loaded, "model"), what=what, hint=hint
        )


@rule(of=AppEngine, when=_has_several, after=no_place)
def settings_without_effect(of_app: AppEngine) -> Iterator[Diagnostic]:
    """An error for each setting of a single model that its engine cannot follow."""
    base, engine = of_app.base, of_app.engine
    takes, reasons = engine.spec["models"].get("takes") or (), engine.spec.get("unsupported") or {}
    for i, entry in enumerate(base.app.spec["modelClaims"]["models"]):
        for key in _OF_ONE:
            if key in entry and key not in takes and entry.get("role", MAIN) == MAIN:
                what = f"has no effect on '{engine.runtime.name}'"
                origin = base.app.origin(*_CLAIMS, "models", i, key, key=True)
                yield make_diagnostic("E946", origin, key=key, what=what, hint=reasons.get(key) or "leave it out")


@rule(of=ModelSection)
def unwritable_options(section: ModelSection) -> Iterator[Diagnostic]:
    """An error for each option that cannot stand in the file of the models, and for options and variables of users that
    are the server's own.
    """
    process, seen = section.process, set[str]()
    engine = process.run.engine
    server = engine.spec["models"]["file"].get("server") or ()
    lists = option_names(engine.style, engine.spec["models"]["file"].get("lists"))
    of_server = option_names(engine.style, server) | option_names(engine.style, engine.spec["models"]["file"]["args"])
    for option in section.options:
        why = "an option has one value there" if len(option.values) > 1 else ""
        why = why or ("it keeps one value of an option" if option.option in seen else "")
        why = why or next(filter(None, map(unwritable, option.values)), "")
        seen.add(option.option)
        if not why and option.option in lists and "," in option.values[0]:
            why = "it is several names there"
        if why:
            origin, hint, claimed = option.origin, _ALONE, section.main.claimed
            if origin.source is engine.origin.source:  # the preset's option has a word of the user's
                origin, hint = process.run.base.app.origin(*claimed.path), _ALONE.partition(", or ")[2]
                if option.option in lists:
                    origin = public_name_origin(claimed.model)
                    hint = f"give '{claimed.model.name}' another servedModelName"
            words = {"option": option.option, "why": f"in the file of the models: {why}", "hint": hint}
            yield make_diagnostic("E947", origin, **words)
    for layer in process.user_layers:
        for i, token in enumerate(layer.args):
            if (name := engine.style.name(token)) in of_server:
                yield make_diagnostic("E947", layer.origin_of(i), option=name, why=_OF_SERVER, hint=_ALONE)
    for env in process.user_env:
        for i, variable in enumerate(env.value):
            if (name := str(variable.get("name"))) in server:
                yield make_diagnostic("E947", env.origin.at(i, "name"), option=name, why=_OF_SERVER, hint=_ALONE)


@rule(of=EngineProcess, when=lambda process: process.run.mains)
def variables_of_claim(process: EngineProcess) -> Iterator[Diagnostic]:
    """An error for each variable of users that the claim itself sets, by how many models it keeps in memory."""
    derived = process.run.engine.spec.get("derived") or ()
    entries = [env for entry in derived for env in entry.get("envs") or ()]
    names = {env["name"] for env in entries if _LOADED in str(env.get("value"))}
    for layer in process.user_env if names else ():
        for i, variable in enumerate(layer.value):
            if (name := variable.get("name")) in names:
                number, claim = str(variable.get("value") or ""), process.run.base.claim
                fits = (
                    number.isdigit()
                    and 0 < int(number) < claim.mains
                    and "loaded" not in process.app.spec["modelClaims"]
                )
                hint = f"write spec.modelClaims.loaded: {number} instead" if fits else "leave it out"
                words = {"option": name, "why": "beside several models: modelClaims.loaded sets it", "hint": hint}
                yield make_diagnostic("E947", layer.origin.at(i, "name"), **words)


@rule(of=PlannedScaling, when=lambda scaling: scaling.run.mains and scaling.scaler)
def metrics_of_one_model(scaling: PlannedScaling) -> Iterator[Diagnostic]:
    """An error for an autoscaler on the engine's own metrics, which each of its models has."""
    app, metrics = scaling.app, scaling.scaler.metrics if scaling.scaler else ()
    names = [text_at(metric, "pods", "metric", "name") for metric in metrics]
    own = {name for name in (scaling.run.engine.spec.get("metrics") or {}).values() if isinstance(name, str)}
    own |= set(map(adapter_metric_name, own))
    if "scaleTrigger" not in app.spec["elasticConfig"] or not own.isdisjoint(names):
        hint = "write a scaleTrigger with another metric, such as CPU, or replicas in the place of elasticConfig"
        words = {"count": len(scaling.run.mains), "what": "an autoscaler on a metric of the engine", "hint": hint}
        yield make_diagnostic("E944", app.origin("spec", "elasticConfig", key=True), **words)
