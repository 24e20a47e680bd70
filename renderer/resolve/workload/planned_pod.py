"""The pod of a Playground: its runner, what prepares it, and its podTemplate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from renderer.api import App
from renderer.diagnostics import Collector, Origin, Path
from renderer.kubernetes.json_values import as_map, map_at, maps_at
from renderer.plan import Body, Container, Pod
from renderer.resolve import flavors, pod_defaults
from renderer.resolve.container_words import literal_words
from renderer.resolve.engine import disaggregation, kv_offloading, ports, preparation, startup_probe
from renderer.resolve.engine.preparation import Preparation
from renderer.resolve.kube import api_defaults, images
from renderer.resolve.pod import pod_template
from renderer.resolve.pod.loaders import VOLUME
from renderer.resolve.pod.needs import PodNeeds, add_credentials, disk_request, flavor_tolerations, without_model_volume
from renderer.resolve.pod.playground_pod import RunnerParts, playground_pod, with_nested_mounts, with_writable_folders
from renderer.resolve.pod.pod_template import KeptToleration, PatchedPod
from renderer.resolve.weight_sources import PULLED
from renderer.resolve.workload import host_groups
from renderer.resolve.workload.engine_process import EngineProcess
from renderer.resolve.workload.engine_run import EngineRun

if TYPE_CHECKING:
    from renderer.input_types import SecuritySpec

_DISK = "ephemeral-storage"
_HANDLERS = frozenset(["exec", "httpGet", "tcpSocket", "grpc"])  # of which a probe has one


class PlannedPod(Struct, frozen=True):
    """The pod of a Playground, with its podTemplate."""

    app: App
    run: EngineRun  # how the engine runs
    command: EngineProcess
    shell_command: tuple[str, ...]  # of the runner, before its arguments
    setup: Preparation  # files and steps of the preset
    generated: Pod  # without the podTemplate
    pod: Pod
    patch_origins: Mapping[Path, Origin]  # of the fields that the podTemplate sets

    def is_patched(self) -> bool:
        """Whether the Playground has a podTemplate."""
        return bool(self.app.spec.get("podTemplate"))

    def patch_origin(self, path: Path) -> Origin | None:
        """The origin of a field that the podTemplate sets; None for others."""
        for length in range(len(path), 3, -1):
            if origin := self.patch_origins.get(path[:length]):
                return origin.at(*path[length:])
        return None


def plan_pod(command: EngineProcess, diagnostics: Collector) -> PlannedPod:
    """The pod with its podTemplate. Raises TemplateError when a template of the runtime is broken."""
    run, base = command.run, command.run.base
    shell = run.engine.shell(run.words)
    if run.multi_host:
        shell = host_groups.adapt_shell(shell, run.multi_host, run.words)
    if run.mains:
        shell = _with_probes_of_several(shell, run)
    setup = _prepare(command)
    needs = base.pod_needs
    pulls = any(weights.kind == PULLED for weights in base.weights[: base.claim.mains])
    if run.engine.templated and pulls and not needs.loads:
        needs = without_model_volume(needs)  # docs/design/presets.md#weights-of-pulling-engines
    parts = RunnerParts(
        container=_runner(command, shell, needs),
        loader_env=command.loader_env,
        shared_memory=command.shared_memory,
        grace_seconds=run.engine.grace_seconds,
        tolerations=flavors.accelerator_tolerations(run.size.accelerator),
        security=image_security(run),
        preparation=setup,
        hosts=run.size.parallelism.hosts,
    )
    generated = playground_pod(needs, parts)
    planned = PlannedPod(
        app=base.app,
        run=run,
        command=command,
        shell_command=shell.command,
        setup=setup,
        generated=generated,
        pod=generated,
        patch_origins={},
    )
    if not planned.is_patched():
        return planned
    patched = _patch_pod(run, generated, diagnostics)
    pod = with_nested_mounts(with_writable_folders(patched.pod, parts.security))
    return replace(planned, pod=pod, patch_origins=patched.origins)


def _with_probes_of_several(shell: Container, run: EngineRun) -> Container:
    """The runner with the probes and hooks that ask for each of its main models."""
    body, words = shell.body(), literal_words(run.words)
    parts = {}
    for key, fill in run.engine.probes_of_several.items():
        fields = as_map(fill(words))
        others = () if key == "lifecycle" else map_at(body, key).items()
        replaced = frozenset[str]() if _HANDLERS.isdisjoint(fields) else _HANDLERS - fields.keys()
        parts[key] = {**{name: value for name, value in others if name not in replaced}, **fields}
    return Container.read(body | parts)


def image_security(run: EngineRun) -> SecuritySpec:
    """`security` of the preset's variant, else of the preset."""
    security: SecuritySpec = run.size.variant.get("security") or run.engine.spec.get("security") or {}
    return security


def _prepare(command: EngineProcess) -> Preparation:
    run = command.run
    config, app = run.base.context.inputs.config, run.base.app.name
    models = (command.model_file.path, command.model_file.text) if command.model_file else None
    setup = preparation.prepare(config, app, run.engine, run.words, run.chat_template, models)
    if not run.offloading:
        return setup
    mounts, volumes = kv_offloading.tier_mounts(run.offloading), kv_offloading.tier_volumes(run.offloading)
    return replace(setup, mounts=(*setup.mounts, *mounts), volumes=(*setup.volumes, *volumes))


def _runner(command: EngineProcess, shell: Container, needs: PodNeeds) -> Container:
    run = command.run
    image = images.with_tag(run.size.images[-1].value, run.tag)
    return replace(
        shell,
        image=images.image_reference(run.base.context.inputs.config, image),
        args=command.args,
        env=add_credentials(run.base.pod_needs, command.env),
        ports=_container_ports(run),
        resources=_resources(run, needs),
        startup_probe=startup_probe.startup_probe(run.engine, shell.startup_probe, run.base.claim.known_gib),
    )


def _resources(run: EngineRun, needs: PodNeeds) -> Body:
    """The resources of the runner: where nobody says another, a request of the node's disk for weights that land there.
    Not in a queue, whose quota would have to name it.
    """
    sides, size = run.resources.sides, disk_request(needs)
    spec = run.base.app.spec
    if not size or "queue" in map_at(spec, "workload") or any(_DISK in values for values in sides.values()):
        return sides
    patched = map_at(pod_template.runner_patch(spec)[1], "resources").values()
    volumes = maps_at(spec, "podTemplate", "spec", "volumes")
    if any(_DISK in as_map(values) for values in patched) or any(volume.get("name") == VOLUME for volume in volumes):
        return sides
    return {**sides, "requests": {**sides.get("requests", {}), _DISK: size}}


def _container_ports(run: EngineRun) -> tuple[Body, ...]:
    """The ports of the runner."""
    role, number = run.base.app.role, ports.engine_port(run.base.app)
    ranks = host_groups.rank_ports(run.multi_host, run.words, number)
    container_ports = host_groups.container_ports(run.multi_host, ranks)
    container_ports = container_ports or (ports.container_port("http", number),)
    return (*container_ports, *(disaggregation.role_ports(run.engine, role) if role else ()))


def _patch_pod(run: EngineRun, pod: Pod, diagnostics: Collector) -> PatchedPod:
    """The pod with the Playground's podTemplate merged into it."""
    base, origin = run.base, run.base.app.origin("spec", "podTemplate")
    patched = pod_template.patch_pod(
        base.context.inputs.config,
        pod,
        api_defaults.normalize_part(base.app.spec["podTemplate"], origin, diagnostics),
        list(base.labels),
        base.hardening != "off",
        origin,
        diagnostics,
        kept_tolerations=_kept_tolerations(run),
    )
    if not (constraints := maps_at(patched.pod.rest, "topologySpreadConstraints")):
        return patched
    spread_over = pod_defaults.spread_selector(base.pod_needs.own_pods, run.size.parallelism.hosts)
    selected = pod_defaults.with_pod_selectors(constraints, spread_over)
    rest = {**patched.pod.rest, "topologySpreadConstraints": selected}
    return PatchedPod(replace(patched.pod, rest=rest), patched.origins)


def _kept_tolerations(run: EngineRun) -> list[KeptToleration]:
    """The tolerations that a podTemplate adds its own to: the accelerator's and those of the flavors' catalog."""
    tolerations = [KeptToleration(body) for body in flavors.accelerator_tolerations(run.size.accelerator)]
    for layer in flavor_tolerations(run.base.pod_needs):
        tolerations += [KeptToleration(body, layer.origin.at(i)) for i, body in enumerate(layer.value)]
    return tolerations
