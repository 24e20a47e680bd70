"""`spec.podTemplate` over the pod that we made: a strategic merge, by Kubernetes' own merge keys.

Maps merge key by key. Items of a list are found by the keys that schemas/output/merging.json has for it; any other list
is replaced whole. `$patch: delete` drops a map or an item, `$patch: replace` puts a map in the place of the old one. A
patch is normal already (`normal.part`): nothing in it is empty without meaning it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from renderer import schema
from renderer.api import RenderConfig, Spec
from renderer.diagnostics import Collector, Origin, Path, suggestion
from renderer.plan import Body, Container, Pod
from renderer.resolve import pod_defaults
from renderer.resolve.kube import api_defaults, images, resources
from renderer.resolve.pod import pods
from renderer.resolve.pod.loader_presets import VOLUME
from renderer.resolve.weight_sources import MODELS_FOLDER

_POD = {
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
_CONTAINERS = {"initContainers": "init_containers", "containers": "containers"}
_ELSEWHERE = {
    "command": "write a BackendRuntime with another command",
    "args": "write spec.backendRuntimeConfig.args",
    "ports": "every part of the pod agrees on one port; leave it out",
}
_DIRECTIVE = "$patch"
_DELETE = "delete"
_Lists = Mapping[str, Any]  # as _lists() has them


class PatchedPod(Struct, frozen=True):
    """A pod under a podTemplate. `origins`: by path in its template, where the patch sets the field."""

    pod: Pod
    origins: Mapping[Path, Origin]


def patch_pod(
    config: RenderConfig,
    pod: Pod,
    patch: Spec,
    own_labels: Sequence[str],
    hard: bool,
    origin: Origin,
    diagnostics: Collector,
) -> PatchedPod:
    """The pod with the patch over it. `own_labels`: ours of app.kubernetes.io, which stay; `hard`: new containers are
    hardened too.
    """
    metadata, spec = patch.get("metadata") or {}, patch.get("spec") or {}
    for key in ("labels", "annotations"):
        at = origin.at("metadata", key)
        pod_defaults.validate_reserved_keys(
            metadata.get(key) or {}, at, diagnostics, reserve_common=key == "labels", limited_to=own_labels
        )
    at, merge = origin.at("spec"), _Merge(diagnostics)
    fields = {key: value for key, value in spec.items() if key not in _CONTAINERS}
    merged = merge.map(_body(pod, _POD, fields), fields, _lists()["spec"], at, ("spec",))
    changed: Pod = _changed(pod, _POD, merged, fields, ("spec",))
    inits, containers = (
        _containers(config, getattr(pod, ours), theirs, spec.get(theirs) or (), hard, at.at(theirs), merge)
        for theirs, ours in _CONTAINERS.items()
    )
    for key in ("labels", "annotations"):
        merge.origins |= {("metadata", key, name): origin.at("metadata", key, name) for name in metadata.get(key) or {}}
    patched_pod = replace(
        changed,
        labels={**pod.labels, **(metadata.get("labels") or {})},
        annotations={**pod.annotations, **(metadata.get("annotations") or {})},
        init_containers=inits,
        containers=containers,
    )
    return PatchedPod(patched_pod, merge.origins)


def runner_patch(spec: Spec) -> tuple[int, Spec]:
    """Where a Playground's podTemplate speaks of model-runner, and what it says; (0, {}) when it does not."""
    if not (template := spec.get("podTemplate")):
        return 0, {}
    template = template.get("spec") or {}
    for i, container in enumerate(template.get("containers") or ()):
        if container["name"] == pods.RUNNER:
            return i, container
    return 0, {}


# Containers


def _containers(
    config: RenderConfig,
    old: Sequence[Container],
    group: str,
    patches: Sequence[Spec],
    hard: bool,
    at: Origin,
    merge: _Merge,
) -> tuple[Container, ...]:
    diagnostics = merge.found
    containers = {container.name: container for container in old}
    seen: set[str] = set()
    for i, patch in enumerate(patches):
        name, origin = patch["name"], at.at(i)
        if name in seen:
            diagnostics.add("E294", origin.at("name"), name=name)
            continue
        seen.add(name)
        if name == pods.RUNNER and not _runner_may(patch, origin, diagnostics):
            continue
        if patch.get(_DIRECTIVE) == _DELETE:
            if _deletable(patch, ("name",), name in containers, containers, origin, diagnostics):
                del containers[name]
        elif name in containers:
            containers[name] = _container(config, group, containers[name], patch, origin, merge)
        elif "image" in patch:
            new = _container(config, group, Container(name), patch, origin, merge)
            containers[name] = pods.safe(new) if hard else new
        else:
            diagnostics.add("E295", origin.at("name"), name=name, hint=suggestion(name, [*containers]))
            continue
        if "image" in patch:
            merge.origins["spec", group, name] = origin
    merge.renumber(("spec", group), {name: i for i, name in enumerate(containers)})
    if seen.issuperset(containers):
        merge.origins["spec", group] = at
    return tuple(containers.values())


def _runner_may(patch: Spec, at: Origin, diagnostics: Collector) -> bool:
    """Whether the patch leaves alone what everything else relies on."""
    if patch.get(_DIRECTIVE) == _DELETE:
        diagnostics.add("E296", at.at(_DIRECTIVE), name=pods.RUNNER)
        return False
    for key, hint in _ELSEWHERE.items():
        if key in patch:
            diagnostics.add("E293", at.at(key, key=True), field=key, hint=hint)
    return not any(key in patch for key in _ELSEWHERE)


def _container(config: RenderConfig, group: str, old: Container, patch: Spec, at: Origin, merge: _Merge) -> Container:
    diagnostics, path = merge.found, ("spec", group, old.name)
    fields = {key: value for key, value in patch.items() if key != "name"}
    before = _body(old, pods.FIELDS, fields)
    if pods.escalates(patch.get("securityContext") or {}) and "securityContext" in before:
        # The API server takes no allowPrivilegeEscalation: false beside it.
        context = before["securityContext"]
        before["securityContext"] = {key: context[key] for key in context if key != "allowPrivilegeEscalation"}
    merged = merge.map(before, fields, _lists()["spec"][group], at, path)
    merge.origins[*path, "name"] = at.at("name")
    _handlers(before, merged, patch, at, diagnostics)
    if "image" in patch:
        images.validate_image(patch["image"], "image", at.at("image"), diagnostics)
        merged["image"] = images.image_reference(config, patch["image"])
    if "resources" in merged:
        sides = merged["resources"].items()
        merged["resources"] = {
            key: resources.order_resources(side) if isinstance(side, Mapping) else side for key, side in sides
        }
    changed: Container = _changed(old, pods.FIELDS, merged, fields, ("spec", group, "[]"))
    return changed


_HANDLERS = ("exec", "grpc", "httpGet", "sleep", "tcpSocket")  # of a probe, and of a step of lifecycle


def _handlers(before: Body, merged: Body, patch: Spec, at: Origin, diagnostics: Collector) -> None:
    """An error where the patch puts a second handler beside ours: a merge leaves both, and one may be given."""
    steps: list[Path] = [("startupProbe",), ("readinessProbe",), ("livenessProbe",)]
    steps += [("lifecycle", "postStart"), ("lifecycle", "preStop")]
    for path in steps:
        ours, merged_part, patch_part = (_below(side, path) for side in (before, merged, patch))
        new = [key for key in _HANDLERS if key in patch_part and key not in ours]
        old = [key for key in _HANDLERS if key in merged_part and key in ours and key not in patch_part]
        if new and old:
            what = f"'{old[0]}' is there already, and stays beside '{new[0]}'"
            diagnostics.add(
                "E299", at.at(*path, new[0], key=True), what=what, hint=f"write $patch: replace in {path[-1]}"
            )


def _below(value: Any, path: Path) -> Body:
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


# What a patched pod lacks


def validate_patch(before: Pod, after: Pod, patch: Spec, restricted: bool, at: Origin, diagnostics: Collector) -> None:
    """Warnings for what the patch leaves without its other half: a volume that nobody fills any more, a mount over what
    loaders fill; under restricted a container that may be root.
    """
    steps = {container.name for container in after.init_containers}
    for loader in before.init_containers:
        mounted = {mount_body["name"] for mount_body in loader.mounts if mount_body["name"] == VOLUME}
        if loader.name not in steps and mounted and _empty(after, VOLUME):
            diagnostics.add("W218", _said(patch, "initContainers", loader.name, at), loader=loader.name, volume=VOLUME)
    loads = any(mount_body["name"] == VOLUME for step in after.init_containers for mount_body in step.mounts)
    for mount in after.containers[0].mounts if loads else ():
        if mount["name"] != VOLUME and mount["mountPath"].rstrip("/") == MODELS_FOLDER.rstrip("/"):
            diagnostics.add("W229", _said(patch, "containers", pods.RUNNER, at), name=mount["name"], volume=VOLUME)
    if not restricted:
        return
    known = {container.name for container in (*before.init_containers, *before.containers)}
    groups = (("initContainers", after.init_containers), ("containers", after.containers))
    for group, containers in groups:
        for container in containers:
            if container.name not in known and not _unprivileged(after, container):
                diagnostics.add("W219", _said(patch, group, container.name, at), name=container.name)


def _said(patch: Spec, group: str, name: str, at: Origin) -> Origin:
    """Where the patch speaks of a container."""
    for i, container in enumerate((patch.get("spec") or {}).get(group) or ()):
        if container["name"] == name:
            return at.at("spec", group, i, "name")
    return at


def _empty(pod: Pod, volume: str) -> bool:
    return any(volume_body["name"] == volume and "emptyDir" in volume_body for volume_body in pod.volumes)


def _unprivileged(pod: Pod, container: Container) -> bool:
    """Whether PodSecurity restricted takes it, as far as the patch has to see to that."""
    mine = container.security
    dropped = (mine.get("capabilities") or {}).get("drop") or ()
    return bool(mine.get("runAsNonRoot", pod.security.get("runAsNonRoot"))) and "ALL" in dropped


# Between our tuples and the API's maps


def _body(item: Container | Pod, names: Mapping[str, str], keys: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of these keys, as far as they are there, as the API calls them."""
    body = {}
    for key in keys:
        value = getattr(item, names[key]) if key in names else item.rest.get(key)
        if value is not None and value != () and value != {}:
            body[key] = list(value) if isinstance(value, tuple) else value
    return body


_UNSET: Mapping[type, Container | Pod] = {Container: Container(""), Pod: Pod({}, {}, "", ())}


def _changed(item: Any, names: Mapping[str, str], merged: Body, keys: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    """The item with the merged fields of these keys; one that is gone gets its default."""
    filled = api_defaults.fill_defaults(merged, *path)
    fields, rest = {}, {key: value for key, value in item.rest.items() if key not in keys}
    for key in keys:
        if key in names:
            default = getattr(_UNSET[type(item)], names[key])
            value = filled.get(key, default)
            fields[names[key]] = tuple(value) if isinstance(default, tuple) else value
        elif key in filled:
            rest[key] = filled[key]
    return replace(item, rest=rest, **fields)


# The merge


@lru_cache(maxsize=1)
def _lists() -> dict[str, Any]:
    """merging.json as a tree of fields; `=` holds the keys of a list's items, beside the items' fields."""
    tree: dict[str, Any] = {}
    for path, keys in schema.read_schema("output/merging").items():
        node = tree
        for step in path.replace("[]", "").split("."):
            node = node.setdefault(step, {})
        node["="] = keys
    return tree


class _Merge:
    """A strategic merge: notes what is wrong, and for each field of the pod that the patch sets where that stands."""

    def __init__(self, diagnostics: Collector) -> None:
        self.found = diagnostics
        self.origins: dict[Path, Origin] = {}

    def map(self, old: Body, patch: Body, lists: _Lists, at: Origin, path: Path) -> dict[str, Any]:
        """The map under the patch, which stands at `at`; `path`: of the map in the pod template."""
        merged = {} if patch.get(_DIRECTIVE) == "replace" else dict(old)
        for key, value in patch.items():
            if key == _DIRECTIVE:
                continue
            if isinstance(value, Mapping) and value.get(_DIRECTIVE) == _DELETE:
                _alone(value, (), at.at(key), self.found)
                merged.pop(key, None)
            else:
                merged[key] = self._value(key, merged.get(key), value, lists.get(key, {}), at.at(key), (*path, key))
        return merged

    def _value(self, key: str, old: Any, value: Any, lists: _Lists, at: Origin, path: Path) -> Any:
        if isinstance(value, list) and "=" in lists:
            return self._list(key, list(old or ()), value, lists, at, path)
        self.origins[path] = at
        if isinstance(value, Mapping):
            return self.map(old if isinstance(old, Mapping) else {}, value, lists, at, path)
        return value

    def _list(
        self, field: str, old_items: list[Body], patches: Sequence[Body], lists: _Lists, at: Origin, path: Path
    ) -> list[Body]:
        keys: Sequence[str] = lists["="]
        items, seen = _Items(old_items, keys), _Items((), keys)
        patched = set()
        for i, patch in enumerate(patches):
            item_at, name = at.at(i), patch[keys[0]]
            twice = seen.find(patch) is not None
            seen.append(patch)
            if twice:
                self.found.add("E294", item_at.at(keys[0]), name=name)
                continue
            index = items.find(patch)
            if patch.get(_DIRECTIVE) == _DELETE:
                if _deletable(patch, keys, index is not None, items.named(), item_at, self.found):
                    items.bodies[index or 0] = None
                continue
            old = (items.bodies[index] if index is not None else None) or {}
            # An environment entry has one value, a volume one source: another takes its place.
            another = field == "env" or (field == "volumes" and not patch.keys() <= old.keys())
            place = len(items.bodies) if index is None else index
            patched.add(place)
            if another:
                self.origins[*path, place] = item_at
            merged = self.map({} if another else old, patch, lists, item_at, (*path, place))
            if field == "volumeMounts" and "name" not in merged:  # it is found by its path
                self.found.add("E302", item_at, word="name", hint="")
            elif index is None:
                items.append(merged)
            else:
                items.bodies[index] = merged
        left = [i for i, item in enumerate(items.bodies) if item is not None]
        if len(left) < len(items.bodies):
            self.renumber(path, {old: new for new, old in enumerate(left)})
        if patched.issuperset(left):
            self.origins[path] = at
        return [item for item in items.bodies if item is not None]

    def renumber(self, path: Path, numbers: Mapping[Any, int]) -> None:
        """Gives the items of the list at `path` their final numbers; those without one are gone."""
        depth = len(path)
        below = [known for known in self.origins if len(known) > depth and known[:depth] == path]
        origins = [(known, self.origins.pop(known)) for known in below]
        for known, origin in origins:
            if known[depth] in numbers:
                self.origins[*path, numbers[known[depth]], *known[depth + 1 :]] = origin


class _Items:
    """Items of a list, each found by its keys without a look at the others. `bodies`: None where one is deleted."""

    __slots__ = ("_found", "_keys", "bodies")

    def __init__(self, bodies: Iterable[Body], keys: Sequence[str]) -> None:
        self.bodies: list[Body | None] = [*bodies]
        self._keys = keys
        # By the keys that a patch gives: the positions of the items with these values.
        self._found: dict[tuple[str, ...], dict[tuple[Any, ...], list[int]]] = {}

    def find(self, wanted: Body) -> int | None:
        """The index of the first item that the patch means: alike in those keys that the patch gives."""
        given = tuple(key for key in self._keys if key in wanted)
        if given not in self._found:
            self._found[given] = {}
            for index, body in enumerate(self.bodies):
                if body is not None:
                    self._add(given, index, body)
        positions = self._found[given].get(_values(wanted, given), [])
        while positions and self.bodies[positions[0]] is None:
            del positions[0]
        return positions[0] if positions else None

    def append(self, body: Body) -> None:
        """Puts an item behind the others."""
        for given in self._found:
            self._add(given, len(self.bodies), body)
        self.bodies.append(body)

    def named(self) -> Iterator[str]:
        """The first key of each item."""
        return (str(body[self._keys[0]]) for body in self.bodies if body is not None)

    def _add(self, given: tuple[str, ...], index: int, body: Body) -> None:
        self._found[given].setdefault(_values(body, given), []).append(index)


def _values(body: Body, keys: Sequence[str]) -> tuple[Any, ...]:
    return tuple([_bare(body.get(key)) for key in keys])


def _bare(value: Any) -> Any:
    """`/a/` and `/a` are one path."""
    return value.rstrip("/") or "/" if isinstance(value, str) else value


def _deletable(
    patch: Body, keys: Sequence[str], there: bool, known: Iterable[str], at: Origin, diagnostics: Collector
) -> bool:
    """Whether an item can go: it is there, and nothing else is said of it."""
    if not there:
        name = patch[keys[0]]
        diagnostics.add("E292", at.at(keys[0]), name=name, hint=suggestion(str(name), [*known]))
    return _alone(patch, keys, at, diagnostics) and there


def _alone(patch: Body, keys: Sequence[str], at: Origin, diagnostics: Collector) -> bool:
    """Whether nothing stands beside `$patch: delete`."""
    beside = [key for key in patch if key != _DIRECTIVE and key not in keys]
    for key in beside:
        diagnostics.add("E297", at.at(key, key=True), field=key)
    return not beside
