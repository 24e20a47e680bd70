"""A Playground as rules about running engines see it (renderer/engines/)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from renderer.diagnostics import Origin, Path
from renderer.engines.dialect import ArgLayer
from renderer.engines.downloads import cache_folder
from renderer.engines.given_options import option_names
from renderer.engines.handwritten_command import table_entry
from renderer.engines.option_lists import list_path
from renderer.engines.rules.memory import bounded_memory
from renderer.engines.running_engine import (
    EngineLine,
    HeldCache,
    MemoryNeed,
    RunningEngine,
    SharedAccelerators,
    Subject,
)
from renderer.kubernetes.json_values import as_text, map_at, text_at
from renderer.kubernetes.variable_references import as_process_sees, plain_variables
from renderer.resolve.engine import ports
from renderer.resolve.engine.engine_variants import is_own_image, own_repositories
from renderer.resolve.engine.kv_offloading import KVOffloading
from renderer.resolve.engine.parallel_sizes import own_size_origin
from renderer.resolve.pod import loaders, pod_template
from renderer.resolve.workload import engine_process, engine_run
from renderer.resolve.workload.engine_process import EngineProcess
from renderer.resolve.workload.engine_run import BACKEND, EngineRun
from renderer.resolve.workload.flavor_limits import raised_limits
from renderer.resolve.workload.gpu_fit import possible_cards
from renderer.resolve.workload.planned_pod import PlannedPod

_SHARED = "dshm"  # the volume of shared memory
_OVER_PODS = "; spec.parallelism shares a model among several pods"


def engine_line(command: EngineProcess) -> EngineLine:
    """The command line; what users wrote of it is what they can change."""
    run, base, parallelism = command.run, command.run.base, command.run.size.parallelism
    args, written = _as_process_sees(command)
    return EngineLine(
        subject=_subject(run),
        backend=run.engine.runtime.name,
        engine=run.engine,
        version=run.version,
        args=args,
        options=option_names(run.engine.style, args),
        written=written,
        option_rules=command.option_rules,
        shared=SharedAccelerators(
            accelerator=run.size.accelerator,
            size=parallelism.size,
            origin=own_size_origin(base.app, base.placement, base.claim.main, "tensor", "data", "pipeline"),
            hosts=parallelism.hosts,
            where=partial(_accelerators_origin, run),
        ),
        is_own_image=partial(runs_own_image, run),
        shipped=(base.claim.main.document,) if base.claim.main.ours else (),
    )


def _as_process_sees(command: EngineProcess) -> tuple[tuple[str, ...], Sequence[ArgLayer]]:
    """The arguments, and those of users, with the variables whose values stand in the environment filled in."""
    if "$" not in "".join(command.args):
        return command.args, command.user_layers
    variables = plain_variables({"env": list(command.env)})

    def filled(args: Sequence[str]) -> tuple[str, ...]:
        return tuple(as_process_sees(arg, variables) for arg in args)

    return filled(command.args), [replace(layer, args=filled(layer.args)) for layer in command.user_layers]


def runs_own_image(run: EngineRun) -> bool:
    """Whether the pod runs an image of a repository that a preset of ours names: that of the runtime, or that whose
    option list the runtime uses.
    """
    inputs, runtime = run.base.context.inputs, run.engine.runtime
    if not runtime.ours:
        list_name = posixpath.basename(list_path(run.engine.spec)).removesuffix(".txt")
        preset = inputs.preset_runtimes.get(list_name)
        if preset is None or not own_repositories(runtime.spec) <= own_repositories(preset.spec):
            return False
        runtime = preset
    patched = pod_template.runner_image(run.base.app)
    return patched is None or is_own_image(runtime.spec, inputs.config, patched[0])


def _subject(run: EngineRun) -> Subject:
    app, roles = run.base.app, run.engine.spec.get("disaggregation") or {}
    has_stages = not app.role or roles.get("pipeline") != "none"
    return Subject(
        name=f"{app.kind} {app.namespace}/{app.label}",
        limits="the flavor's limits",
        raised=partial(raised_limits, run),
        over_pods=_OVER_PODS if run.engine.multi_host else "",
        ways="data or pipeline" if has_stages else "data",
    )


def _accelerators_origin(run: EngineRun) -> Origin | None:
    """Where the limits, or the claim, of the first flavor say which accelerators there are."""
    placement, resource = run.base.placement, run.size.accelerator.resource
    if placement.claim:
        return placement.claim.origin
    origins = placement.origins(run.base.claim.main)
    return origins.at("limits", resource) if origins else None


def running_engine(line: EngineLine, planned: PlannedPod) -> RunningEngine:
    """The engine in its pod."""
    offloading = planned.run.offloading
    held_cache = _held_cache(planned, offloading) if offloading else None
    return RunningEngine(
        line=line,
        pod=planned.pod,
        container=planned.pod.containers[0],
        path=("spec", "containers", 0),
        origin_of=partial(_origin_of, planned),
        written_variables=partial(_written_variables, planned),
        held_cache=held_cache,
        cards=partial(possible_cards, planned.run),
        takes_turns=partial(
            planned.run.base.context.known_engines.take_turns, planned.run.base.placement.limits, planned.pod
        ),
        weights_folder=partial(_weights_folder, planned),
        downloads_to=partial(_downloads_to, planned),
        port=lambda: ports.engine_port(planned.app),
        version_origin=lambda: planned.run.version_layers[-1].origin,
        facts=partial(_facts, planned),
        model=lambda: text_at(planned.run.base.claim.main.spec, "source", "modelHub", "modelID"),
    )


def _facts(planned: PlannedPod) -> Mapping[str, object]:
    """What the OpenModel says; of the rest what our preset of the same repository does."""
    base = planned.run.base
    model = base.claim.main
    known = base.context.known_engines.model_facts(text_at(model.spec, "source", "modelHub", "modelID"))
    facts = {**known, **map_at(model.spec, "facts")}
    return {**facts, "weightsGiB": base.claim.known_gib} if base.claim.mains > 1 else facts


def _written_variables(planned: PlannedPod, prefix: str) -> Iterator[tuple[str, Origin]]:
    """The names of the variables of users with a prefix, and where."""
    patched = [engine_process.patched_env(planned.app)] if planned.is_patched() else ()
    for layer in (*planned.command.user_env, *patched):
        for i, variable in enumerate(layer.value):
            if (name := as_text(variable.get("name"))).startswith(prefix):
                yield name, layer.origin.at(i, "name")


def _origin_of(planned: PlannedPod, path: Path) -> Origin | None:
    """Where somebody wrote a field of the pod: in the app's template, or among the resources of its engine."""
    origin = planned.patch_origin(path)
    if origin is None and path[:4] == ("spec", "containers", 0, "resources") and len(path) == 6:
        side, name = (str(part) for part in path[4:])
        author = engine_run.resource_author(planned.run, side, name)
        return author.at(side, name) if author else None
    if origin is None and path[:2] == ("spec", "volumes") and "sharedMemorySize" in planned.run.backend_config:
        is_shared = planned.pod.volumes[int(path[2])]["name"] == _SHARED
        return planned.app.origin(*BACKEND, "sharedMemorySize") if is_shared else None
    return origin


def _weights_folder(planned: PlannedPod) -> str:
    """Where the pod keeps the weights that its loader writes; '' where it loads none."""
    mounts = planned.pod.containers[0].volume_mounts
    paths = [text_at(mount, "mountPath") for mount in mounts if mount.get("name") == loaders.VOLUME]
    volumes = [volume for volume in planned.pod.volumes if volume.get("name") == loaders.VOLUME]
    return paths[0] if paths and volumes and "emptyDir" in volumes[0] else ""


def _downloads_to(planned: PlannedPod) -> str:
    """Where the engine keeps a model that no loader brings; '' where one does, and where nobody knows."""
    base, container = planned.run.base, planned.pod.containers[0]
    if not base.skip_loaders or base.weights[0].kind != "hub":
        return ""
    security = {**planned.pod.security_context, **container.security_context}
    body = {"env": list(container.env), "securityContext": security, **container.rest}
    return cache_folder(table_entry(planned.run.engine.runtime.name), body)


def _held_cache(planned: PlannedPod, offloading: KVOffloading) -> HeldCache:
    run = planned.run
    memory_layer = engine_run.resource_layers(run)[-2]
    shared = engine_process.preset_shared_memory_layers(run)
    in_shared_memory = bool(shared) and shared[-1].origin == memory_layer.origin
    side, _ = bounded_memory(planned.pod.containers[0])
    amounts = memory_layer.value
    return HeldCache(
        amount=offloading.memory,
        size=offloading.size,
        origin=offloading.origin.at("cpu"),
        memory=MemoryNeed(amounts.get(side, amounts["requests"])["memory"], _memory_origin(planned, side)),
        shared_memory=MemoryNeed(str(shared[-1].value), _shared_memory_origin(planned)) if in_shared_memory else None,
    )


def _memory_origin(planned: PlannedPod, side: str) -> Origin:
    """Where the memory of the runner is said."""
    run = planned.run
    origin = planned.patch_origin(("spec", "containers", 0, "resources", side, "memory"))
    if origin is None and (author := engine_run.resource_author(run, side, "memory")):
        return author.at(side, "memory")
    return origin or engine_run.resource_layers(run)[-2].origin


def _shared_memory_origin(planned: PlannedPod) -> Origin:
    """Where the size of shared memory is said, or would be."""
    volumes = [volume["name"] for volume in planned.pod.volumes]
    origin = None
    if _SHARED in volumes:
        origin = planned.patch_origin(("spec", "volumes", volumes.index(_SHARED), "emptyDir", "sizeLimit"))
    return origin or planned.app.origin(*BACKEND, "sharedMemorySize")
