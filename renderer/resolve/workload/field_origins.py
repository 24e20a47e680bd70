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

from collections.abc import Iterator, Mapping, Sequence

from renderer.api import App
from renderer.diagnostics import Located, Origin, Path
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import maps_at
from renderer.plan import Pod
from renderer.resolve import app_annotations
from renderer.resolve.context import RunContext
from renderer.resolve.engine import arg_merge, backend_runtime, grace_period, preparation
from renderer.resolve.engine.kv_offloading import SumOrigin
from renderer.resolve.engine.parallelism import SIZE_WORDS, size_origin
from renderer.resolve.engine.template_words import NO_OFFLOADING
from renderer.resolve.flavors import FlavorOrigins, accelerator_tolerations, flavor_origins
from renderer.resolve.gateway import routing
from renderer.resolve.gateway.settings import gateway_settings
from renderer.resolve.layers import origins as origins_of
from renderer.resolve.pod import loaders, pod_origins
from renderer.resolve.pod.needs import device_template, source_volume_name
from renderer.resolve.workload import command_line, engine_run
from renderer.resolve.workload.claimed import AppBase, hardening_origin
from renderer.resolve.workload.engine_run import EngineRun
from renderer.resolve.workload.scaling import PlannedScaling

_BACKEND: Path = ("spec", "backendRuntimeConfig")
_TEMPLATE: Path = ("explain", "template")
_POD: Path = (*_TEMPLATE, "spec")
_RUNNER: Path = ("spec", "containers", 0)
_ANNOTATIONS: Path = ("explain", "annotations")
_Origins = Iterator[tuple[Path, Origin]]
_LayerOrigins = Mapping[str, Sequence[Origin]]  # by variable, the winning layer's last


def playground_origins(scaling: PlannedScaling) -> Mapping[Path, Origin]:
    """The origins of a Playground's plan; worked out only for an error in an object, and for `llmaz explain`."""
    context, app, base, run, pod = (
        scaling.run.base.context,
        scaling.app,
        scaling.run.base,
        scaling.run,
        scaling.pod,
    )
    field_origins = dict(_plan_origins(scaling))
    env = dict(_env_layers(scaling))
    runner_env = {name: origins[-1] for name, origins in env.items()}
    field_origins |= claim_origins(app, base)
    field_origins |= {("explain", *path): origin for path, origin in loader_origins(base, runner_env)}
    field_origins |= {("template", *path): origin for path, origin in _container_origins(scaling, env)}
    for path, origins in _runner_layers(scaling, env):
        patch_origin = scaling.planned.patch_origins.get(path)
        for i, origin in enumerate([*origins, *([patch_origin] if patch_origin else [])]):
            field_origins["layers", *path, i] = origin
    field_origins.update(_annotation_origins(context, app, base, run))
    field_origins.update(_group_origins(scaling, env))
    field_origins.update(_pod_origins(context, app, base, run, pod))
    field_origins.update(_form_origins(run))
    field_origins.update(_preparation_origins(run, pod))
    field_origins |= {("explain", "word", word): origin for word, origin in _word_origins(app, base, run)}
    field_origins.update(_patched_pod_origins(scaling))
    return field_origins


def _plan_origins(scaling: PlannedScaling) -> _Origins:
    """Of each part of the plan as a whole."""
    app, run, config = scaling.app, scaling.run, scaling.run.base.context.inputs.config
    runner: Path = ("template", *_RUNNER)
    runtime, own = Origin(run.engine.runtime.document, ("spec",)), app.origin(*_BACKEND)
    images = run.version_layers if "version" in run.backend_config else run.size.images
    yield (*runner, "image"), images[-1].origin
    yield (*runner, "args"), run.config.origin.at("args")
    yield (*runner, "env"), runtime.at("envs")
    yield (*runner, "resources"), (own if "resources" in run.backend_config else run.config.origin).at("resources")
    for side, origin in _offloaded_memory_origins(scaling):
        yield (*runner, "resources", side, "memory"), origin
    for key in ("command", "lifecycle", "startupProbe", "readinessProbe", "livenessProbe"):
        yield (*runner, key), runtime.at(key)
    if app.role:
        yield (*runner, "ports"), runtime.at("engine", "disaggregation")
        yield from _role_ports(scaling, runtime.at("engine", "disaggregation", "ports"))
        yield ("explain", "role"), Origin(*app.origin("spec", "disaggregation", app.role).behind, key=True)
    if flavor := _flavor(scaling):
        for key in ("nodeSelector", "affinity"):
            yield ("template", "spec", key), flavor.model.at("nodeSelector")
    for key in ("tolerations", *scaling.run.base.context.pod_defaults.fields, "topologySpreadConstraints"):
        yield ("template", "spec", key), config.origin("pods", key)
    yield ("template", "spec", "runtimeClassName"), config.origin("flavors")
    for key, origin in preparation.file_origins(run.engine, run.words):
        yield ("config", key), origin


def _role_ports(scaling: PlannedScaling, origin: Origin) -> _Origins:
    """Of the runner's ports that the preset names for a role. `origin`: of these in the preset."""
    ports = scaling.run.engine.spec.get("disaggregation", {}).get("ports") or ()
    numbers = {port["name"]: i for i, port in enumerate(ports)}
    for i, port in enumerate(scaling.pod.containers[0].ports):
        if (number := numbers.get(str(port["name"]))) is not None:
            yield (*_TEMPLATE, *_RUNNER, "ports", i, "name"), origin.at(number, "name")
            yield (*_TEMPLATE, *_RUNNER, "ports", i, "containerPort"), origin.at(number, "port")


def _offloaded_memory_origins(scaling: PlannedScaling) -> Iterator[tuple[str, Origin]]:
    """Of the runner's memory, by side, where KV cache outside of accelerators adds to it and nobody says more."""
    run = scaling.run
    if run.offloading:
        layers = engine_run.resource_layers(run)
        for side in ("limits", "requests"):
            positions = run.resources.history.get((side, "memory"))
            if positions and positions[-1].layer == len(layers) - 2:
                yield side, layers[-2].origin


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


def _env_layers(scaling: PlannedScaling) -> Iterator[tuple[str, Sequence[Origin]]]:
    layers = command_line.env_layers(scaling.run)
    for path, origins in origins_of(scaling.planned.command.merged_env.history, [layer.origin for layer in layers]):
        yield str(path[0]), origins


def _runner_layers(scaling: PlannedScaling, env: _LayerOrigins) -> Iterator[tuple[Path, Sequence[Origin]]]:
    """The layers that set the runner's image, arguments, variables and resources; the repository and the tag of an
    image may be set apart.
    """
    run, command = scaling.run, scaling.planned.command
    yield (*_RUNNER, "image"), [layer.origin for layer in (*run.size.images, *run.version_layers)]
    for i, (_, origins) in enumerate(
        arg_merge.arg_origins(run.engine.style, command.layers, command.args, command.form)
    ):
        yield (*_RUNNER, "args", i), origins
    for i, entry in enumerate(scaling.pod.containers[0].env):
        yield (*_RUNNER, "env", i), env.get(str(entry["name"]), ())
    resource_layers = engine_run.resource_layers(run)
    layers: list[Located] = [layer.origin for layer in resource_layers]
    if run.offloading:
        layers[-2] = SumOrigin(resource_layers[-2].origin)
    for path, origins in origins_of(run.resources.history, [*layers, *filter(None, [_flavor(scaling)])]):
        yield (*_RUNNER, "resources", *path), origins


def _container_origins(scaling: PlannedScaling, env: _LayerOrigins) -> _Origins:
    """Of each argument of the runner, and of each variable of any container that has the runner's."""
    run, command, pod = scaling.run, scaling.planned.command, scaling.pod
    for i, (origin, _) in enumerate(
        arg_merge.arg_origins(run.engine.style, command.layers, command.args, command.form)
    ):
        yield (*_RUNNER, "args", i), origin
    for field, containers in (("containers", pod.containers[:1]), ("initContainers", pod.init_containers)):
        for index, container in enumerate(containers):
            for i, entry in enumerate(container.env):
                if origins := env.get(str(entry["name"])):
                    yield ("spec", field, index, "env", i), origins[-1]


def _flavor(scaling: PlannedScaling) -> FlavorOrigins | None:
    """The origins of the flavor that the limits are of."""
    base = scaling.run.base
    return base.placement.origins(base.claim.main)


# Groups of several hosts


def _group_origins(scaling: PlannedScaling, env: _LayerOrigins) -> _Origins:
    """Of the number of hosts, and of what differs in workers from a leader that alone answers requests."""
    app, run, form = scaling.app, scaling.run, scaling.run.multi_host
    if form is None:
        return
    sizes = size_origin(app, scaling.run.base.pod_needs.placement, scaling.run.base.claim.main)
    yield ("size",), sizes
    yield ("explain", "size"), sizes
    if scaling.worker is None:
        return
    worker, command = form.origin.at("worker"), scaling.planned.command
    for head in ("worker_template",), ("explain", "workerTemplate"):
        yield (*head, *_RUNNER, "lifecycle"), worker.at("lifecycle")
    of_leader = list(arg_merge.arg_origins(run.engine.style, command.layers, command.args, command.form))
    common_tokens = arg_merge.tokens_without(run.engine.style, command.args, form.dropped_options)
    own = [worker.at("args", i) for i in range(len(form.worker_args))]
    for i, (origin, layers) in enumerate(
        [of_leader[i] for i, _ in common_tokens] + [(origin, [origin]) for origin in own]
    ):
        yield ("worker_template", *_RUNNER, "args", i), origin
        for number, layer in enumerate(layers):
            yield ("worker_layers", *_RUNNER, "args", i, number), layer
    for part, pod in ("leader", scaling.pod), ("worker", scaling.worker):
        yield from _own_env_origins(app, part, pod, env)


def _own_env_origins(app: App, part: str, pod: Pod, env: _LayerOrigins) -> _Origins:
    """Of the variables of leaders or workers (`part`) alone. `env`: the layers below them."""
    key = f"{part}Envs"
    entries = maps_at(app.spec, "workload", key)
    places = {entry["name"]: app.origin("spec", "workload", key, i) for i, entry in enumerate(entries)}
    for i, entry in enumerate(pod.containers[0].env if places else ()):
        if origin := places.get(str(entry["name"])):
            yield (f"{part}_template", *_RUNNER, "env", i), origin
            for number, layer in enumerate([*env.get(str(entry["name"]), ()), origin]):
                yield (f"{part}_layers", *_RUNNER, "env", i, number), layer


def _form_origins(run: EngineRun) -> _Origins:
    """Of the command and the probes that the preset's form of several hosts has for all that answer."""
    if form := run.multi_host:
        for head in ("template",), _TEMPLATE:
            if form.command:
                yield (*head, *_RUNNER, "command"), form.origin.at("command")
            for key, fields in form.probes.items():
                for field in fields:
                    yield (*head, *_RUNNER, key, field), form.origin.at(key, field)


# Labels and annotations


def _annotation_origins(context: RunContext, app: App, base: AppBase, run: EngineRun) -> _Origins:
    if run.backend_config.get("backendName"):
        yield (*_ANNOTATIONS, wellknown.BACKEND), app.origin(*_BACKEND, "backendName")
    elif context.inputs.config.get("backend"):
        yield (*_ANNOTATIONS, wellknown.BACKEND), context.inputs.config.origin("backend")
    yield (*_ANNOTATIONS, wellknown.ENGINE_VERSION), run.version_layers[-1].origin
    if run.offloading:
        yield (*_ANNOTATIONS, wellknown.KV_CACHE_MEMORY), run.offloading.origin.at("cpu")
    by_path = run.engine.spec.get("servedName") in ("directory", "model")
    own_name = by_path and backend_runtime.name_in_engine(run.engine, run.served_name, run.words) != run.served_name
    routed = routing.mode(app, gateway_settings(context, app.namespace)) != "off"
    served = base.weights[0].origin if own_name and not routed else routing.name_origin(app, base.claim.main)
    yield (*_ANNOTATIONS, wellknown.SERVED_MODEL_NAME), served


def claim_origins(app: App, base: AppBase) -> dict[Path, Origin]:
    """Of what the claim decides, in a Playground and a Service alike."""
    main, claim = base.claim.main, base.claim
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
    if flavor := place.origins(main):
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
            yield ("loader", position, *path), origin


def _pod_origins(context: RunContext, app: App, base: AppBase, run: EngineRun, pod: Pod) -> _Origins:
    config = context.inputs.config
    if config.get("schedulerName"):
        yield (*_POD, "schedulerName"), config.origin("schedulerName")
    if drain := run.engine.spec.get("drain"):
        stating_key = grace_period.stating_key(drain)
        yield (*_POD, "terminationGracePeriodSeconds"), run.engine.origin.at("engine", "drain", stating_key)
    if "hardening" in app.spec or config.get("hardening"):
        for field in ("securityContext", "automountServiceAccountToken", "enableServiceLinks"):
            yield (*_POD, field), hardening_origin(context, app)
        yield (*_POD, "containers", 0, "securityContext"), hardening_origin(context, app)
    sources = {source_volume_name(i, weights): weights.origin for i, weights in enumerate(base.weights)}
    for i, volume in enumerate(pod.volumes):
        if origin := sources.get(str(volume["name"])):
            for steps in (("hostPath", "path"), ("image", "reference"), ("persistentVolumeClaim", "claimName")):
                yield (*_POD, "volumes", i, *steps), origin
        if volume["name"] == "dshm" and (sizes := command_line.shared_memory_layers(run)):
            yield (*_POD, "volumes", i, "emptyDir", "sizeLimit"), sizes[-1].origin
    yield from _offloading_origins(run, pod)
    for key in ("startupProbe", "readinessProbe", "livenessProbe", "lifecycle"):  # where podTemplate keeps them
        yield (*_POD, "containers", 0, key), run.engine.origin.at(key)


def _offloading_origins(run: EngineRun, pod: Pod) -> _Origins:
    """Of the folders for files of the KV cache."""
    tiers = {tier.volume: tier.origin for tier in run.offloading.tiers} if run.offloading else {}
    for field, items in ((("volumes",), pod.volumes), (("containers", 0, "volumeMounts"), pod.containers[0].mounts)):
        for i, item in enumerate(items):
            if origin := tiers.get(str(item["name"])):
                yield (*_POD, *field, i), origin
                if field == ("volumes",):
                    yield (*_POD, *field, i, "persistentVolumeClaim", "claimName"), origin.at("pvc")
                    yield (*_POD, *field, i, "emptyDir", "sizeLimit"), origin.at("emptyDir")
                else:
                    yield (*_POD, *field, i, "mountPath"), origin.at("path")


def _preparation_origins(run: EngineRun, pod: Pod) -> _Origins:
    """Of the init containers and volumes that the preset lists."""
    engine = run.engine.spec
    steps, volumes = [step.name for step in pod.init_containers], [volume["name"] for volume in pod.volumes]
    for field, entries, names in (
        ("initContainers", engine.get("initContainers"), steps),
        ("volumes", engine.get("volumes"), volumes),
    ):
        for i, entry in enumerate(entries or ()):
            if entry["name"] in names:
                yield (*_POD, field, names.index(entry["name"])), run.engine.origin.at("engine", field, i)
    mounts = [(mount["name"], mount["mountPath"]) for mount in pod.containers[0].mounts]
    for i, volume in enumerate(engine.get("volumes") or ()):
        if (mount := (volume["name"], volume["mountPath"])) in mounts:
            path: Path = (*_POD, "containers", 0, "volumeMounts", mounts.index(mount))
            yield path, run.engine.origin.at("engine", "volumes", i)


# The words of a preset's templates

_SOURCE_WORDS = ("ModelPath", "Hub", "Filename", "Endpoint", "Source", "Format", "Revision")


def _word_origins(app: App, base: AppBase, run: EngineRun) -> Iterator[tuple[str, Origin]]:
    main, place = base.claim.main, base.pod_needs.placement
    yield from ((word, base.weights[0].origin) for word in _SOURCE_WORDS)
    if base.claim.draft:
        yield from ((word, base.weights[1].origin) for word in ("DraftModelPath", "DraftRevision"))
    yield "ModelName", routing.name_origin(app, main)
    flavor = place.origins(main)
    resource = next((name for name in place.limits if "/" in name), "")
    if resource and flavor:
        for word in ("Accelerator", *(("TP",) if run.size.parallelism.data == 1 else ())):
            yield word, flavor.at("limits", resource)
    for word, param in (("MaxModelLen", "MAX-MODEL-LEN"), *((size, size) for size in SIZE_WORDS.values())):
        if param in place.params and flavor:
            yield word, flavor.at("params", param)
    for key, word in SIZE_WORDS.items():
        if key in (app.spec.get("parallelism") or {}):
            yield word, app.origin("spec", "parallelism", key)
    for word in ("WorldSize", "Hosts", "LocalRanks", "RankPorts"):
        yield word, size_origin(app, place, main)
    if "maxModelLen" in backend_runtime.model_settings(main, run.engine) and "MAX-MODEL-LEN" not in place.params:
        yield "MaxModelLen", Origin(main.document, ("spec", "engines", run.engine.runtime.name, "maxModelLen"))
    for word in NO_OFFLOADING if run.offloading else ():
        yield word, run.offloading.origin if run.offloading else app.origin()
    if base.skip_loaders:
        for word in ("Skip", "Stream"):
            yield word, app.origin("metadata", "annotations", app_annotations.SKIP)
