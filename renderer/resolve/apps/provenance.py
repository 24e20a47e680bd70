"""Who says a part of a Playground's pod, and who else does.

Keys are fields of a Plan, as in its `origins()`: below `template` the path in its pod template. What stands below
`said` and `speakers` is for `llmaz explain` alone, since an error is better placed where somebody can mend it than
where a preset says its part. Below `speakers` a field and a number for each who speaks of it, the one that wins last
(docs/design/contract.md#precedence); below `said` one origin each: `template` (of all pods), `workerTemplate` and
`leaderTemplate` (of that one), `loader` and the model's position, `word` (what fills a preset's template),
`annotations`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from renderer.api import App
from renderer.diagnostics import Origin, Path
from renderer.plan import Pod
from renderer.resolve import app_annotations
from renderer.resolve.apps import command_line, engine_run
from renderer.resolve.apps.app_base import AppBase, hardening_origin
from renderer.resolve.apps.command_line import CommandLine
from renderer.resolve.apps.engine_run import EngineRun
from renderer.resolve.context import RunContext
from renderer.resolve.engine import backend_runtime, dialect
from renderer.resolve.flavors import flavor_origins
from renderer.resolve.gateway import routing
from renderer.resolve.gateway.settings import gateway_settings
from renderer.resolve.layers import origins
from renderer.resolve.pod import loader_presets, pods

if TYPE_CHECKING:
    from renderer.input_types import ModelEngineSpec

_BACKEND: Path = ("spec", "backendRuntimeConfig")
_RUNNER: Path = ("spec", "containers", 0)
_Speakers = Mapping[str, Sequence[Origin]]  # by name
_Spoken = tuple[Path, Sequence[Origin]]


def said(
    context: RunContext,
    app: App,
    base: AppBase,
    run: EngineRun,
    line: CommandLine,
    pod: Pod,
    patched: Mapping[Path, Origin],
) -> dict[Path, Origin]:
    """Everything that is known. `patched`: where the podTemplate sets a field of the pod."""
    layers = [layer.origin for layer in command_line.env_layers(context, app, base, run)]
    env = {str(path[0]): speakers for path, speakers in origins(line.merged_env.history, layers)}
    field_origins = claimed(context, app, base)
    runner_env = {name: speakers[-1] for name, speakers in env.items()}
    field_origins |= {("said", *path): origin for path, origin in loaders(base, runner_env)}
    field_origins |= {("template", *path): origin for path, origin in _winners(run, line, env, pod)}
    for path, speakers in _runner(app, base, run, line, env, pod):
        for i, origin in enumerate([*speakers, *([patched[path]] if path in patched else [])]):
            field_origins["speakers", *path, i] = origin
    field_origins.update(_annotations(context, app, base, run))
    field_origins.update(_around(context, app, base, run, pod))
    field_origins.update(_words(context, app, base, run))
    return field_origins


def _of_model(base: AppBase, run: EngineRun) -> tuple[ModelEngineSpec, Origin]:
    """What the main model says of this engine, and where."""
    name, main = run.engine.runtime.name, base.claim.main
    return backend_runtime.model_settings(main, run.engine), Origin(main.document, ("spec", "engines", name))


# The runner


def _runner(app: App, base: AppBase, run: EngineRun, line: CommandLine, env: _Speakers, pod: Pod) -> Iterator[_Spoken]:
    """Who speaks of the runner's image, arguments, variables and resources; the repository and the tag of an image may
    stand apart. `env`: who speaks of each variable.
    """
    yield (*_RUNNER, "image"), [layer.origin for layer in (*run.image_layers, *run.version_layers)]
    for i, (_, speakers) in enumerate(dialect.arg_origins(run.engine.style, line.layers, line.args, line.form)):
        yield (*_RUNNER, "args", i), speakers
    for i, entry in enumerate(pod.containers[0].env):
        yield (*_RUNNER, "env", i), env.get(entry["name"], ())
    layers = [layer.origin for layer in engine_run.resource_layers(app, run.engine, run.config, base.claim.main)]
    flavor = base.pod_needs.placement.origins(base.claim.main)
    for path, speakers in origins(run.resources.history, [*layers, *([flavor] if flavor else [])]):
        yield (*_RUNNER, "resources", *path), speakers


def _winners(run: EngineRun, line: CommandLine, env: _Speakers, pod: Pod) -> Iterator[tuple[Path, Origin]]:
    """Who gave each argument, and each variable of any container that has the runner's."""
    for i, (origin, _) in enumerate(dialect.arg_origins(run.engine.style, line.layers, line.args, line.form)):
        yield (*_RUNNER, "args", i), origin
    for field, containers in (("containers", pod.containers[:1]), ("initContainers", pod.init_containers)):
        for index, container in enumerate(containers):
            for i, entry in enumerate(container.env):
                if speakers := env.get(entry["name"]):
                    yield ("spec", field, index, "env", i), speakers[-1]


# What people read off an object


def _annotations(context: RunContext, app: App, base: AppBase, run: EngineRun) -> Iterator[tuple[Path, Origin]]:
    own = "renderer.llmaz.io/"
    if run.backend_config.get("backendName"):
        yield ("said", "annotations", own + "backend"), app.origin(*_BACKEND, "backendName")
    elif context.inputs.config.get("backend"):
        yield ("said", "annotations", own + "backend"), context.inputs.config.origin("backend")
    yield ("said", "annotations", own + "engine-version"), run.version_layers[-1].origin
    minds = run.engine.spec.get("servedName") in ("directory", "model")
    own_name = minds and backend_runtime.name_in_engine(run.engine, run.served_name, run.words) != run.served_name
    routed = routing.mode(app, gateway_settings(context, app.namespace)) != "off"
    served = base.weights[0].origin if own_name and not routed else routing.name_origin(app, base.claim.main)
    yield ("said", "annotations", own + "served-model-name"), served


def claimed(context: RunContext, app: App, base: AppBase) -> dict[Path, Origin]:
    """What follows from the claim, whoever wrote the pod."""
    return dict(_claim(context, app, base))


def loaders(base: AppBase, runner_env: Mapping[str, Origin]) -> Iterator[tuple[Path, Origin]]:
    """Who says the fields of each loader, by the model's position; `runner_env`: who says the runner's variables."""
    for position, weights, loader in base.pod_needs.loads:
        access = loader_presets.credentials(loader, weights)
        for path, origin in loader_presets.origins(loader, weights, runner_env, access):
            yield ("loader", position, *path), origin


def _claim(context: RunContext, app: App, base: AppBase) -> Iterator[tuple[Path, Origin]]:
    main = base.claim.main
    yield ("said", "template", "metadata", "labels", "llmaz.io/model-name"), app.origin(*base.claim.models[0].path)
    family: Path = ("said", "template", "metadata", "labels", "llmaz.io/model-family-name")
    yield family, Origin(main.document, ("spec", "familyName"))
    if base.claim.flavors:
        flavored: Path = ("said", "template", "metadata", "annotations", "llmaz.io/inference-service-flavors")
        yield flavored, app.origin(*base.claim.flavors_path)
    for i, model_weights in enumerate(base.weights):
        yield ("said", "source", i), model_weights.origin
    mine: Path = ("said", "annotations")
    yield (*mine, "renderer.llmaz.io/model-revision"), base.weights[0].origin.at("revision")
    yield (*mine, "renderer.llmaz.io/served-model-name"), app.origin("spec", "servedModelName")
    yield from _placed(base)


# The rest of the pod


def _around(context: RunContext, app: App, base: AppBase, run: EngineRun, pod: Pod) -> Iterator[tuple[Path, Origin]]:
    spec, config = ("said", "template", "spec"), context.inputs.config
    if config.get("schedulerName"):
        yield (*spec, "schedulerName"), config.origin("schedulerName")
    if "drain" in run.engine.spec:
        yield (*spec, "terminationGracePeriodSeconds"), run.engine.origin.at("engine", "drain", "seconds")
    if "hardening" in app.spec or config.get("hardening"):
        for field in ("securityContext", "automountServiceAccountToken", "enableServiceLinks"):
            yield (*spec, field), hardening_origin(context, app)
        yield (*spec, "containers", 0, "securityContext"), hardening_origin(context, app)
    sources = {pods.source_volume_name(i, weights): weights.origin for i, weights in enumerate(base.weights)}
    for i, volume in enumerate(pod.volumes):
        if origin := sources.get(volume["name"]):
            for steps in (("hostPath", "path"), ("image", "reference")):
                yield (*spec, "volumes", i, *steps), origin
        if volume["name"] == "dshm" and (sizes := command_line.shared_memory_layers(app, run)):
            yield (*spec, "volumes", i, "emptyDir", "sizeLimit"), sizes[-1].origin
    yield from _prepared(run, pod)
    for key in ("startupProbe", "readinessProbe", "livenessProbe", "lifecycle"):  # what a podTemplate leaves of them
        yield (*spec, "containers", 0, key), run.engine.origin.at(key)


def _prepared(run: EngineRun, pod: Pod) -> Iterator[tuple[Path, Origin]]:
    """Steps before the engine starts, and writable folders, as the preset lists them."""
    engine = run.engine.spec
    steps, volumes = [step.name for step in pod.init_containers], [volume["name"] for volume in pod.volumes]
    for field, entries, names in (
        ("initContainers", engine.get("initContainers"), steps),
        ("volumes", engine.get("volumes"), volumes),
    ):
        for i, entry in enumerate(entries or ()):
            if entry["name"] in names:
                key: Path = ("said", "template", "spec", field, names.index(entry["name"]))
                yield key, run.engine.origin.at("engine", field, i)
    mounts = [(mount["name"], mount["mountPath"]) for mount in pod.containers[0].mounts]
    for i, entry in enumerate(run.engine.spec.get("volumes") or ()):
        if (mount := (entry["name"], entry["mountPath"])) in mounts:
            at: Path = ("said", "template", "spec", "containers", 0, "volumeMounts", mounts.index(mount))
            yield at, run.engine.origin.at("engine", "volumes", i)


_OF_THE_SOURCE = ("ModelPath", "Hub", "Filename", "Endpoint", "Source", "Format", "Revision")


def _words(context: RunContext, app: App, base: AppBase, run: EngineRun) -> Iterator[tuple[Path, Origin]]:
    """What a preset's words are made of."""
    for word in _OF_THE_SOURCE:
        yield ("said", "word", word), base.weights[0].origin
    if base.claim.draft and len(base.weights) > 1:
        for word in ("DraftModelPath", "DraftRevision"):
            yield ("said", "word", word), base.weights[1].origin
    yield ("said", "word", "ModelName"), routing.name_origin(app, base.claim.main)
    place = base.pod_needs.placement
    flavor = place.origins(base.claim.main)
    for word, param in (("TP", "TP"), ("MaxModelLen", "MAX-MODEL-LEN")):
        if param in place.params and flavor:
            yield ("said", "word", word), flavor.at("params", param)
    model, model_at = _of_model(base, run)
    if "maxModelLen" in model and "MAX-MODEL-LEN" not in place.params:
        yield ("said", "word", "MaxModelLen"), model_at.at("maxModelLen")
    held = next((name for name in place.limits if "/" in name), "")
    if held and flavor:
        for word in ("Accelerator", *(() if "TP" in place.params else ("TP",))):
            yield ("said", "word", word), flavor.at("limits", held)
    if base.skip_loaders:
        for word in ("Skip", "Stream"):
            yield ("said", "word", word), app.origin("metadata", "annotations", app_annotations.SKIP)


def _placed(base: AppBase) -> Iterator[tuple[Path, Origin]]:
    """Who says the labels of nodes, in the nodeSelector or the affinity; `flavors._affinity` makes the terms."""
    place, main, spec = base.pod_needs.placement, base.claim.main, ("said", "template", "spec")
    if flavor := place.origins(main):
        yield (*spec, "affinity"), Origin(flavor.model.source, flavor.model.path[:-1])
        yield from (((*spec, "nodeSelector", key), flavor.at("node", key)) for key in place.node_selector)
    for term, offered in enumerate(place.flavors if place.node_affinity else ()):
        flavor = flavor_origins(offered, main)
        for i, key in enumerate(offered.node):
            expression: Path = ("matchExpressions", i, "values", 0)
            required = "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms", term
            preferred = "preferredDuringSchedulingIgnoredDuringExecution", term, "preference"
            for kind in (required, preferred):
                yield (*spec, "affinity", "nodeAffinity", *kind, *expression), flavor.at("node", key)
