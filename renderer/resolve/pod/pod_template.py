"""The strategic merge of `spec.podTemplate` into the pod of a Playground, by Kubernetes' own merge keys.

Maps are merged key by key. Items of a list are matched by its merge keys in schemas/output/merging.json; lists without
merge keys are replaced, but for tolerations, which are added to the accelerator's. `$patch: delete` deletes a map or an
item, `$patch: replace` replaces a map or the tolerations. Patches have passed `api_defaults.part`, which drops empty
values.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from renderer import schema_validation
from renderer.api import App, RenderConfig
from renderer.diagnostics import Collector, Diagnostic, Origin, Path, make_diagnostic, suggestion
from renderer.kubernetes.json_values import list_at, map_at, maps_at
from renderer.plan import Body, Container, Pod
from renderer.resolve import pod_defaults
from renderer.resolve.kube import api_defaults, images, resources
from renderer.resolve.pod import hardening, pods

if TYPE_CHECKING:
    from renderer.input_types import AppSpec

_POD_FIELDS = {
    "schedulerName": "scheduler_name",
    "automountServiceAccountToken": "mounts_token",
    "enableServiceLinks": "service_links",
    "nodeSelector": "node_selector",
    "tolerations": "tolerations",
    "terminationGracePeriodSeconds": "grace_seconds",
    "securityContext": "security",
    "affinity": "affinity",
    "volumes": "volumes",
}
_CONTAINER_GROUPS = {"initContainers": "init_containers", "containers": "containers"}
_RUNNER_HINTS = {
    "command": "write a BackendRuntime with another command",
    "args": "write spec.backendRuntimeConfig.args",
    "ports": "all parts of the pod use the same port; leave it out",
}
_DIRECTIVE = "$patch"
_DELETE = "delete"
_MergeKeys = Mapping[str, object]  # a node of the tree that _merge_keys() returns


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
    part_origin, merge = origin.at("spec"), _Merge(diagnostics)
    fields = {key: value for key, value in spec.items() if key not in _CONTAINER_GROUPS}
    if "volumes" in fields:
        diagnostics.problems += images.invalid_volumes(fields["volumes"], part_origin.at("volumes"))
        fields["volumes"] = images.volume_references(config, fields["volumes"])
    merged = merge.merge_map(
        _api_fields(pod, _POD_FIELDS, fields), fields, _merge_keys()["spec"], part_origin, ("spec",)
    )
    if "tolerations" in fields:
        own_tolerations = fields["tolerations"], part_origin.at("tolerations")
        merged["tolerations"] = _merge_tolerations(kept_tolerations, *own_tolerations, merge)
    patched: Pod = _with_fields(pod, _POD_FIELDS, merged, fields, ("spec",))
    init_containers, containers = (
        _patch_containers(
            config, getattr(pod, field), group, spec.get(group) or (), hardened, part_origin.at(group), merge
        )
        for group, field in _CONTAINER_GROUPS.items()
    )
    for key in ("labels", "annotations"):
        merge.origins |= {("metadata", key, name): origin.at("metadata", key, name) for name in metadata.get(key) or {}}
    patched_pod = replace(
        patched,
        labels={**pod.labels, **(metadata.get("labels") or {})},
        annotations={**pod.annotations, **(metadata.get("annotations") or {})},
        init_containers=init_containers,
        containers=containers,
    )
    return PatchedPod(patched_pod, merge.origins)


def runner_patch(spec: AppSpec) -> tuple[int, Body]:
    """The index of model-runner in a Playground's podTemplate, and its patch; (0, {}) where there is none."""
    if not (template := spec.get("podTemplate")):
        return 0, {}
    for i, container in enumerate(maps_at(template, "spec", "containers")):
        if container["name"] == pods.RUNNER:
            return i, container
    return 0, {}


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
    merge: _Merge,
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
        if name == pods.RUNNER and not _may_patch_runner(patch, item_origin, diagnostics):
            continue
        if patch.get(_DIRECTIVE) == _DELETE:
            if _deletable(patch, ("name",), name in containers, containers, item_origin, diagnostics):
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
            merge.origins["spec", group, name] = item_origin
    merge.renumber(("spec", group), {name: i for i, name in enumerate(containers)})
    if patched_names.issuperset(containers):
        merge.origins["spec", group] = origin
    return tuple(containers.values())


def _may_patch_runner(patch: Mapping[str, Any], origin: Origin, diagnostics: Collector) -> bool:
    """Whether the patch leaves those fields unchanged that other objects depend on; errors where it does not."""
    if patch.get(_DIRECTIVE) == _DELETE:
        diagnostics.add("E296", origin.at(_DIRECTIVE), name=pods.RUNNER)
        return False
    for key, hint in _RUNNER_HINTS.items():
        if key in patch:
            diagnostics.add("E293", origin.at(key, key=True), field=key, hint=hint)
    return not any(key in patch for key in _RUNNER_HINTS)


def _patch_container(
    config: RenderConfig, group: str, container: Container, patch: Mapping[str, Any], origin: Origin, merge: _Merge
) -> Container:
    diagnostics, path = merge.diagnostics, ("spec", group, container.name)
    fields = {key: value for key, value in patch.items() if key != "name"}
    fields_before = _api_fields(container, pods.CONTAINER_FIELDS, fields)
    if hardening.needs_escalation(patch.get("securityContext") or {}) and "securityContext" in fields_before:
        # The API server refuses it together with allowPrivilegeEscalation: false.
        context = fields_before["securityContext"]
        fields_before["securityContext"] = {key: context[key] for key in context if key != "allowPrivilegeEscalation"}
    merged = merge.merge_map(fields_before, fields, _merge_keys()["spec"][group], origin, path)
    merge.origins[*path, "name"] = origin.at("name")
    diagnostics.problems += _second_handlers(fields_before, merged, patch, origin)
    if "image" in patch:
        diagnostics.problems += images.invalid_image(patch["image"], "image", origin.at("image"))
        merged["image"] = images.image_reference(config, patch["image"])
    if "resources" in merged:
        sides = merged["resources"].items()
        merged["resources"] = {
            key: resources.order_resources(side) if isinstance(side, Mapping) else side for key, side in sides
        }
    patched: Container = _with_fields(container, pods.CONTAINER_FIELDS, merged, fields, ("spec", group, "[]"))
    return patched


_HANDLERS = ("exec", "grpc", "httpGet", "sleep", "tcpSocket")  # of a probe, and of a step of lifecycle


def _second_handlers(before: Body, merged: Body, patch: Mapping[str, Any], origin: Origin) -> Iterator[Diagnostic]:
    """An error where the patch adds a second handler: the merge keeps both, and only one is allowed."""
    steps: list[Path] = [("startupProbe",), ("readinessProbe",), ("livenessProbe",)]
    steps += [("lifecycle", "postStart"), ("lifecycle", "preStop")]
    for path in steps:
        part_before, merged_part, patch_part = (_map_at(side, path) for side in (before, merged, patch))
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


def _map_at(value: object, path: Path) -> Body:
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _merge_tolerations(
    kept_tolerations: Sequence[KeptToleration], own: Sequence[Body], origin: Origin, merge: _Merge
) -> list[Body]:
    """The kept tolerations, and behind them the patch's own. An item `$patch: replace` drops those that are kept, with
    a warning for each key whose taint the patch no longer tolerates.
    """
    items = [(toleration, origin.at(i)) for i, toleration in enumerate(own) if _DIRECTIVE not in toleration]
    for i, toleration in enumerate(own):
        if _DIRECTIVE not in toleration:
            continue
        if len(toleration) > 1:
            merge.diagnostics.add("E263", origin.at(i))
        lost = [item.body for item in kept_tolerations if not any(_covers(other, item.body) for other, _ in items)]
        for name in dict.fromkeys(str(body.get("key", "")) for body in lost):
            merge.diagnostics.add("W253", origin.at(i, _DIRECTIVE), name=name)
        kept_tolerations = ()
    del merge.origins["spec", "tolerations"]
    tolerations: dict[str, Body] = {}  # by what they say
    for body, item_origin in [*((item.body, item.origin) for item in kept_tolerations), *items]:
        text = json.dumps(body, sort_keys=True)
        if text not in tolerations:
            if item_origin:
                merge.origins["spec", "tolerations", len(tolerations)] = item_origin
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
    filled = pods.written_volumes(after, {container.name for container in before.init_containers})
    mounts_over: set[str] = set()
    for loader, path in own_loaders:
        volume = pods.volume_at(after.containers[0], path)
        if loader.name not in loaders:
            if volume not in filled and pods.is_empty_dir(after, volume):
                loader_origin = _container_origin(patch, "initContainers", loader.name, origin)
                yield make_diagnostic("W218", loader_origin, loader=loader.name, volume=volume)
        elif volume and volume != (loaded := pods.volume_at(loaders[loader.name], path)) and volume not in mounts_over:
            mounts_over.add(volume)
            runner_origin = _container_origin(patch, "containers", pods.RUNNER, origin)
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
    for i, container in enumerate((patch.get("spec") or {}).get(group) or ()):
        if container["name"] == name:
            return origin.at("spec", group, i, "name")
    return origin


def _is_restricted(pod: Pod, container: Container) -> bool:
    """Whether the container runs as non-root and drops all capabilities, as Pod Security `restricted` requires."""
    security = container.security
    dropped = list_at(security, "capabilities", "drop")
    return bool(security.get("runAsNonRoot", pod.security.get("runAsNonRoot"))) and "ALL" in dropped


# Between our tuples and the API's maps


def _api_fields(item: Container | Pod, fields: Mapping[str, str], keys: Mapping[str, object]) -> dict[str, Any]:
    """Those of the fields `keys` that have a value, under the API's names."""
    body = {}
    for key in keys:
        value = getattr(item, fields[key]) if key in fields else item.rest.get(key)
        if value is not None and value != () and value != {}:
            body[key] = list(value) if isinstance(value, tuple) else value
    return body


_UNSET: Mapping[type, Container | Pod] = {Container: Container(""), Pod: Pod({}, {}, "", ())}


def _with_fields(
    item: Any, field_names: Mapping[str, str], merged: Body, keys: Mapping[str, Any], path: tuple[str, ...]
) -> Any:
    """The item with the merged values of the fields `keys`; a deleted field gets its default."""
    defaulted = api_defaults.fill_defaults(merged, *path)
    fields, rest = {}, {key: value for key, value in item.rest.items() if key not in keys}
    for key in keys:
        if key in field_names:
            default = getattr(_UNSET[type(item)], field_names[key])
            value = defaulted.get(key, default)
            fields[field_names[key]] = tuple(value) if isinstance(default, tuple) else value
        elif key in defaulted:
            rest[key] = defaulted[key]
    return replace(item, rest=rest, **fields)


# The merge


@lru_cache(maxsize=1)
def _merge_keys() -> dict[str, Any]:
    """merging.json as a tree of fields; `=` has the merge keys of a list, beside the fields of its items."""
    tree: dict[str, Any] = {}
    for path, keys in schema_validation.read_schema("output/merging").items():
        node = tree
        for step in path.replace("[]", "").split("."):
            node = node.setdefault(step, {})
        node["="] = keys
    return tree


class _Merge(Struct):
    """A strategic merge."""

    diagnostics: Collector
    origins: dict[Path, Origin] = field(default_factory=dict)  # of the fields that the patch sets

    def merge_map(
        self, old: Body, patch: Mapping[str, Any], merge_keys: _MergeKeys, origin: Origin, path: Path
    ) -> dict[str, Any]:
        """The patched map. `origin`: of the patch; `path`: of the map in the pod template."""
        merged = {} if patch.get(_DIRECTIVE) == "replace" else dict(old)
        for key, value in patch.items():
            if key == _DIRECTIVE:
                continue
            if isinstance(value, Mapping) and value.get(_DIRECTIVE) == _DELETE:
                _validate_deletion(value, (), origin.at(key), self.diagnostics)
                merged.pop(key, None)
            else:
                merged[key] = self._merge_value(
                    key, merged.get(key), value, map_at(merge_keys, key), origin.at(key), (*path, key)
                )
        return merged

    def _merge_value(
        self, key: str, old: Any, value: object, merge_keys: _MergeKeys, origin: Origin, path: Path
    ) -> object:
        if isinstance(value, list) and "=" in merge_keys:
            return self._merge_list(key, list(old or ()), value, merge_keys, origin, path)
        self.origins[path] = origin
        if isinstance(value, Mapping):
            return self.merge_map(old if isinstance(old, Mapping) else {}, value, merge_keys, origin, path)
        return value

    def _merge_list(
        self,
        field: str,
        old_items: list[Body],
        patches: Sequence[Mapping[str, Any]],
        merge_keys: _MergeKeys,
        origin: Origin,
        path: Path,
    ) -> list[Body]:
        keys = [str(key) for key in list_at(merge_keys, "=")]
        items, earlier_patches = _Items(old_items, keys), _Items((), keys)
        patched = set()
        for i, patch in enumerate(patches):
            item_origin, name = origin.at(i), patch[keys[0]]
            is_duplicate = earlier_patches.find(patch) is not None
            earlier_patches.append(patch)
            if is_duplicate:
                self.diagnostics.add("E294", item_origin.at(keys[0]), name=name)
                continue
            index = items.find(patch)
            if patch.get(_DIRECTIVE) == _DELETE:
                if _deletable(patch, keys, index is not None, items.names(), item_origin, self.diagnostics):
                    items.bodies[index or 0] = None
                continue
            old = (items.bodies[index] if index is not None else None) or {}
            # A variable has one value, a volume one source, so these are replaced.
            replaces = field == "env" or (field == "volumes" and not patch.keys() <= old.keys())
            position = len(items.bodies) if index is None else index
            patched.add(position)
            if replaces:
                self.origins[*path, position] = item_origin
            merged = self.merge_map({} if replaces else old, patch, merge_keys, item_origin, (*path, position))
            if field == "volumeMounts" and "name" not in merged:  # matched by its mountPath alone
                self.diagnostics.add("E302", item_origin, word="name", hint="")
            elif index is None:
                items.append(merged)
            else:
                items.bodies[index] = merged
        remaining = [i for i, item in enumerate(items.bodies) if item is not None]
        if len(remaining) < len(items.bodies):
            self.renumber(path, {old: new for new, old in enumerate(remaining)})
        if patched.issuperset(remaining):
            self.origins[path] = origin
        return [item for item in items.bodies if item is not None]

    def renumber(self, path: Path, numbers: Mapping[object, int]) -> None:
        """Replaces the indices (or names) of the items of the list at `path`; items without a number were deleted."""
        depth = len(path)
        item_paths = [item_path for item_path in self.origins if len(item_path) > depth and item_path[:depth] == path]
        origins = [(item_path, self.origins.pop(item_path)) for item_path in item_paths]
        for item_path, origin in origins:
            if item_path[depth] in numbers:
                self.origins[*path, numbers[item_path[depth]], *item_path[depth + 1 :]] = origin


class _Items:
    """The items of a list, indexed by their merge keys."""

    __slots__ = ("_keys", "_positions", "bodies")

    def __init__(self, bodies: Iterable[Body], keys: Sequence[str]) -> None:
        self.bodies: list[Body | None] = [*bodies]  # None where an item is deleted
        self._keys = keys
        # By the merge keys that a patch has, and their values: the positions of the items.
        self._positions: dict[tuple[str, ...], dict[tuple[object, ...], list[int]]] = {}

    def find(self, patch: Mapping[str, Any]) -> int | None:
        """The index of the first item with the same values of those merge keys that the patch has."""
        patch_keys = tuple(key for key in self._keys if key in patch)
        if patch_keys not in self._positions:
            self._positions[patch_keys] = {}
            for index, body in enumerate(self.bodies):
                if body is not None:
                    self._add(patch_keys, index, body)
        positions = self._positions[patch_keys].get(_values(patch, patch_keys), [])
        while positions and self.bodies[positions[0]] is None:
            del positions[0]
        return positions[0] if positions else None

    def append(self, body: Body) -> None:
        """Appends an item."""
        for keys in self._positions:
            self._add(keys, len(self.bodies), body)
        self.bodies.append(body)

    def names(self) -> Iterator[str]:
        """The first key of each item."""
        return (str(body[self._keys[0]]) for body in self.bodies if body is not None)

    def _add(self, keys: tuple[str, ...], index: int, body: Body) -> None:
        self._positions[keys].setdefault(_values(body, keys), []).append(index)


def _values(body: Body, keys: Sequence[str]) -> tuple[object, ...]:
    return tuple([_without_slash(body.get(key)) for key in keys])


def _without_slash(value: object) -> object:
    """`/a/` and `/a` are one path."""
    return value.rstrip("/") or "/" if isinstance(value, str) else value


def _deletable(
    patch: Mapping[str, Any],
    keys: Sequence[str],
    exists: bool,
    names: Iterable[str],
    origin: Origin,
    diagnostics: Collector,
) -> bool:
    """Whether an item can be deleted: it exists, and the patch has no other fields; errors where not."""
    if not exists:
        name = patch[keys[0]]
        diagnostics.add("E292", origin.at(keys[0]), name=name, hint=suggestion(str(name), [*names]))
    return _validate_deletion(patch, keys, origin, diagnostics) and exists


def _validate_deletion(patch: Mapping[str, Any], keys: Sequence[str], origin: Origin, diagnostics: Collector) -> bool:
    """Whether there are no fields beside `$patch: delete` and the merge keys; an error for each that there is."""
    other_keys = [key for key in patch if key != _DIRECTIVE and key not in keys]
    for key in other_keys:
        diagnostics.add("E297", origin.at(key, key=True), field=key)
    return not other_keys
