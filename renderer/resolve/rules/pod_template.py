"""What does not go with the pod as a podTemplate makes it."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.diagnostics import Diagnostic, Origin, Path, make_diagnostic, rule
from renderer.engines.rules.accelerators import used_accelerators
from renderer.kubernetes.json_values import map_at
from renderer.kubernetes.strategic_merge import DIRECTIVE
from renderer.kubernetes.workloads import containers
from renderer.resolve import flavors
from renderer.resolve.pod import loaders, pod_template
from renderer.resolve.pod.hardening import OPENSHIFT, RESTRICTED, TIGHT
from renderer.resolve.pod.loaders import VOLUME
from renderer.resolve.workload.claimed import hardening_origin
from renderer.resolve.workload.gpu_fit import flavor_card, own_labels
from renderer.resolve.workload.planned_pod import PlannedPod, image_security
from renderer.resolve.workload.running_playground import engine_line, runs_own_image
from renderer.text.suggestions import closest


@rule(of=PlannedPod, when=lambda planned: planned.run.base.hardening in TIGHT)
def root_user(planned: PlannedPod) -> Iterator[Diagnostic]:
    """A warning for an image without a user of its own where pods are restricted; where OpenShift gives the user, for
    one that nobody knows to run as any.
    """
    base, security = planned.run.base, image_security(planned.run)
    if base.hardening == OPENSHIFT and not security.get("anyUser"):
        origin, backend = hardening_origin(base.context, base.app), planned.run.engine.runtime.name
        yield make_diagnostic("W322", origin, backend=backend)
    elif base.hardening == RESTRICTED and "user" not in security:
        yield make_diagnostic("W204", hardening_origin(base.context, base.app))


@rule(of=PlannedPod, when=PlannedPod.is_patched)
def misspelt_containers(planned: PlannedPod) -> Iterator[Diagnostic]:
    """A warning for each container that a podTemplate adds under a name that is nearly the runner's or a loader's; a
    note for each other one that it adds beside the runner with the image of an engine.
    """
    own = [container.name for container in (*planned.generated.init_containers, *planned.generated.containers)]
    known_engines = planned.run.base.context.known_engines
    keeps_runner = DIRECTIVE not in pod_template.runner_patch(planned.app.spec)[1]
    for path, container in containers(map_at(planned.app.spec, "podTemplate", "spec")):
        name = str(container.get("name"))
        if name in own or not (image := container.get("image")):
            continue
        origin = planned.app.origin("spec", "podTemplate", "spec", *path, "name")
        if own_name := closest(name, own, 0.85):
            yield make_diagnostic("W326", origin, name=name, meant=own_name)
        elif keeps_runner and path[0] == "containers" and (engine := known_engines.image_engine(str(image))):
            yield make_diagnostic("N325", origin, name=name, backend=engine.backend)


@rule(of=PlannedPod, when=PlannedPod.is_patched)
def unknown_user(planned: PlannedPod) -> Iterator[Diagnostic]:
    """A warning for a podTemplate whose user the preset's image does not have, or that wants none to be root without
    saying which.
    """
    run = planned.run
    if not (run.engine.templated and runs_own_image(run)):
        return
    known = image_security(run)
    user, origin = _security_field(planned, "runAsUser")
    non_root, non_root_origin = _security_field(planned, "runAsNonRoot")
    backend, entry = run.engine.runtime.name, known.get("user")
    advice = f"write runAsUser: {entry}, runAsGroup: {known.get('group', entry)}" if entry is not None else ""
    if non_root is True and user is None and non_root_origin:
        hint = advice or f"leave it out: no user is known that the image of {backend} can run as"
        yield make_diagnostic("W308", non_root_origin, backend=backend, hint=hint)
    elif origin and user not in (None, 0, entry) and not known.get("anyUser"):
        home = "write envs HOME and USER, and mount volumes where it writes: "
        folders = ", ".join([*known.get("writable", ()), "its caches"])
        hint = f"{advice}, or {home}{folders}" if advice else f"{home}{folders}"
        yield make_diagnostic("W309", origin, backend=backend, user=user, hint=hint)


def _security_field(planned: PlannedPod, field: str) -> tuple[object, Origin | None]:
    """The value of a field of the runner's security context, else of the pod's, and where a podTemplate says it."""
    pod, runner = planned.pod, planned.pod.containers[0]
    if field in runner.security_context:
        return runner.security_context[field], planned.patch_origin(("spec", "containers", 0, "securityContext", field))
    path: Path = ("spec", "securityContext", field)
    for length in range(len(path), 1, -1):
        if origin := planned.patch_origins.get(path[:length]):
            return pod.security_context.get(field), origin.at(*path[length:])
    return pod.security_context.get(field), None


@rule(of=PlannedPod, when=PlannedPod.is_patched)
def loaders_kept_offline(planned: PlannedPod) -> Iterator[Diagnostic]:
    """A warning for a variable that a podTemplate gives a loader, and that keeps it from loading."""
    weights = {loaders.loader_name(position): loaded for position, loaded, _ in planned.run.base.pod_needs.loads}
    for i, container in enumerate(planned.pod.init_containers):
        for j, variable in enumerate(container.env if container.name in weights else ()):
            if loaders.is_kept_offline(weights[container.name], variable) and (
                origin := planned.patch_origin(("spec", "initContainers", i, "env", j))
            ):
                yield make_diagnostic("W927", origin, name=variable["name"])


@rule(of=PlannedPod, when=PlannedPod.is_patched)
def changed_accelerators(planned: PlannedPod) -> Iterator[Diagnostic]:
    """An error for a podTemplate that leaves the engine fewer accelerators than its command line uses; a warning for
    one that changes their number otherwise, since the command line depends on it.
    """
    inputs, origin = planned.run.base.context.inputs, planned.app.origin("spec", "podTemplate")
    if planned.pod is planned.generated or not planned.run.engine.templated:
        return
    index, runner = pod_template.runner_patch(planned.app.spec)
    before, after = (map_at(pod.containers[0].resources, "limits") for pod in (planned.generated, planned.pod))
    for name in {**before, **after}:
        if before.get(name) != after.get(name) and flavors.accelerates(inputs, name):
            path: Path = ("spec", "containers", index, "resources")
            path = (*path, "limits", name) if name in map_at(runner, "resources", "limits") else path
            count, used = str(after.get(name, 0)), _used_of(planned, name)
            if used and count.isdecimal() and 0 < int(count) < used:
                option = min(planned.run.engine.size_options, default="")
                words = {"option": option, "size": used, "count": count, "name": name}
                hint = f"leave {name} out of limits and requests: the pod gets what the flavor says"
                yield make_diagnostic("E416", origin.at(*path), **words, hint=hint)
            else:
                yield make_diagnostic("W212", origin.at(*path), name=name)


def _used_of(planned: PlannedPod, resource: str) -> int | None:
    """How many of a kind of accelerators the command line uses in each pod; None where it cannot be told."""
    size = planned.run.size
    if resource != size.accelerator.resource or not size.accelerator.group or not planned.run.engine.size_options:
        return None
    used = used_accelerators(engine_line(planned.command))
    return used and -(-used // size.parallelism.hosts)


@rule(of=PlannedPod, when=lambda planned: planned.is_patched() and own_labels(planned.app))
def other_accelerators(planned: PlannedPod) -> Iterator[Diagnostic]:
    """A warning for a podTemplate that selects nodes with other accelerators than those of all flavors."""
    types, placement = planned.run.base.context.inputs.accelerator_types(), planned.run.base.placement
    labelled = types.of_labels({key: str(value) for key, value in planned.pod.node_selector.items()})
    own = own_labels(planned.app)
    by_flavor = [flavor_card(types, flavor, {}) for flavor in placement.flavors]
    cards = [card for card in by_flavor if card]
    if labelled is None or not cards or len(cards) < len(by_flavor) or labelled in cards:
        return
    key = next((key for key in types.by_label(own) if key in own), next(iter(own)))
    words = {"type": labelled.name, "flavor": placement.flavors[0].name, "other": cards[0].name}
    yield make_diagnostic("W382", planned.app.origin("spec", "podTemplate", "spec", "nodeSelector", key), **words)


@rule(of=PlannedPod, when=PlannedPod.is_patched)
def risky_patch(planned: PlannedPod) -> Iterator[Diagnostic]:
    """What a podTemplate changes that something else relies on."""
    base, origin = planned.run.base, planned.app.origin("spec", "podTemplate")
    paths = [source.path for _, source, _ in base.pod_needs.loads]
    restricted = base.hardening in TIGHT
    template = planned.app.spec["podTemplate"]
    yield from pod_template.risks(planned.generated, planned.pod, template, paths, restricted, origin)
    if base.pod_needs.claim_templates and any(volume["name"] == VOLUME for volume in planned.pod.volumes):
        yield make_diagnostic("E318", origin.at("spec", "volumes"), name=VOLUME)
