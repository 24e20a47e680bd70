"""The origins of the fields of a Playground's plan, and of what a Service's plan shares with it.

Keys are fields of a Plan, as in its `origins()`: below `template` the path in its pod template, below
`leader_template` and `worker_template` what differs in that of leaders or workers. Those below `explain`, `layers`,
`leader_layers` and `worker_layers` are for `llmaz explain` alone, since an error is better placed where a user can mend
it than in a preset. Below the last three: a field and a number for each layer that sets it, the winning one last
(docs/design/contract.md#precedence); below `explain` one origin each: `role`, `template` (of all pods),
`workerTemplate` and `leaderTemplate` (of that one), `loader` or `source` and the model's position, `word` (of a
preset's templates), `annotations`.
"""

from __future__ import annotations

import itertools
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence

from renderer.api import App
from renderer.diagnostics import Origin, Path
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import maps_at
from renderer.plan import Pod
from renderer.resolve import app_annotations, claims
from renderer.resolve.chosen_backend import backend_origin
from renderer.resolve.engine import arg_merge, chat_template, disaggregation, grace_period, preparation
from renderer.resolve.engine.kv_offloading import SumOrigin
from renderer.resolve.engine.parallel_sizes import SIZE_WORDS, own_size_origin
from renderer.resolve.engine.template_words import HOST_WORDS, LISTEN_ADDRESS, NO_OFFLOADING, ONE_MODEL
from renderer.resolve.flavors import accelerator_tolerations, flavor_origins, param_origin
from renderer.resolve.layers import origins as origins_of
from renderer.resolve.pod import loaders, pod_origins
from renderer.resolve.pod.needs import device_template, source_volume_name
from renderer.resolve.workload import engine_process, engine_run
from renderer.resolve.workload.claimed import AppBase, hardening_origin
from renderer.resolve.workload.engine_run import BACKEND, EngineRun
from renderer.resolve.workload.scaling import PlannedScaling

_TEMPLATE: Path = ("explain", "template")
_POD: Path = (*_TEMPLATE, "spec")
_RUNNER: Path = ("spec", "containers", 0)
_ANNOTATIONS: Path = ("explain", "annotations")
_Origins = Iterator[tuple[Path, Origin]]
_LayerOrigins = Mapping[str, Sequence[Origin]]  # by variable, the winning layer's last
_Items = dict[tuple[object, ...], Mapping[Path, Origin]]  # by what tells an item of a list, the origins of its fields
_CLAIM_NAME: Path = ("persistentVolumeClaim", "claimName")
_SIZE_LIMIT: Path = ("emptyDir", "sizeLimit")
_PROBES = ("startupProbe", "readinessProbe", "livenessProbe")


def playground_origins(scaling: PlannedScaling) -> Mapping[Path, Origin]:
    """The origins of a Playground's plan; worked out only for an error in an object, and for `llmaz explain`."""
    base, command = scaling.run.base, scaling.planned.command
    env, loader_names = command.env_origins(), {str(entry["name"]) for entry in command.loader_env}
    field_origins = dict(_template_origins(scaling))
    field_origins |= claim_origins(base)
    field_origins.update(loader_origins(base, {name: env[name][-1] for name in env if name in loader_names}))
    for path, origins in _runner_layers(scaling, env):
        patch_origin = scaling.planned.patch_origins.get(path)
        field_origins.update(_layered("layers", path, [*origins, *([patch_origin] if patch_origin else [])]))
    field_origins.update(_env_origins(scaling.pod, env))
    field_origins |= {(*_ANNOTATIONS, key): origin for key, origin in _annotation_origins(scaling.run)}
    field_origins.update(_group_origins(scaling, env))
    field_origins.update(_pod_origins(scaling.run))
    field_origins.update(_item_origins(scaling))
    field_origins |= {("explain", "word", word): origin for word, origin in _word_origins(scaling.run)}
    field_origins.update(_loader_resource_origins(scaling))
    field_origins.update(_patched_pod_origins(scaling))
    return field_origins


def _layered(head: str, path: Path, origins: Iterable[Origin]) -> _Origins:
    """Of a field, by the numbers of the layers that set it."""
    return (((head, *path, number), origin) for number, origin in enumerate(origins))


def _template_origins(scaling: PlannedScaling) -> _Origins:
    """Of what the pod template has as a whole, and of the preset's files."""
    run, config, command = scaling.run, scaling.run.base.context.inputs.config, scaling.planned.command
    runner: Path = ("template", *_RUNNER)
    runtime, own = Origin(run.engine.runtime.document, ("spec",)), scaling.app.origin(*BACKEND)
    images = run.version_layers if "version" in run.backend_config else run.size.images
    yield (*runner, "image"), images[-1].origin
    yield (*runner, "args"), run.config.origin.at("args")
    for i, (origin, _) in enumerate(command.arg_origins()):
        yield (*runner, "args", i), origin
    yield (*runner, "env"), runtime.at("envs")
    yield (*runner, "resources"), (own if "resources" in run.backend_config else run.config.origin).at("resources")
    if run.offloading:  # where it adds to the memory, and nobody says more
        for side in ("limits", "requests"):
            if (author := engine_run.resource_author(run, side, "memory")) and isinstance(author, SumOrigin):
                yield (*runner, "resources", side, "memory"), author.origin
    for key in ("command", "lifecycle", *_PROBES):
        yield (*runner, key), runtime.at(key)
    if scaling.app.role:
        yield (*runner, "ports"), runtime.at("engine", "disaggregation")
        role_origin = scaling.app.origin("spec", "disaggregation", scaling.app.role)
        yield ("explain", "role"), Origin(*role_origin.behind, key=True)
    if flavor := run.base.flavor:
        for key in ("nodeSelector", "affinity"):
            yield ("template", "spec", key), flavor.model.at("nodeSelector")
        for side, name in itertools.product(("limits", "requests"), run.base.placement.limits):
            yield (*runner, "resources", side, name), flavor.at("limits", name)
    yield ("template", "spec", "tolerations"), config.origin("pods", "tolerations")
    yield from ((("config", file.key), file.origin) for file in run.engine.files if file.when(run.words))
    if (template := run.chat_template) and template.file:
        yield ("config", chat_template.KEY), template.source
    if models := scaling.planned.command.model_file:
        key = posixpath.basename(models.path)
        yield from ((("config", key, i), origin) for i, (_, origin) in enumerate(models.lines))
    if form := run.multi_host:  # the command and the probes of all pods that answer
        for head in runner, (*_TEMPLATE, *_RUNNER):
            if form.command:
                yield (*head, "command"), form.origin.at("command")
            for key, fields in form.probes.items():
                yield from (((*head, key, field), form.origin.at(key, field)) for field in fields)


def _patched_pod_origins(scaling: PlannedScaling) -> _Origins:
    """Of the fields that RenderConfig adds to all pods, and of those that podTemplate sets."""
    patched = {path[:2] for path in scaling.planned.patch_origins}  # their items have other numbers, or are others
    tolerations = accelerator_tolerations(scaling.run.size.accelerator)
    for path, origin in pod_origins.added_origins(scaling.run.base.pod_needs, {}, tolerations):
        if not isinstance(path[-1], int) or path[:2] not in patched:
            yield ("template", *path), origin
    for path, origin in scaling.planned.patch_origins.items():
        yield ("template", *path), origin


# The runner


def _runner_layers(scaling: PlannedScaling, env: _LayerOrigins) -> Iterator[tuple[Path, Sequence[Origin]]]:
    """The layers that set the runner's image, arguments, variables and resources; the repository and the tag of an
    image may be set apart.
    """
    run = scaling.run
    yield (*_RUNNER, "image"), [layer.origin for layer in (*run.size.images, *run.version_layers)]
    for i, (_, origins) in enumerate(scaling.planned.command.arg_origins()):
        yield (*_RUNNER, "args", i), origins
    for i, entry in enumerate(scaling.pod.containers[0].env):
        yield (*_RUNNER, "env", i), env.get(str(entry["name"]), ())
    for path, origins in origins_of(run.resources.history, engine_run.resource_authors(run)):
        yield (*_RUNNER, "resources", *path), origins


def _env_origins(pod: Pod, env: _LayerOrigins) -> _Origins:
    """Of each variable of any container that has the runner's."""
    for field, containers in (("containers", pod.containers[:1]), ("initContainers", pod.init_containers)):
        for index, container in enumerate(containers):
            for i, entry in enumerate(container.env):
                if origins := env.get(str(entry["name"])):
                    yield ("template", "spec", field, index, "env", i), origins[-1]


# Groups of several hosts


def _group_origins(scaling: PlannedScaling, env: _LayerOrigins) -> _Origins:
    """Of the number of hosts, and of what differs in workers from a leader that alone answers requests."""
    run, form, command = scaling.run, scaling.run.multi_host, scaling.planned.command
    if form is None:
        return
    yield ("size",), run.size_origin
    yield ("explain", "size"), run.size_origin
    if scaling.worker is None:
        return
    worker = form.origin.at("worker")
    for head in ("worker_template",), ("explain", "workerTemplate"):
        yield (*head, *_RUNNER, "lifecycle"), worker.at("lifecycle")
    common_tokens = arg_merge.tokens_without(run.engine.style, command.args, form.dropped_options)
    of_leader, own = command.arg_origins(), [worker.at("args", i) for i in range(len(form.worker_args))]
    args = [*(of_leader[i] for i, _ in common_tokens), *((origin, [origin]) for origin in own)]
    for i, (origin, layers) in enumerate(args):
        yield ("worker_template", *_RUNNER, "args", i), origin
        yield from _layered("worker_layers", (*_RUNNER, "args", i), layers)
    for part, pod in ("leader", scaling.pod), ("worker", scaling.worker):
        yield from _own_env_origins(scaling.app, part, pod, env)


def _own_env_origins(app: App, part: str, pod: Pod, env: _LayerOrigins) -> _Origins:
    """Of the variables of leaders or workers (`part`) alone. `env`: the layers below them."""
    key = f"{part}Envs"
    entries = maps_at(app.spec, "workload", key)
    places = {entry["name"]: app.origin("spec", "workload", key, i) for i, entry in enumerate(entries)}
    for i, entry in enumerate(pod.containers[0].env if places else ()):
        if origin := places.get(str(entry["name"])):
            yield (f"{part}_template", *_RUNNER, "env", i), origin
            yield from _layered(f"{part}_layers", (*_RUNNER, "env", i), [*env.get(str(entry["name"]), ()), origin])


# Labels and annotations


def _annotation_origins(run: EngineRun) -> Iterator[tuple[str, Origin]]:
    base = run.base
    if run.mains:
        yield wellknown.MODELS, base.app.origin("spec", "modelClaims", "models")
    if origin := backend_origin(base.context.inputs, base.app):
        yield wellknown.BACKEND, origin
    yield wellknown.ENGINE_VERSION, run.version_layers[-1].origin
    if run.offloading:
        yield wellknown.KV_CACHE_MEMORY, run.offloading.origin.at("cpu")
    is_own_name = engine_run.client_model_name(run) != run.served_name
    public = claims.public_name_origin(base.claim.main, base.app)
    yield wellknown.SERVED_MODEL_NAME, base.weights[0].origin if is_own_name else public


def claim_origins(base: AppBase) -> dict[Path, Origin]:
    """Of what the claim decides, in a Playground and a Service alike."""
    app, main, claim = base.app, base.claim.main, base.claim
    labels: Path = (*_TEMPLATE, "metadata", "labels")
    field_origins: dict[Path, Origin] = {
        (*labels, wellknown.MODEL_NAME): app.origin(*claim.models[0].path),
        (*labels, wellknown.MODEL_FAMILY): Origin(main.document, ("spec", "familyName")),
        (*_ANNOTATIONS, wellknown.MODEL_REVISION): base.weights[0].origin.at("revision"),
        (*_ANNOTATIONS, wellknown.SERVED_MODEL_NAME): app.origin("spec", "servedModelName"),
    }
    if claim.flavors:
        annotation: Path = (*_TEMPLATE, "metadata", "annotations", wellknown.FLAVORS)
        field_origins[annotation] = app.origin(*claim.flavors_path)
    if resource := base.pod_needs.annotations.get(wellknown.ACCELERATOR):
        origin = base.context.inputs.config.origin("accelerators", str(resource))
        field_origins[*_TEMPLATE, "metadata", "annotations", wellknown.ACCELERATOR] = origin
    if base.pod_needs.claim_templates:
        cache = next(weights.cache for _, weights, _ in base.pod_needs.loads if weights.cache)
        field_origins["claim_templates",] = cache.origin
    if devices := device_template(base.pod_needs):
        field_origins[*_POD, "resourceClaims"] = devices.origin
    if "enginePort" in (app.spec.get("service") or {}):
        field_origins["explain", "port"] = app.origin("spec", "service", "enginePort")
    field_origins |= {("explain", "source", i): weights.origin for i, weights in enumerate(base.weights)}
    return field_origins | dict(_node_label_origins(base))


def _node_label_origins(base: AppBase) -> _Origins:
    """Of the labels of nodes, in the nodeSelector or the affinity; `flavors._affinity` makes the terms."""
    place, main = base.pod_needs.placement, base.claim.main
    if flavor := base.flavor:
        yield (*_POD, "affinity"), Origin(flavor.model.source, flavor.model.path[:-1])
        yield from (((*_POD, "nodeSelector", key), flavor.at("node", key)) for key in place.node_selector)
    for term, offered in enumerate(place.flavors if place.node_affinity else ()):
        flavor = flavor_origins(offered, main)
        for i, key in enumerate(offered.node):
            expression: Path = ("matchExpressions", i, "values", 0)
            required = "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms", term
            preferred = "preferredDuringSchedulingIgnoredDuringExecution", term, "preference"
            for kind in (required, preferred):
                yield (*_POD, "affinity", "nodeAffinity", *kind, *expression), flavor.at("node", key)


# The rest of the pod


def loader_origins(base: AppBase, runner_env: Mapping[str, Origin]) -> _Origins:
    """Of the fields of each loader, by the model's position. `runner_env`: the origins of the runner's variables."""
    for position, weights, loader in base.pod_needs.loads:
        access = loaders.credentials(loader, weights)
        for path, origin in loaders.origins(loader, weights, runner_env, access):
            yield ("explain", "loader", position, *path), origin


def _loader_resource_origins(scaling: PlannedScaling) -> _Origins:
    """Of the resources of loaders, where RenderConfig says them."""
    config = scaling.run.base.context.inputs.config
    indexes = {container.name: i for i, container in enumerate(scaling.pod.init_containers)}
    for position, _, loader in scaling.run.base.pod_needs.loads:
        index = indexes.get(loaders.loader_name(position))
        if index is not None and config.get("loaders", loader.name, "resources"):
            path = ("template", "spec", "initContainers", index, "resources")
            yield path, config.origin("loaders", loader.name, "resources")


def _pod_origins(run: EngineRun) -> _Origins:
    context, app, config = run.base.context, run.base.app, run.base.context.inputs.config
    if config.get("schedulerName"):
        yield (*_POD, "schedulerName"), config.origin("schedulerName")
    if drain := run.engine.spec.get("drain"):
        stating_key = grace_period.stating_key(drain)
        yield (*_POD, "terminationGracePeriodSeconds"), run.engine.origin.at("engine", "drain", stating_key)
    if "hardening" in app.spec or config.get("hardening"):
        for field in ("securityContext", "automountServiceAccountToken", "enableServiceLinks"):
            yield (*_POD, field), hardening_origin(context, app)
        yield (*_POD, "containers", 0, "securityContext"), hardening_origin(context, app)
    for key in (*_PROBES, "lifecycle"):  # where podTemplate keeps them
        of_several = run.mains and key in run.engine.probes_of_several
        origin = run.engine.origin.at("engine", "models", key) if of_several else run.engine.origin.at(key)
        yield (*_POD, "containers", 0, key), origin


def _item_origins(scaling: PlannedScaling) -> _Origins:
    """Of the volumes, mounts, init containers and ports that weights, KV cache and the preset ask for."""
    run, pod, engine = scaling.run, scaling.pod, scaling.run.engine
    volumes, mounts, steps, ports = _Items(), _Items(), _Items(), _Items()
    for i, weights in enumerate(run.base.weights):
        sources: tuple[Path, ...] = (("hostPath", "path"), ("image", "reference"), _CLAIM_NAME)
        volumes[source_volume_name(i, weights),] = dict.fromkeys(sources, weights.origin)
    if sizes := engine_process.shared_memory_layers(run):
        volumes["dshm",] = {_SIZE_LIMIT: sizes[-1].origin}
    for tier in run.offloading.tiers if run.offloading else ():
        origin = tier.origin
        volumes[tier.volume,] = {(): origin, _CLAIM_NAME: origin.at("pvc"), _SIZE_LIMIT: origin.at("emptyDir")}
        mounts[tier.volume, tier.path] = {(): origin, ("mountPath",): origin.at("path")}
    for volume in engine.volumes:
        volumes[volume.name,] = mounts[volume.name, volume.path] = {(): volume.origin}
    if template := run.chat_template:
        volume_name = preparation.CONFIG_VOLUME if template.file else chat_template.VOLUME
        mounts[volume_name, chat_template.MOUNT_PATH] = {(): template.source}
        volumes[chat_template.VOLUME,] = {} if template.file else dict(template.origins())
    for step in engine.steps:
        steps[step.name,] = {(): step.origin}
    for i, port in enumerate(disaggregation.ability(engine).get("ports") or () if scaling.app.role else ()):
        origin = engine.origin.at("engine", "disaggregation", "ports", i)
        ports[port["name"],] = {("name",): origin.at("name"), ("containerPort",): origin.at("port")}
    runner = pod.containers[0]
    lists: tuple[tuple[Path, list[tuple[object, ...]], _Items], ...] = (
        (("volumes",), [(volume["name"],) for volume in pod.volumes], volumes),
        (
            ("containers", 0, "volumeMounts"),
            [(mount["name"], mount["mountPath"]) for mount in runner.volume_mounts],
            mounts,
        ),
        (("containers", 0, "ports"), [(port.get("name"),) for port in runner.ports], ports),
        (("initContainers",), [(container.name,) for container in pod.init_containers], steps),
    )
    for field, names, items in lists:
        for i, name in enumerate(names):
            yield from (((*_POD, *field, i, *path), origin) for path, origin in items.get(name, {}).items())


# The words of a preset's templates

_SOURCE_WORDS = ("ModelPath", "Hub", "Filename", "Endpoint", "Source", "Format", "Revision")


def _word_origins(run: EngineRun) -> Iterator[tuple[str, Origin]]:
    base, app, main, place = run.base, run.base.app, run.base.claim.main, run.base.placement
    yield from ((word, base.weights[0].origin) for word in _SOURCE_WORDS)
    if base.weights[0].projector:
        yield "ProjectorPath", Origin(main.document, ("spec", "source", "projector"))
    if run.chat_template:
        yield "ChatTemplatePath", run.chat_template.source
    if base.claim.draft:
        yield from ((word, base.weights[1].origin) for word in ("DraftModelPath", "DraftRevision"))
    yield from ((word, base.context.inputs.config.origin(*LISTEN_ADDRESS)) for word in HOST_WORDS)
    yield "ModelName", claims.public_name_origin(main, app)
    for word in ONE_MODEL if run.mains else ():
        yield word, app.origin("spec", "modelClaims", "loaded" if word == "Loaded" else "models")
    resource = next((name for name in place.limits if "/" in name), "")
    if resource and base.flavor:
        for word in ("Accelerator", *(("TP",) if run.size.parallelism.data == 1 else ())):
            yield word, base.flavor.at("limits", resource)
    for key, word in SIZE_WORDS.items():
        if origin := own_size_origin(app, place, main, key):
            yield word, origin
    for word in ("WorldSize", "Hosts", "LocalRanks", "RankPorts"):
        yield word, run.size_origin
    if "MAX-MODEL-LEN" in place.params:
        yield "MaxModelLen", param_origin(place, main, "MAX-MODEL-LEN")
    elif "maxModelLen" in run.model_settings:
        yield "MaxModelLen", run.model_settings_origin.at("maxModelLen")
    for word in NO_OFFLOADING if run.offloading else ():
        yield word, run.offloading.origin if run.offloading else app.origin()
    if base.skip_loaders:
        for word in ("Skip", "Stream"):
            yield word, app.origin("metadata", "annotations", app_annotations.SKIP)
