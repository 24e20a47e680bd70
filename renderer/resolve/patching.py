"""`spec.podTemplate` over the pod that we made: a strategic merge, by Kubernetes' own merge keys.

Maps merge key by key. Items of a list are found by the keys that schemas/output/merging.json has for it; any other list
is replaced whole. `$patch: delete` drops a map or an item, `$patch: replace` puts a map in the place of the old one. A
patch is normal already (`normal.part`): nothing in it is empty without meaning it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from renderer import schema
from renderer.api import Config, Spec
from renderer.plan import Body, Container, Pod
from renderer.problems import Findings, Origin, Path, guess
from renderer.resolve import everypod, images, normal, pods, resources
from renderer.resolve.loading import VOLUME
from renderer.resolve.sources import HOME

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


def patched(
    config: Config, pod: Pod, patch: Spec, own_labels: Sequence[str], hard: bool, origin: Origin, found: Findings
) -> Pod:
    """The pod with the patch over it. `own_labels`: ours of app.kubernetes.io, which stay; `hard`: new containers are
    hardened too.
    """
    metadata, spec = patch.get("metadata") or {}, patch.get("spec") or {}
    for key in ("labels", "annotations"):
        at = origin.at("metadata", key)
        everypod.owned(metadata.get(key) or {}, at, found, names=key == "labels", mine=own_labels)
    at, lists = origin.at("spec"), _lists()["spec"]
    fields = {key: value for key, value in spec.items() if key not in _CONTAINERS}
    merged = _merged_map(_body(pod, _POD, fields), fields, lists, at, found)
    made: Pod = _changed(pod, _POD, merged, fields, ("spec",))
    inits, containers = (
        _containers(config, getattr(pod, ours), theirs, spec.get(theirs) or (), hard, at.at(theirs), found)
        for theirs, ours in _CONTAINERS.items()
    )
    return made._replace(
        labels={**pod.labels, **(metadata.get("labels") or {})},
        annotations={**pod.annotations, **(metadata.get("annotations") or {})},
        init_containers=inits,
        containers=containers,
    )


def runner(spec: Spec) -> tuple[int, Spec]:
    """Where a Playground's podTemplate speaks of model-runner, and what it says; (0, {}) when it does not."""
    if not (template := spec.get("podTemplate")):
        return 0, {}
    template = template.get("spec") or {}
    for i, each in enumerate(template.get("containers") or ()):
        if each["name"] == pods.RUNNER:
            return i, each
    return 0, {}


def places(pod: Pod, patch: Spec) -> Iterator[tuple[Path, Path]]:
    """What the patch says of a patched pod: each place in its template, with the one in the patch."""
    said = patch.get("spec") or {}
    spec = _body(pod, _POD, said)
    spec |= {key: [_container_body(each) for each in getattr(pod, ours)] for key, ours in _CONTAINERS.items()}
    yield from _places(said, spec, _lists()["spec"], ("spec",), ("spec",))
    for key in ("labels", "annotations"):
        for name in (patch.get("metadata") or {}).get(key) or {}:
            yield ("metadata", key, name), ("metadata", key, name)


def _places(value: Any, made: Any, lists: _Lists, here: Path, there: Path) -> Iterator[tuple[Path, Path]]:
    if isinstance(value, Mapping):
        if len(here) > 1 and (not isinstance(here[-1], int) or "image" in value):  # else most of the item is not ours
            yield here, there
        for key, item in value.items():
            below = made.get(key) if isinstance(made, Mapping) else None
            yield from _places(item, below, lists.get(key, {}), (*here, key), (*there, key))
    elif isinstance(value, list) and "=" in lists:
        items = _Items(made or (), lists["="])
        found = [items.find(item) for item in value]
        if set(range(len(made or ()))) <= {*found}:  # all of the list
            yield here, there
        for i, (item, index) in enumerate(zip(value, found, strict=True)):
            if index is not None:
                yield from _places(item, made[index], lists, (*here, index), (*there, i))
    else:
        yield here, there


# Containers


def _containers(
    config: Config,
    old: Sequence[Container],
    group: str,
    patches: Sequence[Spec],
    hard: bool,
    at: Origin,
    found: Findings,
) -> tuple[Container, ...]:
    made = {container.name: container for container in old}
    seen: set[str] = set()
    for i, patch in enumerate(patches):
        name, here = patch["name"], at.at(i)
        if name in seen:
            found.add("E294", here.at("name"), name=name)
            continue
        seen.add(name)
        if name == pods.RUNNER and not _runner_may(patch, here, found):
            continue
        if patch.get(_DIRECTIVE) == _DELETE:
            if _deletable(patch, ("name",), name in made, made, here, found):
                del made[name]
        elif name in made:
            made[name] = _container(config, group, made[name], patch, here, found)
        elif "image" in patch:
            new = _container(config, group, Container(name), patch, here, found)
            made[name] = pods.safe(new) if hard else new
        else:
            found.add("E295", here.at("name"), name=name, hint=guess(name, [*made]))
    return tuple(made.values())


def _runner_may(patch: Spec, at: Origin, found: Findings) -> bool:
    """Whether the patch leaves alone what everything else relies on."""
    if patch.get(_DIRECTIVE) == _DELETE:
        found.add("E296", at.at(_DIRECTIVE), name=pods.RUNNER)
        return False
    for key, hint in _ELSEWHERE.items():
        if key in patch:
            found.add("E293", at.at(key, key=True), field=key, hint=hint)
    return not any(key in patch for key in _ELSEWHERE)


def _container(config: Config, group: str, old: Container, patch: Spec, at: Origin, found: Findings) -> Container:
    fields = {key: value for key, value in patch.items() if key != "name"}
    before = _body(old, pods.FIELDS, fields)
    if pods.escalates(patch.get("securityContext") or {}) and "securityContext" in before:
        # The API server takes no allowPrivilegeEscalation: false beside it.
        context = before["securityContext"]
        before["securityContext"] = {key: context[key] for key in context if key != "allowPrivilegeEscalation"}
    merged = _merged_map(before, fields, _lists()["spec"][group], at, found)
    _handlers(before, merged, patch, at, found)
    if "image" in patch:
        images.judge(patch["image"], "image", at.at("image"), found)
        merged["image"] = images.reference(config, patch["image"])
    if "resources" in merged:
        sides = merged["resources"].items()
        merged["resources"] = {
            key: resources.ordered(side) if isinstance(side, Mapping) else side for key, side in sides
        }
    made: Container = _changed(old, pods.FIELDS, merged, fields, ("spec", group, "[]"))
    return made


_HANDLERS = ("exec", "grpc", "httpGet", "sleep", "tcpSocket")  # of a probe, and of a step of lifecycle


def _handlers(before: Body, merged: Body, patch: Spec, at: Origin, found: Findings) -> None:
    """An error where the patch puts a second handler beside ours: a merge leaves both, and one may be given."""
    steps: list[Path] = [("startupProbe",), ("readinessProbe",), ("livenessProbe",)]
    steps += [("lifecycle", "postStart"), ("lifecycle", "preStop")]
    for path in steps:
        ours, made, said = (_below(each, path) for each in (before, merged, patch))
        new = [key for key in _HANDLERS if key in said and key not in ours]
        old = [key for key in _HANDLERS if key in made and key in ours and key not in said]
        if new and old:
            what = f"'{old[0]}' is there already, and stays beside '{new[0]}'"
            found.add("E299", at.at(*path, new[0], key=True), what=what, hint=f"write $patch: replace in {path[-1]}")


def _below(value: Any, path: Path) -> Body:
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


# What a patched pod lacks


def judge(before: Pod, after: Pod, patch: Spec, restricted: bool, at: Origin, found: Findings) -> None:
    """Warnings for what the patch leaves without its other half: a volume that nobody fills any more, a mount over what
    loaders fill; under restricted a container that may be root.
    """
    steps = {each.name for each in after.init_containers}
    for loader in before.init_containers:
        mounted = {each["name"] for each in loader.mounts if each["name"] == VOLUME}
        if loader.name not in steps and mounted and _empty(after, VOLUME):
            found.add("W218", _said(patch, "initContainers", loader.name, at), loader=loader.name, volume=VOLUME)
    loads = any(each["name"] == VOLUME for step in after.init_containers for each in step.mounts)
    for mount in after.containers[0].mounts if loads else ():
        if mount["name"] != VOLUME and mount["mountPath"].rstrip("/") == HOME.rstrip("/"):
            found.add("W229", _said(patch, "containers", pods.RUNNER, at), name=mount["name"], volume=VOLUME)
    if not restricted:
        return
    known = {each.name for each in (*before.init_containers, *before.containers)}
    groups = (("initContainers", after.init_containers), ("containers", after.containers))
    for group, containers in groups:
        for each in containers:
            if each.name not in known and not _unprivileged(after, each):
                found.add("W219", _said(patch, group, each.name, at), name=each.name)


def _said(patch: Spec, group: str, name: str, at: Origin) -> Origin:
    """Where the patch speaks of a container."""
    for i, each in enumerate((patch.get("spec") or {}).get(group) or ()):
        if each["name"] == name:
            return at.at("spec", group, i, "name")
    return at


def _empty(pod: Pod, volume: str) -> bool:
    return any(each["name"] == volume and "emptyDir" in each for each in pod.volumes)


def _unprivileged(pod: Pod, container: Container) -> bool:
    """Whether PodSecurity restricted takes it, as far as the patch has to see to that."""
    mine = container.security
    dropped = (mine.get("capabilities") or {}).get("drop") or ()
    return bool(mine.get("runAsNonRoot", pod.security.get("runAsNonRoot"))) and "ALL" in dropped


# Between our tuples and the API's maps


def _container_body(container: Container) -> dict[str, Any]:
    return {"name": container.name, **_body(container, pods.FIELDS, {**pods.FIELDS, **container.rest})}


def _body(item: Container | Pod, names: Mapping[str, str], keys: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of these keys, as far as they are there, as the API calls them."""
    made = {}
    for key in keys:
        value = getattr(item, names[key]) if key in names else item.rest.get(key)
        if value is not None and value != () and value != {}:
            made[key] = list(value) if isinstance(value, tuple) else value
    return made


def _changed(item: Any, names: Mapping[str, str], merged: Body, keys: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    """The item with the merged fields of these keys; one that is gone gets its default."""
    filled = normal.filled(merged, *path)
    fields, rest = {}, {key: value for key, value in item.rest.items() if key not in keys}
    for key in keys:
        if key in names:
            default = item._field_defaults.get(names[key])
            value = filled.get(key, default)
            fields[names[key]] = tuple(value) if isinstance(default, tuple) else value
        elif key in filled:
            rest[key] = filled[key]
    return item._replace(rest=rest, **fields)


# The merge


@lru_cache(maxsize=1)
def _lists() -> dict[str, Any]:
    """merging.json as a tree of fields; `=` holds the keys of a list's items, beside the items' fields."""
    tree: dict[str, Any] = {}
    for path, keys in schema.read("output/merging").items():
        node = tree
        for step in path.replace("[]", "").split("."):
            node = node.setdefault(step, {})
        node["="] = keys
    return tree


def _merged_map(old: Body, patch: Body, lists: _Lists, at: Origin, found: Findings) -> dict[str, Any]:
    made = {} if patch.get(_DIRECTIVE) == "replace" else dict(old)
    for key, value in patch.items():
        if key == _DIRECTIVE:
            continue
        if isinstance(value, Mapping) and value.get(_DIRECTIVE) == _DELETE:
            _alone(value, (), at.at(key), found)
            made.pop(key, None)
        else:
            made[key] = _merged(key, made.get(key), value, lists.get(key, {}), at.at(key), found)
    return made


def _merged(key: str, old: Any, value: Any, lists: _Lists, at: Origin, found: Findings) -> Any:
    if isinstance(value, Mapping):
        return _merged_map(old if isinstance(old, Mapping) else {}, value, lists, at, found)
    if isinstance(value, list) and "=" in lists:
        return _merged_list(key, list(old or ()), value, lists, at, found)
    return value


def _merged_list(
    field: str, made: list[Body], patches: Sequence[Body], lists: _Lists, at: Origin, found: Findings
) -> list[Body]:
    keys: Sequence[str] = lists["="]
    items, seen = _Items(made, keys), _Items((), keys)
    for i, patch in enumerate(patches):
        here, name = at.at(i), patch[keys[0]]
        twice = seen.find(patch) is not None
        seen.append(patch)
        if twice:
            found.add("E294", here.at(keys[0]), name=name)
            continue
        index = items.find(patch)
        if patch.get(_DIRECTIVE) == _DELETE:
            if _deletable(patch, keys, index is not None, items.named(), here, found):
                items.bodies[index or 0] = None
            continue
        old = (items.bodies[index] if index is not None else None) or {}
        # An environment entry has one value, a volume one source: another takes its place.
        another = field == "env" or (field == "volumes" and not patch.keys() <= old.keys())
        merged = _merged_map({} if another else old, patch, lists, here, found)
        if field == "volumeMounts" and "name" not in merged:  # it is found by its path
            found.add("E302", here, word="name", hint="")
        elif index is None:
            items.append(merged)
        else:
            items.bodies[index] = merged
    return [item for item in items.bodies if item is not None]


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
    patch: Body, keys: Sequence[str], there: bool, known: Iterable[str], at: Origin, found: Findings
) -> bool:
    """Whether an item can go: it is there, and nothing else is said of it."""
    if not there:
        name = patch[keys[0]]
        found.add("E292", at.at(keys[0]), name=name, hint=guess(str(name), [*known]))
    return _alone(patch, keys, at, found) and there


def _alone(patch: Body, keys: Sequence[str], at: Origin, found: Findings) -> bool:
    """Whether nothing stands beside `$patch: delete`."""
    beside = [key for key in patch if key != _DIRECTIVE and key not in keys]
    for key in beside:
        found.add("E297", at.at(key, key=True), field=key)
    return not beside
