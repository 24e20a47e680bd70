"""The strategic merge of `spec.podTemplate` into the pod of a Playground.

Tolerations are added to the accelerator's, which `$patch: replace` drops. Patches have passed
`api_defaults.normalize_part`, which drops empty values.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from renderer.api import App, RenderConfig
from renderer.diagnostics import Collector, Diagnostic, Origin, Path, make_diagnostic, suggestion
from renderer.kubernetes.json_values import list_at, map_at, maps_at
from renderer.kubernetes.strategic_merge import DELETE, DIRECTIVE, POD_TEMPLATE, Merge
from renderer.kubernetes.template_origins import TemplateOrigins
from renderer.kubernetes.wellknown import RUNNER
from renderer.plan import Body, Container, Pod
from renderer.resolve import pod_defaults
from renderer.resolve.kube import api_defaults, images, resources
from renderer.resolve.pod import hardening
from renderer.resolve.pod.containers import is_empty_dir, volume_at, written_volumes

if TYPE_CHECKING:
    from renderer.input_types import AppSpec

_CONTAINER_GROUPS = ("initContainers", "containers")
_RUNNER_HINTS = {
    "command": "write a BackendRuntime with another command",
    "args": "write spec.backendRuntimeConfig.args",
    "ports": "all parts of the pod use the same port; leave it out",
}


class PatchedPod(Struct, frozen=True):
    """A patched pod."""

    pod: Pod
    origins: Mapping[Path, Origin]  # of the fields that the patch sets, by path in the pod's template


class KeptToleration(Struct, frozen=True):
    """A toleration that a patch adds its own to."""

    body: Body
    origin: Origin | None = None  # None where it follows from the accelerator


def patch_pod(
    config: RenderConfig,
    pod: Pod,
    patch: Mapping[str, Any],
    own_labels: Sequence[str],
    hardened: bool,
    origin: Origin,
    diagnostics: Collector,
    kept_tolerations: Sequence[KeptToleration] = (),
) -> PatchedPod:
    """The pod with the patch merged into it. `own_labels`: of app.kubernetes.io, which a patch may not change;
    `hardened`: new containers get no privilege escalation; `kept_tolerations`: of the accelerator and its flavors, to
    which the patch adds its own.
    """
    metadata, spec = patch.get("metadata") or {}, patch.get("spec") or {}
    for key in ("labels", "annotations"):
        part_origin = origin.at("metadata", key)
        diagnostics.problems += pod_defaults.reserved_keys(
            metadata.get(key) or {}, part_origin, reserve_common=key == "labels", limited_to=own_labels
        )
    part_origin, merge = origin.at("spec"), Merge(POD_TEMPLATE, TemplateOrigins(), diagnostics)
    fields = {key: value for key, value in spec.items() if key not in _CONTAINER_GROUPS}
    if "volumes" in fields:
        diagnostics.problems += images.invalid_volumes(fields["volumes"], part_origin.at("volumes"))
        fields["volumes"] = images.volume_references(config, fields["volumes"])
    before = {key: value for key, value in pod.body().items() if key not in _CONTAINER_GROUPS}
    merged = merge.merge_map(before, fields, "core.PodSpec", part_origin, ("spec",))
    if "tolerations" in fields:
        own_tolerations = fields["tolerations"], part_origin.at("tolerations")
        merged["tolerations"] = _merge_tolerations(kept_tolerations, *own_tolerations, merge)
    init_containers, containers = (
        _patch_containers(config, before_patch, group, spec.get(group) or (), hardened, part_origin.at(group), merge)
        for group, before_patch in zip(_CONTAINER_GROUPS, (pod.init_containers, pod.containers), strict=True)
    )
    for key in ("labels", "annotations"):
        for name in metadata.get(key) or {}:
            merge.origins.copy(("metadata", key, name), origin.at("metadata", key, name))
    patched = replace(
        Pod.read(_with_fields(before, merged, fields, "spec")),
        labels={**pod.labels, **(metadata.get("labels") or {})},
        annotations={**pod.annotations, **(metadata.get("annotations") or {})},
        init_containers=init_containers,
        containers=containers,
    )
    return PatchedPod(patched, dict(merge.origins))


def runner_patch(spec: AppSpec) -> tuple[int, Body]:
    """The index of model-runner in a Playground's podTemplate, and its patch; (0, {}) where there is none."""
    return _container_patch(spec.get("podTemplate") or {}, "containers", RUNNER)


def _container_patch(template: Mapping[str, Any], group: str, name: str) -> tuple[int, Body]:
    containers = enumerate(maps_at(template, "spec", group))
    return next(((i, container) for i, container in containers if container["name"] == name), (0, {}))


def runner_image(app: App) -> tuple[str, Origin] | None:
    """The image that a Playground's podTemplate gives model-runner; None where it gives none."""
    index, patch = runner_patch(app.spec)
    if not (image := patch.get("image")):
        return None
    return str(image), app.origin("spec", "podTemplate", "spec", "containers", index, "image")


# Containers


def _patch_containers(
    config: RenderConfig,
    containers_before: Sequence[Container],
    group: str,
    patches: Sequence[Mapping[str, Any]],
    hardened: bool,
    origin: Origin,
    merge: Merge,
) -> tuple[Container, ...]:
    diagnostics = merge.diagnostics
    containers = {container.name: container for container in containers_before}
    patched_names: set[str] = set()
    for i, patch in enumerate(patches):
        name, item_origin = patch["name"], origin.at(i)
        if name in patched_names:
            diagnostics.add("E294", item_origin.at("name"), name=name)
            continue
        patched_names.add(name)
        if name == RUNNER and not _may_patch_runner(patch, item_origin, diagnostics):
            continue
        if patch.get(DIRECTIVE) == DELETE:
            if merge.may_delete(patch, ("name",), name in containers, containers, item_origin):
                del containers[name]
        elif name in containers:
            containers[name] = _patch_container(config, group, containers[name], patch, item_origin, merge)
        elif "image" in patch:
            new = _patch_container(config, group, Container(name), patch, item_origin, merge)
            containers[name] = hardening.deny_escalation(new) if hardened else new
        else:
            diagnostics.add("E295", item_origin.at("name"), name=name, hint=suggestion(name, [*containers]))
            continue
        if "image" in patch:
            merge.origins.copy(("spec", group, name), item_origin)
    merge.origins.move_items(("spec", group), {name: i for i, name in enumerate(containers)})
    if patched_names.issuperset(containers):
        merge.origins.copy(("spec", group), origin)
    return tuple(containers.values())


def _may_patch_runner(patch: Mapping[str, Any], origin: Origin, diagnostics: Collector) -> bool:
    """Whether the patch leaves those fields unchanged that other objects depend on; errors where it does not."""
    if patch.get(DIRECTIVE) == DELETE:
        diagnostics.add("E296", origin.at(DIRECTIVE), name=RUNNER)
        return False
    for key, hint in _RUNNER_HINTS.items():
        if key in patch:
            diagnostics.add("E293", origin.at(key, key=True), field=key, hint=hint)
    return not any(key in patch for key in _RUNNER_HINTS)


def _patch_container(
    config: RenderConfig, group: str, container: Container, patch: Mapping[str, Any], origin: Origin, merge: Merge
) -> Container:
    diagnostics, path = merge.diagnostics, ("spec", group, container.name)
    fields = {key: value for key, value in patch.items() if key != "name"}
    before = container.body()
    if hardening.needs_escalation(patch.get("securityContext") or {}) and "securityContext" in before:
        # The API server refuses it together with allowPrivilegeEscalation: false.
        context = before["securityContext"]
        before["securityContext"] = {key: context[key] for key in context if key != "allowPrivilegeEscalation"}
    merged = merge.merge_map(before, fields, "core.Container", origin, path)
    merge.origins.copy((*path, "name"), origin.at("name"))
    diagnostics.problems += _second_handlers(before, merged, patch, origin)
    if "image" in patch:
        diagnostics.problems += images.invalid_image(patch["image"], "image", origin.at("image"))
        merged["image"] = images.image_reference(config, patch["image"])
    if "resources" in fields and "resources" in merged:
        sides = merged["resources"].items()
        merged["resources"] = {
            key: resources.order_resources(side) if isinstance(side, Mapping) else side for key, side in sides
        }
    return Container.read(_with_fields(before, merged, fields, "spec", group, "[]"))


_HANDLERS = ("exec", "grpc", "httpGet", "sleep", "tcpSocket")  # of a probe, and of a step of lifecycle


def _second_handlers(before: Body, merged: Body, patch: Mapping[str, Any], origin: Origin) -> Iterator[Diagnostic]:
    """An error where the patch adds a second handler: the merge keeps both, and only one is allowed."""
    steps: list[Path] = [("startupProbe",), ("readinessProbe",), ("livenessProbe",)]
    steps += [("lifecycle", "postStart"), ("lifecycle", "preStop")]
    for path in steps:
        part_before, merged_part, patch_part = (map_at(side, *path) for side in (before, merged, patch))
        new_handlers = [key for key in _HANDLERS if key in patch_part and key not in part_before]
        old_handlers = [key for key in _HANDLERS if key in merged_part and key in part_before and key not in patch_part]
        if new_handlers and old_handlers:
            what = f"'{old_handlers[0]}' already exists, and would stay beside '{new_handlers[0]}'"
            yield make_diagnostic(
                "E299",
                origin.at(*path, new_handlers[0], key=True),
                what=what,
                hint=f"write $patch: replace in {path[-1]}",
            )


def _merge_tolerations(
    kept_tolerations: Sequence[KeptToleration], own: Sequence[Body], origin: Origin, merge: Merge
) -> list[Body]:
    """The kept tolerations, and behind them the patch's own. An item `$patch: replace` drops those that are kept, with
    a warning for each key whose taint the patch no longer tolerates.
    """
    items = [(toleration, origin.at(i)) for i, toleration in enumerate(own) if DIRECTIVE not in toleration]
    for i, toleration in enumerate(own):
        if DIRECTIVE not in toleration:
            continue
        if len(toleration) > 1:
            merge.diagnostics.add("E263", origin.at(i))
        lost = [item.body for item in kept_tolerations if not any(_covers(other, item.body) for other, _ in items)]
        for name in dict.fromkeys(str(body.get("key", "")) for body in lost):
            merge.diagnostics.add("W253", origin.at(i, DIRECTIVE), name=name)
        kept_tolerations = ()
    merge.origins.forget(("spec", "tolerations"))
    tolerations: dict[str, Body] = {}  # by what they say
    for body, item_origin in [*((item.body, item.origin) for item in kept_tolerations), *items]:
        text = json.dumps(body, sort_keys=True)
        if text not in tolerations:
            if item_origin:
                merge.origins.copy(("spec", "tolerations", len(tolerations)), item_origin)
            tolerations[text] = body
    return [*tolerations.values()]


def _covers(toleration: Body, other: Body) -> bool:
    """Whether a toleration tolerates at least each taint that the other one does."""
    exists = toleration.get("operator") == "Exists"
    same_key = toleration.get("key") == other.get("key") or (exists and not toleration.get("key"))
    same_value = exists or all(toleration.get(field) == other.get(field) for field in ("operator", "value"))
    same_effect = not toleration.get("effect") or toleration.get("effect") == other.get("effect")
    return same_key and same_value and same_effect and "tolerationSeconds" not in toleration


# What a patched pod lacks


def risks(
    before: Pod,
    after: Pod,
    patch: Mapping[str, Any],
    weights_paths: Sequence[str],
    restricted: bool,
    origin: Origin,
) -> Iterator[Diagnostic]:
    """Warnings about the patched pod: weights that nothing brings since their loader is deleted, a mount over those of
    a loader, and under hardening `restricted` a container that may run as root. `weights_paths`: what each loader
    loads, in the order of the loaders, which are the first init containers of `before`.
    """
    loaders = {container.name: container for container in after.init_containers}
    own_loaders = zip(before.init_containers, weights_paths, strict=False)
    filled = written_volumes(after, {container.name for container in before.init_containers})
    mounts_over: set[str] = set()
    for loader, path in own_loaders:
        volume = volume_at(after.containers[0], path)
        if loader.name not in loaders:
            if volume not in filled and is_empty_dir(after, volume):
                loader_origin = _container_origin(patch, "initContainers", loader.name, origin)
                yield make_diagnostic("W218", loader_origin, loader=loader.name, volume=volume)
        elif volume and volume != (loaded := volume_at(loaders[loader.name], path)) and volume not in mounts_over:
            mounts_over.add(volume)
            runner_origin = _container_origin(patch, "containers", RUNNER, origin)
            yield make_diagnostic("W229", runner_origin, name=volume, volume=loaded)
    if not restricted:
        return
    known_names = {container.name for container in (*before.init_containers, *before.containers)}
    groups = (("initContainers", after.init_containers), ("containers", after.containers))
    for group, containers in groups:
        for container in containers:
            if container.name not in known_names and not _is_restricted(after, container):
                container_origin = _container_origin(patch, group, container.name, origin)
                yield make_diagnostic("W219", container_origin, name=container.name)


def _container_origin(patch: Mapping[str, Any], group: str, name: str, origin: Origin) -> Origin:
    """The origin of a container in the patch, else `origin`."""
    i, container = _container_patch(patch, group, name)
    return origin.at("spec", group, i, "name") if container else origin


def _is_restricted(pod: Pod, container: Container) -> bool:
    """Whether the container runs as non-root and drops all capabilities, as Pod Security `restricted` requires."""
    security = container.security_context
    dropped = list_at(security, "capabilities", "drop")
    return bool(security.get("runAsNonRoot", pod.security_context.get("runAsNonRoot"))) and "ALL" in dropped


def _with_fields(before: Body, merged: Body, patch: Body, *path: str) -> Body:
    """The fields before, and those of the patch as they are merged, with the defaults inside. `path`: in the pod's
    template.
    """
    patched = api_defaults.fill_defaults({key: merged[key] for key in patch if key in merged}, *path)
    return {key: value for key, value in before.items() if key not in patch} | patched
